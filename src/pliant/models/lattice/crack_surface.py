"""Cracks of lattice bodies as sheets of triangles: faces between voxels, smoothed."""

import numpy as np

from pliant.core.typing import AnyArray, Array, BoolArray, IntArray
from pliant.fracture.cut_carrier import relax_sheet, sheet_rim
from pliant.models.lattice.stiffness import lattice_axes

SHIFT = 2e-3 * np.array([0.613, 0.371, 0.697])  # of the sheet, off the planes of the lattice [spacings]
SMOOTH = 3  # times that corners move towards the middle of those around them


def crack_sheet(rest: Array, spacing: float, edges: IntArray, intact: BoolArray) -> tuple[Array, IntArray]:
    """Faces between voxels whose own connection is broken, as triangles; smoothed inside, and carried on by a
    voxel where the body ends, so that they stick out of it."""
    d = rest[edges[:, 1]] - rest[edges[:, 0]]
    axis_like = np.abs(np.linalg.norm(d, axis=1) - spacing) < 0.1 * spacing
    if not (axis_like & ~intact).any():
        return np.zeros((0, 3)), np.zeros((0, 3), np.int64)
    axes = lattice_axes(d[axis_like])
    index = np.rint((rest - rest[0]) @ axes / spacing).astype(np.int64)
    low = index.min(axis=0) - 2
    size = index.max(axis=0) - low + 3
    grid = np.zeros(size, bool)
    grid[tuple((index - low).T)] = True
    broken = edges[axis_like & ~intact]
    cells = index[broken] - low  # (f, 2, 3)
    step = cells[:, 1] - cells[:, 0]
    normal = np.abs(step).argmax(axis=1)
    lower = np.minimum(cells[:, 0], cells[:, 1])
    faces = {(int(k), *map(int, c)) for k, c in zip(normal, lower, strict=True)}
    for k, *c in sorted(faces):
        faces |= {(k, *place) for place in _outside(grid, k, tuple(c))}
    table = np.array(sorted(faces))
    corners = _corners(table)
    names, square = np.unique(corners.reshape(-1, 3), axis=0, return_inverse=True)
    square = square.reshape(-1, 4)
    triangles = np.concatenate([square[:, [0, 1, 2]], square[:, [0, 2, 3]]])
    points = _smoothed(names.astype(float), triangles, names, grid)
    return rest[0] + (spacing * (points + low - 0.5 + SHIFT)) @ axes.T, triangles


def _outside(grid: AnyArray, k: int, cell: tuple[int, ...]) -> list[tuple[int, ...]]:
    """Cells beside ``cell``, across the face's normal k, where neither of the face's two voxels has a
    neighbour: the face is continued there."""
    found = []
    a, b = [c for c in range(3) if c != k]
    for u in (-1, 0, 1):
        for w in (-1, 0, 1):
            here = list(cell)
            here[a] += u
            here[b] += w
            above = list(here)
            above[k] += 1
            if (u or w) and not grid[tuple(here)] and not grid[tuple(above)]:
                found.append(tuple(here))
    return found


def _corners(table: IntArray) -> IntArray:
    """Corners (f, 4, 3) of faces (normal, lower voxel), in lattice steps from the voxels' lower corners."""
    k, cell = table[:, 0], table[:, 1:]
    rows = np.arange(len(table))
    a, b = (k + 1) % 3, (k + 2) % 3
    base = cell.copy()
    base[rows, k] += 1
    out = np.repeat(base[:, None], 4, axis=1)
    for number, (u, w) in enumerate(((0, 0), (1, 0), (1, 1), (0, 1))):
        out[rows, number, a] += u
        out[rows, number, b] += w
    return out


def _smoothed(points: Array, triangles: IntArray, names: IntArray, grid: AnyArray) -> Array:
    """Corners that lie inside the body move towards the middle of those around them; rims and lines where
    cracks meet stay."""
    still = sheet_rim(triangles, len(points))
    for shift in np.ndindex(2, 2, 2):
        at = names - np.array(shift)
        inside = ((at >= 0) & (at < np.array(grid.shape))).all(axis=1)
        still |= ~(inside & grid[tuple(np.clip(at, 0, np.array(grid.shape) - 1).T)])
    corner, owner = triangles.T.ravel(), np.tile(np.arange(len(triangles)), 3)
    for _ in range(SMOOTH):
        points = relax_sheet(points, triangles, corner, owner, still)
    return points
