"""The box and the mattress."""

import numpy as np

from pliant.core.parameters import parameters
from pliant.core.typing import Array
from pliant.mesh.mesh import Surface
from pliant.mesh.shapes.blocks import (
    BlockLattice,
    Divisions,
    Split,
    block_surface,
    steps,
)
from pliant.mesh.shapes.common import Shape, Size, target_edge


@parameters
class Box(BlockLattice):
    """A box from the origin to ``size`` [m]; with ``divisions`` it is a lattice of six tets a cell.

    split: "alternating" mirrors every second cell, so that no direction is preferred; "uniform" splits all
    cells alike (the only split up to 0.1).
    """

    size: Size
    divisions: Divisions | None = None
    split: Split = "alternating"

    @property
    def alternating(self) -> bool:
        return self.split == "alternating"

    def _default_edge(self) -> float:
        return max(min(self.size) / 6, max(self.size) / 200)


ROUNDING = 0.3  # radius of the rounded edges, as a part of the shortest side
TUFT_SPACING = 1.0  # distance of the tufts, as a part of the thickness
TUFT_DEPTH = 0.12  # depth of the tufts, as a part of the shortest side
MOST_TUFTS = 24  # along an axis


@parameters
class Mattress(Shape):
    """A mattress from the origin to ``size`` [m]: rounded edges, rows of tufts in its top and bottom (z)."""

    size: Size

    def surface(self, edge: float | None = None) -> Surface:
        """A box lattice rolled over the rounded edges and drawn in at the tufts.

        A point p of the box goes to q + r (p - q) / |p - q| with q the nearest point of the box that is
        smaller by the rounding radius r on all sides. A tuft of radius R moves z inward by
        depth (1 - d^2/R^2)^2, which ends before the flat top does: the extent stays exactly 0..size.
        ``edge`` defaults to a third of the rounding radius.
        """
        x, y, z = self.size
        r = ROUNDING * min(self.size)
        default = max(r / 3, max(self.size) / 120)
        target = target_edge(edge, default, 2 * (x * y + y * z + z * x))
        tufts = [min(MOST_TUFTS, steps(length - 2 * r, TUFT_SPACING * z)) for length in (x, y)]
        across, along = (_axis(length, r, target, 2 * n) for length, n in zip((x, y), tufts, strict=True))
        points, triangles = block_surface(across, along, _axis(z, r, target, 1))
        core = np.clip(points, r, np.array(self.size) - r)
        away = points - core
        rolled = core + away * (r / np.linalg.norm(away, axis=1))[:, None]
        flat = np.count_nonzero(away, axis=1) == 1  # exact where nothing is rolled
        rolled[flat] = points[flat]
        spacing = [(length - 2 * r) / n for length, n in zip((x, y), tufts, strict=True)]
        drawn = flat & (away[:, 2] != 0)
        depth = TUFT_DEPTH * min(self.size) * _tufts(points[drawn, :2] - r, spacing)
        rolled[drawn, 2] -= np.sign(away[drawn, 2]) * depth
        return Surface(rolled, triangles)


def _axis(length: float, r: float, edge: float, parts: int) -> Array:
    """Lattice coordinates from 0 to ``length``: ends by equal angles, between them ``parts`` equal parts."""
    bend = max(2, steps(np.pi / 4 * r, edge))
    end = r * (1 - np.tan(np.pi / 4 * np.arange(bend, 0, -1) / bend))
    end[0] = 0.0
    flat = np.linspace(r, length - r, parts * steps((length - 2 * r) / parts, edge) + 1)
    return np.concatenate([end, flat, length - end[::-1]])


def _tufts(xy: Array, spacing: list[float]) -> Array:
    """How far tufts at the centres of cells of ``spacing`` draw in the points ``xy``, from 0 to 1."""
    offset = xy - (np.floor(xy / spacing) + 0.5) * spacing
    distance = np.linalg.norm(offset, axis=1) / (0.48 * min(spacing))
    return np.where(distance < 1, (1 - distance**2) ** 2, 0.0)
