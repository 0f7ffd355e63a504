"""NumPy arrays as arrays of USD."""

import ctypes
from functools import lru_cache
from typing import Any

import numpy as np

from pliant.typing import AnyArray, Array


def vectors(points: AnyArray) -> Any:
    """Vectors (n, 3) as a Vec3fArray."""
    from pxr import Vt

    data = np.ascontiguousarray(points, np.float32)
    return _filled(data) if _fills() else Vt.Vec3fArray.FromNumpy(data)


def integers(numbers: Any) -> Any:
    """Whole numbers of any shape, one after the other, as an IntArray."""
    from pxr import Vt

    return Vt.IntArray.FromNumpy(np.ascontiguousarray(numbers, np.int32).ravel())


def bounds(points: Array) -> Array:
    """The corners (2, 3) of the box around points (n, 3)."""
    whole = len(points) // 64 * 64  # long rows: minima of three columns one by one are slow
    rows = points[:whole].reshape(-1, 192)
    ends = [points[whole:]]
    if whole:
        ends += [rows.min(axis=0).reshape(-1, 3), rows.max(axis=0).reshape(-1, 3)]
    last = np.concatenate(ends)
    return np.stack([last.min(axis=0), last.max(axis=0)])


def _filled(data: AnyArray) -> Any:
    """A new array filled before anyone else has seen it: ``FromNumpy`` goes number by number, at a quarter of
    the speed."""
    from pxr import Vt

    array = Vt.Vec3fArray(len(data))
    ctypes.memmove(np.asarray(array).ctypes.data, data.ctypes.data, data.nbytes)
    return array


@lru_cache(maxsize=1)
def _fills() -> bool:
    """Whether this USD hands out its arrays' own memory, as all have done so far."""
    probe = np.arange(6, dtype=np.float32).reshape(2, 3)
    return bool(np.array_equal(np.array(_filled(probe)), probe))
