"""Each phyxel's share of the volume, the part of the inside that is nearest to it; and phyxels moved to the
middle of theirs.
"""

from collections.abc import Iterator

import numpy as np

from pliant.core.typing import Array, BoolArray
from pliant.structure.samplers.phyxels.inside import InsideTest

FINE = 4  # voxels along a spacing ...
COARSE = 2  # ... for large samplings; even, so that no voxel lies half-way between two lattice nodes
MANY = 20_000
AGREEING = 0.03
_UNTIE = 1e-5 * np.array([0.613, 0.371, 0.697])  # voxels half-way between phyxels go the same way always
_SLAB = 400_000  # voxels at a time
TIMES = 3  # more of them change nothing that can be measured
REACH = 2.5  # spacings: how far below a surface that drew phyxels onto it others are spread
AROUND = 1.2  # spacings: voxels that are further from a phyxel are not its own


def shares(phyxels: Array, solid: InsideTest, spacing: float) -> Array:
    """Volumes (n,) [m3] whose sum is the volume of the body.

    Voxels inside go to the nearest phyxel. Phyxels on faces, edges and corners of a box get 1/2, 1/4, 1/8.
    The sum is corrected to what the surface encloses, unless that is off by more than 3 % (overlapping
    parts, holes); then the voxels are right.
    """
    from scipy.spatial import cKDTree

    tree = cKDTree(phyxels)
    volumes: Array = np.zeros(len(phyxels))
    for voxels, size in voxels_inside(solid, spacing, len(phyxels)):
        volumes += size * np.bincount(tree.query(voxels)[1], minlength=len(phyxels))
    total = float(volumes.sum())
    return volumes * (solid.volume / total) if abs(total / solid.volume - 1.0) < AGREEING else volumes


def voxels_inside(solid: InsideTest, spacing: float, count: int) -> Iterator[tuple[Array, float]]:
    """Slab by slab, the middles of voxels inside the body (v, 3) and the volume of each [m3]; ``count``: how
    many phyxels they are for."""
    per = FINE if count <= MANY else COARSE
    boxes, size = _boxes(solid, spacing)
    radius = 0.5 * float(np.linalg.norm(size))
    steps = [side * ((np.arange(per) + 0.5) / per - 0.5) for side in size]
    offsets = np.stack(np.meshgrid(*steps, indexing="ij"), axis=-1).reshape(-1, 3)
    for start in range(0, len(boxes), _SLAB // len(offsets)):
        centres = boxes[start : start + _SLAB // len(offsets)]
        near = solid.distance(centres)[1] < radius
        whole = centres[~near][solid.inside(centres[~near])]
        voxels = [(whole[:, None] + offsets).reshape(-1, 3)]
        doubtful = (centres[near][:, None] + offsets).reshape(-1, 3)
        voxels.append(doubtful[solid.inside(doubtful)])
        yield np.concatenate(voxels) + spacing * _UNTIE, float(np.prod(size / per))


def _boxes(solid: InsideTest, spacing: float) -> tuple[Array, Array]:
    """Centres and size of boxes of about ``spacing`` that fill the body's box."""
    counts = np.maximum(1, np.round(solid.extent / spacing).astype(np.int64))
    size = solid.extent / counts
    axes = [low + step * (np.arange(n) + 0.5) for low, step, n in zip(solid.low, size, counts, strict=True)]
    return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3), size


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
