"""Phyxels below a surface that does not fit the lattice, spread evenly."""

import numpy as np

from pliant.core.typing import Array, BoolArray
from pliant.structure.samplers.phyxels.inside import InsideTest
from pliant.structure.samplers.phyxels.voronoi_volumes import voxels_inside

TIMES = 3  # more of them change nothing that can be measured
REACH = 2.5  # spacings: how far below a surface that drew phyxels onto it others are spread
AROUND = 1.2  # spacings: voxels that are further from a phyxel are not its own


def relaxed(points: Array, free: BoolArray, solid: InsideTest, spacing: float) -> Array:
    """``points`` (n, 3), those that are ``free`` (n,) in the middle of what is nearest to them (Lloyd).

    Where phyxels are spread unevenly, a body under an even stress is not in balance, because each stands for
    its surroundings by one sum, and gives way: a bent bar was 6 to 9 % too soft, however fine; now 2 to 5 %.
    """
    from scipy.spatial import cKDTree

    if not free.any():
        return points
    skin, parts = cKDTree(points[free]), []
    for voxels, _ in voxels_inside(solid, spacing, len(points)):
        gap = np.asarray(skin.query(voxels, distance_upper_bound=AROUND * spacing)[0])
        parts.append(voxels[np.isfinite(gap)])
    near, points = np.concatenate(parts), points.copy()
    for _ in range(TIMES):
        owner = np.asarray(cKDTree(points).query(near)[1])
        count = np.bincount(owner, minlength=len(points))
        moved = free & (count > 0)
        for c in range(3):
            points[moved, c] = np.bincount(owner, near[:, c], len(points))[moved] / count[moved]
    return points
