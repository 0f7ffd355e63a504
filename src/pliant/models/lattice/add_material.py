"""Elements added to a body while it runs: where they come, and what they are connected to."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from pliant.core.errors import MeshError, SelectionError
from pliant.core.typing import AnyArray, Array, IntArray
from pliant.embedding.barycentric import EmbeddedSurface
from pliant.fracture import cut_surface
from pliant.interfaces import NewParticles, Structure
from pliant.mesh.bvh import Bvh
from pliant.mesh.mesh import Surface, surface_volume
from pliant.models.lattice.stiffness import lattice_axes
from pliant.structure.samplers.voxels import MOST, connected, lattice_cells

REACH = 1.8  # how far new elements reach for old ones [spacings]: a little beyond body diagonals
CLEAR = 0.7  # how far from old ones they keep [spacings]
AROUND = 27  # old elements nearest to the region whose motion it goes along with
ASTRAY = 0.25  # how far from their places in the lattice old ones may be that new ones touch [spacings]
APART = 3  # steps of the lattice between the rest shape and elements that have no room in it


@dataclass(frozen=True)
class AddedElements:
    """Elements that are new, numbered after those of the body: at rest (q, 3) [m], and their connections
    (m, 2) with each other and with those that are there, pairs i < j in lexicographic order; shown: the
    surface of what is added, carried by elements in the numbers of all that ever were."""

    rest: Array
    edges: IntArray
    shown: EmbeddedSurface | None

    def arrays(self) -> dict[str, AnyArray]:
        surface = {} if self.shown is None else self.shown.arrays()
        named = {f"surface.{name}": array for name, array in surface.items()}
        return {"rest": self.rest, "edges": self.edges} | named

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, AnyArray]) -> Self:
        surface = without_prefix("surface.", arrays)
        shown = EmbeddedSurface.from_arrays(surface) if surface else None
        return cls(np.asarray(arrays["rest"]), np.asarray(arrays["edges"], np.int64), shown)


def without_prefix(prefix: str, arrays: Mapping[str, AnyArray]) -> dict[str, AnyArray]:
    """The arrays whose names start with ``prefix``, by the rest of their names."""
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}


@dataclass(frozen=True)
class RegionFill:
    """A region filled with elements: the growth, where they are and how fast, and the connections' lengths
    [m]; ``fits``: whether the rest shape has room for them where its lattice continues."""

    growth: AddedElements
    newcomers: NewParticles
    lengths: Array
    nearest: IntArray  # the old element nearest to each
    fits: bool


def fill_region(region: Surface, structure: Structure, x: Array, v: Array) -> RegionFill:
    """Fill ``region`` (closed, where the body is now) around a body at ``x`` (n, 3) that moves with ``v``.

    The lattice is continued: the best rigid motion of the elements nearest to the region places it, and
    sites inside the region that are free become elements, which move along with them. Connections have
    their present lengths, so nothing is pulled or pushed.
    """
    from scipy.spatial import cKDTree

    a, rest = structure.spacing, structure.rest
    tree = cKDTree(x)
    middle = 0.5 * (region.points.min(axis=0) + region.points.max(axis=0))
    around = np.sort(np.atleast_1d(tree.query(middle, k=min(AROUND, len(x)))[1]))
    turn, shift = _rigid(rest[around], x[around])
    axes = lattice_axes(_along(rest, structure.cells["edge"], a))
    sites = _sites(Surface((region.points - shift) @ turn, region.triangles), rest[0], axes, a)
    places = sites @ turn.T + shift
    away, nearest = tree.query(places)
    free = away >= CLEAR * a
    sites, places, nearest = sites[free], places[free], np.asarray(nearest)[free]
    if not len(sites):
        raise SelectionError(
            "action 'add': the region has no room for an element: it is inside the body, or thinner than the "
            f"body's edge ({a:.3g} m).",
            hint="Give a larger shape, or another position.",
        )
    n, touching = len(x), _touching(places, x, REACH * a, len(x))
    if not len(touching):
        raise SelectionError(
            "action 'add': the region touches nothing of the body.",
            hint="Move it closer, or let another body appear there: action 'create'.",
        )
    old = np.unique(touching[:, 0])
    astray = np.linalg.norm(rest[old] @ turn.T + shift - x[old], axis=1).max() > ASTRAY * a
    fits = not astray and float(np.min(cKDTree(rest).query(sites)[0])) >= 0.5 * a
    if not fits:  # elements have left their places in the lattice: the new ones get room beside it
        span = np.ptp(((rest - rest[0]) @ axes)[:, 0]) + np.ptp(((sites - rest[0]) @ axes)[:, 0])
        sites = sites + a * (np.ceil(span / a) + APART) * axes[:, 0]
    inner = lattice_cells(_index(sites, sites[0], axes, a))["edge"] + n
    edges = np.concatenate([touching, inner])
    edges = edges[np.lexsort((edges[:, 1], edges[:, 0]))]
    everywhere = np.concatenate([x, places])
    lengths = np.linalg.norm(everywhere[edges[:, 1]] - everywhere[edges[:, 0]], axis=1)
    rows = np.arange(n, n + len(sites))
    speed = _moving_along(x[around], v[around], places)
    return RegionFill(
        AddedElements(sites, edges, None), NewParticles(rows, places, speed), lengths, nearest, fits
    )


def outside_of(region: Surface, shown: Surface, spacing: float) -> Surface:
    """What of ``region`` is outside the closed surface ``shown``, closed where they meet; all of the region
    where they meet in an unclear way."""
    try:
        cut = cut_surface(region, shown.points, shown.triangles)
    except MeshError:
        return region
    tree = Bvh(shown.points, shown.triangles)
    keep = np.zeros(len(cut.piece), bool)
    for piece in range(cut.pieces):
        mine = cut.piece == piece
        own = np.unique(cut.surface.triangles[mine])
        within = tree.inside(cut.surface.points[own] + 1e-3 * spacing * cut.inward[own]).mean() > 0.5
        volume = abs(surface_volume(cut.surface.points, cut.surface.triangles[mine]))
        keep |= mine & (not within and volume > 1e-3 * spacing**3)
    if not keep.any():
        return region
    used, corners = np.unique(cut.surface.triangles[keep], return_inverse=True)
    return Surface(cut.surface.points[used], corners.reshape(-1, 3))


def _rigid(rest: Array, x: Array) -> tuple[Array, Array]:
    """Rotation R (3, 3) and shift t of the best ``x = R rest + t``."""
    middle, here = rest.mean(axis=0), x.mean(axis=0)
    U, _, V = np.linalg.svd((x - here).T @ (rest - middle))
    turn = U @ np.diag([1.0, 1.0, np.sign(np.linalg.det(U @ V))]) @ V
    return turn, here - turn @ middle


def _moving_along(x: Array, v: Array, places: Array) -> Array:
    """Velocities at ``places`` of the rigid motion nearest to that of particles at ``x``."""
    middle, mean = x.mean(axis=0), v.mean(axis=0)
    r = x - middle
    squares = r.T @ r
    spin = np.linalg.lstsq(
        np.trace(squares) * np.eye(3) - squares, np.cross(r, v - mean).sum(axis=0), rcond=1e-9
    )[0]
    return np.asarray(mean + np.cross(spin, places - middle))


def connected_cells(rest: Array, edges: IntArray, spacing: float) -> dict[str, IntArray]:
    """Cubes and squares of neighbours in the lattice that are all connected."""
    cells = lattice_cells(_index(rest, rest[0], lattice_axes(_along(rest, edges, spacing)), spacing))
    return {name: connected(cells[name], edges, len(rest)) for name in ("hexahedron", "quad")}


def _along(rest: Array, edges: IntArray, spacing: float) -> Array:
    """Connections along the lattice's axes, as vectors."""
    d = rest[edges[:, 1]] - rest[edges[:, 0]]
    return np.asarray(d[np.abs(np.linalg.norm(d, axis=1) - spacing) < 0.1 * spacing])


def _index(points: Array, origin: Array, axes: Array, spacing: float) -> IntArray:
    """Steps of the lattice from the lowest (n, 3)."""
    steps = np.rint((points - origin) @ axes / spacing).astype(np.int64)
    return np.asarray(steps - steps.min(axis=0))


def _sites(region: Surface, origin: Array, axes: Array, spacing: float) -> Array:
    """Sites of the lattice through ``origin`` that are inside ``region`` (q, 3), in lexicographic order."""
    own = (region.points - origin) @ axes / spacing
    low, high = np.ceil(own.min(axis=0)).astype(np.int64), np.floor(own.max(axis=0)).astype(np.int64)
    if (high < low).any():
        return np.zeros((0, 3))
    if float(np.prod((high - low + 1).astype(float))) > MOST:
        raise MeshError("action 'add': the region is too large for the body's edge.", hint="Make it smaller.")
    grids = np.meshgrid(*(np.arange(p, q + 1) for p, q in zip(low, high, strict=True)), indexing="ij")
    steps = np.stack(grids, axis=-1).reshape(-1, 3)
    inside = np.abs(Bvh(own, region.triangles).winding(steps.astype(float))) > 0.5  # axes may be left-handed
    return np.asarray(origin + spacing * steps[inside] @ axes.T)


def _touching(places: Array, x: Array, reach: float, first: int) -> IntArray:
    """Pairs (old, new) closer than ``reach``; new ones are numbered from ``first``."""
    from scipy.spatial import cKDTree

    near: Any = cKDTree(x).query_ball_point(places, reach, return_sorted=True)
    pairs = [(old, first + new) for new, found in enumerate(near) for old in found]
    return np.array(pairs, np.int64).reshape(-1, 2)
