"""Neighbours across levels that are on the same side of all cuts."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from pliant.core.typing import Array, BoolArray, IntArray
from pliant.fracture.virtual_nodes import weights_in

_NEAR = (32, 128, 512)  # candidates that are looked at, until one fits


@dataclass(frozen=True)
class CutSides:
    """Whether points or tets are wholly above, or wholly below, each of c cuts, (n, c)."""

    above: BoolArray
    below: BoolArray

    @classmethod
    def none(cls, count: int) -> "CutSides":
        return cls(np.zeros((count, 0), bool), np.zeros((count, 0), bool))

    def of(self, rows: IntArray) -> "CutSides":
        return CutSides(self.above[rows], self.below[rows])

    def separated(self, rows: IntArray, other: "CutSides", there: IntArray) -> BoolArray:
        """Whether ``rows`` (p,) and rows ``there`` (p, k) of ``other`` are on different sides, (p, k)."""
        up, down = self.above[rows][:, None], self.below[rows][:, None]
        return np.asarray(((up & other.below[there]) | (down & other.above[there])).any(axis=2))


def copy_on_same_side(
    sides: CutSides, whole: IntArray, of: IntArray, count: int, other_sides: CutSides
) -> tuple[IntArray, IntArray]:
    """For each row of ``sides`` a copy of the original ``whole`` (p,) that no cut separates from it.

    of (m,): the original of each copy, in order; the first ``count`` may be in an order of their own: 0, 1,
    ... (nodes: the first copy has the original's number). Also gives the rows that have none.
    """
    found, open_ = np.full(len(whole), -1), np.arange(len(whole))
    if count:
        found[:] = np.where(sides.separated(open_, other_sides, whole[:, None])[:, 0], -1, whole)
        open_ = np.flatnonzero(found < 0)
    place = count + np.searchsorted(of[count:], whole[open_])
    while len(open_):
        there = (place < len(of)) & (of[np.minimum(place, len(of) - 1)] == whole[open_])
        open_, place = open_[there], place[there]
        fits = ~sides.separated(open_, other_sides, place[:, None])[:, 0]
        found[open_[fits]] = place[fits]
        open_, place = open_[~fits], place[~fits] + 1
    return found, np.flatnonzero(found < 0)


def nearest_on_same_side(points: Array, sides: CutSides, others: Array, other_sides: CutSides) -> IntArray:
    """The nearest of ``others`` (m, 3) to each point that no cut separates from it."""
    return _search(points, sides, others, other_sides, lambda _, tried: -np.ones(tried.shape).cumsum(axis=1))


def containing_on_same_side(
    points: Array, sides: CutSides, nodes: Array, tets: IntArray, tet_sides: CutSides
) -> IntArray:
    """For each point the tet (p,) near it that no cut separates from it in which its smallest weight is
    largest: the one that contains it, if there is one."""

    def least_weight(rows: IntArray, tried: IntArray) -> Array:
        w = weights_in(np.repeat(points[rows], tried.shape[1], axis=0), nodes[tets[tried.ravel()]])
        return np.asarray(w.min(axis=1).reshape(tried.shape))

    return _search(points, sides, nodes[tets].mean(axis=1), tet_sides, least_weight)


def _search(
    points: Array, sides: CutSides, others: Array, other_sides: CutSides,
    score: Callable[[IntArray, IntArray], Array],
) -> IntArray:  # fmt: skip
    """Of the ``others`` (m, 3) near each point, the one with the highest score that no cut separates from it;
    score: of points (rows) and candidates (p, k), the nearest first."""
    from scipy.spatial import cKDTree

    tree = cKDTree(others)
    found, open_ = np.zeros(len(points), np.int64), np.arange(len(points))
    for near in _NEAR:
        k = np.arange(1, min(near, len(others)) + 1)
        tried = np.asarray(tree.query(points[open_], k=k)[1], np.int64)
        worth = score(open_, tried)
        worth[sides.separated(open_, other_sides, tried)] = -np.inf
        pick = worth.argmax(axis=1)
        each = np.arange(len(open_))
        found[open_] = tried[each, pick]
        open_ = open_[~np.isfinite(worth[each, pick])]
        if not len(open_):
            break
    return found
