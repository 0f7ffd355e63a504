"""Files that commands write: never over something that is there."""

from pathlib import Path

from pliant.core.errors import StorageError


def write_new(path: Path, text: str, force: bool = False) -> None:
    """``text`` as the new file ``path``; StorageError where it cannot be written, or exists and
    ``force`` does not replace it."""
    try:
        with path.open("w" if force else "x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise StorageError(f"{path} exists already; it is left alone.", hint="Choose another name.") from None
    except OSError as error:
        raise StorageError(f"Cannot write {path}: {error.strerror or error}.") from error
    except ValueError as error:  # a name with a null in it
        raise StorageError(f"Cannot write {str(path)!r}: {error}.") from error
