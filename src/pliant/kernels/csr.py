"""Compressed rows (CSR): which entries of a table of indices refer to each row."""

import numpy as np

from pliant.core.typing import AnyArray, IntArray


def incidence(index: AnyArray, count: int) -> tuple[IntArray, IntArray]:
    """The entries of ``index`` (any shape, values 0 to ``count`` - 1) that refer to each of ``count`` rows.

    Returns (entries, starts): those of row i are ``entries[starts[i] : starts[i + 1]]``, flat positions in
    ``index`` in ascending order. For elements (m, k), entry e is the corner ``e % k`` of element ``e // k``.
    """
    flat = index.ravel()
    starts = np.zeros(count + 1, np.int64)
    np.cumsum(np.bincount(flat, minlength=count), out=starts[1:])
    return np.argsort(flat, kind="stable"), starts


def take_rows(starts: IntArray, values: IntArray, rows: IntArray) -> tuple[IntArray, IntArray]:
    """Some rows of a table in compressed rows, in the same form."""
    sizes = np.diff(starts)[rows]
    ends = np.concatenate([[0], np.cumsum(sizes)])
    place = np.repeat(starts[rows] - ends[:-1], sizes) + np.arange(int(ends[-1]))
    return ends, values[place]


def edge_incidence(edges: IntArray, count: int) -> tuple[IntArray, IntArray, IntArray]:
    """Edges (m, 2) listed by their ends: starts (n + 1,), and the other end and number of each (2 m,)."""
    entries, starts = incidence(edges.T, count)
    which, end = entries % len(edges), entries // len(edges)
    return starts, edges[which, 1 - end], which
