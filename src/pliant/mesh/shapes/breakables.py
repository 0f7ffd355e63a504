"""Shapes to be broken: a bar with a neck, a wine glass."""

import math
from itertools import pairwise
from typing import Annotated

import numpy as np
from pydantic import AfterValidator, Field

from pliant.mesh.shapes.blocks import block_surface, kuhn_tets, lattice_points, steps
from pliant.mesh.shapes.boxes import checked_divisions
from pliant.mesh.shapes.common import Positive, Size, Unstructured, target_edge
from pliant.mesh.types import Surface, TetMesh
from pliant.parameters import parameters
from pliant.typing import Array
from pliant.units import Number


@parameters
class NeckedBar:
    """A bar from the origin to ``size`` [m], along x; its width (y) narrows smoothly to ``neck`` of itself in
    the middle half: the section there is neck x size y x size z. With ``divisions``: six tets a cell."""

    size: Size
    neck: Number = Field(default=0.6, gt=0.05, le=1.0)
    divisions: Annotated[tuple[int, int, int], AfterValidator(checked_divisions)] | None = None

    def surface(self, edge: float | None = None) -> Surface:
        """The six sides in steps of about ``edge`` (a sixth of the shortest side), or in ``divisions``."""
        x, y, z = self.size
        if self.divisions is None:
            target = target_edge(edge, min(self.size) / 6, 2 * (x * y + y * z + z * x))
            cells = tuple(steps(length, target) for length in self.size)
        else:
            cells = self.divisions
        points, triangles = block_surface(*self._axes(cells))
        return Surface(self._narrowed(points), triangles)

    def volume(self) -> TetMesh | None:
        """The lattice's tets (Kuhn's six a cell) if there are ``divisions``."""
        if self.divisions is None:
            return None
        return TetMesh(self._narrowed(lattice_points(*self._axes(self.divisions))), kuhn_tets(self.divisions))

    def _axes(self, cells: tuple[int, ...]) -> list[Array]:
        return [np.linspace(0.0, length, n + 1) for length, n in zip(self.size, cells, strict=True)]

    def _narrowed(self, points: Array) -> Array:
        x, y, _ = self.size
        share = np.clip(np.abs(points[:, 0] / x - 0.5) / 0.25, 0.0, 1.0)
        width = 1.0 - (1.0 - self.neck) * 0.5 * (1.0 + np.cos(math.pi * share))
        out = points.copy()
        out[:, 1] = 0.5 * y + width * (points[:, 1] - 0.5 * y)
        return out


# Half of the section, (r, z) for height 1: the foot, the stem, and the outside of the bowl up to the rim.
_OUTSIDE = [
    (0.0, 0.0), (0.12, 0.0), (0.24, 0.0), (0.24, 0.03), (0.12, 0.05), (0.05, 0.08), (0.035, 0.14),
    (0.03, 0.26), (0.035, 0.36), (0.07, 0.42), (0.13, 0.47), (0.18, 0.54), (0.205, 0.62), (0.21, 0.72),
    (0.2, 0.86), (0.18, 1.0),
]  # fmt: skip
_BOWL = 9  # where the bowl begins in it


@parameters
class Goblet(Unstructured):
    """A wine glass of some ``height`` [m] on z = 0, about z; its bowl is ``wall`` [m] thick (default: a
    thirtieth of the height)."""

    height: Positive
    wall: Positive | None = None

    def surface(self, edge: float | None = None) -> Surface:
        """Its section turned about z, in steps of about ``edge`` (default: the wall)."""
        wall = self.wall or self.height / 30
        outside = np.array(_OUTSIDE) * self.height
        bowl = outside[_BOWL:]
        slope = np.gradient(bowl, axis=0)
        inward = np.stack([-slope[:, 1], slope[:, 0]], axis=1)
        inside = bowl + wall * inward / np.linalg.norm(inward, axis=1)[:, None]
        inside[-1] = [bowl[-1, 0] - wall, bowl[-1, 1]]
        inside = inside[inside[:, 0] > 0.3 * bowl[0, 0]][::-1]
        bottom = [[0.0, inside[-1, 1]]]
        area = 2 * math.pi * 0.4 * self.height**2
        target = target_edge(edge, wall, area)
        profile = _resampled(np.concatenate([outside, inside, bottom]), target)
        return _turned(profile, max(16, round(2 * math.pi * 0.2 * self.height / target)))


def _resampled(line: Array, step: float) -> Array:
    """Points along a polyline, its corners kept, in steps of about ``step``."""
    parts = [line[:1]]
    for a, b in pairwise(line):
        n = max(1, round(float(np.linalg.norm(b - a)) / step))
        parts.append(a + (b - a) * (np.arange(1, n + 1) / n)[:, None])
    return np.concatenate(parts)


def _turned(profile: Array, around: int) -> Surface:
    """A closed surface from a profile (r, z) that begins and ends on the axis, below first."""
    angle = 2 * math.pi * np.arange(around) / around
    ring = profile[1:-1]
    r, z = ring[:, :1], np.repeat(ring[:, 1:], around, axis=1)
    points = np.stack([r * np.cos(angle), r * np.sin(angle), z], axis=-1).reshape(-1, 3)
    a = np.arange(len(ring) * around).reshape(len(ring), around)
    low, high = a[:-1], a[1:]
    b, c = np.roll(low, -1, axis=1), np.roll(high, -1, axis=1)
    sides = np.stack([low, b, c, low, c, high], axis=-1).reshape(-1, 3)
    south, north = len(points), len(points) + 1
    first, last = a[0], a[-1]
    lids = [
        np.stack([np.full(around, south), np.roll(first, -1), first], axis=-1),
        np.stack([np.full(around, north), last, np.roll(last, -1)], axis=-1),
    ]
    ends = [[0.0, 0.0, profile[0, 1]], [0.0, 0.0, profile[-1, 1]]]
    return Surface(np.concatenate([points, ends]), np.concatenate([sides, *lids]).astype(np.int64))
