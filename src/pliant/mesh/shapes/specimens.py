"""Shapes to be broken: a bar with a neck, a bar of chocolate, a wine glass."""

import math
from itertools import pairwise
from typing import Annotated

import numpy as np
from pydantic import Field

from pliant.core.parameters import parameters
from pliant.core.typing import Array
from pliant.core.units import Number
from pliant.mesh.mesh import Surface, TetMesh, boundary_triangles, tet_volumes
from pliant.mesh.shapes.blocks import BlockLattice, Divisions, block_surface, kuhn_tets, steps
from pliant.mesh.shapes.common import Positive, Shape, Size, target_edge


@parameters
class NeckedBar(BlockLattice):
    """A bar from the origin to ``size`` [m], along x; its width (y) narrows smoothly to ``neck`` of itself in
    the middle half: the section there is neck x size y x size z. With ``divisions``: six tets a cell."""

    size: Size
    neck: Number = Field(default=0.6, gt=0.05, le=1.0)
    divisions: Divisions | None = None

    def _placed(self, points: Array) -> Array:
        x, y, _ = self.size
        share = np.clip(np.abs(points[:, 0] / x - 0.5) / 0.25, 0.0, 1.0)
        width = 1.0 - (1.0 - self.neck) * 0.5 * (1.0 + np.cos(math.pi * share))
        out = points.copy()
        out[:, 1] = 0.5 * y + width * (points[:, 1] - 0.5 * y)
        return out


@parameters
class ChocolateBar(Shape):
    """A bar from the origin to ``size`` [m] with ``squares`` along x and y: grooves on its upper side go down
    to 1 - ``groove`` of its height, with sloping sides."""

    size: Size
    squares: tuple[Annotated[int, Field(ge=1, le=100)], Annotated[int, Field(ge=1, le=100)]] = (5, 2)
    groove: Number = Field(default=0.4, gt=0.0, lt=0.9)

    def surface(self, edge: float | None = None) -> Surface:
        """Its surface, exact, in steps of about ``edge`` (half its height)."""
        height = self.size[2]
        target = target_edge(edge, 0.5 * height, 2 * self.size[0] * self.size[1])
        x, y = (self._lines(length, n, target) for length, n in zip(self.size[:2], self.squares, strict=True))
        points, triangles = block_surface(x, y, np.linspace(0.0, height, steps(height, target) + 1))
        inner = np.zeros(len(points), bool)
        for c, n in enumerate(self.squares):
            place = points[:, c] * n / self.size[c]
            inner |= (np.abs(place - np.round(place)) < 1e-9) & (np.round(place) % n != 0)
        points[:, 2] *= np.where(inner, 1.0 - self.groove, 1.0)
        return Surface(points, triangles)

    def _lines(self, length: float, squares: int, edge: float) -> Array:
        """Grooves, the shoulders on both sides of them, and lines about ``edge`` apart between these."""
        across = length / squares
        places = [0.0, 0.18, 0.82, 1.0]
        inner = [
            np.linspace(a, b, steps((b - a) * across, edge), endpoint=False) for a, b in pairwise(places)
        ]
        lines = np.add.outer(np.arange(squares), np.concatenate(inner)).ravel()
        return np.asarray(np.append(lines, float(squares)) * across)


# The middle of the wall, (r, z) for height 1, from the foot's edge through the stem to the rim of the bowl.
_PROFILE = [
    (0.26, 0.015), (0.18, 0.025), (0.11, 0.05), (0.075, 0.1), (0.065, 0.2), (0.065, 0.32), (0.085, 0.4),
    (0.14, 0.46), (0.19, 0.53), (0.215, 0.62), (0.22, 0.72), (0.21, 0.86), (0.19, 1.0),
]  # fmt: skip


@parameters
class Goblet(Shape):
    """A wine glass of some ``height`` [m] on z = 0, about z, blown in one: a ``wall`` (default: a thirtieth
    of the height) that is foot, hollow stem and bowl; ``divisions``: cells along, around and through it."""

    height: Positive
    wall: Positive | None = None
    divisions: Divisions = (28, 24, 1)

    def surface(self, edge: float | None = None) -> Surface:
        """The boundary of its tets, whatever the ``edge``."""
        target_edge(edge, self.height, self.height**2)
        mesh = self.volume()
        triangles = boundary_triangles(mesh.tets)
        used, local = np.unique(triangles, return_inverse=True)
        return Surface(mesh.points[used], local.reshape(-1, 3).astype(np.int64))

    def volume(self) -> TetMesh:
        """A lattice along, around and through the wall, closed around z."""
        along, around, through = self.divisions
        wall = self.wall or self.height / 30
        middle = _spaced(np.array(_PROFILE) * self.height, along)
        slope = np.gradient(middle, axis=0)
        across = np.stack([slope[:, 1], -slope[:, 0]], axis=1) / np.linalg.norm(slope, axis=1)[:, None]
        depth = wall * (np.arange(through + 1) / through - 0.5)
        section = middle[:, None] + depth[None, :, None] * across[:, None]  # (along + 1, through + 1, 2)
        angle = 2 * math.pi * np.arange(around) / around
        r, z = section[:, None, :, 0], section[:, None, :, 1]
        parts = (r * np.cos(angle)[:, None], r * np.sin(angle)[:, None], z + 0.0 * angle[:, None])
        points = np.stack(parts, axis=-1).reshape(-1, 3)
        low, high = points[:, 2].min(), points[:, 2].max()
        points[:, 2] = self.height * ((points[:, 2] - low) / (high - low))
        number = np.arange(len(points)).reshape(along + 1, around, through + 1)
        wrapped = np.concatenate([number, number[:, :1]], axis=1).ravel()
        tets = wrapped[kuhn_tets(self.divisions)]
        if tet_volumes(points, tets[:1])[0] < 0:
            tets = tets[:, [0, 2, 1, 3]]
        return TetMesh(points, tets)


def _spaced(line: Array, steps: int) -> Array:
    """``steps`` + 1 points along a smooth curve through ``line``, equally far apart."""
    from scipy.interpolate import CubicSpline

    length = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(line, axis=0), axis=1))])
    return np.asarray(CubicSpline(length, line)(np.linspace(0.0, length[-1], steps + 1)))
