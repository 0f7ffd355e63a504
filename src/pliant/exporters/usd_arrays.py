"""NumPy arrays as arrays of USD."""

import ctypes
from functools import lru_cache
from typing import Any

import numpy as np

from pliant.core.typing import AnyArray

_BLOCK = 4096


def vectors(points: AnyArray) -> Any:
    """Vectors (n, 3) as a Vec3fArray."""
    from pxr import Vt

    if not _fills():
        return Vt.Vec3fArray.FromNumpy(np.ascontiguousarray(points, np.float32))
    array, numbers = _room(len(points))
    np.copyto(numbers, points, casting="same_kind")
    return array


def differences(to: AnyArray, start: AnyArray, factor: float) -> Any:
    """``factor * (to - start)`` as a Vec3fArray, by blocks that stay in the cache."""
    if not _fills():
        return vectors(factor * (to - start))
    array, numbers = _room(len(to))
    work = np.empty((min(_BLOCK, len(to)), 3))
    for first in range(0, len(to), _BLOCK):
        rows = slice(first, first + _BLOCK)
        part = np.subtract(to[rows], start[rows], out=work[: len(to[rows])])
        part *= factor
        numbers[rows] = part
    return array


def integers(numbers: Any) -> Any:
    """Whole numbers of any shape, one after the other, as an IntArray."""
    from pxr import Vt

    return Vt.IntArray.FromNumpy(np.ascontiguousarray(numbers, np.int32).ravel())


def bounds(points: AnyArray) -> AnyArray:
    """The corners (2, 3) of the box around points (n, 3)."""
    row = 2048 if len(points) > 8192 else 64  # long rows: minima of three columns one by one are slow
    whole = len(points) // row * row
    rows = points[:whole].reshape(-1, 3 * row)
    ends = [points[whole:]]
    if whole:
        ends += [rows.min(axis=0).reshape(-1, 3), rows.max(axis=0).reshape(-1, 3)]
    columns = np.ascontiguousarray(np.concatenate(ends).T)
    return np.stack([columns.min(axis=1), columns.max(axis=1)])


def _room(count: int) -> tuple[Any, AnyArray]:
    """A new Vec3fArray and its memory, to be filled before anyone else has seen it: ``FromNumpy`` goes number
    by number, at a quarter of the speed."""
    from pxr import Vt

    array = Vt.Vec3fArray(count)
    if not count:
        return array, np.empty((0, 3), np.float32)
    memory: Any = (ctypes.c_float * (3 * count)).from_address(np.asarray(array).ctypes.data)
    return array, np.frombuffer(memory, np.float32).reshape(-1, 3)


@lru_cache(maxsize=1)
def _fills() -> bool:
    """Whether this USD hands out its arrays' own memory, as all have done so far."""
    array, numbers = _room(2)
    numbers[:] = probe = np.arange(6, dtype=np.float32).reshape(2, 3)
    return bool(np.array_equal(np.array(array), probe))
