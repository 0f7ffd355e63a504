"""Bodies that are moved: tools on keyed paths, or in the hands of a device."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from pydantic import Field, model_validator

from pliant.actions.base import TimeWindow
from pliant.core.curves import Curve, KeyedAngle, KeyedPoint
from pliant.core.parameters import parameters
from pliant.core.rotation import Direction
from pliant.core.selection import OneBody
from pliant.core.typing import AnyArray, Array, IntArray, Vector
from pliant.core.units import Time
from pliant.interfaces import ActionRuntime, IndexMap, MakeSticky, PrescribedMotion
from pliant.state.world import World

Device = Callable[[float, Array, Array], tuple[Any, Any]]
"""``device(time, force, torque)``: what the world did to the tool last [N, N m] goes in, where it shall be
comes out: the displacement of its centre from its start (3,) [m] and its rotation matrix (3, 3)."""


@parameters
class Manipulator(TimeWindow):
    """Moves a whole body rigidly, as a tool.

    displacement: of its centre from its start [m], keyed; angle: how far it is turned about ``axis`` through
    its centre, keyed; sticky: what it has pressed against does not slip and is pulled along, until it is
    pulled off by half the contact's thickness, or the time ``release`` [s] comes. Its series are the force
    that the world exerts on it and the torque about its centre.
    device: a Python function that says where it is at each step and is told the force on it; such a scene
    cannot be written to a file.
    """

    kind: ClassVar[str] = "manipulator"
    main: ClassVar[str] = "displacement"

    body: OneBody
    displacement: KeyedPoint = Curve.constant((0.0, 0.0, 0.0))
    angle: KeyedAngle = Curve.constant(0.0)
    axis: Direction = (0.0, 0.0, 1.0)
    sticky: bool = False
    release: Time | None = None
    name: str | None = None
    device: Device | None = Field(default=None, exclude=True)

    @model_validator(mode="after")
    def _releases_what_sticks(self) -> "Manipulator":
        if self.release is not None and not self.sticky:
            raise ValueError("release is for sticky tools: give sticky = true too")
        return self

    @property
    def series_label(self) -> str:
        return self.name or f"{self.kind}.{self.body}"

    def series_units(self) -> dict[str, str]:
        return {self.series_label: "N", f"{self.series_label}.torque": "N m"}

    def prepare(self, world: World, up: Vector) -> ActionRuntime:
        (part,) = world.bodies_named(self.body, "action 'manipulator'")
        rows = np.arange(part.rows.start, part.rows.stop)
        runtime = ManipulatorRuntime(world, rows, self, self.series_label)
        if self.sticky:
            runtime.requests = (MakeSticky(part, runtime.sticks),)
        return self.windowed(runtime)


class ManipulatorRuntime(ActionRuntime):
    """A body whose particles follow a keyed or device-driven rigid motion."""

    capabilities = frozenset({PrescribedMotion})
    is_static = False
    reads_forces = True
    rows: IntArray

    def __init__(self, world: World, rows: IntArray, how: Manipulator, name: str) -> None:
        self.world, self.rows, self.how = world, rows, how
        self.axes = np.ones(3, bool)
        self.series_names = tuple(
            f"{name}.{part}" for part in ("x", "y", "z", "torque.x", "torque.y", "torque.z")
        )
        self._take_hold()
        self._turn: Array = np.eye(3)  # when it was driven last
        self.time = -1.0
        self.pose: tuple[Array, Array] = (np.zeros(3), np.eye(3))
        self.before: tuple[float, Array, Array] = (0.0, np.zeros(3), np.eye(3))

    def sticks(self, time: float) -> bool:
        """Whether what it touches stays on it."""
        let_go = float("inf") if self.how.release is None else self.how.release
        return self.active(time) and time < let_go - 1e-12

    def _take_hold(self) -> None:
        x = self.world.x[self.rows]
        self.centre = np.average(x, axis=0, weights=self.world.mass[self.rows])
        self.arms = x - self.centre

    def begin(self, world: World, time: float) -> None:
        self._take_hold()

    def _keyed(self, time: float) -> tuple[Array, Array]:
        return np.asarray(self.how.displacement.at(time), float), turn(
            self.how.axis, float(self.how.angle.at(time))
        )

    def _at(self, time: float) -> tuple[Array, Array]:
        if self.how.device is None:
            return self._keyed(time)
        if time != self.time:
            force, torque = self._load()
            place, rotation = self.how.device(time, force, torque)
            self.before = (self.time, *self.pose)
            self.time, self.pose = time, (np.asarray(place, float), np.asarray(rotation, float))
        return self.pose

    def drive(self, time: float, x: Array, v: Array) -> None:
        place, rotation = self._at(time)
        self._turn = rotation
        arms = self.arms @ rotation.T
        x[self.rows] = self.centre + place + arms
        if self.how.device is None:
            spin = float(self.how.angle.rate(time)) * np.array(self.how.axis)
            v[self.rows] = np.asarray(self.how.displacement.rate(time), float) + np.cross(spin, arms)
        else:
            since, old, was = self.before
            if since >= 0.0 and self.time > since:
                v[self.rows] = (place + arms - old - self.arms @ was.T) / (self.time - since)

    def acceleration(self, time: float) -> Array:
        if self.how.device is not None:
            return np.zeros((len(self.rows), 3))
        axis, angle = np.array(self.how.axis), self.how.angle
        arms = self.arms @ turn(self.how.axis, float(angle.at(time))).T
        spin, gain = float(angle.rate(time)) * axis, float(angle.curvature(time)) * axis
        straight = np.asarray(self.how.displacement.curvature(time), float)
        return np.asarray(straight + np.cross(gain, arms) + np.cross(spin, np.cross(spin, arms)))

    def _load(self) -> tuple[Array, Array]:
        """Force on the body [N], and its torque about its centre [N m]; its own forces cancel."""
        world = self.world
        f, x = world.f[self.rows], world.x[self.rows]
        centre = np.average(x, axis=0, weights=world.mass[self.rows])
        return f.sum(axis=0), np.cross(x - centre, f).sum(axis=0)

    def sample(self, time: float) -> Sequence[float]:
        force, torque = self._load()
        return [*force.tolist(), *torque.tolist()]

    def remap(self, change: IndexMap, world: World) -> None:
        shifts = change.shifts(self.rows)
        self.rows, source = change.remap_rows(self.rows)
        self.arms = self.arms[source]
        if shifts is not None:
            self.arms = self.arms + shifts @ self._turn

    def state(self) -> dict[str, AnyArray]:
        since, old, was = self.before
        poses = [self.centre, *self.pose[0:1], old]
        return {
            "times": np.array([self.time, since]),
            "places": np.array(poses),
            "turns": np.array([self.pose[1], was]),
            "arms": self.arms,
            "turn": self._turn,
        }

    def restore(self, state: Mapping[str, AnyArray]) -> None:
        self.time, since = (float(value) for value in state["times"])
        self.centre, place, old = (np.array(row) for row in state["places"])
        rotation, was = (np.array(one) for one in state["turns"])
        self.pose, self.before, self.arms = (place, rotation), (since, old, was), np.array(state["arms"])
        self._turn = np.array(state.get("turn", np.eye(3)))


def turn(axis: Vector, angle: float) -> Array:
    """The rotation matrix (3, 3) by ``angle`` [rad] about the unit vector ``axis`` (Rodrigues)."""
    x, y, z = axis
    K = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.asarray(np.eye(3) + np.sin(angle) * K + (1.0 - np.cos(angle)) * K @ K)
