"""Prescribed motion of selected particles: held, moved, turned or shaken."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, ClassVar

import numpy as np
from pydantic import BeforeValidator, model_validator

from pliant.actions.base import SelectionAction, SelectionTool
from pliant.core.curves import Curve, KeyedAngularSpeed, KeyedPoint, KeyedVelocity
from pliant.core.parameters import parameters
from pliant.core.rotation import Direction
from pliant.core.selection import AXES, Axis, Point, Select
from pliant.core.typing import AnyArray, Array, BoolArray, IntArray, Vector
from pliant.core.units import Angle, Length, Rate
from pliant.interfaces import ActionRuntime, ClampFace, IndexMap, PrescribedMotion
from pliant.state.world import World
from pliant.structure.faces import face_distance

Offset = tuple[Array | float, Array | float, Array | float]
"""Displacement [m], velocity [m/s] and acceleration [m/s2], of all particles or of each."""


def _axes(value: Any) -> Any:
    """Axis letters as "xy" or ["x", "y"]."""
    if isinstance(value, (str, list, tuple)) and not value:
        raise ValueError("name at least one axis, or leave axes out for all three")
    return tuple(value) if isinstance(value, str) else value


Axes = Annotated[tuple[Axis, ...], BeforeValidator(_axes)]


def mask(axes: tuple[str, ...]) -> BoolArray:
    """Which of x, y, z are named."""
    return np.array([letter in axes for letter in "xyz"])


@parameters
class PrescribedAction(SelectionAction):
    """An action that prescribes the motion of selected particles.

    Where it holds a face of a body in all directions and for the whole run, it is the face that is held, also
    where the body's particles lie inside of it (lattices).
    """

    def prescribed(self, world: World, runtime: "PrescribedMotionRuntime") -> ActionRuntime:
        """``runtime`` with this action's time window, and what it requests of bodies."""
        assert self.select is not None
        if runtime.axes.all() and self.from_ <= 0.0 and self.until is None and not self.late:
            runtime.face = self.select
            runtime.requests = tuple(_clamped_faces(world, self.select, runtime.rows))
        return self.windowed(runtime)


def _clamped_faces(world: World, select: Select, rows: IntArray) -> Iterator[ClampFace]:
    for part in world.bodies:
        own = rows[(rows >= part.rows.start) & (rows < part.rows.stop)] - part.rows.start
        if len(own) and (distance := face_distance(part.structure, select)):
            assert select.plane is not None
            outward = np.zeros(3)
            outward[AXES[select.plane.axis]] = -1.0 if select.plane.at == "min" else 1.0
            yield ClampFace(part, own, distance, outward)


class PrescribedMotionRuntime(ActionRuntime):
    """Base of drives: where the particles were when it began, and how far they should have come since.

    ``offset(time)`` and its two time derivatives, since ``begun``, may depend on the particle.
    """

    capabilities = frozenset({PrescribedMotion})
    is_static = False
    rows: IntArray
    face: Select | None = None  # the selection whose faces are held, for the whole run

    def __init__(self, rows: IntArray, axes: BoolArray) -> None:
        self.rows, self.axes = rows, axes
        self.begun = 0.0
        self.origin: Array = np.zeros((len(rows), 3))
        self._columns = np.flatnonzero(axes)
        self._all = bool(axes.all())

    def offset(self, time: float) -> Offset:
        """Displacement, velocity and acceleration of the particles; here: none."""
        return 0.0, 0.0, 0.0

    def begin(self, world: World, time: float) -> None:
        self.origin, self.begun = world.x[self.rows].copy(), time

    def remap(self, change: IndexMap, world: World) -> None:
        shifts = change.shifts(self.rows)
        self.origin = change.remap_values(self.rows, self.origin)
        self.rows, _ = change.remap_rows(self.rows)
        if shifts is not None:
            self.origin = self.origin + self._back(shifts)
        if change.resampled is not None and self.face is not None:
            faces = _clamped_faces(world, self.face, self.rows)
            self.requests = tuple(each for each in faces if each.body.name == change.resampled)

    def _back(self, moved: Array) -> Array:
        """Differences of places now, as they were when it began."""
        return moved

    def drive(self, time: float, x: Array, v: Array) -> None:
        moved, speed, _ = self.offset(time)
        if self._all:
            x[self.rows] = self.origin + moved
            v[self.rows] = speed
        else:
            place = np.broadcast_to(self.origin + moved, self.origin.shape)
            speeds = np.broadcast_to(speed, self.origin.shape)
            for c in self._columns:
                x[self.rows, c] = place[:, c]
                v[self.rows, c] = speeds[:, c]

    def acceleration(self, time: float) -> Array:
        return np.broadcast_to(self.offset(time)[2], self.origin.shape)

    def state(self) -> dict[str, AnyArray]:
        return {"origin": self.origin, "begun": np.array(self.begun)}

    def restore(self, state: Mapping[str, AnyArray]) -> None:
        self.origin, self.begun = np.array(state["origin"]), float(state["begun"])


@parameters
class Fix(PrescribedAction):
    """Holds particles at their positions at the start time, along ``axes`` (default: all)."""

    kind: ClassVar[str] = "fix"
    live: ClassVar[bool] = True
    holds: ClassVar[bool] = True
    mark = "pin"
    tools: ClassVar[tuple[SelectionTool, ...]] = (
        SelectionTool("Fix", "pin", "Hold them where they are (H)"),
    )

    axes: Axes = ("x", "y", "z")

    def prepare(self, world: World, up: Vector) -> ActionRuntime:
        return self.prescribed(world, FixRuntime(self.rows(world), mask(self.axes)))


class FixRuntime(PrescribedMotionRuntime):
    """Holds particles where they were when the action began."""

    is_static = True

    def drive(self, time: float, x: Array, v: Array) -> None:
        from pliant.actions.kernels import hold_rows

        hold_rows(self.rows, self.axes, self.origin, x, v)


@parameters
class Move(PrescribedAction):
    """Moves particles by a ``displacement`` [m] or at a ``velocity`` [m/s], both over time.

    Axes that are not named stay free; without ``axes`` all three are driven.
    """

    kind: ClassVar[str] = "move"
    main: ClassVar[str] = "displacement"
    live: ClassVar[bool] = True
    mark = "moved"
    tools: ClassVar[tuple[SelectionTool, ...]] = (
        SelectionTool("Move", "orbit", "Move them at a velocity", table={"velocity": [0, 0, 0.1]}),
    )

    velocity: KeyedVelocity = None
    displacement: KeyedPoint = None
    axes: Axes = ("x", "y", "z")

    @model_validator(mode="after")
    def _one_way(self) -> "Move":
        if (self.velocity is None) == (self.displacement is None):
            raise ValueError("give one of velocity, displacement")
        path = self.displacement
        if path is not None and path.is_constant and np.any(path.at(0.0) != 0.0):
            raise ValueError(
                "a displacement needs keys to say when, "
                "e.g. keys = [{ time = 0, value = [0,0,0] }, { time = 1, value = [0,0,0.1] }]"
            )
        return self

    def prepare(self, world: World, up: Vector) -> ActionRuntime:
        rows, axes = self.rows(world), mask(self.axes)
        if self.velocity is not None:
            return self.prescribed(world, MoveVelocityRuntime(rows, axes, self.velocity))
        return self.prescribed(world, MoveDisplacementRuntime(rows, axes, self.displacement))


class MoveDisplacementRuntime(PrescribedMotionRuntime):
    """Motion along displacement keys; times count from zero, the displacement from where it started."""

    def __init__(self, rows: IntArray, axes: BoolArray, path: Curve) -> None:
        super().__init__(rows, axes)
        self.path = path

    def offset(self, time: float) -> Offset:
        moved = self.path.at(time) - self.path.at(self.begun)
        return moved, self.path.rate(time), self.path.curvature(time)


class MoveVelocityRuntime(PrescribedMotionRuntime):
    """Motion at keyed velocities: the displacement is their exact integral."""

    def __init__(self, rows: IntArray, axes: BoolArray, speed: Curve) -> None:
        super().__init__(rows, axes)
        self.speed = speed

    def offset(self, time: float) -> Offset:
        moved = self.speed.integral(time) - self.speed.integral(self.begun)
        return moved, self.speed.at(time), self.speed.rate(time)


@parameters
class Rotate(PrescribedAction):
    """Rotates particles about ``axis`` through ``centre`` (default: their centre) at ``speed`` [rad/s]."""

    kind: ClassVar[str] = "rotate"
    main: ClassVar[str] = "speed"
    live: ClassVar[bool] = True
    mark = "moved"

    axis: Direction = (0.0, 0.0, 1.0)
    speed: KeyedAngularSpeed = Curve.constant(0.0)
    centre: Point | None = None

    def prepare(self, world: World, up: Vector) -> ActionRuntime:
        centre = None if self.centre is None else np.array(self.centre)
        runtime = RotateRuntime(self.rows(world), np.array(self.axis), self.speed, centre)
        return self.prescribed(world, runtime)


class RotateRuntime(PrescribedMotionRuntime):
    """Rotates particles about an axis at a keyed angular velocity."""

    def __init__(self, rows: IntArray, axis: Array, speed: Curve, centre: Array | None) -> None:
        super().__init__(rows, np.ones(3, bool))
        self.axis, self.speed, self.centre = axis, speed, centre
        self._angle = 0.0  # when it was asked last

    def state(self) -> dict[str, AnyArray]:
        return super().state() | {"angle": np.array(self._angle)}

    def restore(self, state: Mapping[str, AnyArray]) -> None:
        super().restore(state)
        self._angle = float(state.get("angle", 0.0))

    def _back(self, moved: Array) -> Array:
        along = (moved @ self.axis)[:, None] * self.axis
        turned = np.cos(self._angle) * (moved - along) - np.sin(self._angle) * np.cross(self.axis, moved)
        return np.asarray(along + turned)

    def offset(self, time: float) -> Offset:
        angle = self._angle = float(self.speed.integral(time) - self.speed.integral(self.begun))
        rate, growth = float(self.speed.at(time)), float(self.speed.rate(time))
        centre = self.origin.mean(axis=0) if self.centre is None else self.centre
        r = self.origin - centre
        along = (r @ self.axis)[:, None] * self.axis
        across, ahead = r - along, np.cross(self.axis, r)
        cosine, sine = np.cos(angle), np.sin(angle)
        turned = cosine * across + sine * ahead
        leading = cosine * ahead - sine * across
        return turned - across, rate * leading, growth * leading - rate**2 * turned


@parameters
class Sine(PrescribedAction):
    """Sinusoidal displacement along ``axis``: ``amplitude sin(2 pi frequency t + phase)``."""

    kind: ClassVar[str] = "sine"
    live: ClassVar[bool] = True
    mark = "moved"

    axis: Direction = (0.0, 0.0, 1.0)
    amplitude: Length = 0.0
    frequency: Rate = 1.0
    phase: Angle = 0.0

    def prepare(self, world: World, up: Vector) -> ActionRuntime:
        return self.prescribed(world, SineRuntime(self.rows(world), self))


class SineRuntime(PrescribedMotionRuntime):
    """Sinusoidal motion along a direction; prescribes the axes in which it has a component."""

    def __init__(self, rows: IntArray, sine: Sine) -> None:
        direction = np.array(sine.axis)
        super().__init__(rows, np.abs(direction) > 1e-12)
        self.direction, self.sine = direction, sine

    def offset(self, time: float) -> Offset:
        w, phase = 2.0 * np.pi * self.sine.frequency, self.sine.phase
        reach = self.sine.amplitude * self.direction
        angle = w * (time - self.begun) + phase
        return (
            reach * (np.sin(angle) - np.sin(phase)),
            reach * w * np.cos(angle),
            -reach * w * w * np.sin(angle),
        )
