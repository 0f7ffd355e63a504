"""Rigid obstacles: they push particles out and record the force on themselves."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pliant.core.curves import Curve
from pliant.core.typing import AnyArray, Array
from pliant.interfaces import ActionRuntime, EnergyTotals, Projection

if TYPE_CHECKING:
    from pliant.state.world import World


@dataclass(frozen=True)
class RigidShape:
    """A rigid shape for compiled loops: its number and size (``contact.signed_distance``), the frame (3, 3)
    that its axes are the columns of, and its places (k, 3) [m] at k times."""

    kind: int
    size: Array
    frame: Array
    places: Array
    restitution: float
    friction: float


@dataclass
class ImpulseShare:
    """What one body got: sums (9,) of impulses [N s] along the normals, of those across them, and of their
    moments about the origin; points: how many bore any."""

    sums: Array
    points: int = 0


class ObstacleRuntime(ActionRuntime):
    """A rigid shape that pushes particles out, and records the force on itself.

    Series: the mean force on it since the last row, and the torque about its position.
    """

    capabilities = frozenset({Projection})
    applied_last = False
    refines = False  # whether bodies with several levels refine around it
    barrier = False  # whether barrier contact keeps bodies off it, so that nothing has to be pushed out

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
        self.name = name
        self.impulse: Array = np.zeros(6)
        self.shared: ImpulseShare | None = None  # of the body that steps by itself now, where it is asked for
        self.elapsed = 0.0
        self.work = self.heat = 0.0

    def project(self, time: float, dt: float, world: "World") -> None:
        """Push particles (balls of ``world.radius``) out of the shape as it is at ``time``; record the
        impulse, work and heat.

        The impulse acts between this step and the last one, so it works along the mean of the shape's
        velocities in both: then a flat frictionless shape never gives heat, however it moves.
        """
        from pliant.contact.obstacle_kernels import resolve_contacts

        if self.barrier:
            self.elapsed += dt
            return

        w, place, velocity = world, self.path.at(time), self.velocity(time, dt)
        kept, before = w.contact_impulses, w.v if w.contact_impulses is None else w.v.copy()
        out = resolve_contacts(
            self.shape, self.size, place, self.frame, velocity, self.restitution, self.friction, dt,
            (w.x, w.v, w.f, w.mass, w.radius, w.inverse_mass),
        )  # fmt: skip
        if self.moves:
            out[6:] -= 0.5 * float(out[:3] @ (self.velocity(time - dt, dt) - velocity))
        self.take_contacts(out)
        if kept is not None:
            rows = np.flatnonzero((w.v != before).any(axis=1))
            impulses = w.mass[rows, None] * (w.v[rows] - before[rows])
            _, normals = self.distances(time, w.x[rows])
            kept.add_obstacle(self.name, rows, w.bodies_of(rows), w.x[rows], impulses, normals)
        self.elapsed += dt

    def take_contacts(self, out: Array) -> None:
        """Take note of the impulse, its torque, the work and the heat (8,) of contacts."""
        self.impulse += out[:6]
        self.work += float(out[6])
        self.heat += float(out[7])

    @property
    def moves(self) -> bool:
        return not self.path.is_constant

    def rigid(self, times: Array) -> RigidShape:
        """The shape and its places at ``times`` (k,) [s]."""
        places = self.path.at_all(times)
        return RigidShape(self.shape, self.size, self.frame, places, self.restitution, self.friction)

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
        self,
        time: float,
        points: Array,
        impulses: Array,
        velocity: Array,
        heat: float,
        normals: Array | None = None,
    ) -> None:
        """Take note of ``impulses`` (k, 3) on bodies at ``points`` (k, 3) that others found; normals (k, 3):
        those of the shape there, for ``shared``."""
        if self.shared is not None and normals is not None:
            along = np.einsum("ki,ki->k", impulses, normals)[:, None] * normals
            moment = np.cross(points, impulses).sum(axis=0)
            self.shared.sums += np.concatenate([along.sum(axis=0), (impulses - along).sum(axis=0), moment])
            self.shared.points = int(impulses.any(axis=1).sum())
        self.impulse[:3] -= impulses.sum(axis=0)
        self.impulse[3:] -= np.cross(points - self.path.at(time), impulses).sum(axis=0)
        self.work += float(np.sum(impulses @ velocity))
        self.heat += heat

    def report_energy(self, totals: EnergyTotals) -> None:
        """Hand the work and the heat of the contacts since the last call to ``totals``."""
        totals.work += self.work
        totals.friction += self.heat
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


@contextmanager
def shared_impulses(world: "World", obstacles: Sequence[ObstacleRuntime], rows: slice) -> Iterator[None]:
    """Hand what obstacles do meanwhile to the body of ``rows`` to whoever measures contact forces."""
    kept = world.contact_impulses
    if kept is None or not kept.watches:
        yield
        return
    for obstacle in obstacles:
        obstacle.shared = ImpulseShare(np.zeros(9))
    yield
    body = int(world.bodies_of(np.array([rows.start]))[0])
    for obstacle in obstacles:
        if obstacle.shared is not None and obstacle.shared.points:
            kept.add_on_body(obstacle.name, body, obstacle.shared.sums, obstacle.shared.points)
        obstacle.shared = None


def leave_obstacles(world: "World", body: str, obstacles: Sequence[ObstacleRuntime], time: float) -> None:
    """Put particles of ``body`` that were sampled inside of ``obstacles`` onto their surface."""
    (part,) = world.bodies_named(body, "obstacles")
    x, radius = world.x[part.rows], world.radius[part.rows]
    free = (world.inverse_mass[part.rows] > 0.0).all(axis=1)
    for obstacle in obstacles:
        distance, normal = obstacle.distances(time, x)
        x += np.where(free, np.maximum(radius - distance, 0.0), 0.0)[:, None] * normal
