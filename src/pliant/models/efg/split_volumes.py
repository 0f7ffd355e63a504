"""What the two halves of a divided phyxel get: volume and place."""

from dataclasses import dataclass

import numpy as np

from pliant.core.typing import Array
from pliant.mesh.bvh import Bvh

POINTS = 1500  # in the surroundings of a phyxel, which reach to either side
WIDE = 0.65  # of the way to its six nearest neighbours
SPREAD = 0.819172513396164 ** np.arange(1, 4)  # steps of a sequence that fills a cube evenly
SMALLEST = 0.3  # of the volume before any division: what a half has at least, so none is divided twice


@dataclass(frozen=True)
class SplitHalves:
    """share (2,): of the volume, below and above the plane; offset (2, 3): from where the phyxel was [m]."""

    share: Array
    offset: Array


class CellSamples:
    """Points that stand for the volumes of phyxels at ``rest`` (n, 3) in the body that ``tree`` bounds."""

    def __init__(self, tree: Bvh, rest: Array) -> None:
        from scipy.spatial import cKDTree

        self.tree = tree
        self._near = cKDTree(rest)
        self._points: dict[int, Array] = {}
        self._whole: dict[int, int] = {}  # how many points the site of each had

    def halves(self, i: int, at: Array, normal: Array) -> SplitHalves | None:
        """The halves of phyxel i, of which a plane makes two; None where one would be too small. Each lies
        where the middle of its half cell does, seen from that of the whole, so the common centre stays."""
        points = self._of(i)
        above = (points - at) @ normal > 0.0
        count = np.array([np.count_nonzero(~above), np.count_nonzero(above)])
        if not len(points) or count.min() < SMALLEST * self._whole[i]:
            return None
        share = count / len(points)
        middle = points.mean(axis=0)
        return SplitHalves(
            share, np.stack([points[~above].mean(axis=0), points[above].mean(axis=0)]) - middle
        )

    def divide(self, i: int, at: Array, normal: Array, new: int) -> None:
        """Hand what lies above the plane over to phyxel ``new``."""
        points = self._of(i)
        above = (points - at) @ normal > 0.0
        self._points[i], self._points[new] = points[~above], points[above]
        self._whole[new] = self._whole[i]

    def _of(self, i: int) -> Array:
        if i not in self._points:
            site = self._near.data[i]
            around = np.asarray(self._near.query(site, k=min(7, self._near.n))[0])
            reach = WIDE * float(around[1:].mean())
            points = site + reach * (2.0 * ((0.5 + np.arange(1, POINTS + 1)[:, None] * SPREAD) % 1.0) - 1.0)
            points = points[np.asarray(self._near.query(points)[1]) == i]
            self._points[i] = points[self.tree.inside(points)]
            self._whole[i] = len(self._points[i])
        return self._points[i]
