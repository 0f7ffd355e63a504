"""Sphere, icosphere and torus."""

import math
from typing import Annotated, Self

import numpy as np
from pydantic import Field, model_validator

from pliant.core.parameters import parameters
from pliant.core.typing import Array, IntArray
from pliant.mesh.mesh import Surface
from pliant.mesh.shapes.blocks import steps
from pliant.mesh.shapes.common import Positive, Shape, target_edge


@parameters
class Sphere(Shape):
    """A sphere of ``radius`` [m] about the origin."""

    radius: Positive

    def surface(self, edge: float | None = None) -> Surface:
        """A geodesic sphere, points on the sphere; ``edge``: a sixth of the radius, at most half of it."""
        area = 4 * math.pi * self.radius**2
        target = target_edge(edge, self.radius / 6, area, most=self.radius / 2)
        points, triangles = geodesic(max(2, round(1.14 * self.radius / target)))
        return Surface(points * self.radius, triangles)


@parameters
class Icosphere(Shape):
    """An icosahedron with corners ``radius`` [m] from the origin, cut into four ``subdivisions`` times."""

    radius: Positive
    subdivisions: Annotated[int, Field(ge=0, le=8)] = 3

    def surface(self, edge: float | None = None) -> Surface:
        """The 20 * 4^subdivisions triangles, new points pushed out to the radius, whatever ``edge`` is."""
        points, triangles = icosahedron()
        for _ in range(self.subdivisions):
            points, triangles = quartered(points, triangles)
            points /= np.linalg.norm(points, axis=1)[:, None]
        return Surface(points * self.radius, triangles)


def icosahedron() -> tuple[Array, IntArray]:
    """The twelve corners at distance 1 and twenty triangles, facing outward, with corners on the z axis."""
    turn = 2 * math.pi / 5 * np.arange(5)
    z, r = 1 / math.sqrt(5), 2 / math.sqrt(5)
    upper = np.stack([r * np.cos(turn), r * np.sin(turn), np.full(5, z)], axis=1)
    lower = np.stack([r * np.cos(turn + math.pi / 5), r * np.sin(turn + math.pi / 5), np.full(5, -z)], axis=1)
    points = np.concatenate([[[0.0, 0.0, 1.0]], upper, lower, [[0.0, 0.0, -1.0]]])
    k = np.arange(5)
    u, v, l, m = 1 + k, 1 + (k + 1) % 5, 6 + k, 6 + (k + 1) % 5
    top, bottom = np.zeros(5, int), np.full(5, 11)
    faces = [[top, u, v], [u, l, v], [v, l, m], [bottom, m, l]]
    return points, np.concatenate([np.stack(f, axis=1) for f in faces]).astype(np.int64)


def quartered(points: Array, triangles: IntArray) -> tuple[Array, IntArray]:
    """Each triangle cut into four at the middles of its sides, which neighbours share."""
    sides = np.sort(triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1)
    pairs, number = np.unique(sides, axis=0, return_inverse=True)
    a, b, c = triangles.T
    d, e, f = (len(points) + number.reshape(-1, 3)).T
    cut = np.stack([a, d, f, d, b, e, f, e, c, d, e, f], axis=1).reshape(-1, 3)
    return np.concatenate([points, points[pairs].mean(axis=1)]), cut


def geodesic(frequency: int) -> tuple[Array, IntArray]:
    """The unit sphere from an icosahedron whose triangles are cut into ``frequency``^2 and pushed out.

    Points of neighbouring triangles are joined by their whole-number weights of the corners, so exactly.
    """
    corners, faces = icosahedron()
    n = frequency
    i, j = (a.ravel() for a in np.meshgrid(np.arange(n + 1), np.arange(n + 1), indexing="ij"))
    i, j = i[i + j <= n], j[i + j <= n]
    row = np.full((n + 1, n + 1), -1)
    row[i, j] = np.arange(len(i))
    p, q = i[i + j < n], j[i + j < n]
    r, s = i[i + j < n - 1], j[i + j < n - 1]
    small = np.concatenate(
        [
            np.stack([row[p, q], row[p + 1, q], row[p, q + 1]], axis=1),
            np.stack([row[r + 1, s], row[r + 1, s + 1], row[r, s + 1]], axis=1),
        ]
    )
    weights = np.stack([n - i - j, i, j], axis=1)
    owners = np.where(weights[None] > 0, faces[:, None, :], len(corners))  # (20, points, 3)
    order = np.argsort(owners, axis=2, kind="stable")
    owner = np.take_along_axis(owners, order, axis=2)
    weight = np.take_along_axis(np.broadcast_to(weights, owners.shape), order, axis=2)
    key = np.zeros(owner.shape[:2], dtype=np.int64)
    for k in range(3):
        key = (key * (len(corners) + 1) + owner[..., k]) * (n + 1) + weight[..., k]
    _, first, number = np.unique(key.ravel(), return_index=True, return_inverse=True)
    points = np.einsum("pk,fkd->fpd", weights / n, corners[faces]).reshape(-1, 3)[first]
    triangles = number.reshape(len(faces), -1)[:, small].reshape(-1, 3)
    return points / np.linalg.norm(points, axis=1)[:, None], triangles.astype(np.int64)


@parameters
class Torus(Shape):
    """A ring about z: a tube of radius ``minor`` around a circle of radius ``major`` [m] in z = 0."""

    major: Positive
    minor: Positive

    @model_validator(mode="after")
    def _has_a_hole(self) -> Self:
        if self.minor >= self.major:
            raise ValueError(f"minor ({self.minor:g} m) must be smaller than major ({self.major:g} m)")
        return self

    def surface(self, edge: float | None = None) -> Surface:
        """A grid around ring and tube, points on the torus; ``edge`` defaults to a third of ``minor``."""
        area = 4 * math.pi**2 * self.major * self.minor
        target = target_edge(edge, self.minor / 3, area, most=2 * math.pi * self.minor / 12)
        around = steps(2 * math.pi * self.major, target, 24)
        across = steps(2 * math.pi * self.minor, target, 12)
        u = 2 * math.pi * np.arange(around)[:, None] / around
        v = 2 * math.pi * np.arange(across)[None] / across
        reach = self.major + self.minor * np.cos(v)
        x, y, z = np.broadcast_arrays(reach * np.cos(u), reach * np.sin(u), self.minor * np.sin(v))
        a = np.arange(around * across).reshape(around, across)
        b, d = np.roll(a, -1, axis=0), np.roll(a, -1, axis=1)
        c = np.roll(b, -1, axis=1)
        triangles = np.stack([a, b, c, a, c, d], axis=-1).reshape(-1, 3)
        return Surface(np.stack([x, y, z], axis=-1).reshape(-1, 3), triangles)
