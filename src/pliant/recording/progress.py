"""How far a run is: the one file that makes a frame count."""

from dataclasses import asdict, dataclass
from pathlib import Path

from pliant.errors import RunError
from pliant.recording.files import read_json, write_json

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
        write_json(folder / FILE, asdict(self))

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
