"""Scales of a solve: loads, rounding, damping rates, and a step for relaxation."""

from typing import TYPE_CHECKING

import numpy as np

from pliant.core.typing import Array
from pliant.integrators.implicit import kernels
from pliant.integrators.implicit.incremental_potential import IncrementalPotential

if TYPE_CHECKING:
    from pliant.integrators.implicit.preconditioners.rest import RestSystem
    from pliant.simulation.system import System

ROUNDING = 4e-16


class StartScales:
    """Loads and damping rates at the beginning of a step, evaluated once for all solves from there: contacts
    between bodies look for their pairs again wherever positions jump to and fro."""

    def __init__(self, system: "System") -> None:
        self.system = system
        self._start: tuple[float, Array, Array] | None = None
        self._load: float | None = None
        self._rates: dict[float, Array] = {}

    def _begin(self, time: float) -> None:
        """Forget what belongs to another state of the World."""
        world = self.system.world
        if self._start is not None:
            at, x, v = self._start
            if at == time and np.array_equal(x, world.x) and np.array_equal(v, world.v):
                return
        self._start, self._load, self._rates = (time, world.x.copy(), world.v.copy()), None, {}

    def load(self, time: float) -> float:
        """``external_force_norm`` at the World's state."""
        self._begin(time)
        if self._load is None:
            self._load = external_force_norm(self.system, time)
        return self._load

    def damping_rates(self, time: float, h: float) -> Array:
        """``damping_rates`` at the World's state."""
        self._begin(time)
        if h not in self._rates:
            self._rates[h] = damping_rates(self.system, time, h)
        return self._rates[h]


def external_force_norm(system: "System", time: float) -> float:
    """Norm of the forces of actions on free degrees of freedom [N]."""
    world = system.world
    outer = np.zeros_like(world.x)
    system.external_forces(time, world.x, world.v, outer)
    return float(kernels.free_norm(outer, world.inverse_mass))


def rounding_floor(potential: IncrementalPotential, rest: "RestSystem", x: Array) -> float:
    """Residual that rounding alone can make: positions have a relative error of 2e-16."""
    mass, diagonal = potential.system.world.mass, rest.diagonal
    stiff = potential.inertia * np.sqrt(3.0) * np.sqrt(kernels.dot(mass, mass))
    stiff += potential.scale * np.sqrt(kernels.dot(diagonal, diagonal))
    return ROUNDING * float(stiff) * float(np.abs(x).max())


def damping_rates(system: "System", time: float, h: float) -> Array:
    """Rates c [1/s] at which actions slow particles down, ``-df/dv / m``, typical of each body; (n,).

    Values of 1 + h c are rounded to powers of 1.5: the preconditioner is built again only when they
    change a lot, and depends on nothing but the present state, so that a restart finds the same.
    """
    world = system.world
    rates = np.zeros(world.count)
    if not system.velocity_dependent or np.isinf(h):
        return rates
    now, faster = np.zeros_like(world.x), np.zeros_like(world.x)
    change = 1e-3 * (1.0 + float(np.abs(world.v).max()))
    system.external_forces(time, world.x, world.v, now)
    system.external_forces(time, world.x, world.v + change, faster)
    for part in world.bodies:
        own = (now - faster)[part.rows].mean(axis=1) / (change * world.mass[part.rows])
        steps = np.round(np.log1p(h * max(float(np.median(own)), 0.0)) / np.log(1.5))
        rates[part.rows] = (1.5**steps - 1.0) / h
    return rates


def relaxation_step(system: "System", rest: "RestSystem", time: float) -> float:
    """A step [s] for relaxing: loads move a body by a fiftieth of its size in it, or, without loads, some
    vibrations of a single particle pass."""
    world, size = system.world, external_force_norm(system, time)
    if size > 0.0:
        weight = float(np.sqrt(kernels.dot(world.mass, world.mass)))
        return float(np.sqrt(0.02 * np.ptp(world.rest, axis=0).max() * weight / size))
    return 30.0 * float(np.sqrt(np.median(np.repeat(world.mass, 3) / rest.diagonal)))
