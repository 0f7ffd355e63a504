"""Uniform gravity."""

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from pliant.actions.base import TimeWindow
from pliant.core.curves import Curve, KeyedAcceleration
from pliant.core.parameters import parameters
from pliant.core.typing import Array, Vector
from pliant.interfaces import ActionRuntime

if TYPE_CHECKING:
    from pliant.state.world import World


@parameters
class Gravity(TimeWindow):
    """Weight of every particle: ``f = -m a up``; ``acceleration`` [m/s2], against ``up``."""

    kind: ClassVar[str] = "gravity"
    main: ClassVar[str] = "acceleration"
    live: ClassVar[bool] = True

    acceleration: KeyedAcceleration = Curve.constant(9.81)

    def prepare(self, world: "World", up: Vector) -> ActionRuntime:
        always = self.acceleration.is_constant and self.from_ <= 0 and self.until is None
        return self.windowed(GravityRuntime(world, self.acceleration, np.array(up), always))


class GravityRuntime(ActionRuntime):
    """Weight of all particles: it has a potential where it never changes (``steady``), or else does work."""

    def __init__(self, world: "World", acceleration: Curve, up: Array, steady: bool) -> None:
        self.world, self.acceleration, self.up, self.steady = world, acceleration, up, steady
        self.constant = acceleration.is_constant
        self.account = None if steady else "work"
        self._steady_g = -float(acceleration.at(0.0)) * up

    def _g(self, time: float) -> Array:
        return self._steady_g if self.steady else -float(self.acceleration.at(time)) * self.up

    def add_forces(self, time: float, x: Array, v: Array, out: Array) -> None:
        from pliant.actions.kernels import add_weight

        add_weight(self.world.mass, self._g(time), out)

    def potential_energy(self, x: Array) -> float:
        """``sum m a (up . x)`` [J], zero where it is not steady."""
        return -float(self.world.mass @ (x @ self._steady_g)) if self.steady else 0.0
