"""Moving the inner points of a tet mesh away from a boundary that cuts close to them."""

import numpy as np

from pliant.core.typing import Array, IntArray
from pliant.mesh.mesh import TetMesh, boundary_triangles, tet_edges

ROUNDS = 60
RINGS = 3  # points up to this many edges from the boundary move
WANTED = 0.5  # of the median of the tets' smallest heights
FARTHEST = 0.25  # of that median: how far a point may go from where it was


def relaxed(mesh: TetMesh) -> TetMesh:
    """The mesh with inner points near the boundary moved so that flat tets there become higher.

    Flat tets set the explicit step of the whole mesh. A tet whose smallest height is below half of the median
    one pushes its inner corners away from their opposite faces; a move counts where no tet gets flat by it.
    Points of the boundary stay, and so do meshes without flat tets.
    """
    x, tets, n = mesh.points.copy(), mesh.tets, len(mesh.points)
    edges = tet_edges(tets)
    fixed = np.zeros(n, bool)
    fixed[boundary_triangles(tets).ravel()] = True
    near = fixed.copy()
    for _ in range(RINGS):
        near[edges[near[edges].any(axis=1)].ravel()] = True
    moving = near & ~fixed
    tets = tets[moving[tets].any(axis=1)]
    if not len(tets):
        return mesh
    height = _smallest_heights(x, tets)
    typical = float(np.median(height))
    wanted = WANTED * typical
    for _ in range(ROUNDS):
        flat = np.flatnonzero(height < wanted)
        if not len(flat):
            break
        push = _pushes(x, tets[flat], wanted - height[flat])
        size = np.linalg.norm(push, axis=1)[:, None]
        push *= np.minimum(1.0, 0.1 * typical / np.maximum(size, 1e-300))
        gone = np.linalg.norm(x + push - mesh.points, axis=1)
        push[gone > FARTHEST * typical] = 0.0
        share = np.where(moving, 0.5, 0.0)
        for _ in range(6):
            trial = x + share[:, None] * push
            after = _smallest_heights(trial, tets)
            worse = after < np.minimum(height, 0.9 * wanted) * (1 - 1e-12)
            if not worse.any():
                break
            share[tets[worse].ravel()] *= 0.25
        else:
            share[np.unique(tets[worse])] = 0.0
            trial = x + share[:, None] * push
            after = _smallest_heights(trial, tets)
            if (after < np.minimum(height, 0.9 * wanted) * (1 - 1e-12)).any():
                break
        x, height = trial, after
    return TetMesh(x, mesh.tets, mesh.groups, mesh.regions, mesh.extra)


def _pushes(x: Array, tets: IntArray, missing: Array) -> Array:
    """How far flat tets want their corners moved away from the opposite faces; the sum over tets."""
    out = np.zeros_like(x)
    for k, face in ((0, (1, 3, 2)), (1, (0, 2, 3)), (2, (0, 3, 1)), (3, (0, 1, 2))):
        p, q, r = (x[tets[:, j]] for j in face)
        normal = np.cross(q - p, r - p)
        move = normal * (missing / np.linalg.norm(normal, axis=1))[:, None]
        for c in range(3):
            out[:, c] += np.bincount(tets[:, k], move[:, c], minlength=len(x))
    return out


def _smallest_heights(x: Array, tets: IntArray) -> Array:
    """The smallest of each tet's four heights; negative for an inverted one."""
    p = x[tets]
    a, b, c = p[:, 1] - p[:, 0], p[:, 2] - p[:, 0], p[:, 3] - p[:, 0]
    normals = (np.cross(b, c), np.cross(c, a), np.cross(a, b), np.cross(b - a, c - a))
    largest = np.max([np.einsum("ij,ij->i", v, v) for v in normals], axis=0)
    return np.asarray(np.einsum("ij,ij->i", np.cross(a, b), c) / np.sqrt(largest))
