"""The mesher that always gives a body: a lattice cut along the surface."""

import numpy as np

from pliant.core.errors import MeshError
from pliant.core.text import counted
from pliant.core.typing import Array, IntArray
from pliant.mesh.bvh import Bvh
from pliant.mesh.conform import conform
from pliant.mesh.isosurface_tets import lattice_points, lattice_tets, stuff
from pliant.mesh.mesh import Surface, boundary_triangles, surface_volume, tet_volumes
from pliant.mesh.surface_distance import hidden
from pliant.mesh.topology import components

SPACING = 1.08  # cube side over edge length: edges are one side, or sqrt(3)/2 of it, long
HALVINGS = 4
LARGEST = 4_000_000  # lattice points
TOLERANCE = 0.1  # of the volume, before the lattice is made finer
CRUMB = 0.01  # parts smaller than this share of the largest are dropped


def lattice(points: Array, triangles: IntArray, edge: float) -> tuple[Array, IntArray, list[str]]:
    """Points (n, 3) and tets (m, 4) of about ``edge`` [m] inside a surface, and notes about them.

    Inside is where the winding number is above one half, so the surface may have holes, cut itself or be a
    soup. Vertices of the boundary lie on the surface where that keeps the tets good. Where the surface is too
    thin for the lattice (the volume is 10 % off), the edge is halved, up to four times.
    """
    tree = Bvh(points, triangles)
    expected = _volume(points, triangles, tree)
    notes: list[str] = []
    for halving in range(HALVINGS + 1):
        fine = edge / 2**halving
        x, tets = _stuffed(points, tree, fine)
        found = float(tet_volumes(x, tets).sum()) if len(tets) else 0.0
        if len(tets) and abs(found - expected) <= TOLERANCE * expected:
            break
        following = SPACING * fine / 2
        if 2 * np.prod(np.ptp(points, axis=0) / following + 3) > LARGEST:
            break
    if not len(tets):
        raise MeshError(
            "The surface encloses no volume that a lattice could fill.",
            hint="Give an open sheet a thickness, or pass a smaller edge.",
        )
    if halving:
        notes.append(
            f"The body is too thin for a lattice of that edge; it has edges {2**halving} times finer."
        )
    if abs(found - expected) > TOLERANCE * expected:
        notes.append(f"The lattice's volume is about {found / expected:.0%} of the surface's.")
    tets, dropped = _main_parts(x, tets)
    if dropped:
        notes.append(
            f"Dropped {counted(dropped, 'loose crumb')} of less than {CRUMB:.0%} of the largest part."
        )
    x = conform(x, tets, points, triangles, 0.5 * fine, 0.6 * fine, exact=False)
    shown = triangles[~hidden(Surface(points, triangles))]
    lost = Bvh(x, boundary_triangles(tets)).nearest(points[shown].mean(axis=1))[1].max()
    if lost > fine:
        notes.append(
            f"Thin parts are missing, up to {lost / fine:.2g} edges from the tets. A smaller edge keeps them."
        )
    return x, tets, notes


def _stuffed(points: Array, tree: Bvh, edge: float) -> tuple[Array, IntArray]:
    """Lattice points and tets inside the surface."""
    low, high = points.min(axis=0), points.max(axis=0)
    a = SPACING * edge
    if 2 * np.prod((high - low) / a + 3) > LARGEST:
        raise MeshError(
            f"An edge of {edge:.4g} m is too small for this body: more than {LARGEST} lattice points.",
            hint="Pass a larger edge.",
        )

    def signed(x: Array) -> Array:
        return np.where(tree.inside(x), 1.0, -1.0) * np.maximum(tree.nearest(x)[1], 1e-9 * a)

    x, cubes = lattice_points(low, high, a)
    value = signed(x)
    return stuff(x, lattice_tets(cubes, value > 0), value, signed)


def _volume(points: Array, triangles: IntArray, tree: Bvh) -> float:
    """The volume inside [m3]: by the share of evenly spread points, or for thin bodies by the surface."""
    i = np.arange(1, 20_001)[:, None]
    spread = (i * np.array([0.8191725133961645, 0.6710436067037893, 0.5497004779019703]) + 0.5) % 1.0
    low, size = points.min(axis=0), np.ptp(points, axis=0)
    inside = int(np.count_nonzero(tree.inside(low + spread * size)))
    if inside > 1000:
        return float(inside / len(spread) * np.prod(size))
    return abs(surface_volume(points, triangles))


def _main_parts(points: Array, tets: IntArray) -> tuple[IntArray, int]:
    """The tets without loose crumbs, and how many crumbs there were."""
    count, part = components(len(points), np.concatenate([tets[:, [0, k]] for k in (1, 2, 3)]))
    volumes = np.bincount(part[tets[:, 0]], tet_volumes(points, tets), count)
    crumbs = (volumes > 0) & (volumes < CRUMB * volumes.max())
    return tets[~crumbs[part[tets[:, 0]]]], int(crumbs.sum())
