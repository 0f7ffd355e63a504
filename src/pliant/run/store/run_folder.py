"""Where a run folder goes, never in place of anything but an older run and never half made; who writes it."""

import glob
import os
import shutil
import sys
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from pliant.core.errors import RunError
from pliant.run.store.manifest import Progress, is_run

LOCK = ".lock"

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
    """One writer per run folder: held from construction until ``release``; RunError where another process
    holds it. The system frees it when its process ends, however it ends."""

    def __init__(self, folder: Path) -> None:
        self._fd = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
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
    with suppress(OSError):
        fd = os.open(folder / LOCK, os.O_RDONLY)
        try:
            return not _try_lock(fd)
        finally:
            os.close(fd)
    return False


def target(path: str | os.PathLike[str]) -> Path:
    """The folder that ``path`` means, wherever the process goes later; a link means what it points to."""
    folder = Path(path).absolute()
    return folder.resolve() if folder.is_symlink() else folder


@contextmanager
def making_place(final: Path, force: bool) -> Iterator[Path]:
    """A fresh draft folder beside ``final``, gone afterwards unless it was put in place.

    RunError where ``final`` is taken: by a run without ``force``, by a run that is being written, or by
    anything that is not a run.
    """
    _check(final, force)
    final.parent.mkdir(parents=True, exist_ok=True)
    _clear_leftovers(final)
    draft = _beside(final)
    draft.mkdir()
    try:
        yield draft
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def put_in_place(draft: Path, final: Path, force: bool) -> None:
    """Give ``draft`` its final name; an older run there goes away, and comes back should this fail."""
    if not _check(final, force):
        try:
            os.rename(draft, final)
        except OSError as error:
            if final.exists():
                raise RunError(f"{final} exists: another process made it just now.") from error
            raise
        return
    old_lock, aside = Lock(final), _beside(final)
    try:
        os.rename(final, aside)
        try:
            os.rename(draft, final)
        except BaseException:
            os.rename(aside, final)
            raise
        shutil.rmtree(aside, ignore_errors=True)
    finally:
        old_lock.release()


def _check(final: Path, force: bool) -> bool:
    """Whether an older run is to be replaced; RunError where ``final`` may not be used."""
    if not os.path.lexists(final):
        return False
    if not is_run(final):
        if force and final.is_dir() and not any(final.iterdir()):
            return True
        what = "a folder that is not a pliant run" if final.is_dir() else "a file"
        raise RunError(f"{final} is {what}; it is not changed.", hint="Choose another name with -o.")
    if not force:
        resume = f"; `pliant resume {final.name}` continues it" if _goes_on(final) else ""
        raise RunError(f"{final} exists.", hint=f"--force replaces it{resume}.")
    Lock(final).release()
    return True


def _goes_on(final: Path) -> bool:
    """Whether the run ``final`` can be resumed."""
    try:
        return Progress.read(final).state != "done"
    except RunError:
        return False


def _beside(final: Path) -> Path:
    return final.with_name(f".{final.name}.tmp-{uuid.uuid4().hex[:12]}")


def _clear_leftovers(final: Path) -> None:
    """Remove drafts of ``final`` that a killed process left; not those of a running process."""
    for left in final.parent.glob(f".{glob.escape(final.name)}.tmp-*"):
        if left.is_symlink() or not left.is_dir() or held(left):
            continue
        if not (left / LOCK).exists() and time.time() - left.stat().st_mtime < 10.0:
            continue  # being made at this instant
        shutil.rmtree(left, ignore_errors=True)


def refuse_existing(path: str | os.PathLike[str], force: bool) -> None:
    """RunError where ``path`` may not be used for a new run; asked before long work begins."""
    final = target(path)
    nearest = next(each for each in final.absolute().parents if os.path.lexists(each))
    if not nearest.is_dir():
        raise RunError(f"Cannot write {final}: {nearest.name} is a file, not a folder.")
    _check(final, force)
