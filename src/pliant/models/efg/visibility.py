r"""Whom cracks hide from whom.

Pairs whose line passes through a sheet do not see each other [BelytschkoLuGu1994]_, but close to the front
they still do a little: their distance counts as :math:`r + h (2 d_s / (\kappa h))^2`, where d_s is how far
from the front the line passes through ([OrganFlemingTerryBelytschko1996]_, in the form of
[PaulyKeiserAdams2005]_); so weights fade as a crack passes. Pieces do not see each other at all.
"""

import numpy as np

from pliant.models.efg.crossings import crossed
from pliant.models.efg.support import Support, poly6, weighted
from pliant.typing import Array, IntArray

KAPPA = 0.8  # how far transparency reaches, in supports
_SHIFT = np.array([0.0061, 0.0037, 0.0069])  # of the spacing: lines along the lattice miss edges of faces


class Visibility:
    """Lines between phyxels at ``rest`` that pass through sheets; ``whole``: the support without cracks."""

    def __init__(self, whole: Support, rest: Array, spacing: float) -> None:
        self.whole, self.rest, self.spacing = whole, rest, spacing
        rows = whole.rows
        self.d = rest[whole.around] - rest[rows]
        self.lines = np.flatnonzero(rows < whole.around)  # each pair once
        self._row, self._near = rows[self.lines], whole.around[self.lines]
        key = rows.astype(np.int64) * len(rest) + whole.around
        back = self._near.astype(np.int64) * len(rest) + self._row
        self._twin = np.searchsorted(key, back)  # the same pairs the other way round
        self._reach = 0.5 * (whole.h[self._row] + whole.h[self._near])
        self.clear()

    def clear(self) -> None:
        """Forget all sheets."""
        self.hit: IntArray = np.zeros(0, np.int64)  # places in ``lines``, one per line and triangle
        self.where = np.zeros((0, 3))

    def block(self, corners: Array) -> None:
        """Take notice of new triangles ``corners`` (t, 3, 3)."""
        from scipy.spatial import cKDTree

        moved = corners + self.spacing * _SHIFT
        reach = float(self.whole.h.max()) + 2.0 * self.spacing
        near = np.asarray(cKDTree(moved.mean(axis=1)).query(self.rest, distance_upper_bound=reach)[0]) < reach
        tried = np.flatnonzero(near[self._row] & near[self._near])
        line, where = crossed(self.rest[self._row[tried]], self.d[self.lines[tried]], moved)
        self.hit = np.concatenate([self.hit, tried[line]])
        self.where = np.concatenate([self.where, where])

    def support(self, label: IntArray, front: Array) -> Support:
        """The support with cracks: ``label`` (n,) the pieces, ``front`` (k, 3) points along the fronts."""
        whole = self.whole
        weight = whole.weight.copy()
        if len(self.hit):
            line, h = self.lines[self.hit], self._reach[self.hit]
            r = np.linalg.norm(self.d[line], axis=1)
            r = r + h * (2.0 * _distance(self.where, front) / (KAPPA * h)) ** 2
            np.minimum.at(weight, line, poly6(r * r, h, float(whole.h.mean())))
        weight[self.lines[label[self._row] != label[self._near]]] = 0.0
        weight[self._twin] = weight[self.lines]
        return weighted(whole.h, whole.starts, whole.around, weight, self.d)


def _distance(points: Array, front: Array) -> Array:
    from scipy.spatial import cKDTree

    if not len(front):
        return np.full(len(points), np.inf)
    return np.asarray(cKDTree(front).query(points)[0])
