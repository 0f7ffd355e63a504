"""Smooth solids from functions of space: blends of round pieces, triangles of their zero surface, and two
figures made of them: the gummy bear and a liver-like organ.

A field is a function of coordinates (3, n) that is negative inside, positive outside, and near the surface
grows about as fast as distance does.
"""

from collections.abc import Callable

import numpy as np

from pliant.core.errors import MeshError
from pliant.core.parameters import parameters
from pliant.core.typing import Array, IntArray, Vector
from pliant.mesh.mesh import Surface
from pliant.mesh.shapes.common import Positive, Shape, target_edge

Field = Callable[[Array], Array]

AREA = 1.6  # of a figure of size 1, about
FINEST = 250  # edges to the size of a figure, above which the grid takes too much memory


def figure_edge(edge: float | None, size: float, fewest: int, what: str) -> float:
    """The edge [m] for a figure of ``size`` [m]: a fortieth by default, at most 1 / ``fewest``."""
    target = target_edge(edge, size / 40, AREA * size**2, most=size / fewest)
    if target < size / FINEST:
        raise MeshError(
            f"an edge of {target:g} m is too fine for {what}.",
            hint=f"Take an edge of {size / FINEST:.2g} m or more.",
        )
    return target


def ellipsoid(p: Array, centre: Vector, radii: Vector) -> Array:
    """About the distance: (|q| - 1) |q| / |q / r| with q = (p - c) / r, exact to first order."""
    q = [(x - c) / r for x, c, r in zip(p, centre, radii, strict=True)]
    length = _length(q)
    slope = _length([x / r for x, r in zip(q, radii, strict=True)])
    return np.asarray((length - 1) * length / np.maximum(slope, 1e-12))


def capsule(p: Array, start: Vector, end: Vector, radius: float) -> Array:
    """Signed distance to a rod with round ends."""
    axis = np.subtract(end, start)
    away = [x - c for x, c in zip(p, start, strict=True)]
    along = np.clip(sum(a * x for a, x in zip(axis, away, strict=True)) / (axis @ axis), 0.0, 1.0)
    return np.asarray(_length([x - a * along for a, x in zip(axis, away, strict=True)]) - radius)


def _length(q: list[Array]) -> Array:
    return np.asarray(np.sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2]))


def blend(a: Array, b: Array, width: float) -> Array:
    """Union with a fillet: min(a, b) - w/4 (1 - |a - b| / w)^2 where they differ by less than w."""
    near = np.maximum(width - np.abs(a - b), 0.0) / width
    return np.asarray(np.minimum(a, b) - near * near * width / 4)


def carve(a: Array, b: Array, width: float) -> Array:
    """The field ``a`` without the solid ``b``, the edge rounded over ``width``."""
    return -blend(-a, b, width)


def polygonise(field: Field, low: Vector, high: Vector, edge: float) -> tuple[Array, IntArray]:
    """Triangles of about ``edge`` on the zero surface in the box ``low``..``high``, facing outward.

    A surface net (one point per grid cell that the surface passes, one quad per grid edge that it crosses),
    then rounds of moving points to the mean of their neighbours and back onto the surface.
    A grid in which two sheets share a cell makes edges of four triangles; a finer grid is tried then.
    """
    for attempt in range(20):
        spacing = edge * 0.98**attempt
        axes = [_grid(a, b, spacing) for a, b in zip(low, high, strict=True)]
        points, quads = _surface_net(field, axes)
        sides = np.sort(quads[:, [[0, 1], [1, 2], [2, 3], [3, 0]]].reshape(-1, 2), axis=1)
        sides, uses = np.unique(sides, axis=0, return_counts=True)
        if len(quads) and np.all(uses == 2):
            for _ in range(8):
                points = project(field, _relaxed(points, sides), spacing, 1)
            points = project(field, points, spacing, 5)
            return points, _split(points, quads)
    raise MeshError("the shape's surface could not be meshed.", hint="Try a smaller edge length.")


def project(field: Field, points: Array, spacing: float, rounds: int) -> Array:
    """Points moved onto the surface by Newton's steps along the gradient, each at most ``spacing`` / 2."""
    h = 1e-4 * spacing
    for _ in range(rounds):
        value = field(points.T)
        shifts = [field((points + h * axis).T) - field((points - h * axis).T) for axis in np.eye(3)]
        gradient = np.stack(shifts, axis=1) / (2 * h)
        step = value / np.maximum(np.einsum("ij,ij->i", gradient, gradient), 1e-3)
        size = np.abs(step) * np.linalg.norm(gradient, axis=1)
        step *= np.minimum(1.0, 0.5 * spacing / np.maximum(size, 1e-30))
        points = points - step[:, None] * gradient
    return points


def _grid(low: float, high: float, spacing: float) -> Array:
    """Equal steps of ``spacing`` over ``low``..``high`` and a little beyond, symmetric about the middle."""
    count = int(np.ceil((high - low) / spacing))
    return np.asarray((low + high) / 2 + (np.arange(count + 1) - count / 2) * spacing)


def _surface_net(field: Field, axes: list[Array]) -> tuple[Array, IntArray]:
    """Points (n, 3) at the mean of the crossings around each cell, and outward quads (m, 4)."""
    shape = tuple(len(a) for a in axes)
    y, z = (a.ravel() for a in np.meshgrid(axes[1], axes[2], indexing="ij"))
    value = np.stack([field(np.stack([np.full_like(y, x), y, z])) for x in axes[0]]).reshape(shape)
    inside = value < 0
    total = np.zeros((*(n - 1 for n in shape), 3))
    count = np.zeros(total.shape[:3])
    corners = []  # per crossing, the four cells around its grid edge, in order about the outward direction
    for axis in range(3):
        start = [slice(None)] * 3
        end = [slice(None)] * 3
        start[axis], end[axis] = slice(None, -1), slice(1, None)
        at = np.stack(np.nonzero(inside[tuple(start)] != inside[tuple(end)]), axis=1)
        v0, v1 = value[tuple(start)][tuple(at.T)], value[tuple(end)][tuple(at.T)]
        place = np.stack([axes[k][at[:, k]] for k in range(3)], axis=1)
        place[:, axis] += (axes[axis][1] - axes[axis][0]) * v0 / (v0 - v1)
        u, v = (axis + 1) % 3, (axis + 2) % 3
        around = np.repeat(at[:, None], 4, axis=1)
        around[:, [0, 3], u] -= 1
        around[:, [0, 1], v] -= 1
        for k in range(4):
            cell = tuple(around[:, k].T)
            np.add.at(total, cell, place)
            np.add.at(count, cell, 1)
        leaving = v0 < 0
        corners.append(np.where(leaving[:, None, None], around, around[:, ::-1]))
    number = np.cumsum(count.ravel() > 0).reshape(count.shape) - 1
    quads = number[tuple(np.moveaxis(np.concatenate(corners), -1, 0))]
    used = count > 0
    return total[used] / count[used][:, None], quads.astype(np.int64)


def _relaxed(points: Array, sides: IntArray) -> Array:
    """Each point halfway to the mean of its neighbours."""
    total, count = np.zeros_like(points), np.zeros(len(points))
    for a, b in (sides.T, sides.T[::-1]):
        np.add.at(total, a, points[b])
        np.add.at(count, a, 1)
    return np.asarray((points + total / count[:, None]) / 2)


def _split(points: Array, quads: IntArray) -> IntArray:
    """Two triangles a quad, across the shorter diagonal."""
    a, b, c, d = quads.T
    first = np.linalg.norm(points[a] - points[c], axis=1) <= np.linalg.norm(points[b] - points[d], axis=1)
    halves = np.where(first[:, None], np.stack([a, b, c, a, c, d], 1), np.stack([a, b, d, b, c, d], 1))
    return halves.reshape(-1, 3)


BEAR_BOX = (-0.42, -0.42, -0.06), (0.42, 0.36, 1.08)  # a box around the bear, which is about 1 tall


@parameters
class Gummy(Shape):
    """A gummy bear, ``height`` [m] tall, soles in z = 0, its middle on the z axis, facing -y."""

    height: Positive

    def surface(self, edge: float | None = None) -> Surface:
        """One smooth closed surface; ``edge`` defaults to 1/40 of the height and is 1/30 of it at most."""
        target = figure_edge(edge, self.height, 30, f"a gummy bear {self.height:g} m tall")
        points, triangles = polygonise(bear, *BEAR_BOX, target / self.height)
        bottom, top = points[:, 2].min(), points[:, 2].max()
        points = (points - [0.0, 0.0, bottom]) * (self.height / (top - bottom))
        points[:, 2] = np.minimum(points[:, 2], self.height)
        points[points[:, 2] < 1e-6 * self.height, 2] = 0.0  # the soles, exactly flat
        points[np.argmax(points[:, 2]), 2] = self.height
        return Surface(points, triangles)


def bear(p: Array) -> Array:
    """The field of a bear of height about 1: negative inside; coordinates (3, n)."""
    body = ellipsoid(p, (0, 0.0, 0.36), (0.22, 0.18, 0.27))
    body = blend(body, ellipsoid(p, (0, -0.06, 0.31), (0.2, 0.175, 0.19)), 0.08)
    body = blend(body, ellipsoid(p, (0, 0.175, 0.2), (0.055, 0.055, 0.055)), 0.05)
    for side in (-1, 1):
        leg = capsule(p, (0.115 * side, 0.0, 0.17), (0.125 * side, -0.03, 0.09), 0.1)
        foot = ellipsoid(p, (0.14 * side, -0.13, 0.085), (0.095, 0.135, 0.095))
        body = blend(body, blend(leg, foot, 0.06), 0.05)
        arm = capsule(p, (0.185 * side, -0.02, 0.49), (0.15 * side, -0.2, 0.42), 0.07)
        body = blend(body, arm, 0.06)
    head = ellipsoid(p, (0, -0.01, 0.76), (0.205, 0.175, 0.175))
    head = blend(head, ellipsoid(p, (0, -0.15, 0.71), (0.1, 0.095, 0.075)), 0.045)
    head = blend(head, ellipsoid(p, (0, -0.238, 0.742), (0.04, 0.03, 0.03)), 0.02)
    for side in (-1, 1):
        head = blend(head, ellipsoid(p, (0.155 * side, 0.0, 0.915), (0.08, 0.06, 0.08)), 0.04)
        head = carve(head, ellipsoid(p, (0.162 * side, -0.07, 0.922), (0.05, 0.04, 0.05)), 0.03)
        head = blend(head, ellipsoid(p, (0.078 * side, -0.158, 0.805), (0.028, 0.024, 0.03)), 0.015)
    whole = blend(body, head, 0.07)
    return carve(whole, p[2] - 0.03, 0.02)  # flat soles


ORGAN_BOX = (-0.62, -0.42, -0.06), (0.62, 0.42, 0.48)  # a box around the organ, which is about 1 wide


@parameters
class Liver(Shape):
    """A soft organ of two lobes like a liver, ``width`` [m] along x, lying flat on z = 0."""

    width: Positive

    def surface(self, edge: float | None = None) -> Surface:
        """One smooth closed surface; ``edge`` defaults to 1/40 of the width and is 1/20 of it at most."""
        target = figure_edge(edge, self.width, 20, f"an organ {self.width:g} m wide")
        points, triangles = polygonise(organ, *ORGAN_BOX, target / self.width)
        low, high = points.min(axis=0), points.max(axis=0)
        points = (points - [0.5 * (low[0] + high[0]), 0.0, low[2]]) * (self.width / (high[0] - low[0]))
        points[points[:, 2] < 1e-6 * self.width, 2] = 0.0  # exactly flat below
        return Surface(points, np.asarray(triangles))


def organ(p: Array) -> Array:
    """The field of an organ of width about 1: negative inside; coordinates (3, n)."""
    right = ellipsoid(p, (-0.2, 0.02, 0.12), (0.31, 0.27, 0.24))
    right = blend(right, ellipsoid(p, (-0.27, -0.1, 0.08), (0.2, 0.2, 0.14)), 0.08)
    left = ellipsoid(p, (0.2, 0.05, 0.08), (0.31, 0.18, 0.13))
    whole = blend(right, left, 0.12)
    whole = carve(whole, ellipsoid(p, (0.08, -0.3, 0.05), (0.07, 0.2, 0.4)), 0.06)  # the notch between lobes
    return carve(whole, p[2], 0.03)
