"""Work that goes on meanwhile: the next frames are read, and the last rows written, by threads of their own.

Files are read and written, and NumPy works on long arrays, without holding up other threads.
"""

import ctypes
import os
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType
from typing import Any, Self, TypeVar

from pliant.core.typing import AnyArray

T = TypeVar("T")
DEPTH = 4  # things kept ready, or waiting: memory stays flat
PORTION = 16_000_000  # bytes after which the disk is set to work


def ahead(makers: Iterable[Callable[[], T]]) -> Iterator[T]:
    """What the makers make, in order, the next ones being made meanwhile."""
    with ThreadPoolExecutor(1) as pool:
        coming: deque[Future[T]] = deque()
        try:
            for make in makers:
                coming.append(pool.submit(make))
                if len(coming) > DEPTH:
                    yield coming.popleft().result()
            while coming:
                yield coming.popleft().result()
        finally:
            pool.shutdown(cancel_futures=True)


class Prefetched:
    """Sets the disk to work on what a file has got so far, so that not all of it is left for the end.

    Linux has a call for that, which does not wait; elsewhere nothing happens.
    """

    def __init__(self, file: int) -> None:
        self._file, self._waiting = file, 0
        self._start = getattr(ctypes.CDLL(None), "sync_file_range", None) if sys.platform == "linux" else None

    def wrote(self, size: int) -> None:
        """Count ``size`` more bytes."""
        self._waiting += size
        if self._start is not None and self._waiting >= PORTION:
            everything, begin = ctypes.c_int64(0), 2
            self._start(self._file, everything, everything, begin)
            self._waiting = 0


class RowWriter:
    """Writes arrays at given places of a file, one after the other, while its owner makes the next."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._file = os.open(path, os.O_WRONLY | getattr(os, "O_BINARY", 0))
        self._soon = Prefetched(self._file)
        self._pool = ThreadPoolExecutor(1)
        self._waiting: deque[Future[None]] = deque()

    def write(self, values: AnyArray, at: int) -> None:
        """Write an array that is contiguous and does not change any more, ``at`` bytes from the start."""
        data: Any = values
        self._waiting.append(self._pool.submit(self._put, memoryview(data).cast("B"), at))
        if len(self._waiting) > DEPTH:
            self._waiting.popleft().result()

    def _put(self, data: Any, at: int) -> None:
        os.lseek(self._file, at, os.SEEK_SET)
        self._soon.wrote(len(data))
        while len(data):
            data = data[os.write(self._file, data) :]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if error is None:
                for last in self._waiting:
                    last.result()
        finally:
            self._pool.shutdown(cancel_futures=True)
            os.close(self._file)
