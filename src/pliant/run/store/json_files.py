"""Small files of a run folder: JSON that is never half written, and errors that say what happened."""

import errno
import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from pliant.core.errors import RunError, StorageError
from pliant.core.tables import Table

_WRITE_ELSEWHERE = "Choose a place that you may write to."
_WHY = {
    errno.ENOSPC: ("the disk is full", "Free some space and {again}."),
    errno.EDQUOT: ("the disk quota is used up", "Free some space and {again}."),
    errno.EFBIG: ("the file would exceed the allowed size", "Raise the limit (ulimit -f) and {again}."),
    errno.EACCES: ("permission denied", _WRITE_ELSEWHERE),
    errno.EPERM: ("permission denied", _WRITE_ELSEWHERE),
    errno.EROFS: ("the file system is read-only", _WRITE_ELSEWHERE),
}


@contextmanager
def storing(path: Path, again: str = "`pliant resume`") -> Iterator[None]:
    """Turn the system's refusal to write into a StorageError; ``again`` is how to go on."""
    try:
        yield
    except OSError as error:
        why, hint = _WHY.get(error.errno or 0, (error.strerror or str(error), None))
        raise StorageError(f"Cannot write {path}: {why}.", hint=hint and hint.format(again=again)) from error


def replace_file(path: Path, write: Callable[[BinaryIO], object], sync: bool = False) -> None:
    """Write a file under a temporary name and move it into place, so that it is never seen half written."""
    temporary = path.with_name(f".{path.name}.tmp-{os.getpid()}")
    try:
        with temporary.open("wb") as file:
            write(file)
            if sync:
                file.flush()
                os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise


def write_json(path: Path, value: Any) -> None:
    """Replace a JSON file; NumPy numbers and arrays are taken as numbers and lists."""
    text = json.dumps(value, indent=2, default=_plain) + "\n"
    replace_file(path, lambda file: file.write(text.encode()))


def read_json(path: Path) -> Table:
    """A JSON object of a run folder; RunError where it is missing or damaged."""
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise RunError(f"{path.parent} is not a complete run folder: it has no {path.name}.") from None
    except (OSError, ValueError) as error:
        raise RunError(f"{path} is damaged: {error}.") from error
    if not isinstance(value, dict):
        raise RunError(f"{path} is damaged: expected a JSON object.")
    return value


def plain(value: Any) -> Any:
    """``value`` as JSON would give it back."""
    return json.loads(json.dumps(value, default=_plain))


def _plain(value: Any) -> Any:
    if isinstance(value, (np.generic, np.ndarray)):
        return value.tolist()
    if isinstance(value, Path):
        return value.as_posix()
    raise TypeError(f"{type(value).__name__} cannot be stored as JSON")
