"""Surfaces that cut: closed ones cut their inside out, open ones as far as they reach, swept ones in time."""

from itertools import pairwise
from pathlib import Path

import numpy as np

from pliant.core.curves import Curve
from pliant.core.errors import MeshError
from pliant.core.typing import Array, BoolArray, IntArray

STRIPS = 16  # that the way of an edge is made of, from key to key


class CuttingSheet:
    """An open surface (n, 3) [m], (m, 3); ``times`` (n,) [s]: when an edge passes its points.

    Its level at a point is the distance along the smooth normal at the nearest place, so it goes on straight
    beyond its rim; ``beside`` tells how far beyond.
    """

    def __init__(self, points: Array, triangles: IntArray, times: Array) -> None:
        from pliant.mesh.bvh import Bvh

        across = np.cross(
            points[triangles[:, 1]] - points[triangles[:, 0]],
            points[triangles[:, 2]] - points[triangles[:, 0]],
        )
        kept = np.linalg.norm(across, axis=1) > 1e-12 * np.ptp(points, axis=0).max() ** 2
        triangles, across = triangles[kept], across[kept]
        normals = np.zeros_like(points)
        for k in range(3):
            np.add.at(normals, triangles[:, k], across)
        size = np.linalg.norm(normals, axis=1, keepdims=True)
        self.normals = normals / np.where(size > 0.0, size, 1.0)
        self.points, self.triangles, self.times = points, triangles, times
        self.tree = Bvh(points, triangles)

    def _nearest(self, x: Array) -> tuple[Array, IntArray, Array]:
        """From the nearest places to points: offsets (n, 3), corners (n, 3) and their weights (n, 3)."""
        place, _, which = self.tree.nearest(x)
        corners = self.triangles[which]
        a, b, c = (self.points[corners[:, k]] for k in range(3))
        normal = np.cross(b - a, c - a)
        double = np.einsum("ij,ij->i", normal, normal)
        second = np.einsum("ij,ij->i", np.cross(place - a, c - a), normal) / double
        third = np.einsum("ij,ij->i", np.cross(b - a, place - a), normal) / double
        return x - place, corners, np.stack([1.0 - second - third, second, third], axis=1)

    def level(self, x: Array) -> Array:
        """Signed distances (n,) [m]."""
        offset, corners, weights = self._nearest(x)
        normal = np.einsum("nk,nki->ni", weights, self.normals[corners])
        size = np.linalg.norm(normal, axis=1)
        return np.asarray(np.einsum("ni,ni->n", offset, normal) / np.where(size > 0.0, size, 1.0))

    def beside(self, x: Array) -> Array:
        """How far points are beside the rim (n,) [m]."""
        offset = self._nearest(x)[0]
        return np.asarray(
            np.sqrt(np.maximum(np.einsum("ni,ni->n", offset, offset) - self.level(x) ** 2, 0.0))
        )

    def passed(self, x: Array, time: float) -> BoolArray:
        """Whether the edge has been at the nearest places."""
        _, corners, weights = self._nearest(x)
        return np.asarray(np.einsum("nk,nk->n", weights, self.times[corners]) <= time)


def swept(tip: Curve, heel: Curve, start: float, until: float | None) -> CuttingSheet:
    """What a straight edge from ``tip`` to ``heel`` sweeps over from ``start`` on."""
    keys = np.unique(np.concatenate([tip.times, heel.times]))
    end = min(float(keys[-1]), np.inf if until is None else until)
    begin = max(float(keys[0]), start)
    if end <= begin:
        raise MeshError(
            f"action 'cut': the blade's last key is at {end:g} s, before it begins at {begin:g} s.",
            hint="Give tip and heel keys between from and until.",
        )
    ends = [begin, *keys[(keys > begin) & (keys < end)].tolist(), end]
    times = np.unique(np.concatenate([np.linspace(a, b, STRIPS + 1) for a, b in pairwise(ends)]))
    points = np.array([[tip.at(time), heel.at(time)] for time in times]).reshape(-1, 3)
    k = 2 * np.arange(len(times) - 1)[:, None]
    triangles = np.concatenate([k + np.array([0, 1, 3]), k + np.array([0, 3, 2])])
    return CuttingSheet(points, triangles, np.repeat(times, 2))


class ClosedCutter:
    """A closed surface."""

    def __init__(self, points: Array, triangles: IntArray) -> None:
        from pliant.mesh.bvh import Bvh

        self.tree = Bvh(points, triangles)

    def level(self, x: Array) -> Array:
        """Signed distances (n,) [m], negative inside."""
        distance = self.tree.nearest(x)[1]
        return np.where(self.tree.inside(x), -distance, distance)


def read_cutter(path: str | Path) -> CuttingSheet | ClosedCutter:
    """The surface of a file, closed or open."""
    from pliant.mesh.io import read_surface
    from pliant.mesh.topology import Edges, consistent_flips, merge_points

    surface = read_surface(path)
    points, of = merge_points(surface.points)
    edges = Edges(of[surface.triangles], len(points))
    if (edges.uses == 2).all():
        return ClosedCutter(points, edges.triangles)
    if (edges.uses > 2).any():
        raise MeshError(
            f"action 'cut': {path} branches: it has edges with more than two triangles.",
            hint="Cut with its parts one after the other, or close it (pliant mesh repairs).",
        )
    triangles = edges.triangles.copy()
    flip = consistent_flips(edges)
    triangles[flip] = triangles[flip][:, [0, 2, 1]]
    return CuttingSheet(points, triangles, np.zeros(len(points)))
