r"""Visibility: which phyxels cracks hide from each other.

Pairs whose line passes through a sheet do not see each other [BelytschkoLuGu1994]_, but close to the front
they still do a little: their distance counts as :math:`r + h (2 d_s / (\kappa h))^2`, where d_s is how far
from the front the line passes through ([OrganFlemingTerryBelytschko1996]_, in the form of
[PaulyKeiserAdams2005]_); so weights fade as a crack passes. Pieces do not see each other at all.
"""

# mypy: disable-error-code="no-untyped-def"

import numpy as np

from pliant.core.typing import Array, BoolArray, IntArray
from pliant.kernels.jit import jit
from pliant.models.efg.support import MlsSupport, poly6, weighted

KAPPA = 0.8  # how far transparency reaches, in supports
_SHIFT = np.array([0.0061, 0.0037, 0.0069])  # of the spacing: lines along the lattice miss edges of faces


class Visibility:
    """Lines between phyxels at ``rest`` that pass through sheets; ``whole``: the support without cracks, its
    weights in units of ``unit`` (see ``poly6``)."""

    def __init__(self, whole: MlsSupport, rest: Array, spacing: float, unit: float) -> None:
        self.whole, self.rest, self.spacing = whole, rest, spacing
        rows = whole.rows
        self.d = rest[whole.around] - rest[rows]
        self.lines = np.flatnonzero(rows < whole.around)  # each pair once
        self._row, self._near = rows[self.lines], whole.around[self.lines]
        key = rows.astype(np.int64) * len(rest) + whole.around
        back = self._near.astype(np.int64) * len(rest) + self._row
        self._twin = np.searchsorted(key, back)  # the same pairs the other way round
        self.unit = unit
        self._reach = 0.5 * (whole.h[self._row] + whole.h[self._near])
        self.clear()

    def clear(self) -> None:
        """Forget all sheets."""
        self.hit: IntArray = np.zeros(0, np.int64)  # places in ``lines``, one per line and triangle
        self.where = np.zeros((0, 3))

    def followed(self, whole: MlsSupport, rest: Array, moved: IntArray, corners: Array) -> "Visibility":
        """The same after phyxels ``moved`` or came; ``corners`` (t, 3, 3): the triangles of all sheets."""
        new, n = Visibility(whole, rest, self.spacing, self.unit), len(rest)
        still = np.ones(n, bool)
        still[moved] = False
        known = np.flatnonzero(still[self._row[self.hit]] & still[self._near[self.hit]])
        key = self._row[self.hit[known]].astype(np.int64) * n + self._near[self.hit[known]]
        new.hit = np.searchsorted(new._row.astype(np.int64) * n + new._near, key)
        new.where = self.where[known]
        new.block(corners, ~(still[new._row] & still[new._near]))
        return new

    def block(self, corners: Array, lines: BoolArray | None = None) -> None:
        """Take notice of new triangles ``corners`` (t, 3, 3), for some of the lines only where given."""
        from scipy.spatial import cKDTree

        if not len(corners):
            return
        moved = corners + self.spacing * _SHIFT
        reach = float(self.whole.h.max()) + 2.0 * self.spacing
        near = np.asarray(cKDTree(moved.mean(axis=1)).query(self.rest, distance_upper_bound=reach)[0]) < reach
        close = near[self._row] & near[self._near]
        tried = np.flatnonzero(close if lines is None else close & lines)
        line, where = crossed(self.rest[self._row[tried]], self.d[self.lines[tried]], moved)
        self.hit = np.concatenate([self.hit, tried[line]])
        self.where = np.concatenate([self.where, where])

    def _lines_of(self, pairs: IntArray) -> tuple[IntArray, IntArray]:
        """Hidden lines that are ``pairs`` (m, 2) of phyxels, and the places of these."""
        hidden = np.unique(self.hit)
        key = self._row[hidden].astype(np.int64) * len(self.rest) + self._near[hidden]
        wanted = pairs.min(axis=1) * len(self.rest) + pairs.max(axis=1)
        order = np.argsort(wanted)
        place = np.minimum(np.searchsorted(wanted[order], key), len(wanted) - 1)
        there = wanted[order][place] == key
        return hidden[there], order[place[there]]

    def slopes(self, values: Array) -> Array:
        """Gradients (n, 3) of what has the ``values`` (n,) at the phyxels, by least squares, cracks apart."""
        whole, rows = self.whole, self.whole.rows
        rise = whole.weight * (values[whole.around] - values[rows])
        total = np.stack([np.bincount(rows, rise * self.d[:, c], len(values)) for c in range(3)], axis=1)
        return np.asarray(np.einsum("nij,njk,nk->ni", whole.projector, whole.inverse, total))

    def support(
        self, label: IntArray, front: Array, joined: IntArray, share: Array, known: MlsSupport
    ) -> MlsSupport:
        """The support with cracks: ``label`` (n,) the pieces, ``front`` (k, 3) points along the fronts;
        ``joined`` (m, 2): phyxels that keep at least the ``share`` (m,) of their weight; ``known``: the last
        one, of which what has not changed is taken over."""
        whole = self.whole
        weight = whole.weight.copy()
        if len(self.hit):
            line, h = self.lines[self.hit], self._reach[self.hit]
            r = np.linalg.norm(self.d[line], axis=1)
            far = 0.5 * KAPPA * float(whole.h.max())
            r = r + h * (2.0 * _distance(self.where, front, far) / (KAPPA * h)) ** 2
            np.minimum.at(weight, line, poly6(r * r, h, self.unit))
            own, face = self._lines_of(joined)
            line = self.lines[own]
            weight[line] = np.maximum(weight[line], (share[face] * whole.weight[line]).astype(np.float32))
        weight[self.lines[label[self._row] != label[self._near]]] = 0.0
        weight[self._twin] = weight[self.lines]
        same = known if len(known.around) == len(whole.around) else None
        return weighted(self.rest, whole.h, whole.starts, whole.around, weight, same)


def _distance(points: Array, front: Array, most: float) -> Array:
    """How far points are from the nearest one of the front; infinite beyond ``most``."""
    from scipy.spatial import cKDTree

    if not len(front):
        return np.full(len(points), np.inf)
    return np.asarray(cKDTree(front).query(points, distance_upper_bound=most)[0])


@jit
def _hits(start, d, low, high, triangles, line, where, write):
    """Write the hits, or count them; Moeller and Trumbore's test, with a box in front of it."""
    count = 0
    for t in range(triangles.shape[0]):
        a, b, c = triangles[t, 0], triangles[t, 1], triangles[t, 2]
        lo0, lo1, lo2 = min(a[0], b[0], c[0]), min(a[1], b[1], c[1]), min(a[2], b[2], c[2])
        hi0, hi1, hi2 = max(a[0], b[0], c[0]), max(a[1], b[1], c[1]), max(a[2], b[2], c[2])
        e0, e1, e2 = b[0] - a[0], b[1] - a[1], b[2] - a[2]
        g0, g1, g2 = c[0] - a[0], c[1] - a[1], c[2] - a[2]
        for k in range(start.shape[0]):
            if low[k, 0] > hi0 or high[k, 0] < lo0 or low[k, 1] > hi1 or high[k, 1] < lo1:
                continue
            if low[k, 2] > hi2 or high[k, 2] < lo2:
                continue
            d0, d1, d2 = d[k, 0], d[k, 1], d[k, 2]
            p0, p1, p2 = d1 * g2 - d2 * g1, d2 * g0 - d0 * g2, d0 * g1 - d1 * g0
            det = p0 * e0 + p1 * e1 + p2 * e2
            if abs(det) < 1e-300:
                continue
            r0, r1, r2 = start[k, 0] - a[0], start[k, 1] - a[1], start[k, 2] - a[2]
            u = (r0 * p0 + r1 * p1 + r2 * p2) / det
            if u < 0.0 or u > 1.0:
                continue
            q0, q1, q2 = r1 * e2 - r2 * e1, r2 * e0 - r0 * e2, r0 * e1 - r1 * e0
            v = (d0 * q0 + d1 * q1 + d2 * q2) / det
            s = (g0 * q0 + g1 * q1 + g2 * q2) / det
            if v < 0.0 or u + v > 1.0 or s < 0.0 or s > 1.0:
                continue
            if write:
                line[count] = k
                where[count, 0] = start[k, 0] + s * d0
                where[count, 1] = start[k, 1] + s * d1
                where[count, 2] = start[k, 2] + s * d2
            count += 1
    return count


def crossed(start: Array, d: Array, triangles: Array) -> tuple[IntArray, Array]:
    """The segments ``start + s d`` (m, 3) that pass through ``triangles`` (t, 3, 3), and where; one entry for
    each segment and triangle."""
    low, high = np.minimum(start, start + d), np.maximum(start, start + d)
    line, where = np.zeros(0, np.int64), np.zeros((0, 3))
    count = _hits(start, d, low, high, triangles, line, where, False)
    line, where = np.zeros(count, np.int64), np.zeros((count, 3))
    _hits(start, d, low, high, triangles, line, where, True)
    return line, where
