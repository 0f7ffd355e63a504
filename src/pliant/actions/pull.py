"""A spring pull: what a hand does that drags a body along without forcing it to follow."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from pydantic import Field

from pliant.actions.base import SelectionAction
from pliant.core.curves import Curve, KeyedPoint
from pliant.core.parameters import parameters
from pliant.core.typing import Array, IntArray, Vector
from pliant.core.units import Number
from pliant.interfaces import ActionRuntime, IndexMap, StableStep

if TYPE_CHECKING:
    from pliant.state.world import World


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

    def prepare(self, world: "World", up: Vector) -> ActionRuntime:
        rows = self.rows(world)
        return self.windowed(PullRuntime(rows, world.mass[rows], self))


class PullRuntime(ActionRuntime):
    """A damped spring to a moving point."""

    account = "work"
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

    def remap(self, change: IndexMap, world: "World") -> None:
        self.rows, _ = change.remap_rows(self.rows)
        mass = world.mass[self.rows]
        self.mass = float(mass.sum())
        self.shares = mass / self.mass

    def sample(self, time: float) -> Sequence[float]:
        return [float(part) for part in self.last] if self.series_names else []
