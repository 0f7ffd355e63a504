"""What a run says about itself: its manifest, written once, and how far it is, written after every frame."""

import json
import os
import platform
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from pliant.core.errors import RunError
from pliant.core.tables import Table, TableView
from pliant.run.store.json_files import read_json

FORMAT = "pliant-run"
SCHEMA = 1
FILE = "manifest.json"
PROGRESS = "progress.json"
STATES = ("running", "done", "interrupted", "diverged", "failed")
_NEEDED: dict[str, type | tuple[type, ...]] = {
    "fps": (int, float),
    "frames_total": int,
    "steps_per_frame": int,
    "columns": list,
    "step_columns": list,
    "bodies": list,
}


PACKAGES = ("pliant", "numpy", "numba", "scipy", "zarr")


def version_differences(manifest: TableView) -> str:
    """Which packages a run was made with other versions of than those installed; "" for none."""
    then = manifest.get("versions", {})
    changed = [p for p in PACKAGES if p != "zarr" and p in then and then[p] != installed_version(p)]
    return ", ".join(f"{p} {then[p]} (now {installed_version(p)})" for p in changed)


def complete(manifest: TableView) -> Table:
    """``manifest`` with the format, the installed versions and the time of day added."""
    start: Table = {
        "format": FORMAT,
        "schema": SCHEMA,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "versions": {name: installed_version(name) for name in PACKAGES},
        "python": platform.python_version(),
        "platform": platform.platform(),
        "machine": {"processor": _processor(), "cores": os.cpu_count()},
    }
    whole = start | dict(manifest)
    missing = [key for key in _NEEDED if key not in whole]
    if missing:
        raise ValueError(f"a manifest needs {', '.join(missing)}")
    return whole


def read_manifest(path: Path) -> Table:
    """The manifest of the run folder ``path``; RunError that says why it is none."""
    if not path.exists():
        raise RunError(f"{path} does not exist.")
    if not path.is_dir():
        raise RunError(f"{path} is a file, not a run folder.")
    if not (path / FILE).exists():
        raise RunError(f"{path} is not a pliant run: it has no {FILE}.")
    manifest = read_json(path / FILE)
    if manifest.get("format") != FORMAT:
        raise RunError(f"{path} is not a pliant run: its {FILE} belongs to something else.")
    schema = manifest.get("schema")
    if not isinstance(schema, int) or schema < 1:
        raise RunError(f"{path / FILE} is damaged: schema is {schema!r}.")
    if schema > SCHEMA:
        raise RunError(
            f"{path} was written by a newer pliant: its schema is {schema}, this one reads up to {SCHEMA}.",
            hint="Update pliant: pip install -U pliant.",
        )
    for key, kind in _NEEDED.items():
        if not isinstance(manifest.get(key), kind):
            raise RunError(f"{path / FILE} is damaged: {key} is {manifest.get(key)!r}.")
    if not (path / "zarr.json").exists():
        raise RunError(f"{path} is damaged: it has no zarr.json.")
    return manifest


def is_run(path: Path) -> bool:
    """Whether ``path`` is a folder that a pliant, of whatever version, made for a run."""
    try:
        return path.is_dir() and read_json(path / FILE).get("format") == FORMAT
    except RunError:
        return False


def _processor() -> str:
    """What the processor calls itself, or else its architecture."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError):
        lines = []
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(named, "") or platform.processor() or platform.machine()


def installed_version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


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
        file = os.open(folder / PROGRESS, os.O_WRONLY | os.O_CREAT, 0o644)
        try:
            size = max(os.fstat(file).st_size, 512)
            os.pwrite(file, text.ljust(size - 1) + b"\n", 0)
        finally:
            os.close(file)

    @classmethod
    def read(cls, folder: Path) -> "Progress":
        """RunError where it is missing or damaged."""
        table = read_json(folder / PROGRESS)
        try:
            progress = cls(**table)
            ok = progress.state in STATES and progress.frames_done >= 0 and progress.wall + progress.cpu >= 0
        except TypeError:
            ok = False
        if not ok:
            raise RunError(f"{folder / PROGRESS} is damaged: {table}.")
        return progress
