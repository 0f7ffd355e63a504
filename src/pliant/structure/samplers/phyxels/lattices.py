"""Places of phyxels: the inside of a closed surface, lattices with a layer on the surface, octrees; and each
phyxel's share of the volume, the part of the inside that is nearest to it."""

from collections.abc import Iterator

import numpy as np

from pliant.core.errors import MeshError
from pliant.core.typing import Array, BoolArray, IntArray
from pliant.mesh.bvh import Bvh
from pliant.mesh.edge_length import enclosed
from pliant.mesh.mesh import Surface
from pliant.mesh.triangles import double_areas

TOUCHING = 1e-7  # of the box diagonal: closer counts as on the surface


class InsideTest:
    """Distances and inside tests of a surface in its own coordinates.

    Inside is where the winding number exceeds one half: small holes and overlaps do no harm.
    """

    def __init__(self, surface: Surface) -> None:
        used = surface.points[np.unique(surface.triangles)]
        self.low, self.high = used.min(axis=0), used.max(axis=0)
        self.extent = self.high - self.low
        self.tree = Bvh(surface.points, surface.triangles)
        self.volume = enclosed(surface.points, surface.triangles)
        self.area = float(double_areas(surface.points, surface.triangles).sum() / 2)
        self.tolerance = TOUCHING * float(np.linalg.norm(self.extent))
        if not self.volume > 1e-9 * float(np.linalg.norm(self.extent)) ** 3:
            raise MeshError(
                "The surface encloses no volume.",
                hint="An open sheet cannot be filled: give it a thickness, or close it in a modelling tool.",
            )

    def distance(self, points: Array) -> tuple[Array, Array]:
        """The nearest points of the surface (q, 3) and their distances (q,), those on it exactly zero."""
        nearest, distance, _ = self.tree.nearest(points)
        touching = distance <= self.tolerance
        return np.where(touching[:, None], points, nearest), np.where(touching, 0.0, distance)

    def inside(self, points: Array) -> BoolArray:
        """Whether the surface goes round each point; shape (q,)."""
        return self.tree.inside(points)


FINE = 4  # voxels along a spacing ...
COARSE = 2  # ... for large samplings; even, so that no voxel lies half-way between two lattice nodes
MANY = 20_000
AGREEING = 0.03
UNTIE = 1e-5 * np.array([0.613, 0.371, 0.697])  # voxels half-way between phyxels go the same way always
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
    boxes, size = _boxes(solid, np.maximum(1, np.round(solid.extent / spacing).astype(np.int64)))
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
        yield np.concatenate(voxels) + spacing * UNTIE, float(np.prod(size / per))


def _boxes(solid: InsideTest, counts: IntArray) -> tuple[Array, Array]:
    """Centres (m, 3) and size (3,) of ``counts`` (3,) boxes along each axis that fill the body's box."""
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


SHELL = 0.5  # of the spacing: nodes this near to the surface, on either side, move onto it
FITS = 0.02  # of the spacing: nodes that move less onto the surface fit it
CLOSEST = 0.55  # of the spacing: phyxels on the surface keep this distance from each other
DEEPEST = 9
FIRST = (1, 3, 5, 7)  # boxes along the shortest side to start from: one, or more where that comes nearer
_EIGHT = np.stack(np.meshgrid([-1, 1], [-1, 1], [-1, 1], indexing="ij"), axis=-1).reshape(-1, 3)


def cubic_nodes(solid: InsideTest, spacing: float) -> Array:
    """Nodes of a lattice that fits the box of the body, ``spacing`` rounded to fit along each axis."""
    counts = np.maximum(1, np.round(solid.extent / spacing).astype(np.int64))
    axes = [np.linspace(a, b, n + 1) for a, b, n in zip(solid.low, solid.high, counts, strict=True)]
    return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)


def centred_nodes(solid: InsideTest, spacing: float) -> Array:
    """Nodes and cell centres of a cubic lattice, cells of ``2^(1/3) spacing``: as many per volume."""
    counts = np.maximum(1, np.round(solid.extent / (2.0 ** (1 / 3) * spacing)).astype(np.int64))
    axes = [np.linspace(a, b, n + 1) for a, b, n in zip(solid.low, solid.high, counts, strict=True)]
    middles = [0.5 * (axis[1:] + axis[:-1]) for axis in axes]
    parts = [np.stack(np.meshgrid(*a, indexing="ij"), axis=-1).reshape(-1, 3) for a in (axes, middles)]
    return np.concatenate(parts)


def fitted(nodes: Array, solid: InsideTest, spacing: float) -> tuple[Array, BoolArray]:
    """The nodes inside, and those near the surface moved onto it: one of them per ``spacing``^2; and which of
    them may still move, because they are below others that did.

    A band of nodes one spacing wide has as many nodes as the surface needs. Phyxels on the surface make
    a body as stiff as it should be; a first layer half a spacing inside leaves it too soft.
    """
    from scipy.spatial import cKDTree

    nearest, distance = solid.distance(nodes)
    shell = distance <= SHELL * spacing
    deep = nodes[~shell & solid.inside(nodes)]
    moved = distance[shell] / spacing
    order = np.argsort(np.round(moved, 6), kind="stable")
    surface = nearest[shell][order]
    kept = apart(surface, CLOSEST * spacing)
    strayed = surface[kept & (moved[order] > FITS)]
    points = np.concatenate([deep, surface[kept]])
    free = np.zeros(len(points), bool)
    if len(strayed):
        free[: len(deep)] = np.asarray(cKDTree(strayed).query(deep)[0]) < REACH * spacing
    return points, free


def apart(points: Array, gap: float) -> BoolArray:
    """Which points to keep so that none is nearer than ``gap`` to an earlier kept one."""
    from scipy.spatial import cKDTree

    keep = np.ones(len(points), bool)
    if not len(points):
        return keep
    pairs = np.sort(cKDTree(points).query_pairs(gap, output_type="ndarray"), axis=1)
    for first, second in pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]:
        if keep[first]:
            keep[second] = False
    return keep


def divisions_for(solid: InsideTest, spacing: float) -> tuple[int, int]:
    """With how many boxes along the shortest side to start, and how often to halve them, so that the finest
    are about ``spacing`` wide."""
    wanted = float(solid.extent.min()) / spacing
    ways = [(first, levels) for first in FIRST for levels in range(DEEPEST + 1)]
    return min(ways, key=lambda way: abs(float(np.log(way[0] * 2.0 ** way[1] / wanted))))


def octree_centres(solid: InsideTest, first: int, levels: int) -> tuple[Array, float]:
    """Centres of the boxes that lie inside, and the edge of the finest ones.

    A box that the surface passes through is divided into eight until it has been divided ``levels`` times.
    Differs from the source: "passes through" is judged by the ball around the box; a body that is long, or
    whose count asks for it, starts from several nearly cubic boxes instead of one.
    """
    shape = np.maximum(1, np.round(solid.extent / solid.extent.min()).astype(np.int64))
    boxes, size = _boxes(solid, first * shape)  # nearly cubic
    found = []
    for level in range(levels + 1):
        _, distance = solid.distance(boxes)
        divide = (
            distance < 0.5 * float(np.linalg.norm(size)) if level < levels else np.zeros(len(boxes), bool)
        )
        whole = boxes[~divide]
        found.append(whole[solid.inside(whole)])
        if level < levels:
            size = 0.5 * size
            boxes = (boxes[divide][:, None, :] + 0.5 * size * _EIGHT).reshape(-1, 3)
    return np.concatenate(found), float(size.mean())
