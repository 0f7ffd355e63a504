"""A lattice body made of finer or coarser elements while it runs: same shape, mass, momenta and material.

Jansson and Vergeest propose this for later work ([JanssonVergeest2000]_ 7 (4)). The surface that the body was
sampled from is filled again with voxels of the other size. Positions follow from a local fit that reproduces
quadratic displacements, so that bending comes through; velocities likewise, and then a rigid motion is added
that restores both momenta. Rest lengths, stiffness factors and plastic deformations are carried over as means
over the elements nearby.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from pliant.core.errors import IncompatibleError
from pliant.core.typing import Array, BoolArray, IntArray
from pliant.embedding.barycentric import EmbeddedSurface
from pliant.embedding.mls import carried_by_elements
from pliant.interfaces import Structure, TopologyChange
from pliant.mesh.mesh import Surface
from pliant.models.lattice import plastic_kernels
from pliant.models.lattice.cut_carrier import EditedLattice
from pliant.models.lattice.stiffness import connection_stiffness, lattice_axes
from pliant.models.lattice.volume_cells import mean_volumes
from pliant.structure.samplers.voxels import element_structure, sampled_voxels

if TYPE_CHECKING:
    from pliant.models.lattice.body import LatticeBody

Forces = Callable[[Array, Array], None]
"""Adds forces at positions (n, 3) to an array."""
HeldFace = tuple[IntArray, Array]
"""Elements that are held in place of a face beyond them, and the way there at rest (3,) [m]."""
SEEN = 1e-2  # quadratic terms that elements tell apart by less than this share are left out
MOST = 2.0  # sum of the sizes of all corrections of a point: few elements to one side say little of curvature
SMOOTHING = 12  # steps down the energy after an interpolation
SAME = 1e-9  # relative differences up to this are rounding


@dataclass(frozen=True)
class ElementInterpolation:
    """Values at the elements of a new sampling, from those at the old ones.

    embedded: the new elements as points that the old ones carry; weights (n, k): of the old elements
    ``embedded.indices``, which reproduce quadratic fields where there are enough of them; home (n,): the old
    element nearest to each; rest (m, 3), points (n, 3): old and new ones at rest. faces: old and new elements
    that are held in place of a face beyond them, each with the way to it at rest (3,) [m]; it is there that
    they count.
    """

    embedded: EmbeddedSurface
    weights: Array
    home: IntArray
    rest: Array
    points: Array
    faces: tuple[tuple[HeldFace, HeldFace], ...] = ()

    def values(self, old: Array) -> Array:
        """Values (n, ...) where ``old`` ones are (m, ...)."""
        return np.asarray(np.einsum("nk,nk...->n...", self.weights, old[self.embedded.indices]))

    def positions(self, x: Array) -> Array:
        """Positions (n, 3) where old elements are at ``x`` (m, 3)."""
        x, turns, middles = x.copy(), [], []
        for (held, way), _ in self.faces:
            turns.append(_rotation(self.rest[held], x[held]))
            middles.append(x[held].mean(axis=0))
            x[held] += turns[-1] @ way
        correction = self.weights - self.embedded.weights
        found: Array = self.embedded.positions(x) + np.einsum(
            "nk,nki->ni", correction, x[self.embedded.indices]
        )
        for turn, middle, ((held, _), (own, _)) in zip(turns, middles, self.faces, strict=True):
            arms = self.points[own] - self.rest[held].mean(axis=0)
            found[own] = middle + arms @ turn.T  # they are part of what moves the face
        return found


def _rotation(rest: Array, x: Array) -> Array:
    """The rotation (3, 3) that fits best to a motion from ``rest`` to ``x`` (n, 3)."""
    U, _, V = np.linalg.svd((x - x.mean(axis=0)).T @ (rest - rest.mean(axis=0)))
    return np.asarray(U @ np.diag([1.0, 1.0, np.sign(np.linalg.det(U @ V))]) @ V)


def _held_faces(old: "LatticeBody", new: Structure) -> tuple[tuple[HeldFace, HeldFace], ...]:
    """The faces of ``old`` that are held, with the elements of ``new`` next to them."""
    found = []
    for held, way in old.clamped:
        outward = way / np.linalg.norm(way)
        height = new.rest @ outward
        assert new.carrier is not None
        gap = float((new.carrier.surface.points @ outward).max() - height.max())
        own = np.flatnonzero(height >= height.max() - 0.1 * new.spacing)
        found.append(((held, way), (own, outward * np.clip(gap, 0.0, new.spacing))))
    return tuple(found)


def interpolation(new: Structure, old: "LatticeBody") -> ElementInterpolation:
    r"""ElementInterpolation from the elements of ``old`` to those of ``new``.

    The weights w of ``carried_by_elements`` are exact for affine fields. With the distances d of the elements
    from a point, :math:`q(d)` their six products and R what an affine fit leaves of q, the correction
    :math:`-R (R^T R)^{+} \sum_k w_k q(d_k)` makes them exact for quadratic ones and changes nothing for
    affine ones; the pseudo-inverse leaves out what too few elements cannot tell.
    """
    points, rest, spacing = new.rest.copy(), old.structure.rest.copy(), old.structure.spacing
    faces = _held_faces(old, new)
    for (held, way), (own, ahead) in faces:
        rest[held] += way
        points[own] += ahead
    none = np.empty((0, 3), np.int64)
    embedded = carried_by_elements(Surface(points, none), rest, spacing, old.connections.edges)
    near = embedded.indices.astype(np.int64)
    d = (rest[near] - points[:, None]) / spacing
    phi = np.exp(-0.25 * np.einsum("nki,nki->nk", d, d))
    phi[:, 1:][near[:, 1:] == near[:, :1]] = 0.0  # a place that repeats the first one
    affine = np.concatenate([np.ones((*near.shape, 1)), d], axis=2)
    a, b = np.triu_indices(3)
    products = d[:, :, a] * d[:, :, b]
    error = np.einsum("nk,nkq->nq", embedded.weights, products)
    normal = np.einsum("nk,nka,nkb->nab", phi, affine, affine)
    mixed = np.einsum("nk,nka,nkq->naq", phi, affine, products)
    left = products - affine @ (np.linalg.pinv(normal, rcond=SEEN, hermitian=True) @ mixed)
    square = np.einsum("nk,nkp,nkq->npq", phi, left, left)
    sizes, ways = np.linalg.eigh(square)
    whole = np.einsum("nk,nkq,nkq->n", phi, products, products)
    inverse = np.where(sizes > SEEN * whole[:, None], 1.0 / np.maximum(sizes, 1e-300), 0.0)
    share = np.einsum("nqp,np,nrp,nr->nq", ways, inverse, ways, error)
    correction = -phi * np.einsum("nkq,nq->nk", left, share)
    correction *= np.minimum(1.0, MOST / np.maximum(np.abs(correction).sum(axis=1), MOST))[:, None]
    return ElementInterpolation(
        embedded, embedded.weights + correction, near[:, 0], old.structure.rest, new.rest, faces
    )


def resampled_structure(structure: Structure, first: Structure, edge: float) -> Structure:
    """``structure`` filled again with elements of ``edge`` [m]; first: as the body was sampled at first."""
    if first.carrier is None:
        raise IncompatibleError("action 'resample': the body has no surface to fill again.")
    d = np.diff(first.rest[first.cells["edge"]], axis=1)[:, 0]
    axes = lattice_axes(d[np.abs(np.linalg.norm(d, axis=1) - first.spacing) < 0.1 * first.spacing])
    rest, cells, _ = sampled_voxels(first.carrier.surface, axes, edge)
    made = element_structure(first.carrier.surface, rest, cells, edge, float(structure.mass.sum()))
    return replace(made, extra=EditedLattice(None, (), None, True))


def refuse_edited(body: "LatticeBody") -> None:
    """IncompatibleError for bodies whose elements are no longer those of their surface."""
    own = body.connections
    if not own.intact.all() or len(body.softening.which):
        happened = "has been cut or has cracked"
    elif len(body.origin.rows) != body.origin.sampled or body.origin.growths:
        happened = "has gained or lost elements"
    else:
        return
    raise IncompatibleError(
        f"action 'resample': the body {happened}, and its surface cannot be filled again.",
        hint="Resample it before that, with another time at.",
    )


def carry_over(old: "LatticeBody", new: "LatticeBody", way: ElementInterpolation) -> None:
    """Give ``new`` the attributes, rest lengths and plastic deformations of ``old``."""
    new.damping_time, new.friction = old.damping_time, old.friction
    new.roughness, new.dampness = old.roughness[way.home], old.dampness[way.home]
    new.share_damping()
    new.altered = old.altered
    _carry_rest_shape(old, new, way)
    _carry_stiffness(old, new, way)
    if old.flow is not None and new.flow is not None:
        plastic = way.values(old.flow.deformation)
        new.flow.deformation = plastic / np.cbrt(np.linalg.det(plastic))[:, None, None]
        own, every = new.connections, np.ones(len(plastic), bool)
        plastic_kernels.connection_flow(
            own.edges, new.reference, own.born, new.flow.deformation, every, own.bearing, *own.slots,
            own.rest, own.own, new.reference,
        )  # fmt: skip
        own.write()


def _carry_rest_shape(old: "LatticeBody", new: "LatticeBody", way: ElementInterpolation) -> None:
    r"""Rest lengths by the metric :math:`L^2 = D^T C D` of each old element's connections D, and rest volumes
    of cells."""
    was, own = old.connections, new.connections
    d = old.structure.rest[was.edges[:, 1]] - old.structure.rest[was.edges[:, 0]]
    size = np.linalg.norm(d, axis=1)
    if np.abs(was.born / size - 1.0).max(initial=0.0) < SAME:
        return
    n, a = d / size[:, None], np.array([[0, 0], [1, 1], [2, 2], [1, 2], [0, 2], [0, 1]])
    terms = n[:, a[:, 0]] * n[:, a[:, 1]] * np.array([1.0, 1.0, 1.0, 2.0, 2.0, 2.0])
    count = len(old.structure.rest)
    square, side = np.zeros((count, 6, 6)), np.zeros((count, 6))
    for end in was.edges.T:
        np.add.at(square, end, terms[:, :, None] * terms[:, None, :])
        np.add.at(side, end, terms * ((was.born / size) ** 2 - 1.0)[:, None])
    metric = (np.linalg.pinv(square, rcond=1e-6, hermitian=True) @ side[:, :, None])[:, :, 0]
    metric = way.values(metric)
    rest, edges = new.structure.rest, own.edges
    d = rest[edges[:, 1]] - rest[edges[:, 0]]
    size = np.linalg.norm(d, axis=1)
    n = d / size[:, None]
    terms = n[:, a[:, 0]] * n[:, a[:, 1]] * np.array([1.0, 1.0, 1.0, 2.0, 2.0, 2.0])
    stretched = 1.0 + np.einsum("mq,mq->m", terms, 0.5 * (metric[edges[:, 0]] + metric[edges[:, 1]]))
    own.reset(size * np.sqrt(np.maximum(stretched, 0.01)), np.ones(len(size), bool))
    new.reference = way.positions(old.reference)
    new.rest_shape_changed()
    if new.volume_cells is not None and old.volume_cells is not None:
        ratio = old.volume_cells.volumes / mean_volumes(old.structure.rest, old.volume_cells.cells)
        mean = way.values(_element_means(old.volume_cells.cells, ratio, count))
        cells = new.volume_cells
        cells.volumes = mean_volumes(rest, cells.cells) * mean[cells.cells].mean(axis=1)
        cells.write()


def _carry_stiffness(old: "LatticeBody", new: "LatticeBody", way: ElementInterpolation) -> None:
    """Factors on connections and cells that attributes have changed."""
    was, own = old.connections, new.connections
    model, count = old.model, len(old.structure.rest)
    fresh = connection_stiffness(old.structure, old.connection_young, model.rule, model.compensate)
    factor = was.own * old.spans / fresh
    if old.flow is not None:
        shortest = plastic_kernels.SHORTEST * was.born
        factor *= (np.maximum(was.lengths, shortest) / was.born) ** 4
    if np.abs(factor - 1.0).max(initial=0.0) < SAME:
        return
    mean = way.values(_element_means(was.edges, factor, count))
    own.own *= mean[own.edges].mean(axis=1)
    own.write()
    if new.volume_cells is not None and old.volume_cells is not None:
        cells = old.volume_cells
        mean = way.values(_element_means(cells.cells, cells.factors * old.cell_spans, count))
        new.volume_cells.factors *= mean[new.volume_cells.cells].mean(axis=1)
        new.volume_cells.write()


def _element_means(cells: IntArray, values: Array, count: int) -> Array:
    """Mean (count,) of ``values`` (c,) over the ``cells`` (c, k) of each element; one where it has none."""
    total = np.bincount(cells.ravel(), np.repeat(values, cells.shape[1]), minlength=count)
    many = np.bincount(cells.ravel(), minlength=count)
    return np.where(many > 0, total / np.maximum(many, 1), 1.0)


def smoothed(
    place: Array, free: BoolArray, stiffness: Array, energy: Callable[[Array], float], forces: Forces
) -> Array:
    """Places (n, 3) without the ripples that interpolation leaves between neighbours: a few steps down the
    energy, of the elements that are ``free`` (n,), each against its own ``stiffness`` (n,) [N/m]. What
    reaches over more than a few elements hardly changes."""
    held, share, now = ~free, 0.5, energy(place)
    for _ in range(SMOOTHING):
        force = np.zeros_like(place)
        forces(place, force)
        force[held] = 0.0
        further = place + share * force / stiffness[:, None]
        then = energy(further)
        if then < now:
            place, now = further, then
        else:
            share *= 0.5
    return place


def element_stiffness(body: "LatticeBody") -> Array:
    """What resists a displacement of each element alone (n,) [N/m]: its connections, and its cells."""
    own, cells, count = body.connections, body.volume_cells, len(body.structure.rest)
    found = np.bincount(own.edges.ravel(), np.repeat(own.own, 2), minlength=count)
    if cells is not None:
        each = (0.5 * cells.bulk * cells.sizes) / body.structure.spacing**2
        found += np.bincount(cells.cells.ravel(), np.repeat(each, 8), minlength=count)
    return np.asarray(np.maximum(found, 1e-300))


def continued_motion(
    body: "LatticeBody",
    new: Structure,
    way: ElementInterpolation,
    place: Array,
    x: Array,
    v: Array,
    free: BoolArray,
) -> TopologyChange:
    """The motion of the elements of ``new`` at ``place``, from that of those of ``body`` at ``x``, (m, 3).

    The body keeps its linear and angular momentum, by a rigid motion of the elements that are ``free`` (m,)
    to move; one that nothing holds keeps its centre of mass too.
    """
    old, place, speed = body.structure, place.copy(), way.values(v)
    moving = free[way.home]
    if free.all():
        place += (old.mass @ x) / old.mass.sum() - (new.mass @ place) / new.mass.sum()
    if moving.any():
        mass, r = new.mass[moving], place[moving]
        centre = (mass @ r) / mass.sum()
        r = r - centre
        linear = old.mass @ v - new.mass @ speed
        angular = np.cross(x, old.mass[:, None] * v).sum(axis=0)
        angular -= np.cross(place, new.mass[:, None] * speed).sum(axis=0) + np.cross(centre, linear)
        squares = (mass[:, None] * r).T @ r
        spin = np.linalg.lstsq(np.trace(squares) * np.eye(3) - squares, angular, rcond=1e-9)[0]
        speed[moving] += linear / mass.sum() + np.cross(spin, r)
    return TopologyChange(new, way.home, moved=place - x[way.home], velocities=speed)


def strain_variation(body: "LatticeBody", x: Array) -> float:
    """How much the strain changes from one element to the next, over one spacing: the value that one
    connection in a hundred exceeds."""
    own = body.connections
    edges = own.edges[own.bearing]
    if not len(edges):
        return 0.0
    strain = body.strains(x)
    d = strain[edges[:, 1]] - strain[edges[:, 0]]
    size = np.sqrt((d * d) @ np.array([1.0, 1.0, 1.0, 2.0, 2.0, 2.0]))
    rest = body.structure.rest
    length = np.linalg.norm(rest[edges[:, 1]] - rest[edges[:, 0]], axis=1)
    return float(np.quantile(size * body.structure.spacing / length, 0.99))
