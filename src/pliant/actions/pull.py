"""A spring pull: what a hand does that drags a body along without forcing it to follow."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from pydantic import Field

from pliant.actions.base import Selecting
from pliant.curves import Curve, KeyedPoint
from pliant.parameters import parameters
from pliant.protocols import Acting, RowChange, StableStep
from pliant.typing import Array, IntArray, Vector
from pliant.units import Number

if TYPE_CHECKING:
    from pliant.simulation.world import World


@parameters
class Pull(Selecting):
    r"""Pulls the selection's centre of mass c to ``target`` [m] by a damped spring,

    .. math:: F = k\,(target - c) - d\,\dot c,

    shared in proportion to mass. stiffness k [N/m]; damping d [N s/m]; name: gives the force as a series.
    """

    kind: ClassVar[str] = "pull"
    main: ClassVar[str] = "target"

    target: KeyedPoint = Curve.constant((0.0, 0.0, 0.0))
    stiffness: Number = Field(default=100.0, gt=0)
    damping: Number = Field(default=0.0, ge=0)
    name: str | None = None

    def prepare(self, world: "World", up: Vector) -> Acting:
        rows = self.rows(world)
        return self.windowed(Pulled(rows, world.mass[rows], self))


class Pulled(Acting):
    """Pull at work."""

    def __init__(self, rows: IntArray, mass: Array, pull: Pull) -> None:
        self.rows, self.path = rows, pull.target
        self.stiffness, self.damping = pull.stiffness, pull.damping
        self.velocity_dependent = pull.damping > 0
        self.mass = float(mass.sum())
        self.shares: Array = mass / self.mass
        self.columns = tuple(f"{pull.name}.{c}" for c in "xyz") if pull.name else ()
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

    def power(self, time: float, world: "World") -> tuple[float, float]:
        force = self.force(time, world.x, world.v)
        return float(np.sum(force * self.centre(world.v))), 0.0

    def stable_step(self) -> StableStep:
        rate = math.sqrt(self.stiffness / self.mass)
        ratio = self.damping / (2.0 * self.mass * rate)
        return StableStep(2.0 / rate * (math.sqrt(1.0 + ratio**2) - ratio), "its spring")

    def follow(self, change: RowChange, world: "World") -> None:
        self.rows, _ = change.follow(self.rows)
        mass = world.mass[self.rows]
        self.mass = float(mass.sum())
        self.shares = mass / self.mass

    def values(self, time: float) -> Sequence[float]:
        return [float(part) for part in self.last] if self.columns else []
