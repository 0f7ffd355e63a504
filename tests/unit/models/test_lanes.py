"""Rows of particles into lanes and back: what a plain loop would do, bit for bit."""

import numpy as np
import pytest

from pliant.core.typing import Array
from pliant.kernels import simd_transpose

RNG = np.random.default_rng(2)
INDEX = np.concatenate([RNG.integers(0, 9, 16), [3] * 16]).astype(np.uint32)  # repeats within four, too


def in_lanes(rows: Array) -> Array:
    return np.ascontiguousarray(rows[:, :3].T).ravel()


@pytest.mark.parametrize("columns", [3, 4])
def test_rows_become_lanes(columns: int) -> None:
    array, w = RNG.standard_normal((9, columns)), np.zeros(200)
    simd_transpose.take(array, INDEX, 16, w, 8)
    assert (w[8:56] == in_lanes(array[INDEX[16:]])).all()
    assert not w[:8].any()
    assert not w[56:].any()
    simd_transpose.take(array, INDEX, 0, w, 100)
    simd_transpose.take_from(array, INDEX, 0, w, 150, 8)
    assert (w[150:198] == w[100:148] - w[8:56]).all()


@pytest.mark.parametrize("at", [0, 16])
def test_lanes_are_added_in_order(at: int) -> None:
    w, array = RNG.standard_normal(60), RNG.standard_normal((12, 4))
    wanted, less = array.copy(), array.copy()
    for i, row in enumerate(INDEX[at : at + 16]):
        wanted[row + 2, :3] += w[[5 + i, 21 + i, 37 + i]]
        less[row + 2, :3] -= w[[5 + i, 21 + i, 37 + i]]
    found = array.copy()
    simd_transpose.add(found, 2, INDEX, at, w, 5)
    assert (found == wanted).all()
    simd_transpose.subtract(array, 2, INDEX, at, w, 5)
    assert (array == less).all()


def test_runs_of_rows_go_through_lanes_unchanged() -> None:
    array, w, back = RNG.standard_normal((20, 4)), np.zeros(48), np.zeros((20, 4))
    simd_transpose.take_run(array, 3, w, 0)
    simd_transpose.put_run(back, 3, w, 0)
    assert (back[3:19, :3] == array[3:19, :3]).all()
    assert not back[:3].any()
    assert not back[19:].any()
    assert not back[:, 3].any()


def test_aligned_copies_begin_at_a_cache_line() -> None:
    for size in (1, 7, 100):
        own = simd_transpose.aligned(np.arange(3.0 * size).reshape(size, 3))
        assert own.ctypes.data % 64 == 0
        assert (own.ravel() == np.arange(3.0 * size)).all()
