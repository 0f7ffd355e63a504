"""Compilation settings shared by all kernels, and the number of threads.

Kernels follow three rules. The work is cut into partitions whose number depends on the problem alone, so
that threads only choose who does a partition and the bytes do not depend on them. Below ``SERIAL_ROWS``
rows the serial version of a ``twin`` runs: a parallel loop would lose there. Nothing is compiled with
``fastmath``.

This module imports the compiler: import it only from kernel modules, inside ``prepare``.
"""

import os
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from types import FunctionType
from typing import Any

import numba
from numba.core.compiler_lock import global_compiler_lock

from pliant.core.tables import TableView
from pliant.core.typing import Kernel
from pliant.kernels.kernel_cache import LOCATOR, kernel_folder

try:
    import fcntl
except ImportError:  # not on Windows
    fcntl = None  # type: ignore[assignment]

SERIAL_ROWS = 5000
LIGHT_ROWS = 100_000  # of passes that take a millisecond: below, waiting for a second thread may take longer
ROW_PARTITIONS = 64  # of a loop over rows, at most


numba.config.THREADING_LAYER = "omp"
prange: Kernel = numba.prange


inlined: Kernel = numba.njit(inline="always", error_model="numpy")
"""Decorates functions that are written into their compiled caller."""


def jit(function: Kernel) -> Kernel:
    """A compiled function, kept on disk."""
    return _compiled(function)


def parallel_jit(function: Kernel) -> Kernel:
    """As ``jit``, with loops over ``prange`` shared by the threads."""
    return _compiled(function, parallel=True)


def specialised(
    function: Kernel, name: str, meanings: TableView, parallel: bool = False, cache: bool = True
) -> Kernel:
    """A compiled copy of the plain ``function`` in whose body the global names ``meanings`` stand for those
    things, compiled functions mostly: a loop that serves any constitutive law is written once, and compiled
    for each law that is in use. ``name`` tells the copies apart on disk; cache: whether it is kept there.
    """
    copy = FunctionType(function.__code__, {**function.__globals__, **meanings}, function.__name__)
    copy.__qualname__, copy.__doc__ = f"{function.__qualname__}_{name}", function.__doc__
    return _compiled(copy, parallel, cache, meanings.values())


def specialised_twin(
    function: Kernel, name: str, meanings: TableView, cache: bool = True
) -> tuple[Kernel, Kernel]:
    """``specialised`` for one thread and for all, as ``twin`` does it."""
    parallel = specialised(function, f"{name}_parallel", meanings, parallel=True, cache=cache)
    return specialised(function, name, meanings, cache=cache), parallel


def twin(function: Kernel) -> tuple[Kernel, Kernel]:
    """Compile a function with loops over ``prange`` twice, for one thread and for all; both are kept on
    disk. Called as ``kernel[parallel](*arguments)``.

    The parallel version is a copy named ``<name>_parallel``, as numba finds kernels on disk by file and name.
    Both give the same bytes if each pass of a loop writes to places, and adds up numbers, of its own.
    """
    name = f"{function.__name__}_parallel"
    copy = FunctionType(function.__code__, function.__globals__, name, function.__defaults__)
    copy.__qualname__ = f"{function.__qualname__}_parallel"
    return jit(function), parallel_jit(copy)


def _compiled(
    function: Kernel, parallel: bool = False, cache: bool = True, uses: Iterable[object] = ()
) -> Kernel:
    """A function that is compiled when it is first called, kept in the folder of its sources and of those
    of the functions among ``uses``.

    Of several processes that want it at the same time, one compiles it; the others wait for it. Locks are
    taken from the caller of a function to what it calls, so that nobody waits in a circle.
    """
    used = (getattr(getattr(each, "py_func", each), "__module__", None) for each in uses)
    folder = kernel_folder([function.__module__, *(name for name in used if name)])
    config = numba.config
    before = config.CACHE_DIR, config.CACHE_LOCATOR_CLASSES
    config.CACHE_DIR, config.CACHE_LOCATOR_CLASSES = folder, LOCATOR if folder else ""
    try:  # numba chooses the place of a kernel here
        kernel = numba.njit(cache=cache, error_model="numpy", parallel=parallel)(function)
    finally:
        config.CACHE_DIR, config.CACHE_LOCATOR_CLASSES = before
    plain, lock = kernel.compile, f"{function.__module__}.{function.__qualname__}.lock"

    def compile(signature: Any) -> Any:
        with global_compiler_lock, _alone(folder, lock):
            try:
                return plain(_shared(signature))
            except numba.TypingError:  # a number that decides about types, an index into a tuple say
                return plain(signature)

    kernel.compile = compile
    return kernel


def _shared(signature: Any) -> Any:
    """Types of arguments so that both versions of a ``twin`` call the same version of what they share: a
    whole number that the caller writes (a 0 at which a loop starts) is as good as any other.

    The index of a parallel loop is unsigned to numba: where it is handed on, say ``np.int64(p)``.
    """
    if not isinstance(signature, tuple):
        return signature
    literal, plain = numba.types.IntegerLiteral, numba.types.unliteral
    return tuple(plain(each) if isinstance(each, literal) else each for each in signature)


@contextmanager
def _alone(folder: str, name: str) -> Iterator[None]:
    """Hold the lock of a kernel among processes that share the folder of kernels."""
    with ExitStack() as held:
        if fcntl is not None and folder:
            with suppress(OSError):  # a folder that cannot be written, or has no locks
                fcntl.flock(held.enter_context(Path(folder, name).open("w")), fcntl.LOCK_EX)
        yield


def packing(kernels: tuple[Kernel, Kernel]) -> tuple[Kernel, Kernel]:
    """Decorates a ``twin`` whose straight-line code should become packed instructions too (the four values of
    a row, say). numba leaves that off: it slows some loops down that are packed as loops already."""
    for kernel in kernels:
        kernel.compile = _packed(kernel.compile)
    return kernels


def _packed(plain: Kernel) -> Kernel:
    def compile(signature: Any) -> Any:
        before = numba.config.SLP_VECTORIZE
        numba.config.SLP_VECTORIZE = 1
        try:
            return plain(signature)
        finally:
            numba.config.SLP_VECTORIZE = before

    return compile


@jit
def partition_count(rows: int) -> int:
    """The number of partitions of a loop over ``rows``, each of 64 rows or more (or all there are)."""
    return max(1, min(ROW_PARTITIONS, rows // 64))


@jit
def partition(p: int, rows: int) -> tuple[int, int]:
    """The first row of partition ``p`` of a loop over ``rows``, and the one after its last."""
    count = partition_count(rows)
    return p * rows // count, (p + 1) * rows // count


def set_threads(count: int | None) -> int:
    """Use ``count`` threads (None: all that this process may have); returns the number in use."""
    available = numba.config.NUMBA_NUM_THREADS
    chosen = available if count is None else max(1, min(count, available))
    numba.set_num_threads(chosen)
    return int(chosen)


def threads_in_use() -> int:
    """The number of threads that parallel loops use now."""
    return int(numba.get_num_threads())


def use_threads(count: int) -> None:
    """Let parallel loops use ``count`` threads from now on; the bytes do not depend on it."""
    numba.set_num_threads(count)


def threading_layer() -> str:
    """The layer in use, after running one parallel loop; anything but "omp" is slow per call."""
    _touch()
    return str(numba.threading_layer())


@parallel_jit
def _touch() -> int:
    total = 0
    for i in prange(2):
        total += i
    return total


def core_count() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
