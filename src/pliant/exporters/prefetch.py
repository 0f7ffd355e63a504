"""Work that goes on meanwhile: the next frames are read, and the last rows written, by threads of their own.

Files are read and written, and NumPy works on long arrays, without holding up other threads.
"""

import ctypes
import os
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

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


@contextmanager
def row_writer(path: str | os.PathLike[str]) -> Iterator[Callable[[AnyArray, int], None]]:
    """Gives a function that writes an array, which is contiguous and does not change any more, so many bytes
    from the start of a file; arrays go one after the other while the caller makes the next."""
    file = os.open(path, os.O_WRONLY | getattr(os, "O_BINARY", 0))
    soon, pool = Prefetched(file), ThreadPoolExecutor(1)
    waiting: deque[Future[None]] = deque()

    def put(data: memoryview, at: int) -> None:
        os.lseek(file, at, os.SEEK_SET)
        soon.wrote(len(data))
        while len(data):
            data = data[os.write(file, data) :]

    def write(values: AnyArray, at: int) -> None:
        waiting.append(pool.submit(put, values.data.cast("B"), at))
        if len(waiting) > DEPTH:
            waiting.popleft().result()

    try:
        yield write
        for last in waiting:
            last.result()
    finally:
        pool.shutdown(cancel_futures=True)
        os.close(file)
