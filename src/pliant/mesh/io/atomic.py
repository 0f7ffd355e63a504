"""Files that appear whole or not at all."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeVar
from uuid import uuid4

from pliant.core.errors import StorageError

Mesh = TypeVar("Mesh")


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A temporary name beside ``path``, with its suffix, that takes its place when the block succeeds."""
    temporary = path.with_name(f".{path.stem[:100]}-{uuid4().hex[:12]}{path.suffix}")
    try:
        yield temporary
        os.replace(temporary, path)
    except OSError as error:
        raise StorageError(
            f"{path}: could not be written: {error.strerror or error}.",
            hint="Check that the folder exists, that you may write to it, and that the disk is not full.",
        ) from error
    finally:
        with suppress(OSError):
            temporary.unlink()


def atomically(write: Callable[[Path, Mesh], None]) -> Callable[[Path, Mesh], None]:
    """``write``, made to write a temporary file that then takes its place."""

    def write_whole(path: Path, mesh: Mesh) -> None:
        with replacing(path) as temporary:
            write(temporary, mesh)

    return write_whole
