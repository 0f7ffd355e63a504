"""How far a run is: the one file that makes a frame count."""

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

from pliant.core.errors import RunError
from pliant.run.store.json_files import read_json

FILE = "progress.json"
STATES = ("running", "done", "interrupted", "diverged", "failed")


@dataclass
class Progress:
    """Frames that count, the state of the run, and the time spent on it: wall and cpu [s]."""

    frames_done: int = 0
    state: str = "running"
    message: str = ""
    wall: float = 0.0
    cpu: float = 0.0

    def write(self, folder: Path) -> None:
        """Overwrite the file in place by one call, padded so that nothing of a longer text is left.

        Replacing it by a new file costs milliseconds a frame on common file systems.
        """
        text = json.dumps(asdict(self), indent=2).encode()
        file = os.open(folder / FILE, os.O_WRONLY | os.O_CREAT, 0o644)
        try:
            size = max(os.fstat(file).st_size, 512)
            os.pwrite(file, text.ljust(size - 1) + b"\n", 0)
        finally:
            os.close(file)

    @classmethod
    def read(cls, folder: Path) -> "Progress":
        """RunError where it is missing or damaged."""
        table = read_json(folder / FILE)
        try:
            progress = cls(**table)
            ok = progress.state in STATES and progress.frames_done >= 0 and progress.wall + progress.cpu >= 0
        except TypeError:
            ok = False
        if not ok:
            raise RunError(f"{folder / FILE} is damaged: {table}.")
        return progress
