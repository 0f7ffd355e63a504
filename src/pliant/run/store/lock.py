"""One writer per run folder. The system frees the lock when its process ends, however it ends."""

import contextlib
import os
import sys
import time
from pathlib import Path

from pliant.core.errors import RunError

NAME = ".lock"

if sys.platform == "win32":  # no flock there: writers are trusted to be alone

    def _try_lock(fd: int) -> bool:
        return True
else:
    import fcntl

    def _try_lock(fd: int) -> bool:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


class Lock:
    """Held from construction until ``release``; RunError where another process holds it."""

    def __init__(self, folder: Path) -> None:
        self._fd = os.open(folder / NAME, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        for _ in range(10):  # a reader that asks whether a writer lives holds it for microseconds
            if _try_lock(self._fd):
                return
            time.sleep(0.01)
        self.release()
        raise RunError(
            f"{folder} is being written by another process.", hint="Wait for it, or stop it, and try again."
        )

    def release(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1


def held(folder: Path) -> bool:
    """Whether some process writes the folder now."""
    with contextlib.suppress(OSError):
        fd = os.open(folder / NAME, os.O_RDONLY)
        try:
            return not _try_lock(fd)
        finally:
            os.close(fd)
    return False
