"""Files that commands write: never over something that is there."""

from pathlib import Path

from pliant.errors import StorageError


def write_new(path: Path, text: str) -> None:
    """``text`` as the new file ``path``; StorageError where it exists or cannot be written."""
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise StorageError(f"{path} exists already; it is left alone.", hint="Choose another name.") from None
    except OSError as error:
        raise StorageError(f"Cannot write {path}: {error.strerror or error}.") from error
    except ValueError as error:  # a name with a null in it
        raise StorageError(f"Cannot write {str(path)!r}: {error}.") from error
