"""Loads on selected particles: a force, a moment, an impulse."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from pliant.actions.base import OneShot, SelectionAction, SelectionTool
from pliant.core.curves import Curve, KeyedForce, KeyedTorque
from pliant.core.errors import SelectionError
from pliant.core.parameters import parameters
from pliant.core.rotation import Direction
from pliant.core.typing import Array, IntArray, Vector
from pliant.core.units import Impulse as ImpulseUnit
from pliant.interfaces import ActionRuntime, BodyChange, Event, IndexMap

if TYPE_CHECKING:
    from pliant.state.world import World


@parameters
class Force(SelectionAction):
    """A force [N]: the total, shared in proportion to mass (``per = "selection"``), or on each particle."""

    kind: ClassVar[str] = "force"
    main: ClassVar[str] = "value"
    live: ClassVar[bool] = True
    tools: ClassVar[tuple[SelectionTool, ...]] = (
        SelectionTool("Force", "pull", "Pull them with a steady force", table={"value": [0, 0, 1]}),
    )

    value: KeyedForce = Curve.constant((0.0, 0.0, 0.0))
    per: Literal["selection", "particle"] = "selection"

    @property
    def is_zero(self) -> bool:
        zero: bool = self.value.is_zero
        return zero

    def prepare(self, world: "World", up: Vector) -> ActionRuntime:
        return self.windowed(ForceRuntime(self.rows(world), world, self.per == "selection", self.value))


class ForceRuntime(ActionRuntime):
    """Particle i gets ``share_i * value(t)``."""

    account = "work"
    rows: IntArray

    def __init__(self, rows: IntArray, world: "World", whole: bool, value: Curve) -> None:
        self.whole, self.value = whole, value
        self.constant = value.is_constant
        self._take(rows, world)

    def _take(self, rows: IntArray, world: "World") -> None:
        """Shares by mass: of the whole force, or of one for each of the particles that there were at first
        (whose mass is then shared by what they were split into)."""
        shares = world.mass[rows] / world.mass[rows].sum()
        if not self.whole:
            first = world.ancestors[rows, 0]
            together = np.bincount(first, world.mass[rows])[first]
            shares = world.mass[rows] / together
        self.rows, self.shares = rows, shares[:, None].copy()
        self._steady = self.shares * self.value.at(0.0) if self.value.is_constant else None

    def add_forces(self, time: float, x: Array, v: Array, out: Array) -> None:
        from pliant.actions.kernels import add_rows

        add_rows(self.rows, self._forces(time), out)

    def remap(self, change: IndexMap, world: "World") -> None:
        self._take(change.remap_rows(self.rows)[0], world)

    def _forces(self, time: float) -> Array:
        forces: Array = self._steady if self._steady is not None else self.shares * self.value.at(time)
        return forces


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

    @property
    def is_zero(self) -> bool:
        zero: bool = self.value.is_zero
        return zero

    def prepare(self, world: "World", up: Vector) -> ActionRuntime:
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


class MomentRuntime(ActionRuntime):
    """A torque about the centre of the rows."""

    account = "work"
    rows: IntArray

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

    def remap(self, change: IndexMap, world: "World") -> None:
        self.rows, _ = change.remap_rows(self.rows)


@parameters
class Impulse(SelectionAction, OneShot):
    """A kick [N s] at the time ``at``, the total shared in proportion to mass; held particles take none."""

    kind: ClassVar[str] = "impulse"
    live: ClassVar[bool] = True
    tools: ClassVar[tuple[SelectionTool, ...]] = (
        SelectionTool("Kick", "play", "Give them an impulse now", table={"value": [0, 0, 0.01]}),
    )

    value: tuple[ImpulseUnit, ImpulseUnit, ImpulseUnit] = (0.0, 0.0, 0.0)

    def prepare(self, world: "World", up: Vector) -> ActionRuntime:
        rows = self.rows(world)
        return self.windowed(ImpulseRuntime(rows, np.array(self.value) / world.mass[rows].sum(), self.at))


class ImpulseRuntime(ActionRuntime):
    """Gives every selected particle the same change of velocity, once."""

    capabilities = frozenset({Event})
    account = "work"
    rows: IntArray

    def __init__(self, rows: IntArray, change: Array, at: float) -> None:
        self.rows, self.change, self.at = rows, change, at

    def remap(self, change: IndexMap, world: "World") -> None:
        self.rows, _ = change.remap_rows(self.rows)

    def apply(self, world: "World") -> Sequence[BodyChange]:
        free = world.inverse_mass[self.rows] > 0.0
        world.v[self.rows] += np.where(free, self.change, 0.0)
        return ()
