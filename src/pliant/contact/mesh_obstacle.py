"""Obstacles that are triangle meshes, still, keyed, or deforming."""

from typing import TYPE_CHECKING

import numpy as np

from pliant.contact.obstacle import ObstacleRuntime, RigidShape
from pliant.contact.obstacle_shape import MESH
from pliant.contact.surface_motion import SurfaceMotion
from pliant.core.errors import IncompatibleError
from pliant.core.typing import Array, IntArray
from pliant.mesh.bvh import Bvh

if TYPE_CHECKING:
    from pliant.state.world import World


class MeshObstacle(ObstacleRuntime):
    """A surface that nothing passes. In explicit steps particles that are inside are pushed to its nearest
    point, as with other obstacles: it must be closed. Barrier contact needs no inside.

    Where it turns or deforms, the impulse on a particle goes with the velocity of the surface at the nearest
    point.
    """

    def __init__(self, name: str, motion: SurfaceMotion, restitution: float, friction: float) -> None:
        super().__init__(name, MESH, (0.0, 0.0, 0.0), np.eye(3), motion.path, restitution, friction)
        self.motion = motion
        self.closed = motion.closed
        self._trees: dict[float, tuple[Array, Bvh]] = {}

    @property
    def moves(self) -> bool:
        return not self.motion.is_still

    def rigid(self, times: Array) -> RigidShape:
        raise IncompatibleError(
            f"Bodies of resolution levels do not collide with obstacle '{self.name}', which is a mesh.",
            hint="Use another model, or a sphere, box or capsule.",
        )

    def _tree(self, time: float) -> tuple[Array, Bvh]:
        key = 0.0 if self.motion.is_still else float(time)
        if key not in self._trees:
            points = self.motion.at(time)
            while len(self._trees) > 2:
                del self._trees[next(iter(self._trees))]
            self._trees[key] = points, Bvh(points, self.motion.triangles)
        return self._trees[key]

    def distances(self, time: float, points: Array) -> tuple[Array, Array]:
        depth, normal, _ = self._nearest(time, points)
        return depth, normal

    def _nearest(self, time: float, points: Array) -> tuple[Array, Array, IntArray]:
        """Distances of points (k, 3), negative inside, outward normals, and the nearest triangles."""
        corners, tree = self._tree(time)
        place, distance, which = tree.nearest(points)
        sign = np.where(tree.inside(points), -1.0, 1.0) if self.closed else np.ones(len(points))
        a, b, c = (corners[self.motion.triangles[which, k]] for k in range(3))
        flat = np.cross(b - a, c - a)
        flat /= np.maximum(np.linalg.norm(flat, axis=1), 1e-300)[:, None]
        size = float(np.ptp(corners, axis=0).max())
        away = sign[:, None] * (points - place) / np.maximum(distance, 1e-300)[:, None]
        normal = np.where((distance > 1e-9 * size)[:, None], away, flat)
        return sign * distance, normal, which

    def surface_velocity(self, time: float, dt: float, points: Array, which: IntArray) -> Array:
        """Mean velocities (k, 3) [m/s] over the step that ends at ``time`` of the surface where it is nearest
        to points (k, 3), on the triangles ``which``."""
        if self.motion.is_still:
            return np.zeros_like(points)
        now, before = self.motion.at(time), self.motion.at(time - dt)
        corners = self.motion.triangles[which]
        shares = _barycentric(points, now[corners])
        moved = (now[corners] - before[corners]) / dt
        return np.asarray(np.einsum("kc,kci->ki", shares, moved))

    def project(self, time: float, dt: float, world: "World") -> None:
        if self.barrier:
            self.elapsed += dt
            return
        from pliant.contact.obstacle_kernels import respond_to_surface

        if not self.closed:
            raise IncompatibleError(
                f"Obstacle '{self.name}' has holes: without an inside it stops nothing in explicit steps.",
                hint='Close the mesh, or use [contact] method = "barrier" with implicit steps.',
            )
        w = world
        x = self.motion.at(time)
        reach = w.radius[:, None]
        near = ((w.x >= x.min(axis=0) - reach) & (w.x <= x.max(axis=0) + reach)).all(axis=1)
        rows = np.flatnonzero(near & (w.inverse_mass > 0.0).any(axis=1))
        if len(rows):
            depth, normal, which = self._nearest(time, w.x[rows])
            deep = depth < w.radius[rows]
            rows, depth, normal, which = rows[deep], depth[deep], normal[deep], which[deep]
        if len(rows):
            speed = self.surface_velocity(time, dt, w.x[rows], which)
            kept, before = w.contact_impulses, w.v[rows].copy()
            out = np.zeros(8)
            respond_to_surface(
                rows, depth - w.radius[rows], normal, speed, self.path.at(time), self.restitution,
                self.friction, dt, w.x, w.v, w.f, w.mass, w.inverse_mass, out,
            )  # fmt: skip
            self.take_contacts(out)
            if kept is not None:
                impulses = w.mass[rows, None] * (w.v[rows] - before)
                kept.add_obstacle(self.name, rows, w.bodies_of(rows), w.x[rows], impulses, normal)
        self.elapsed += dt


def _barycentric(points: Array, corners: Array) -> Array:
    """Shares (k, 3) of the corners (k, 3, 3) in the places of triangles that are nearest to points (k, 3)."""
    from pliant.contact.barrier.distance_kernels import point_triangle

    out, w, n = np.empty((len(points), 3)), np.empty(4), np.empty(3)
    stencil = np.empty((4, 3))
    for k in range(len(points)):
        stencil[0], stencil[1:] = points[k], corners[k]
        point_triangle(stencil, w, n)
        out[k] = -w[1:]
    return out
