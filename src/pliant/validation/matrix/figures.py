"""Test bodies of the matrix: organic shapes with thin limbs, ears, handles, holes, loose and flat parts.

Each is the zero surface of a field (``mesh.shapes.implicit``), about 0.4 m large, with its lowest point in
z = 0 and its middle on the z axis.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache, reduce
from itertools import pairwise

import numpy as np

from pliant.core.typing import Array, Vector
from pliant.mesh.mesh import Surface
from pliant.mesh.shapes.implicit import Field, blend, capsule, carve, ellipsoid, polygonise

SIZE = 0.4  # m, of a figure whose field is about 1 large


@dataclass(frozen=True)
class Figure:
    """A test body: its field, a box around it, and the edges of its surface and of its cells, in units of
    its size."""

    name: str
    about: str
    field: Field
    low: Vector
    high: Vector
    edge: float  # of the triangles
    cells: float  # target edge length of the cells

    @property
    def edge_length(self) -> float:
        """The target edge length [m]."""
        return round(self.cells * SIZE, 6)

    def surface(self) -> Surface:
        """The closed surface [m], lowest point in z = 0, middle on the z axis."""
        points, triangles = polygonise(self.field, self.low, self.high, self.edge)
        low, high = points.min(axis=0), points.max(axis=0)
        centre = 0.5 * (low + high)
        return Surface((points - [centre[0], centre[1], low[2]]) * SIZE, np.asarray(triangles))


FIGURES: dict[str, Figure] = {}


def figure(
    name: str, about: str, low: Vector, high: Vector, cells: float = 0.18, edge: float = 0.09
) -> Callable[[Field], Field]:
    """Decorator: enter a field as a test body."""

    def enter(field: Field) -> Field:
        FIGURES[name] = Figure(name, about, field, low, high, edge, cells)
        return field

    return enter


def _blended(parts: Iterable[Array], width: float) -> Array:
    return reduce(lambda a, b: blend(a, b, width), parts)


def _ring(p: Array, centre: Vector, axis: int, major: float, minor: float) -> Array:
    """Signed distance to a torus about a coordinate axis."""
    q = [x - c for x, c in zip(p, centre, strict=True)]
    u, v = (axis + 1) % 3, (axis + 2) % 3
    around = np.sqrt(q[u] ** 2 + q[v] ** 2) - major
    return np.asarray(np.sqrt(around**2 + q[axis] ** 2) - minor)


def _chain(p: Array, points: Array, radius: float) -> Array:
    """Signed distance to a tube along a polyline."""
    ends = [tuple(float(c) for c in point) for point in points]
    tubes = [capsule(p, a, b, radius) for a, b in pairwise(ends)]  # type: ignore[arg-type]
    return reduce(np.minimum, tubes)


@figure("hare", "round body, two long thin ears, four paws", (-0.4, -0.45, -0.1), (0.4, 0.45, 1.2))
def hare(p: Array) -> Array:
    parts = [
        ellipsoid(p, (0, 0.08, 0.3), (0.24, 0.28, 0.26)),
        ellipsoid(p, (0, -0.16, 0.62), (0.17, 0.18, 0.16)),
        ellipsoid(p, (0, 0.36, 0.22), (0.06, 0.06, 0.06)),
    ]
    for side in (-1, 1):
        parts.append(capsule(p, (0.07 * side, -0.1, 0.72), (0.12 * side, -0.02, 1.1), 0.045))
        parts.append(capsule(p, (0.12 * side, -0.12, 0.3), (0.12 * side, -0.24, 0.05), 0.055))
        parts.append(ellipsoid(p, (0.17 * side, 0.08, 0.06), (0.08, 0.2, 0.07)))
    return _blended(parts, 0.06)


@figure("octopus", "a head on six thin arms", (-0.75, -0.75, -0.1), (0.75, 0.75, 0.85))
def octopus(p: Array) -> Array:
    parts = [ellipsoid(p, (0, 0, 0.5), (0.24, 0.24, 0.3))]
    for angle in np.arange(6) * np.pi / 3:
        c, s = float(np.cos(angle)), float(np.sin(angle))
        bend = np.array([[0.12 * c, 0.12 * s, 0.32], [0.38 * c, 0.38 * s, 0.16], [0.65 * c, 0.65 * s, 0.06]])
        parts.append(_chain(p, bend, 0.055))
    return _blended(parts, 0.07)


@figure("mug", "a hollow cup with a handle", (-0.45, -0.45, -0.1), (0.8, 0.45, 0.85))
def mug(p: Array) -> Array:
    wall = np.asarray(np.sqrt(p[0] ** 2 + p[1] ** 2) - 0.36)
    cup = -blend(-wall, -np.abs(p[2] - 0.38) + 0.36, 0.05)
    cup = blend(cup, _ring(p, (0.4, 0.0, 0.4), 1, 0.2, 0.055), 0.04)
    hollow = np.asarray(np.sqrt(p[0] ** 2 + p[1] ** 2) - 0.25)
    return carve(cup, np.maximum(hollow, 0.13 - p[2]), 0.04)


@figure("pot", "a round pot with spout, handle and knob", (-0.85, -0.5, -0.1), (0.85, 0.5, 0.95))
def pot(p: Array) -> Array:
    parts = [
        ellipsoid(p, (0, 0, 0.35), (0.38, 0.38, 0.33)),
        _chain(p, np.array([[0.28, 0, 0.28], [0.5, 0, 0.4], [0.62, 0, 0.62]]), 0.06),
        _ring(p, (-0.42, 0.0, 0.4), 1, 0.19, 0.05),
        ellipsoid(p, (0, 0, 0.74), (0.07, 0.07, 0.07)),
    ]
    return carve(_blended(parts, 0.05), p[2] - 0.06, 0.03)


@figure("starfish", "five flat arms", (-0.75, -0.75, -0.05), (0.75, 0.75, 0.3))
def starfish(p: Array) -> Array:
    parts = [ellipsoid(p, (0, 0, 0.1), (0.26, 0.26, 0.11))]
    for angle in np.arange(5) * 2 * np.pi / 5:
        c, s = float(np.cos(angle)), float(np.sin(angle))
        parts.append(_chain(p, np.array([[0.1 * c, 0.1 * s, 0.09], [0.62 * c, 0.62 * s, 0.07]]), 0.07))
    return _blended(parts, 0.09)


@figure("pretzel", "two rings that share a side: holes", (-0.8, -0.45, -0.05), (0.8, 0.45, 0.35))
def pretzel(p: Array) -> Array:
    return blend(_ring(p, (-0.29, 0, 0.12), 2, 0.28, 0.095), _ring(p, (0.29, 0, 0.12), 2, 0.28, 0.095), 0.05)


@figure("hand", "a palm with five thin fingers", (-0.5, -0.25, -0.1), (0.5, 0.25, 1.1))
def hand(p: Array) -> Array:
    parts = [ellipsoid(p, (0, 0, 0.28), (0.25, 0.1, 0.29))]
    for k, top in enumerate((0.86, 0.98, 1.0, 0.9)):
        x = -0.19 + 0.127 * k
        parts.append(capsule(p, (0.8 * x, 0, 0.45), (1.25 * x, 0.0, top - 0.05), 0.052))
    parts.append(capsule(p, (0.15, 0, 0.25), (0.4, -0.04, 0.55), 0.06))
    return _blended(parts, 0.05)


@figure("calf", "four thin legs, horns and a tail", (-0.35, -0.85, -0.1), (0.35, 0.85, 1.1), edge=0.088)
def calf(p: Array) -> Array:
    parts = [
        ellipsoid(p, (0, 0.05, 0.55), (0.2, 0.4, 0.2)),
        capsule(p, (0, -0.28, 0.62), (0, -0.42, 0.78), 0.1),
        ellipsoid(p, (0, -0.52, 0.8), (0.11, 0.17, 0.11)),
        _chain(p, np.array([[0, 0.42, 0.62], [0, 0.56, 0.5], [0, 0.6, 0.25]]), 0.04),
    ]
    for side in (-1, 1):
        parts.append(capsule(p, (0.12 * side, -0.2, 0.45), (0.13 * side, -0.22, 0.06), 0.06))
        parts.append(capsule(p, (0.12 * side, 0.3, 0.45), (0.13 * side, 0.34, 0.06), 0.06))
        parts.append(capsule(p, (0.06 * side, -0.46, 0.88), (0.16 * side, -0.46, 1.0), 0.04))
    return _blended(parts, 0.06)


@figure(
    "leaf", "a thin curved blade on a stem", (-0.4, -0.65, -0.1), (0.4, 0.85, 0.4), cells=0.16, edge=0.075
)
def leaf(p: Array) -> Array:
    lifted = np.stack([p[0], p[1], p[2] - 0.35 * (p[1] ** 2 + p[0] ** 2)])
    blade = ellipsoid(lifted, (0, 0, 0.06), (0.32, 0.55, 0.055))
    return blend(blade, _chain(p, np.array([[0, 0.3, 0.1], [0, 0.55, 0.2], [0, 0.78, 0.3]]), 0.045), 0.04)


@figure("snowman", "balls, buttons and a hat that do not touch", (-0.4, -0.45, -0.05), (0.4, 0.4, 1.25))
def snowman(p: Array) -> Array:
    parts = [
        ellipsoid(p, (0, 0, 0.28), (0.28, 0.28, 0.26)),
        ellipsoid(p, (0, 0, 0.78), (0.2, 0.2, 0.2)),
        np.maximum(np.sqrt(p[0] ** 2 + p[1] ** 2) - 0.2, np.abs(p[2] - 1.08) - 0.06),
        ellipsoid(p, (0, -0.36, 0.34), (0.05, 0.05, 0.05)),
        ellipsoid(p, (0, -0.3, 0.8), (0.05, 0.07, 0.05)),
    ]
    return reduce(np.minimum, parts)


@figure("mushroom", "a wide thin cap on a slim stem", (-0.6, -0.6, -0.05), (0.6, 0.6, 0.85))
def mushroom(p: Array) -> Array:
    cap = ellipsoid(p, (0, 0, 0.5), (0.5, 0.5, 0.26))
    cap = carve(cap, ellipsoid(p, (0, 0, 0.36), (0.44, 0.44, 0.22)), 0.04)
    stem = capsule(p, (0, 0, 0.1), (0, 0, 0.62), 0.085)
    stem = blend(stem, ellipsoid(p, (0, 0, 0.09), (0.15, 0.15, 0.08)), 0.06)
    return blend(cap, stem, 0.05)


@figure("coil", "a helical spring of two turns", (-0.5, -0.5, -0.1), (0.5, 0.5, 1.0))
def coil(p: Array) -> Array:
    t = np.linspace(0.0, 1.0, 33)
    turn = 4.0 * np.pi * t
    return _chain(p, np.stack([0.35 * np.cos(turn), 0.35 * np.sin(turn), 0.08 + 0.7 * t], axis=1), 0.07)


@figure("doll", "a figure with head, thin arms and legs", (-0.6, -0.25, -0.05), (0.6, 0.25, 1.2))
def doll(p: Array) -> Array:
    parts = [
        ellipsoid(p, (0, 0, 0.58), (0.16, 0.11, 0.24)),
        ellipsoid(p, (0, 0, 1.0), (0.14, 0.13, 0.15)),
        capsule(p, (0, 0, 0.78), (0, 0, 0.9), 0.055),
    ]
    for side in (-1, 1):
        arm = np.array([[0.12 * side, 0, 0.76], [0.32 * side, 0, 0.62], [0.48 * side, -0.06, 0.66]])
        parts.append(_chain(p, arm, 0.05))
        parts.append(capsule(p, (0.08 * side, 0, 0.42), (0.13 * side, 0, 0.08), 0.06))
        parts.append(ellipsoid(p, (0.14 * side, -0.05, 0.05), (0.06, 0.12, 0.05)))
    return _blended(parts, 0.05)


@cache
def figure_surface(name: str) -> Surface:
    """The surface of a test body."""
    return FIGURES[name].surface()
