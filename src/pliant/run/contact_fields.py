"""Fields of contact that follow from what a run recorded: pressure, and the gap to what is nearest."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from pliant.contact.obstacle_kernels import shape_distances
from pliant.contact.obstacle_shape import ObstacleShape
from pliant.core.typing import Array, IntArray
from pliant.mesh.bvh import Bvh
from pliant.mesh.topology import is_closed

if TYPE_CHECKING:
    from pliant.run.store.frames import Frame
    from pliant.run.store.topology import BodyRecord


def pressure(x: Array, triangles: IntArray, forces: Array) -> Array:
    """Contact pressure (n,) [Pa] of particles at ``x`` with contact ``forces`` F (n, 3) [N]: their size over
    the area that the surface around a particle (thirds of its triangles) has as seen along the force,
    :math:`F^2 / -(F \\cdot A)`; zero inside of the body, and for forces that pull."""
    a, b, c = (x[triangles[:, k]] for k in range(3))
    normal, area = np.cross(b - a, c - a) / 6.0, np.zeros_like(x)
    for k in range(3):
        np.add.at(area, triangles[:, k], normal)
    size, seen = np.linalg.norm(forces, axis=1), -np.einsum("ni,ni->n", forces, area)
    presses = seen > 0.01 * size * np.linalg.norm(area, axis=1)
    return np.where(presses, size**2 / np.where(presses, seen, 1.0), 0.0)


def gap(frame: "Frame", record: "BodyRecord", shapes: Sequence[ObstacleShape]) -> Array:
    """Distance (n,) [m] of each particle of a body to the nearest surface of another body or obstacle;
    negative inside of it, infinite where there is none."""
    x = frame.rows(record.name)
    out = np.full(len(x), np.inf)
    for other in frame.bodies:
        if other.name != record.name:
            out = np.minimum(out, _to_body(x, frame, other))
    for shape in shapes:
        if shape.exists_at(frame.time):
            out = np.minimum(out, _to_obstacle(x, shape, frame.time))
    return out


def _to_body(x: Array, frame: "Frame", other: "BodyRecord") -> Array:
    triangles = other.structure.cells.get("triangle")
    points = frame.rows(other.name)
    if triangles is None or not len(triangles):
        if other.structure.carrier is None:
            return np.full(len(x), np.inf)
        surface = frame.surface(other.name)
        points, triangles = surface.points, surface.triangles
    return _to_surface(x, points, triangles)


def _to_surface(x: Array, points: Array, triangles: IntArray) -> Array:
    tree = Bvh(points, triangles)
    distance = tree.nearest(x)[1]
    if not is_closed(points, triangles):
        return distance
    return np.where(tree.inside(x), -distance, distance)


def _to_obstacle(x: Array, shape: ObstacleShape, time: float) -> Array:
    if shape.motion is not None:
        return _to_surface(x, shape.motion.at(time), shape.motion.triangles)
    depth, normal = np.empty(len(x)), np.empty((len(x), 3))
    place, size = np.asarray(shape.path.at(time), float), np.array(shape.size, float)
    shape_distances(shape.shape, size, place, shape.frame, np.ascontiguousarray(x), depth, normal)
    return depth
