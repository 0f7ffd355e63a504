"""Temporary folders of the studio, and the removal of those that killed studios have left."""

import os
import re
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path

PREFIX = "pliant-studio-"
_NAME = re.compile(rf"{PREFIX}(?P<pid>\d+)-\w+-\w+")


def temporary_folder(what: str) -> Path:
    """A new folder that only this user can read, named after this process."""
    return Path(tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-{what}-"))


def remove_leftovers() -> list[Path]:
    """Remove this user's folders whose process has ended; gives those that were removed."""
    removed = []
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        found = _NAME.fullmatch(folder.name)
        with suppress(OSError):
            if found is None or folder.is_symlink() or not _own(folder) or _alive(int(found["pid"])):
                continue
            shutil.rmtree(folder)
            removed.append(folder)
    return removed


def _own(folder: Path) -> bool:
    return not hasattr(os, "getuid") or folder.lstat().st_uid == os.getuid()


def _alive(pid: int) -> bool:
    if os.name == "nt":
        import ctypes

        handle = ctypes.windll.kernel32.OpenProcess(0x1000, False, pid)  # type: ignore[attr-defined]
        if handle:
            ctypes.windll.kernel32.CloseHandle(handle)  # type: ignore[attr-defined]
        return bool(handle)
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OverflowError:
        return False
    except PermissionError:
        pass
    return True
