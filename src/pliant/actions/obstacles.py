"""Rigid things that bodies meet: the ground, a tabletop, still or moving obstacles."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from pydantic import Field, model_validator

from pliant.actions.base import Timed
from pliant.curves import Curve, KeyedPoint
from pliant.parameters import parameters
from pliant.protocols import Acting, RigidShape
from pliant.rotation import Rotation
from pliant.selection import Axis, Point
from pliant.typing import AnyArray, Array, Vector
from pliant.units import Length, Number

if TYPE_CHECKING:
    from pliant.protocols import Ledger
    from pliant.simulation.world import World

_PLANE, _SPHERE, _BOX, _CAPSULE = 0, 1, 2, 3


def frame_along(axis: Array) -> Array:
    """A rotation matrix whose third column is the unit vector ``axis``."""
    helper = np.eye(3)[int(np.argmin(np.abs(axis)))]
    first = np.cross(helper, axis)
    first /= np.linalg.norm(first)
    return np.column_stack([first, np.cross(axis, first), axis])


class Barrier(Acting):
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
        self.columns = tuple(f"{name}.{part}" for part in ("x", "y", "z", "torque.x", "torque.y", "torque.z"))
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
        from pliant.actions.contact_kernels import resolve_contacts

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
        from pliant.actions.contact_kernels import shape_distances

        depth, normal = np.empty(len(points)), np.empty((len(points), 3))
        shape_distances(self.shape, self.size, self.path.at(time), self.frame, points, depth, normal)
        return depth, normal

    def velocity(self, time: float, dt: float) -> Array:
        """Mean velocity (3,) [m/s] over the step that ends at ``time``."""
        if self.path.is_constant:
            return np.zeros(3)
        return np.asarray((self.path.at(time) - self.path.at(time - dt)) / dt)

    def book(self, time: float, points: Array, impulses: Array, velocity: Array, heat: float) -> None:
        """Take note of what implicit solves found."""
        self.impulse[:3] -= impulses.sum(axis=0)
        self.impulse[3:] -= np.cross(points - self.path.at(time), impulses).sum(axis=0)
        self.work += float(np.sum(impulses @ velocity))
        self.heat += heat

    def settle(self, ledger: "Ledger") -> None:
        """Hand the work and the heat of the contacts since the last call to the ledger."""
        ledger.work += self.work
        ledger.dissipated += self.heat
        self.work = self.heat = 0.0

    def values(self, time: float) -> Sequence[float]:
        mean = self.impulse / self.elapsed if self.elapsed else self.impulse
        return [float(value) for value in mean]

    def restart(self) -> None:
        self.impulse, self.elapsed = np.zeros(6), 0.0

    def state(self) -> dict[str, AnyArray]:
        return {"impulse": self.impulse, "since": np.array([self.elapsed, self.work, self.heat])}

    def restore(self, state: Mapping[str, AnyArray]) -> None:
        self.impulse = np.array(state["impulse"])
        self.elapsed, self.work, self.heat = (float(value) for value in state["since"])


@parameters
class Ground(Timed):
    """A plane that bodies cannot pass: ``level`` [m] along ``up``."""

    kind: ClassVar[str] = "ground"

    level: Length = 0.0
    restitution: Number = Field(default=0.0, ge=0, le=1)
    friction: Number = Field(default=0.5, ge=0)
    name: str | None = None

    def prepare(self, world: "World", up: Vector) -> Acting:
        axis = np.array(up)
        place = Curve.constant(self.level * axis)
        name = self.name or self.kind
        return self.windowed(
            Barrier(name, _PLANE, (0, 0, 0), frame_along(axis), place, self.restitution, self.friction)
        )


@parameters
class Tabletop(Timed):
    """A rectangular table: its top at ``height`` along ``up``, ``size`` [m, m] centred on ``centre``."""

    kind: ClassVar[str] = "tabletop"

    height: Length
    size: tuple[Length, Length]
    centre: tuple[Length, Length] = (0.0, 0.0)
    thickness: Length | None = Field(default=None, gt=0)
    restitution: Number = Field(default=0.0, ge=0, le=1)
    friction: Number = Field(default=0.5, ge=0)
    name: str | None = None

    @model_validator(mode="after")
    def _has_a_size(self) -> "Tabletop":
        if min(self.size) <= 0:
            raise ValueError("size must be positive")
        return self

    def prepare(self, world: "World", up: Vector) -> Acting:
        axis = np.array(up)
        k = int(np.argmax(np.abs(axis)))
        first, second = [c for c in range(3) if c != k]
        frame = np.column_stack([np.eye(3)[first], np.cross(axis, np.eye(3)[first]), axis])
        thickness = self.thickness or 0.1 * max(self.size)
        place = np.zeros(3)
        place[first], place[second] = self.centre
        place += (self.height - 0.5 * thickness) * axis
        size = (0.5 * self.size[0], 0.5 * self.size[1], 0.5 * thickness)
        name = self.name or self.kind
        return self.windowed(
            Barrier(name, _BOX, size, frame, Curve.constant(place), self.restitution, self.friction)
        )


@parameters
class SphereShape:
    """A ball of ``radius`` [m]."""

    radius: Length = Field(gt=0)


@parameters
class BoxShape:
    """A box with edge lengths ``size`` [m]."""

    size: Point

    @model_validator(mode="after")
    def _has_a_size(self) -> "BoxShape":
        if min(self.size) <= 0:
            raise ValueError("size must be positive")
        return self


@parameters
class CapsuleShape:
    """A rod with round ends: ``radius``, and ``length`` [m] between their centres, along ``axis``."""

    radius: Length = Field(gt=0)
    length: Length = Field(ge=0)
    axis: Axis = "z"


@parameters
class Obstacle(Timed):
    """A rigid sphere, box or capsule at ``position`` [m], still or moved by keys; centred there."""

    kind: ClassVar[str] = "obstacle"
    main: ClassVar[str] = "position"

    sphere: SphereShape | None = None
    box: BoxShape | None = None
    capsule: CapsuleShape | None = None
    position: KeyedPoint = Curve.constant((0.0, 0.0, 0.0))
    rotation: Rotation | None = None
    restitution: Number = Field(default=0.0, ge=0, le=1)
    friction: Number = Field(default=0.5, ge=0)
    name: str | None = None

    @model_validator(mode="after")
    def _one_shape(self) -> "Obstacle":
        if sum(shape is not None for shape in (self.sphere, self.box, self.capsule)) != 1:
            raise ValueError("give one of sphere, box, capsule")
        return self

    def prepare(self, world: "World", up: Vector) -> Acting:
        frame = np.eye(3)
        shape, size = self._shape()
        if self.capsule is not None:
            frame = frame_along(np.eye(3)["xyz".index(self.capsule.axis)])
        if self.rotation is not None:
            frame = self.rotation.matrix() @ frame
        name = self.name or self.kind
        barrier = Barrier(name, shape, size, frame, self.position, self.restitution, self.friction)
        barrier.refines = True
        return self.windowed(barrier)

    def _shape(self) -> tuple[int, tuple[Any, ...]]:
        if self.sphere is not None:
            return _SPHERE, (self.sphere.radius, 0.0, 0.0)
        if self.box is not None:
            return _BOX, tuple(0.5 * s for s in self.box.size)
        assert self.capsule is not None
        return _CAPSULE, (self.capsule.radius, 0.5 * self.capsule.length, 0.0)


@parameters
class Tool(Obstacle):
    """An obstacle that somebody moves by hand while the simulation runs; its keys are what the hand did."""

    kind: ClassVar[str] = "tool"
