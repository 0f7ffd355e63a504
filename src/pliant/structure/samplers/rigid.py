"""The sampler for rigid bodies: a surface to touch with, and masses with the body's exact moments."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

from pliant.core.errors import MeshError
from pliant.core.typing import AnyArray, Array, IntArray
from pliant.embedding.barycentric import EmbeddedSurface
from pliant.interfaces import Geometry, Structure, StructureExtra
from pliant.mesh.mesh import Surface, surface_volume
from pliant.mesh.simplify import simplify
from pliant.mesh.triangles import double_areas

if TYPE_CHECKING:
    from pliant.materials import ResolvedMaterial as Material

CELLS = 1000  # cubes of the spacing in the body, unless an edge length is given
ON_SURFACE = 0.3  # share of the mass that surface particles carry, at most
THICKNESS = 0.2  # radius of contact [spacings]
FINE = 0.4  # mean edge [spacings] below which surfaces are simplified: detail that contact does not see
INNER = 6  # last particles of a body: two on each principal axis


@dataclass(frozen=True)
class RigidContact(StructureExtra):
    """How a rigid body touches others: triangles (t, 3) of its particles, and their radius [m]."""

    triangles: IntArray
    radius: float

    def arrays(self) -> dict[str, AnyArray]:
        return {"contact": self.triangles, "radius": np.array(self.radius)}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, AnyArray]) -> Self:
        return cls(np.asarray(arrays["contact"], np.int64), float(arrays["radius"]))


def mass_moments(points: Array, triangles: IntArray, density: float) -> tuple[float, Array, Array]:
    r"""Mass [kg], centre (3,) [m] and second moments about it (3, 3) [kg m2] of a closed surface.

    Sums over the tets of the triangles and one common corner:
    :math:`\int x x^T = \tfrac{V}{20} (\sum v_i v_i^T + \sum v_i \sum v_i^T)`. The inertia tensor is
    :math:`\mathrm{tr}(S)\,1 - S`.
    """
    origin = points.mean(axis=0)
    v = points[triangles] - origin
    volume = np.einsum("ij,ij->i", np.cross(v[:, 0], v[:, 1]), v[:, 2]) / 6.0
    total = v.sum(axis=1)
    mass = density * float(volume.sum())
    centre = density * (volume @ total) / 4.0 / mass
    second = density * (
        np.einsum("t,tki,tkj->ij", volume, v, v) + np.einsum("t,ti,tj->ij", volume, total, total)
    )
    return mass, origin + centre, second / 20.0 - mass * np.outer(centre, centre)


@dataclass(frozen=True)
class RigidSampler:
    """Particles that move as one: the surface, split to the body's ``edge`` (or simplified within half a
    radius of contact where it is much finer); the surface that touches other bodies, which lies one radius
    inside of it; six inner ones.

    Total mass, centre and second moments of the particles are those of the volume inside the surface. A
    surface that is a sphere touches as a sphere: with one particle in its centre.
    """

    def sample(self, geometry: Geometry, material: "Material") -> Structure:
        surface = geometry.surface()
        volume = surface_volume(surface.points, surface.triangles)
        if not volume > 1e-9 * float(np.linalg.norm(np.ptp(surface.points, axis=0))) ** 3:
            raise MeshError("The surface encloses no volume.", hint="Rigid bodies need a closed surface.")
        mass, centre, second = mass_moments(surface.points, surface.triangles, material.density)
        spacing = geometry.spacing() or float(np.cbrt(volume / CELLS))
        used, corners = np.unique(surface.triangles, return_inverse=True)
        points, triangles = surface.points[used], corners.reshape(-1, 3)
        if ball_radius(points, triangles, centre, volume) is None:
            points, triangles = simplified(points, triangles, spacing)
        points, triangles = divided(points, triangles, spacing)
        ball = ball_radius(points, triangles, centre, volume)
        if ball is None:
            radius = min(THICKNESS * spacing, 0.3 * volume / (0.5 * double_areas(points, triangles).sum()))
            touching, contact = inset(points, triangles, radius), triangles
        else:
            radius, touching, contact = ball, centre[None], np.zeros((1, 3), np.int64)
        outer = np.zeros(len(points))
        np.add.at(outer, triangles.ravel(), np.repeat(0.5 * double_areas(points, triangles), 3))
        within = outer / outer.sum() if ball is None else np.ones(1)
        shares = 0.5 * np.concatenate([outer / outer.sum(), within])
        masses, inner = _masses(np.concatenate([points, touching]), shares, mass, centre, second)
        rest = np.concatenate([points, touching, inner])
        shown = geometry.shown() or geometry.surface()
        return Structure(
            rest=rest,
            mass=masses,
            cells={"triangle": triangles},
            groups={},
            spacing=spacing,
            carrier=carried(shown, inner, len(rest) - INNER),
            extra=RigidContact(contact + len(points), radius),
        )


def simplified(points: Array, triangles: IntArray, edge: float) -> tuple[Array, IntArray]:
    """The same surface, within half a radius of contact, with fewer triangles where it is much finer than
    ``edge`` [m]: scans have many times the particles that contact needs."""
    sides = points[triangles] - points[np.roll(triangles, 1, axis=1)]
    if float(np.linalg.norm(sides, axis=2).mean()) > FINE * edge:
        return points, triangles
    return simplify(points, triangles, 0.5 * THICKNESS * edge / 4.0, edge)


def divided(points: Array, triangles: IntArray, edge: float) -> tuple[Array, IntArray]:
    """The same surface with no edge longer than about 1.5 ``edge``: long ones are halved, in all triangles
    that share them."""
    for _ in range(12):
        half = np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]])
        pairs, name = np.unique(np.sort(half, axis=1), axis=0, return_inverse=True)
        name = name.reshape(3, -1).T  # the edge opposite to corner 2, 0, 1
        long = np.linalg.norm(points[pairs[:, 0]] - points[pairs[:, 1]], axis=1) > 1.5 * edge
        if not long.any() or len(points) + int(long.sum()) > 200_000:
            break
        middle = np.full(len(pairs), -1)
        middle[long] = len(points) + np.arange(int(long.sum()))
        points = np.concatenate([points, points[pairs[long]].mean(axis=1)])
        m = middle[name]
        out = [triangles[(m < 0).all(axis=1)]]
        for k in range(3):
            turned, own = np.roll(triangles, -k, axis=1), np.roll(m, -k, axis=1)
            a, b, c = turned.T
            ab, bc, ca = own.T
            one = (ab >= 0) & (bc < 0) & (ca < 0)
            out += [np.column_stack(t)[one] for t in ((a, ab, c), (ab, b, c))]
            two = (ab >= 0) & (bc >= 0) & (ca < 0)
            out += [np.column_stack(t)[two] for t in ((a, ab, c), (ab, b, bc), (ab, bc, c))]
        a, b, c = triangles.T
        ab, bc, ca = m.T
        three = (m >= 0).all(axis=1)
        out += [np.column_stack(t)[three] for t in ((a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca))]
        triangles = np.concatenate(out)
    return points, triangles.astype(np.int64)


def inset(points: Array, triangles: IntArray, distance: float) -> Array:
    """Points moved inward, so that the planes of their triangles lie ``distance`` [m] inside (as nearly as
    more than three planes allow)."""
    a, b, c = (points[triangles[:, k]] for k in range(3))
    normal = np.cross(b - a, c - a)
    size = np.linalg.norm(normal, axis=1)
    normal = normal / np.maximum(size, 1e-300)[:, None]
    planes, pulls = np.zeros((len(points), 3, 3)), np.zeros((len(points), 3))
    corner = np.stack([_angles(a, b, c), _angles(b, c, a), _angles(c, a, b)], axis=1)
    for k in range(3):
        w = corner[:, k]
        np.add.at(planes, triangles[:, k], w[:, None, None] * normal[:, :, None] * normal[:, None, :])
        np.add.at(pulls, triangles[:, k], w[:, None] * normal)
    move = np.einsum("nij,nj->ni", np.linalg.pinv(planes, rcond=1e-6, hermitian=True), pulls)
    length = np.linalg.norm(move, axis=1, keepdims=True)
    return np.asarray(points - distance * move * np.minimum(1.0, 2.0 / np.maximum(length, 1e-300)))


def _angles(a: Array, b: Array, c: Array) -> Array:
    """Angles at ``a`` of triangles."""
    u, v = b - a, c - a
    return np.asarray(np.arctan2(np.linalg.norm(np.cross(u, v), axis=1), np.einsum("ij,ij->i", u, v)))


def ball_radius(points: Array, triangles: IntArray, centre: Array, volume: float) -> float | None:
    """The radius of the sphere of equal volume, if the surface is one; else None."""
    corners = np.unique(triangles)
    away = np.linalg.norm(points[corners] - centre, axis=1)
    radius = float(np.cbrt(0.75 * volume / np.pi))
    if len(corners) < 40 or np.abs(away / radius - 1.0).max() > 0.06 or np.ptp(away) > 0.04 * radius:
        return None
    return radius


def _masses(points: Array, shares: Array, mass: float, centre: Array, second: Array) -> tuple[Array, Array]:
    r"""Masses of ``points``, in proportion to ``shares``, and of six inner ones; and the places of these.

    Whatever the points carry, two particles on each principal axis of what is left, at
    :math:`\pm\sqrt{3 \lambda_k / m}`, with a sixth of its mass m each, have the rest of the moments.
    """
    arms = points - centre
    on_surface = ON_SURFACE
    while True:
        own = on_surface * mass * shares
        left = mass - float(own.sum())
        offset = -(own @ arms) / left
        rest = second - (own[:, None] * arms).T @ arms - left * np.outer(offset, offset)
        moments, axes = np.linalg.eigh(rest)
        if moments[0] > 0.2 * float(np.linalg.eigvalsh(second)[0]) or on_surface < 1e-6:
            break
        on_surface *= 0.5
    away = np.sqrt(3.0 * np.maximum(moments, 1e-12 * moments[2]) / left)
    inner = [centre + offset + sign * away[k] * axes[:, k] for k in range(3) for sign in (1.0, -1.0)]
    return np.concatenate([own, np.full(INNER, left / INNER)]), np.array(inner)


def carried(surface: Surface, inner: Array, first: int) -> EmbeddedSurface:
    """The surface carried by four of the inner particles, which are rows ``first`` and on."""
    corners = inner[[0, 1, 2, 4]]
    frame = np.linalg.inv((corners[1:] - corners[0]).T)
    w = (surface.points - corners[0]) @ frame.T
    weights = np.concatenate([1.0 - w.sum(axis=1, keepdims=True), w], axis=1)
    indices = np.tile(np.array([first, first + 1, first + 2, first + 4], np.uint32), (len(w), 1))
    return EmbeddedSurface(surface, indices, weights)
