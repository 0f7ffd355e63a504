"""Stencils that may come into contact while vertices stay near the way that they were found for."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from pliant.contact.barrier.broad_kernels import near_pairs
from pliant.contact.barrier.distance_kernels import EDGE_EDGE, POINT_PLANE, POINT_TRIANGLE
from pliant.contact.barrier.geometry import MARGIN, BodySurfaces, ObstacleVertices, PairTables
from pliant.contact.barrier.stencil_kernels import distances, off_path
from pliant.core.typing import AnyArray, Array, BoolArray, IntArray

MOLLIFIED = 1e-3  # of the product of squared rest lengths: nearly parallel edges
APART = 0.5  # of their distance at rest: where contact begins within a body, at most


@dataclass(frozen=True)
class Stencils:
    """Candidates: kind (s,), vertices (s, 4), normals (s, 3) of planes; per stencil offset [m], reach [m],
    stiffness [N/m], threshold of the mollifier [m4], friction, the longest stretch that sticks [m]; keys
    (s, 2) of the history of friction: a feature, and the body or obstacle that it touches."""

    kinds: IntArray
    vertices: IntArray
    normals: Array
    offsets: Array
    reach: Array
    stiffness: Array
    threshold: Array
    friction: Array
    stretch: Array
    keys: IntArray

    def some(self, which: IntArray | BoolArray) -> "Stencils":
        """Those that are chosen."""
        return Stencils(*(getattr(self, name)[which] for name in self.__dataclass_fields__))


class ContactGeometry:
    """All vertices, those of bodies and then those of obstacles, with their features and coefficients.

    Vertices of a body are ``count``; those of obstacles follow.
    """

    def __init__(self, s: BodySurfaces, o: ObstacleVertices, tables: PairTables, bodies: int) -> None:
        self.surfaces, self.obstacles, self.tables, self.bodies = s, o, tables, bodies
        self.count = len(s.body)
        self.body: IntArray = np.concatenate([s.body, o.owner + bodies])
        self.triangles: IntArray = np.concatenate([s.triangles, o.triangles + self.count])
        self.edges: IntArray = np.concatenate([s.edges, o.edges + self.count])
        self.points: IntArray = np.concatenate([np.arange(self.count), o.points + self.count])
        self.rest: Array = np.concatenate([s.rest, o.local])
        self.radius: Array = np.concatenate([np.zeros(self.count), o.radius])
        edge = s.edge[s.body]
        large = float(s.edge.max())
        self.margin: Array = np.concatenate([MARGIN * edge, np.full(len(o.owner), MARGIN * large)])
        half = tables.reach[:, :bodies].max(axis=1) * 0.5
        half[bodies:] *= 2.0  # the whole distance on the side of the obstacle
        self.wide: Array = self.margin + half[self.body] + self.radius
        self.lengths = np.linalg.norm(self.rest[self.edges[:, 0]] - self.rest[self.edges[:, 1]], axis=1)

    # ---------------------------------------------------------------------------------- candidates

    def find(self, x: Array, way: Array) -> Stencils:
        """All stencils that may touch while vertices go from ``x`` along ``way`` (v, 3) [m] and leave that by
        their margins at most; in an order that depends on the mesh alone."""
        collides, points, body = self.tables.collides, self.points[:, None], self.body
        touching = near_pairs(
            x, way, self.wide, points, body[self.points], self.triangles, body[self.triangles[:, 0]], collides
        )
        crossing = near_pairs(
            x,
            way,
            self.wide,
            self.edges,
            body[self.edges[:, 0]],
            self.edges,
            body[self.edges[:, 0]],
            collides,
        )
        return self._stencils(touching, crossing, self._near_planes(x, way))

    def _near_planes(self, x: Array, way: Array) -> IntArray:
        """Pairs (p, 2): number of a plane, vertex of a body."""
        found = [np.empty((0, 2), np.int64)]
        for k, place in enumerate(self.obstacles.planes[:, 1]):
            vertex = place + self.count
            normal, own = self.obstacles.normals[k], slice(0, self.count)
            height = (x[own] - x[vertex]) @ normal
            lowest = height + np.minimum((way[own] - way[vertex]) @ normal, 0.0)
            near = np.flatnonzero(lowest <= self.wide[own] + self.wide[vertex])
            near = near[self.tables.collides[self.body[near], self.body[vertex]]]
            found.append(np.column_stack([np.full(len(near), k), near]))
        return np.concatenate(found)

    def _stencils(self, touching: IntArray, crossing: IntArray, planes: IntArray) -> Stencils:
        point, triangle = self.points[touching[:, 0]], touching[:, 1]
        first, second = crossing.T
        plane_vertex = self.obstacles.planes[planes[:, 0], 1] + self.count
        counts = len(touching), len(crossing), len(planes)
        vertices = np.concatenate(
            [
                np.column_stack([point, self.triangles[triangle]]),
                np.column_stack([self.edges[first], self.edges[second]]),
                np.column_stack([planes[:, 1], plane_vertex, plane_vertex, plane_vertex]),
            ]
        )
        kinds = np.repeat(np.array([POINT_TRIANGLE, EDGE_EDGE, POINT_PLANE]), counts)
        own, other = self.body[vertices[:, 0]], self.body[vertices[:, 2]]
        normals = np.zeros((len(kinds), 3))
        normals[counts[0] + counts[1] :] = self.obstacles.normals[planes[:, 0]]
        tables, pair = self.tables, (own, other)
        reach = tables.reach[pair].copy()
        same = np.flatnonzero(own == other)
        if len(same):
            apart = distances(self.rest, kinds[same], vertices[same], normals[same], np.zeros(len(same)))
            reach[same] = np.minimum(reach[same], APART * apart)
        threshold = np.ones(len(kinds))
        between = slice(counts[0], counts[0] + counts[1])
        threshold[between] = MOLLIFIED * (self.lengths[first] * self.lengths[second]) ** 2
        offsets = self.radius[vertices[:, 0]] + self.radius[vertices[:, 2]]
        return Stencils(
            kinds, vertices, normals, offsets, reach, tables.stiffness[pair], threshold,
            tables.friction[pair], tables.stretch[pair], self._keys(point, triangle, first, second, planes),
        )  # fmt: skip

    def _keys(
        self, point: IntArray, triangle: IntArray, first: IntArray, second: IntArray, planes: IntArray
    ) -> IntArray:
        """A vertex, edge or triangle of a body, numbered in this order, and what it touches."""
        edges_from, triangles_from = self.count, self.count + len(self.surfaces.edges)
        fixed = point >= self.count
        surface = self.body[self.triangles[triangle, 0]]
        of_points = np.column_stack(
            [np.where(fixed, triangles_from + triangle, point), np.where(fixed, self.body[point], surface)]
        )
        swap = self.edges[first, 0] >= self.count
        one, two = np.where(swap, second, first), np.where(swap, first, second)
        of_edges = np.column_stack([edges_from + one, self.body[self.edges[two, 0]]])
        of_planes = np.column_stack([planes[:, 1], self.bodies + self.obstacles.planes[planes[:, 0], 0]])
        return np.concatenate([of_points, of_edges, of_planes]).astype(np.int64)


class CandidateTube:
    """The stencils around a way of all vertices, found again only where vertices leave it."""

    def __init__(self) -> None:
        self.start: Array = np.empty((0, 3))
        self.way: Array = np.empty((0, 3))
        self.stencils: Stencils | None = None
        self._since: Array = np.empty((0, 3))
        self._known: Array | None = None

    def measured(self) -> tuple[Array, Array]:
        """Places of all vertices (v, 3), and the distances of the stencils there (s,) [m]."""
        if self._known is None:
            self.measure(self.start)
        assert self._known is not None
        return self._since, self._known

    def measure(self, x: Array) -> None:
        """Measure the distances of the stencils at ``x``."""
        s = self.stencils
        assert s is not None
        self._since, self._known = x.copy(), distances(x, s.kinds, s.vertices, s.normals, s.offsets)

    def covers(self, geometry: ContactGeometry, x: Array) -> bool:
        """Whether all stencils that touch at ``x``, and on a straight way from the start of the tube or from
        another place in it, are among the candidates."""
        if self.stencils is None or self.start.shape != x.shape:
            return False
        return bool(off_path(x, self.start, self.way, geometry.margin) <= 1.0)

    def find(self, geometry: ContactGeometry, x: Array, way: Array) -> Stencils:
        """Find the candidates around the way from ``x`` along ``way``."""
        self.start, self.way = x.copy(), way.copy()
        self.stencils, self._known = geometry.find(x, way), None
        return self.stencils

    def clear(self) -> None:
        self.stencils, self._known = None, None

    def state(self) -> dict[str, AnyArray]:
        there = self.stencils is not None
        return {"tube": np.stack([self.start, self.way]) if there else np.empty((2, 0, 3))}

    def restore(self, geometry: ContactGeometry, state: Mapping[str, AnyArray]) -> None:
        start, way = state["tube"]
        if len(start) == len(geometry.body):
            self.find(geometry, start.copy(), way.copy())
        else:
            self.clear()
