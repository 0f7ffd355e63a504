"""Rigid shapes at work: they push particles out and feel what that takes."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from pliant.core.curves import Curve
from pliant.core.typing import AnyArray, Array
from pliant.interfaces import ActionRuntime, RigidShape

if TYPE_CHECKING:
    from pliant.interfaces import Ledger
    from pliant.state.world import World


class ObstacleRuntime(ActionRuntime):
    """A rigid shape at work: pushes particles out, and reports the force on itself.

    Series: the mean force on it since the last row, and the torque about its position.
    """

    exact = False
    refines = False

    def __init__(
        self,
        name: str,
        shape: int,
        size: Sequence[float],
        frame: Array,
        path: Curve,
        restitution: float,
        friction: float,
    ) -> None:
        self.shape, self.size, self.frame, self.path = shape, np.array(size, float), frame, path
        self.restitution, self.friction = restitution, friction
        self.series_names = tuple(
            f"{name}.{part}" for part in ("x", "y", "z", "torque.x", "torque.y", "torque.z")
        )
        self.impulse: Array = np.zeros(6)
        self.elapsed = 0.0
        self.work = self.heat = 0.0

    def project(self, time: float, dt: float, world: "World") -> None:
        self.push(time, dt, world.x, world.v, world.f, world.mass, world.inverse_mass, world.radius)
        self.elapsed += dt

    def push(
        self,
        time: float,
        dt: float,
        x: Array,
        v: Array,
        f: Array,
        mass: Array,
        inverse_mass: Array,
        radius: Array | None = None,
    ) -> None:
        """Push particles (points, or balls of ``radius``) out of the shape as it is at ``time``; keep the
        impulse, work and heat."""
        from pliant.contact.obstacle_kernels import resolve_contacts

        radius = np.zeros(len(x)) if radius is None else radius

        place = self.path.at(time)
        velocity = self.velocity(time, dt)
        out = resolve_contacts(
            self.shape, self.size, place, self.frame, velocity, self.restitution, self.friction, dt,
            (x, v, f, mass, radius, inverse_mass),
        )  # fmt: skip
        self.take_contacts(out)

    def take_contacts(self, out: Array) -> None:
        """Take note of the impulse, its torque, the work and the heat (8,) of contacts."""
        self.impulse += out[:6]
        self.work += float(out[6])
        self.heat += float(out[7])

    @property
    def moves(self) -> bool:
        return not self.path.is_constant

    def rigid(self, times: Array) -> "RigidShape":
        """The shape and its places at ``times`` (k,) [s]."""
        places = self.path.at_all(times)
        return RigidShape(self.shape, self.size, self.frame, places, self.restitution, self.friction)

    def distance(self, time: float, x: Array) -> Array:
        """Signed distance [m] of points (n, 3) from the shape as it is at ``time``; negative inside."""
        return self.distances(time, x)[0]

    def distances(self, time: float, points: Array) -> tuple[Array, Array]:
        """Distances [m] of points (k, 3), negative inside, and outward normals."""
        from pliant.contact.obstacle_kernels import shape_distances

        depth, normal = np.empty(len(points)), np.empty((len(points), 3))
        shape_distances(self.shape, self.size, self.path.at(time), self.frame, points, depth, normal)
        return depth, normal

    def velocity(self, time: float, dt: float) -> Array:
        """Mean velocity (3,) [m/s] over the step that ends at ``time``."""
        if self.path.is_constant:
            return np.zeros(3)
        return np.asarray((self.path.at(time) - self.path.at(time - dt)) / dt)

    def record_contact(
        self, time: float, points: Array, impulses: Array, velocity: Array, heat: float
    ) -> None:
        """Take note of what implicit solves found."""
        self.impulse[:3] -= impulses.sum(axis=0)
        self.impulse[3:] -= np.cross(points - self.path.at(time), impulses).sum(axis=0)
        self.work += float(np.sum(impulses @ velocity))
        self.heat += heat

    def report_energy(self, ledger: "Ledger") -> None:
        """Hand the work and the heat of the contacts since the last call to the ledger."""
        ledger.work += self.work
        ledger.dissipated += self.heat
        self.work = self.heat = 0.0

    def sample(self, time: float) -> Sequence[float]:
        mean = self.impulse / self.elapsed if self.elapsed else self.impulse
        return [float(value) for value in mean]

    def reset(self) -> None:
        self.impulse, self.elapsed = np.zeros(6), 0.0

    def state(self) -> dict[str, AnyArray]:
        return {"impulse": self.impulse, "since": np.array([self.elapsed, self.work, self.heat])}

    def restore(self, state: Mapping[str, AnyArray]) -> None:
        self.impulse = np.array(state["impulse"])
        self.elapsed, self.work, self.heat = (float(value) for value in state["since"])
