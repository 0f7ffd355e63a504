"""Cells around phyxels: where a body can come apart."""

from dataclasses import dataclass

import numpy as np

from pliant.mesh.tree import Tree
from pliant.mesh.types import Surface
from pliant.typing import Array, BoolArray, IntArray

TINY = 0.02  # of the spacing: corners of cells that are nearer to each other are one
_GHOSTS = 0.85  # of the spacing: empty places get a point of their own, whose cells are nobody's
_AROUND = 2  # layers of them


@dataclass(frozen=True)
class Cells:
    """The faces between the Voronoi cells of phyxels, in the rest shape.

    points (p, 3): corners; outside (p,): those that lie outside the body; pairs (f, 2): the two phyxels of
    each face; loops: the corners of each face in order; area (f,) [m2]; triangles (t, 3) with their face
    ``of`` (t,): the faces cut into triangles.
    """

    points: Array
    outside: BoolArray
    pairs: IntArray
    loops: list[IntArray]
    area: Array
    triangles: IntArray
    of: IntArray


def voronoi_cells(rest: Array, spacing: float, surface: Surface) -> Cells:
    """Cells of phyxels at ``rest`` (n, 3), bounded by ghosts around the body; corners close to each other
    become one, and faces that have no area then are left out. ``surface``: that of the body."""
    from scipy.spatial import Voronoi, cKDTree

    count = len(rest)
    found = Voronoi(np.concatenate([rest, _ghosts(rest, spacing)]))
    own = (found.ridge_points < count).all(axis=1)
    ridges = [found.ridge_vertices[k] for k in np.flatnonzero(own)]
    pairs = np.sort(found.ridge_points[own], axis=1).astype(np.int64)
    merged, points = _merged(found.vertices, TINY * spacing, cKDTree)
    loops, kept = [], []
    for k, ridge in enumerate(ridges):
        if -1 in ridge:
            continue
        loop = merged[ridge]
        loop = loop[loop != np.roll(loop, 1)]
        if len(np.unique(loop)) == len(loop) >= 3:
            loops.append(loop)
            kept.append(k)
    area = np.array([_area(points[loop]) for loop in loops])
    outside = ~Tree(surface.points, surface.triangles).inside(points)
    chosen = np.flatnonzero(area > (2.0 * TINY * spacing) ** 2)
    loops = [loops[k] for k in chosen]
    order = pairs[np.array(kept, np.int64)[chosen]]
    fans = [np.column_stack([np.full(len(p) - 2, p[0]), p[1:-1], p[2:]]) for p in loops]
    of = np.repeat(np.arange(len(loops)), [len(f) for f in fans])
    triangles = np.concatenate(fans) if fans else np.zeros((0, 3), np.int64)
    return Cells(points, outside, order, loops, area[chosen], triangles, of)


def _ghosts(rest: Array, spacing: float) -> Array:
    """Points on a grid around the body, away from its phyxels."""
    from scipy.spatial import cKDTree

    low, high = rest.min(axis=0) - _AROUND * spacing, rest.max(axis=0) + _AROUND * spacing
    axes = [np.linspace(a, b, max(2, round((b - a) / spacing) + 1)) for a, b in zip(low, high, strict=True)]
    grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
    return grid[np.asarray(cKDTree(rest).query(grid)[0]) > _GHOSTS * spacing]


def _merged(points: Array, gap: float, tree: type) -> tuple[IntArray, Array]:
    """Numbers of the points once those within ``gap`` of each other are one, and the middles of these."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    near = tree(points).query_pairs(gap, output_type="ndarray")
    graph = coo_array((np.ones(len(near)), (near[:, 0], near[:, 1])), shape=(len(points),) * 2)
    count, label = connected_components(graph, directed=False)
    size = np.bincount(label, minlength=count)
    middle = np.stack([np.bincount(label, points[:, c], count) / size for c in range(3)], axis=1)
    return label.astype(np.int64), middle


def _area(loop: Array) -> float:
    d = loop[1:] - loop[0]
    return 0.5 * float(np.linalg.norm(np.cross(d[:-1], d[1:]).sum(axis=0)))
