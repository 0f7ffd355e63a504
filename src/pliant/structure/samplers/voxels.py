"""The sampler for the lattice model: an element in the middle of every voxel inside a closed surface, and the
surface that the connected elements sweep.
"""

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from pliant.core.errors import MeshError
from pliant.core.typing import Array, BoolArray, IntArray
from pliant.embedding.mls import carried_by_elements
from pliant.interfaces import Geometry, Structure
from pliant.mesh.mesh import Surface, surface_volume

if TYPE_CHECKING:
    from pliant.materials import ResolvedMaterial as Material

ELEMENTS = 1200  # unless an edge length is given
CRUMB = 0.02  # pieces smaller than this share of the largest do not count
MOST = 20_000_000  # voxels of the box around the body
HALF = tuple(
    (x, y, z) for x, y, z in product((-1, 0, 1), repeat=3) if (x, y, z) > (0, 0, 0)
)  # one of each pair of neighbours
CORNERS = ((0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1))
_FACES = ((0, 3, 2, 1), (4, 5, 6, 7), (0, 1, 5, 4), (1, 2, 6, 5), (2, 3, 7, 6), (3, 0, 4, 7))
_SQUARES = (
    ((1, 0, 0), (1, 1, 0), (0, 1, 0)),
    ((0, 1, 0), (0, 1, 1), (0, 0, 1)),
    ((0, 0, 1), (1, 0, 1), (1, 0, 0)),
)


@dataclass(frozen=True)
class VoxelSampler:
    """Elements on a cubic lattice of spacing a (the body's ``edge``), connected to their 26 neighbours.

    The lattice lies along the body's own axes, turned further by ``turn`` (3, 3) where given, and is centred
    on the body's box; a voxel belongs to the body if its centre is inside ([JanssonVergeest2000]_ 4.3).
    Elements share the mass of the volume inside the surface evenly. Crumbs, a few voxels beyond a part
    that is too thin for the lattice, are left out: they would fall off.
    """

    turn: Array | None = None

    def sample(self, geometry: Geometry, material: "Material") -> Structure:
        surface = geometry.surface()
        axes = geometry.turn if self.turn is None else geometry.turn @ self.turn
        volume = abs(surface_volume(surface.points, surface.triangles))
        extent = np.ptp(surface.points @ axes, axis=0)
        if not volume > 1e-9 * float(np.linalg.norm(extent)) ** 3:
            raise MeshError("The surface encloses no volume.", hint="Elements need a closed surface.")
        spacing = geometry.spacing() or float(np.cbrt(volume / ELEMENTS))
        rest, cells, text = sampled_voxels(surface, axes, spacing)
        if text and geometry.diagnostics is not None:
            geometry.diagnostics.note(text)
        return element_structure(
            geometry.shown() or geometry.surface(), rest, cells, spacing, material.density * volume
        )


def sampled_voxels(surface: Surface, axes: Array, spacing: float) -> tuple[Array, dict[str, IntArray], str]:
    """Elements (n, 3) in the voxels of a ``spacing`` [m] inside ``surface``, along ``axes`` (the columns),
    their cells, and what a user should know of them."""
    own = surface.points @ axes
    if spacing > float(np.linalg.norm(np.ptp(own, axis=0))):
        raise MeshError(
            f"An edge of {spacing:.4g} m is larger than the whole body.", hint="Give a smaller one."
        )
    index, low = _inside(Surface(own, surface.triangles), spacing)
    if not len(index):
        raise MeshError(
            f"No voxel of {spacing:.4g} m has its centre inside the surface.",
            hint="The body is too thin for its edge: give a smaller one.",
        )
    cells = lattice_cells(index)
    crumbs, text = _crumbs(len(index), cells["edge"])
    if crumbs.any():
        index = index[~crumbs]
        cells = lattice_cells(index)
    return (low + spacing * (index + 0.5)) @ axes.T, cells, text


def element_structure(
    shown: Surface, rest: Array, cells: dict[str, IntArray], spacing: float, mass: float
) -> Structure:
    """The structure of elements that share a ``mass`` [kg] evenly and carry the surface ``shown``."""
    return Structure(
        rest=rest,
        mass=np.full(len(rest), mass / len(rest)),
        cells=cells,
        groups={},
        spacing=spacing,
        carrier=carried_by_elements(shown, rest, spacing, cells["edge"]),
    )


def _crumbs(count: int, edges: IntArray) -> tuple[BoolArray, str]:
    """Which elements (n,) belong to crumbs, and a message about pieces that are not connected."""
    from pliant.mesh.topology import components

    pieces, piece = components(count, edges)
    sizes = np.bincount(piece)
    small = sizes < CRUMB * sizes.max()
    text = f"the body has {pieces - int(small.sum())} pieces in its voxels" if pieces > 1 else ""
    if small.any():
        text = f"{int(sizes[small].sum())} voxels beyond parts that are too thin are left out"
    return np.asarray(small[piece]), text and text + ": a smaller edge would connect them"


def _inside(surface: Surface, spacing: float) -> tuple[IntArray, Array]:
    """Integer coordinates (n, 3) of the voxels inside, in lexicographic order, and the corner of the box."""
    from pliant.mesh.bvh import Bvh

    low, high = surface.points.min(axis=0), surface.points.max(axis=0)
    size = np.maximum(np.round((high - low) / spacing), 1.0).astype(np.int64)
    voxels = float(np.prod(size.astype(float)))
    if voxels > MOST:
        raise MeshError(
            f"An edge of {spacing:.4g} m needs {voxels:.3g} voxels; the most is {MOST:g}.",
            hint="Give a larger edge.",
        )
    corner = 0.5 * (low + high) - 0.5 * spacing * size
    index = np.stack(np.meshgrid(*(np.arange(s) for s in size), indexing="ij"), axis=-1).reshape(-1, 3)
    inside = Bvh(surface.points, surface.triangles).inside(corner + spacing * (index + 0.5))
    return index[inside], corner


def lattice_cells(index: IntArray) -> dict[str, IntArray]:
    """Connections ("edge"), full cubes and squares of neighbours ("hexahedron", "quad") and the swept surface
    ("triangle") of elements at integer coordinates ``index`` (n, 3)."""
    size = index.max(axis=0) + 3
    grid = np.full(size, -1, np.int64)
    grid[tuple((index + 1).T)] = np.arange(len(index))
    here = index + 1

    def at(offset: tuple[int, int, int]) -> IntArray:
        found: IntArray = grid[tuple((here + offset).T)]
        return found

    pairs = [np.column_stack([np.arange(len(index)), at(o)]) for o in HALF]
    edges = np.concatenate([p[p[:, 1] >= 0] for p in pairs])
    edges = edges[np.lexsort((edges[:, 1], edges[:, 0]))]
    cubes = np.column_stack([at(o) for o in CORNERS])
    cubes = cubes[(cubes >= 0).all(axis=1)]
    squares = [np.column_stack([np.arange(len(index)), *(at(o) for o in square)]) for square in _SQUARES]
    quads = np.concatenate(squares)
    quads = quads[(quads >= 0).all(axis=1)]
    triangles = swept_triangles(cubes, quads, edges, len(index))
    return {"edge": edges, "hexahedron": cubes, "quad": quads, "triangle": triangles}


def swept_triangles(cubes: IntArray, quads: IntArray, edges: IntArray, count: int) -> IntArray:
    """Triangles (m, 3) of the surface of ``cubes`` (c, 8, in VTK's order), of ``quads`` (q, 4) that belong to
    no cube, of ``edges`` (e, 2) that belong to no quad, and of elements that belong to none.

    Boundary triangles face outward; the others have two sides.
    """
    faces = cubes[:, np.array(_FACES)].reshape(-1, 4)
    key, first, times = np.unique(_keys(faces, count), return_index=True, return_counts=True)
    outer = faces[np.sort(first[times == 1])]
    sheet = quads[~np.isin(_keys(quads, count), key)]
    sides = np.concatenate([faces, sheet])[:, [[0, 1], [1, 2], [2, 3], [3, 0], [0, 2], [1, 3]]].reshape(-1, 2)
    rows = edges[~np.isin(_keys(edges, count), np.unique(_keys(sides, count)))]
    alone = np.setdiff1d(np.arange(count), np.concatenate([sides.ravel(), rows.ravel()]))
    squares = np.concatenate([outer, sheet])
    both = np.stack([squares[:, [0, 1, 2]], squares[:, [0, 2, 3]]], axis=1).reshape(-1, 3)
    triangles = [both, rows[:, [0, 1, 1]], alone[:, None][:, [0, 0, 0]]]
    return np.concatenate(triangles).astype(np.int64)


def _keys(cells: IntArray, count: int) -> IntArray:
    """One number per lattice cell: the lowest and the highest element of a square are opposite corners."""
    keys: IntArray = cells.min(axis=1) * np.int64(count) + cells.max(axis=1)
    return keys


def intact(cells: IntArray, edges: IntArray, broken: BoolArray, count: int) -> IntArray:
    """Those of ``cells`` (c, k) none of whose connections is broken; ``broken`` (e,) belongs to ``edges``."""
    if not broken.any() or not len(cells):
        return cells
    return cells[~np.isin(_pairs(cells, count), np.unique(_keys(edges[broken], count))).any(axis=1)]


def connected(cells: IntArray, edges: IntArray, count: int) -> IntArray:
    """Those of ``cells`` (c, k) all of whose elements are connected to each other by ``edges`` (e, 2)."""
    return cells[np.isin(_pairs(cells, count), np.unique(_keys(edges, count))).all(axis=1)]


def _pairs(cells: IntArray, count: int) -> IntArray:
    """The keys of all pairs of elements of each cell (c, k (k - 1) / 2)."""
    a, b = np.triu_indices(cells.shape[1], 1)
    pairs = np.sort(np.stack([cells[:, a], cells[:, b]], axis=-1), axis=-1)
    keys: IntArray = pairs[..., 0] * np.int64(count) + pairs[..., 1]
    return keys
