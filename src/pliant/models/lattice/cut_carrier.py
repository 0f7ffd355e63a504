"""The embedded surface of a lattice body, cut along broken connections: cracks as sheets of triangles, faces
between voxels, smoothed."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from pliant.core.errors import MeshError
from pliant.core.typing import AnyArray, Array, BoolArray, IntArray
from pliant.embedding.barycentric import EmbeddedSurface, LazyCarrier
from pliant.embedding.carriers import joined, renumbered
from pliant.embedding.mls import carried_around
from pliant.fracture import cut_surface
from pliant.fracture.cut_carrier import nearest_particles, relax_sheet, sheet_rim
from pliant.interfaces import Carrier, Structure, StructureExtra
from pliant.mesh.mesh import Surface
from pliant.mesh.topology import components
from pliant.models.lattice.add_material import AddedElements, without_prefix
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


NUDGE = 0.25  # how far inside a point looks for the element that carries it [spacings]


@dataclass(frozen=True)
class EditedLattice(StructureExtra):
    """What a lattice body that was edited keeps: the sampled and added elements that are left, ``kept`` (n,),
    None where all are; what was added; another surface than the sampled one, if any; and whether it was
    sampled again, with other elements."""

    kept: IntArray | None
    growths: tuple[AddedElements, ...]
    shown: EmbeddedSurface | None
    resampled: bool = False

    def arrays(self) -> dict[str, AnyArray]:
        found = {
            f"added.{k}.{name}": array
            for k, growth in enumerate(self.growths)
            for name, array in growth.arrays().items()
        }
        if self.shown is not None:
            found |= {f"shown.{name}": array for name, array in self.shown.arrays().items()}
        if self.resampled:
            found["resampled"] = np.array([1])
        return found if self.kept is None else found | {"kept": self.kept}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, AnyArray]) -> Self:
        growths: list[AddedElements] = []
        while own := without_prefix(f"added.{len(growths)}.", arrays):
            growths.append(AddedElements.from_arrays(own))
        surface = without_prefix("shown.", arrays)
        shown = EmbeddedSurface.from_arrays(surface) if surface else None
        kept = np.asarray(arrays["kept"], np.int64) if "kept" in arrays else None
        return cls(kept, tuple(growths), shown, "resampled" in arrays)


class SampledBody:
    """The body as it was sampled, whose surface is cut: elements, connections, and what is left of them.

    rows (n,): the first rows of the elements that are left.
    """

    def __init__(self, structure: Structure) -> None:
        self.structure = structure
        self.rows = np.arange(len(structure.rest))
        self.sampled = len(structure.rest)  # what was there before anything was added
        self.growths: list[AddedElements] = []
        self._edited = False  # whether elements were added or removed
        self._other = False  # whether the surface is not that of ``growths`` alone
        edited = EditedLattice.of(structure)
        self.resampled = edited is not None and edited.resampled
        self._count()

    def _count(self) -> None:
        edges = self.structure.cells["edge"]
        self._number = edges[:, 0] * np.int64(len(self.structure.rest)) + edges[:, 1]

    def grow(self, growth: AddedElements) -> None:
        """Take more elements, numbered after those that are left, with the surface around them."""
        first, n = self.structure, len(self.structure.rest)
        self.rows = np.concatenate([self.rows, np.arange(n, n + len(growth.rest))])
        edges = self.rows[growth.edges]
        own = np.concatenate([first.cells["edge"], edges])
        own = own[np.lexsort((own[:, 1], own[:, 0]))]
        carrier = first.carrier
        if growth.shown is not None and isinstance(carrier, EmbeddedSurface):
            carrier = joined(carrier, growth.shown)
        rest = np.concatenate([first.rest, growth.rest])
        self.structure = replace(first, rest=rest, cells={**first.cells, "edge": own}, carrier=carrier)
        self.growths.append(replace(growth, edges=edges))
        self._edited = True
        self._count()

    def show(self, carrier: EmbeddedSurface) -> None:
        """Another surface instead of the one that was sampled."""
        self.structure, self._other = replace(self.structure, carrier=carrier), True

    def extra(self) -> "EditedLattice | None":
        """What differs from the body as it was sampled, None for nothing."""
        carrier = self.structure.carrier
        shown = carrier if self._other and isinstance(carrier, EmbeddedSurface) else None
        if not self._edited and shown is None and not self.resampled:
            return None
        return EditedLattice(self.rows if self._edited else None, tuple(self.growths), shown, self.resampled)

    def keep(self, kept: IntArray) -> None:
        """Continue with some of the elements that were left."""
        self.rows, self._edited = self.rows[kept], True

    def carrier(self, edges: IntArray, intact: BoolArray) -> Carrier | None:
        """The surface cut along broken connections ((m, 2) of the elements that are left)."""
        first, whole = self.structure, self.structure.carrier
        if whole is None or (intact.all() and len(self.rows) == len(first.rest)):
            return whole
        held = np.zeros(len(self._number), bool)
        kept = self.rows[edges[intact]]
        number = kept[:, 0] * np.int64(len(first.rest)) + kept[:, 1]
        held[np.searchsorted(self._number, number)] = True
        alive = np.full(len(first.rest), -1)
        alive[self.rows] = np.arange(len(self.rows))
        gone = alive[first.cells["edge"]] < 0
        held |= gone.all(axis=1)  # what is gone is gone in one piece
        return CutLatticeCarrier(whole, first.rest, first.spacing, first.cells["edge"], held, alive)


class CutLatticeCarrier(LazyCarrier):
    """``whole``, cut along the faces between voxels whose connection is broken, and closed on both sides;
    each point is carried by elements that are still connected, so that faces of a crack part."""

    def __init__(
        self, whole: Carrier, rest: Array, spacing: float, edges: IntArray, intact: BoolArray, alive: IntArray
    ) -> None:
        self.whole, self.rest, self.spacing, self.alive = whole, rest, spacing, alive
        self.edges, self.intact = edges, intact.copy()

    def make(self) -> EmbeddedSurface:
        kept = self.edges[self.intact]
        piece = components(len(self.rest), kept)[1]
        points, triangles = crack_sheet(self.rest, self.spacing, self.edges, self.intact)
        surface, part = self.whole.surface, np.zeros(len(self.whole.surface.points), np.int64)
        inward = np.zeros_like(surface.points)
        if len(triangles):
            try:
                cut = cut_surface(surface, points, triangles)
                surface, inward, part = cut.surface, cut.inward, cut.piece_of_point
            except MeshError:  # the cracks touch the surface in an unclear way: show it uncut
                pass
        home = nearest_particles(surface.points + NUDGE * self.spacing * inward, self.rest, part, piece)
        if (self.alive[home] < 0).any():
            surface, home = self._left(surface, home)
        return renumbered(carried_around(surface, self.rest, self.spacing, kept, home), self.alive)

    def _left(self, surface: Surface, home: IntArray) -> tuple[Surface, IntArray]:
        """The triangles that elements carry which are still there; UVs and groups go with them."""
        stay = np.flatnonzero((self.alive[home[surface.triangles]] >= 0).all(axis=1))
        used, corners = np.unique(surface.triangles[stay], return_inverse=True)
        place = np.full(len(surface.triangles), -1)
        place[stay] = np.arange(len(stay))
        groups = {name: place[ids][place[ids] >= 0] for name, ids in surface.groups.items()}
        uv = None if surface.uv_triangles is None else surface.uv_triangles[stay]
        left = Surface(surface.points[used], corners.reshape(-1, 3), surface.uv, uv, groups)
        return left, home[used]
