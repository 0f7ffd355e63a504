"""Smooth solids from functions of space: blends of round pieces, and triangles of their zero surface.

A field is a function of coordinates (3, n) that is negative inside, positive outside, and near the surface
grows about as fast as distance does.
"""

from collections.abc import Callable

import numpy as np

from pliant.core.errors import MeshError
from pliant.core.typing import Array, IntArray, Vector
from pliant.mesh.shapes.common import target_edge

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
        sides, uses = np.unique(np.sort(_sides(quads), axis=1), axis=0, return_counts=True)
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


def _sides(quads: IntArray) -> IntArray:
    return quads[:, [[0, 1], [1, 2], [2, 3], [3, 0]]].reshape(-1, 2)


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
