"""Shapes with one flat profile: beam with a hole, support, cylinder, prism; its triangles, and the sweep."""

import math
from typing import Annotated, Self

import numpy as np
from pydantic import Field, model_validator

from pliant.core.errors import MeshError
from pliant.core.parameters import parameters
from pliant.core.typing import Array, IntArray
from pliant.mesh.mesh import Surface
from pliant.mesh.shapes.common import Positive, Shape, Size, target_edge


def sample_polygon(corners: list[tuple[float, float]], edge: float) -> Array:
    """A closed polygon with its sides cut into equal pieces no longer than ``edge``; shape (n, 2)."""
    pieces = []
    ends = np.array(corners, dtype=float)
    for a, b in zip(ends, np.roll(ends, -1, axis=0), strict=True):
        count = max(1, math.ceil(np.linalg.norm(b - a) / edge - 1e-9))
        pieces.append(a + (b - a) * (np.arange(count) / count)[:, None])
    return np.concatenate(pieces)


def sample_circle(centre: tuple[float, float], radius: float, count: int) -> Array:
    """``count`` points on a circle, counter-clockwise; shape (count, 2)."""
    angle = 2 * math.pi * np.arange(count) / count
    return np.array(centre) + radius * np.stack([np.cos(angle), np.sin(angle)], axis=1)


def triangulate(loops: list[Array], edge: float) -> tuple[Array, IntArray]:
    """Triangles of about ``edge`` that fill the region left of the directed closed ``loops``.

    Delaunay triangles of the loops' points and a hexagonal lattice that keeps 0.75 ``edge`` away from
    them; no circle over a loop segment then holds another point, so all segments are edges. Triangles are
    inside or outside by the side of the segments they can reach without crossing one.
    Returns points (n, 2), the loops' first and in order, and triangles (m, 3), counter-clockwise.
    """
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components
    from scipy.spatial import Delaunay, cKDTree

    border = np.concatenate(loops)
    follower = np.concatenate([start + np.roll(np.arange(n), -1) for start, n in _spans(loops)])
    lattice = _hexagonal(border.min(axis=0), border.max(axis=0), edge)
    lattice = lattice[cKDTree(border).query(lattice)[0] >= 0.75 * edge]
    points = np.concatenate([border, lattice])

    low, extent = points.min(axis=0), np.ptp(points, axis=0).max()
    delaunay = Delaunay((points - low) / extent)
    triangles = delaunay.simplices.astype(np.int64)
    a, b, c = (points[triangles[:, k]] for k in range(3))
    area = ((b - a)[:, 0] * (c - a)[:, 1] - (b - a)[:, 1] * (c - a)[:, 0]) / 2

    following = np.append(follower, np.full(len(lattice), -1))
    start, end = triangles[:, [1, 2, 0]], triangles[:, [2, 0, 1]]  # the side opposite each corner
    along, against = following[start] == end, following[end] == start
    open_side = ~(along | against) & (delaunay.neighbors >= 0)
    here = np.nonzero(open_side)[0]
    graph = coo_matrix(
        (np.ones(len(here)), (here, delaunay.neighbors[open_side])), shape=(len(triangles),) * 2
    )
    label = connected_components(graph, directed=False)[1]
    inside = np.isin(label, label[along.any(axis=1)]) & (area > 1e-9 * extent * extent / len(points))

    enclosed = sum(_area(loop) for loop in loops)
    if along[inside].sum() != len(border) or abs(area[inside].sum() - enclosed) > 1e-9 * enclosed:
        raise MeshError(
            "a flat side of the shape could not be triangulated.", hint="Try another edge length."
        )
    used = np.unique(np.append(triangles[inside], np.arange(len(border))))
    return points[used], np.searchsorted(used, triangles[inside])


def extrude(loops: list[Array], length: float, edge: float) -> Surface:
    """The solid that the region left of ``loops`` in (u, v) sweeps along w from 0 to ``length``.

    Closed and facing outward in right-handed axes (u, v, w), triangles of about ``edge``.
    """
    flat, caps = triangulate(loops, edge)
    border = sum(len(loop) for loop in loops)
    rows = max(1, round(length / edge))
    heights = np.linspace(0.0, length, rows + 1)
    layers = [_at_height(flat, 0.0), _at_height(flat, length)]
    layers += [_at_height(flat[:border], float(w)) for w in heights[1:-1]]
    ring = np.empty((rows + 1, border), dtype=np.int64)  # point numbers of the walls, row by row
    ring[0], ring[-1] = np.arange(border), len(flat) + np.arange(border)
    ring[1:-1] = 2 * len(flat) + np.arange((rows - 1) * border).reshape(rows - 1, border)
    follower = np.concatenate([start + np.roll(np.arange(n), -1) for start, n in _spans(loops)])
    a, b, c, d = ring[:-1], ring[:-1, follower], ring[1:, follower], ring[1:]
    walls = np.stack([a, b, c, a, c, d], axis=-1).reshape(-1, 3)
    return Surface(np.concatenate(layers), np.concatenate([caps[:, ::-1], caps + len(flat), walls]))


def upright(surface: Surface, depth: float) -> Surface:
    """A solid swept in (u, v, w), turned: u is x, v is z, and the sweep lies in y from 0 to ``depth``."""
    u, v, w = surface.points.T
    return Surface(np.stack([u, depth - w, v], axis=1), surface.triangles)


def _at_height(flat: Array, w: float) -> Array:
    return np.column_stack([flat, np.full(len(flat), w)])


def _spans(loops: list[Array]) -> list[tuple[int, int]]:
    """First point number and length of each loop."""
    lengths = [len(loop) for loop in loops]
    return list(zip(np.cumsum([0, *lengths[:-1]]).tolist(), lengths, strict=True))


def _area(loop: Array) -> float:
    """Signed area of a polygon, positive if counter-clockwise."""
    x, y = (loop - loop[0]).T
    return float(np.dot(x, np.roll(y, -1)) - np.dot(y, np.roll(x, -1))) / 2


def _hexagonal(low: Array, high: Array, spacing: float) -> Array:
    """A hexagonal lattice over a rectangle, symmetric about its centre; shape (n, 2)."""
    height = spacing * math.sqrt(3) / 2
    half = np.ceil((high - low) / 2 / [spacing, height]).astype(int) + 1
    i, j = np.meshgrid(np.arange(-half[0], half[0] + 1), np.arange(-half[1], half[1] + 1), indexing="ij")
    x, y = (i + 0.5 * (j % 2)) * spacing, j * height
    return np.asarray((low + high) / 2 + np.stack([x.ravel(), y.ravel()], axis=1))


@parameters
class BeamWithHole(Shape):
    """A box from the origin to ``size`` [m] with a round hole along y through its middle.

    ``radius`` [m] defaults to 0.3 of the smaller of the x and z sizes; at most 0.45 of it fits.
    """

    size: Size
    radius: Positive | None = None

    @model_validator(mode="after")
    def _hole_fits(self) -> Self:
        most = 0.45 * min(self.size[0], self.size[2])
        if self.radius is not None and self.radius > most:
            raise ValueError(
                f"a hole of radius {self.radius:g} m does not fit into {self.size[0]:g} m by "
                f"{self.size[2]:g} m (x by z); at most {most:.3g} m leaves enough wall"
            )
        return self

    def surface(self, edge: float | None = None) -> Surface:
        """The beam; ``edge`` (a sixth of the smaller of x and z) is at most the wall beside the hole."""
        x, y, z = self.size
        radius = self.radius or 0.3 * min(x, z)
        default = max(min(x, z) / 6, max(self.size) / 200)
        area = 2 * (x * y + y * z + z * x)
        target = target_edge(edge, default, area, most=min(x, z) / 2 - radius)
        count = max(24, math.ceil(2 * math.pi * radius / target))
        hole = sample_circle((x / 2, z / 2), radius, count)[::-1]
        outline = sample_polygon([(0.0, 0.0), (x, 0.0), (x, z), (0.0, z)], target)
        return upright(extrude([outline, hole], y, target), y)


@parameters
class Support(Shape):
    """An L-shaped bracket from the origin to ``size`` [m]: back plate at x = 0, shelf at z = 0.

    Both plates are ``thickness`` [m] thick (a quarter of the smaller of the x and z sizes) and as wide as
    the y size. After the support of Jansson and Vergeest (2000), figure 4.
    """

    size: Size
    thickness: Positive | None = None

    @model_validator(mode="after")
    def _plates_fit(self) -> Self:
        if self.thickness is not None and self.thickness > 0.9 * min(self.size[0], self.size[2]):
            raise ValueError(
                f"plates {self.thickness:g} m thick leave no L in {self.size[0]:g} m by "
                f"{self.size[2]:g} m (x by z)"
            )
        return self

    def surface(self, edge: float | None = None) -> Surface:
        """The bracket's surface; ``edge`` defaults to half the thickness."""
        x, y, z = self.size
        t = self.thickness or 0.25 * min(x, z)
        area = 2 * (t * x + t * (z - t)) + 2 * y * (x + z)
        target = target_edge(edge, t / 2, area, most=t)
        corners = [(0.0, 0.0), (x, 0.0), (x, t), (t, t), (t, z), (0.0, z)]
        return upright(extrude([sample_polygon(corners, target)], y, target), y)


@parameters
class Cylinder(Shape):
    """A cylinder about the z axis, from z = 0 to ``height`` [m]."""

    radius: Positive
    height: Positive

    def surface(self, edge: float | None = None) -> Surface:
        """An inscribed prism of at least 24 sides; ``edge`` defaults to a quarter of the radius."""
        area = 2 * math.pi * self.radius * (self.radius + self.height)
        target = target_edge(edge, self.radius / 4, area, most=2 * math.pi * self.radius / 24)
        sides = math.ceil(2 * math.pi * self.radius / target - 1e-9)
        return extrude([sample_circle((0.0, 0.0), self.radius, sides)], self.height, target)


@parameters
class Prism(Shape):
    """A regular prism about z, from z = 0 to ``height``, corners at ``radius`` [m], the first on +x."""

    radius: Positive
    height: Positive
    sides: Annotated[int, Field(ge=3, le=256)] = 6

    def surface(self, edge: float | None = None) -> Surface:
        """The prism's surface, exact; ``edge`` defaults to a quarter of the radius."""
        area = 2 * math.pi * self.radius * (self.radius + self.height)
        side = 2 * self.radius * math.sin(math.pi / self.sides)
        target = target_edge(edge, self.radius / 4, area, most=side)
        corners = sample_circle((0.0, 0.0), self.radius, self.sides)
        outline = sample_polygon([(float(u), float(v)) for u, v in corners], target)
        return extrude([outline], self.height, target)
