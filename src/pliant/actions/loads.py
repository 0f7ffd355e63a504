"""Loads: gravity, and on selected particles a force, a moment, an impulse, the pull of a spring."""

import math
from collections.abc import Sequence
from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from pliant.actions.base import OneShot, RowsRuntime, SelectionAction, SelectionTool, TimeWindow
from pliant.core.curves import Curve, KeyedAcceleration, KeyedForce, KeyedPoint, KeyedTorque
from pliant.core.errors import SelectionError
from pliant.core.parameters import parameters
from pliant.core.rotation import Direction
from pliant.core.selection import Select
from pliant.core.typing import Array, IntArray, Vector
from pliant.core.units import Impulse as ImpulseUnit
from pliant.core.units import Number
from pliant.interfaces import ActionRuntime, BodyChange, Event, IndexMap, StableStep
from pliant.state.world import World
from pliant.structure.faces import face_shares


@parameters
class Gravity(TimeWindow):
    """Weight of every particle: ``f = -m a up`` where ``acceleration`` [m/s2] is a number, against ``up``;
    ``f = m a`` where it is a vector."""

    kind: ClassVar[str] = "gravity"
    main: ClassVar[str] = "acceleration"
    live: ClassVar[bool] = True

    acceleration: KeyedAcceleration = Curve.constant(9.81)

    def prepare(self, world: World, up: Vector) -> ActionRuntime:
        always = self.acceleration.is_constant and self.from_ <= 0 and self.until is None
        return self.windowed(GravityRuntime(world, self.acceleration, np.array(up), always))


class GravityRuntime(ActionRuntime):
    """Weight of all particles: it has a potential where it never changes (``steady``), or else does work."""

    def __init__(self, world: World, acceleration: Curve, up: Array, steady: bool) -> None:
        self.world, self.acceleration, self.up, self.steady = world, acceleration, up, steady
        self.constant = acceleration.is_constant
        self.account = None if steady else "work"
        self._steady_g = self._vector(0.0)

    def _vector(self, time: float) -> Array:
        value = self.acceleration.at(time)
        return np.asarray(value, float) if np.ndim(value) else -float(value) * self.up

    def _g(self, time: float) -> Array:
        return self._steady_g if self.steady else self._vector(time)

    def add_forces(self, time: float, x: Array, v: Array, out: Array) -> None:
        from pliant.actions.kernels import add_weight

        add_weight(self.world.mass, self._g(time), out)

    def potential_energy(self, x: Array) -> float:
        """``sum m a (up . x)`` [J], zero where it is not steady."""
        return -float(self.world.mass @ (x @ self._steady_g)) if self.steady else 0.0


@parameters
class Force(SelectionAction):
    """A force [N]: the total, distributed by mass (``per = "selection"``), or the force on each particle."""

    kind: ClassVar[str] = "force"
    main: ClassVar[str] = "value"
    live: ClassVar[bool] = True
    mark = "arrow"
    tools: ClassVar[tuple[SelectionTool, ...]] = (
        SelectionTool("Force", "pull", "Pull them with a steady force", table={"value": [0, 0, 1]}),
    )

    value: KeyedForce = Curve.constant((0.0, 0.0, 0.0))
    per: Literal["selection", "particle"] = "selection"

    def prepare(self, world: World, up: Vector) -> ActionRuntime:
        assert self.select is not None
        whole = self.per == "selection"
        face = self.select if whole and not self.late else None
        return self.windowed(ForceRuntime(self.rows(world), world, whole, self.value, face))


class ForceRuntime(ActionRuntime):
    """Particle i gets ``share_i * value(t)``. ``face``: the selection, where its faces are to get the force
    also if they lie beyond the particles."""

    rows: IntArray

    def __init__(
        self, rows: IntArray, world: World, whole: bool, value: Curve, face: Select | None = None
    ) -> None:
        self.whole, self.value, self.face = whole, value, face
        self.constant = value.is_constant
        self._take(rows, world)

    def _take(self, rows: IntArray, world: World) -> None:
        """Shares by mass: of the whole force, or of one for each of the particles that there were at first
        (whose mass is then shared by what they were split into)."""
        shares = world.mass[rows] / world.mass[rows].sum()
        if not self.whole:
            first = world.ancestors[rows, 0]
            together = np.bincount(first, world.mass[rows])[first]
            shares = world.mass[rows] / together
        self.selected = self.rows = rows
        if self.face is not None:
            self.rows, shares = _on_faces(world, self.face, rows, shares)
        self.shares = shares[:, None].copy()
        self._steady = self.shares * self.value.at(0.0) if self.value.is_constant else None

    def add_forces(self, time: float, x: Array, v: Array, out: Array) -> None:
        from pliant.actions.kernels import add_rows

        add_rows(self.rows, self._forces(time), out)

    def remap(self, change: IndexMap, world: World) -> None:
        self._take(change.remap_rows(self.selected)[0], world)

    def _forces(self, time: float) -> Array:
        forces: Array = self._steady if self._steady is not None else self.shares * self.value.at(time)
        return forces


def _on_faces(world: World, select: Select, rows: IntArray, shares: Array) -> tuple[IntArray, Array]:
    """Rows and shares of a force that acts on the faces of the selected rows."""
    found, parts = [], []
    for part in world.bodies:
        own = (rows >= part.rows.start) & (rows < part.rows.stop)
        if own.any():
            local, share = face_shares(part.structure, select, rows[own] - part.rows.start, shares[own])
            found.append(local + part.rows.start)
            parts.append(share)
    return np.concatenate(found), np.concatenate(parts)


@parameters
class Moment(SelectionAction):
    """A torque [N m] about ``axis`` through the selection's centre, following its particles.

    Particle i gets ``w x r_i`` with ``w = I^-1 T`` and ``I = sum (r^2 1 - r r^T)``: no net force, and the
    torque is exactly T.
    """

    kind: ClassVar[str] = "moment"
    main: ClassVar[str] = "value"
    live: ClassVar[bool] = True

    axis: Direction = (0.0, 0.0, 1.0)
    value: KeyedTorque = Curve.constant(0.0)

    def prepare(self, world: World, up: Vector) -> ActionRuntime:
        rows = self.rows(world)
        couple = MomentRuntime(rows, np.array(self.axis), self.value)
        try:
            couple.forces(0.0, world.x)
        except np.linalg.LinAlgError:
            raise SelectionError(
                "action 'moment': the selected particles lie on a line and cannot carry a torque.",
                hint="Select at least three that do not.",
            ) from None
        return self.windowed(couple)


class MomentRuntime(RowsRuntime):
    """A torque about the centre of the rows."""

    def __init__(self, rows: IntArray, axis: Array, value: Curve) -> None:
        self.rows, self.axis, self.value = rows, axis, value

    def forces(self, time: float, x: Array) -> Array:
        """Forces on the selected particles (rows, 3) [N]."""
        r = x[self.rows]
        r = r - r.mean(axis=0)
        squares = r.T @ r
        inertia = np.trace(squares) * np.eye(3) - squares
        if np.linalg.cond(inertia) > 1e12:
            raise np.linalg.LinAlgError
        spin = np.linalg.solve(inertia, float(self.value.at(time)) * self.axis)
        return np.cross(spin, r)

    def add_forces(self, time: float, x: Array, v: Array, out: Array) -> None:
        out[self.rows] += self.forces(time, x)


@parameters
class Impulse(SelectionAction, OneShot):
    """An impulse [N s] at the time ``at``: the total, distributed by mass; held particles receive none."""

    kind: ClassVar[str] = "impulse"
    live: ClassVar[bool] = True
    mark = "arrow"
    tools: ClassVar[tuple[SelectionTool, ...]] = (
        SelectionTool("Kick", "play", "Give them an impulse now", table={"value": [0, 0, 0.01]}),
    )

    value: tuple[ImpulseUnit, ImpulseUnit, ImpulseUnit] = (0.0, 0.0, 0.0)

    def prepare(self, world: World, up: Vector) -> ActionRuntime:
        rows = self.rows(world)
        mass = float(world.mass[rows].sum())
        return self.windowed(ImpulseRuntime(rows, np.array(self.value), mass, self.at))


class ImpulseRuntime(RowsRuntime):
    """Gives every selected particle the same change of velocity, once."""

    account = "work"
    capabilities = frozenset({Event})

    def __init__(self, rows: IntArray, total: Array, mass: float, at: float) -> None:
        self.rows, self.total, self.change, self.at = rows, total, total / mass, at

    def apply(self, world: World) -> Sequence[BodyChange]:
        free = world.inverse_mass[self.rows] > 0.0
        world.v[self.rows] += np.where(free, self.change, 0.0)
        return ()

    def remap(self, change: IndexMap, world: World) -> None:
        super().remap(change, world)
        if change.resampled is not None:
            self.change = self.total / world.mass[self.rows].sum()


@parameters
class Pull(SelectionAction):
    r"""Pulls the selection's centre of mass c to ``target`` [m] by a damped spring,

    .. math:: F = k\,(target - c) - d\,\dot c,

    shared in proportion to mass. stiffness k [N/m]; damping d [N s/m]; name: gives the force as a series.
    """

    kind: ClassVar[str] = "pull"
    main: ClassVar[str] = "target"
    live: ClassVar[bool] = True
    steered: ClassVar[str] = "target"

    target: KeyedPoint = Curve.constant((0.0, 0.0, 0.0))
    stiffness: Number = Field(default=100.0, gt=0)
    damping: Number = Field(default=0.0, ge=0)
    name: str | None = None

    @property
    def series_label(self) -> str | None:
        return self.name

    def series_units(self) -> dict[str, str]:
        return {self.name: "N"} if self.name else {}

    def prepare(self, world: World, up: Vector) -> ActionRuntime:
        rows = self.rows(world)
        return self.windowed(PullRuntime(rows, world.mass[rows], self))


class PullRuntime(ActionRuntime):
    """A damped spring to a moving point."""

    rows: IntArray

    def __init__(self, rows: IntArray, mass: Array, pull: Pull) -> None:
        self.rows, self.path = rows, pull.target
        self.stiffness, self.damping = pull.stiffness, pull.damping
        self.velocity_dependent = pull.damping > 0
        self.mass = float(mass.sum())
        self.shares: Array = mass / self.mass
        self.series_names = tuple(f"{pull.name}.{c}" for c in "xyz") if pull.name else ()
        self.last: Array = np.zeros(3)

    def centre(self, values: Array) -> Array:
        """Mean over the selection, weighted by mass, (3,)."""
        mean: Array = np.sum(self.shares[:, None] * values[self.rows], axis=0)
        return mean

    def force(self, time: float, x: Array, v: Array) -> Array:
        """The whole force (3,) [N] on the selection."""
        gap = self.path.at(time) - self.centre(x)
        found: Array = self.stiffness * gap
        if self.damping:
            found = found - self.damping * self.centre(v)
        return found

    def add_forces(self, time: float, x: Array, v: Array, out: Array) -> None:
        from pliant.actions.kernels import add_rows

        self.last = self.force(time, x, v)
        add_rows(self.rows, self.shares[:, None] * self.last, out)

    def stable_step(self) -> StableStep:
        rate = math.sqrt(self.stiffness / self.mass)
        ratio = self.damping / (2.0 * self.mass * rate)
        return StableStep(2.0 / rate * (math.sqrt(1.0 + ratio**2) - ratio), "its spring")

    def remap(self, change: IndexMap, world: World) -> None:
        self.rows, _ = change.remap_rows(self.rows)
        mass = world.mass[self.rows]
        self.mass = float(mass.sum())
        self.shares = mass / self.mass

    def sample(self, time: float) -> Sequence[float]:
        return [float(part) for part in self.last] if self.series_names else []
