"""The classical Runge-Kutta method."""

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from pliant.core.parameters import parameters
from pliant.core.typing import Array

if TYPE_CHECKING:
    from pliant.simulation.system import System


@parameters
class RungeKutta4:
    """Classical fourth-order Runge-Kutta: four force evaluations a step, slightly dissipative."""

    kind: ClassVar[str] = "rk4"
    order: ClassVar[int] = 4
    stability: ClassVar[float] = 2.828
    requires: ClassVar[tuple[type, ...]] = ()

    def step(self, system: "System", time: float, dt: float) -> None:
        from pliant.integrators import kernels

        world, n = system.world, system.integrated_rows
        x, v, w = world.x, world.v, world.inverse_mass
        f1 = world.f.copy()
        x2, v2, x3, v3, x4, v4 = (np.empty_like(x) for _ in range(6))

        def stage(h: float, f: Array, u: Array, to_x: Array, to_v: Array, out: Array) -> None:
            kernels.drift(x, u, h, to_x)
            kernels.kick(v, f, w, h, to_v)
            system.drive(time + h, to_x, to_v)
            system.evaluate(time + h, to_x, to_v, out)

        f2, f3, f4 = (np.empty_like(x) for _ in range(3))
        stage(0.5 * dt, f1, v, x2, v2, f2)
        stage(0.5 * dt, f2, v2, x3, v3, f3)
        stage(dt, f3, v3, x4, v4, f4)
        x[:n] += dt / 6.0 * (v + 2.0 * v2 + 2.0 * v3 + v4)[:n]
        v[:n] += dt / 6.0 * (w * (f1 + 2.0 * f2 + 2.0 * f3 + f4))[:n]
        system.drive(time + dt, x, v)
        if n < world.count:  # the stages have used the forces on bodies that own their step
            system.evaluate(time, x, v, world.f)
            system.advance(time, dt)
        system.project(time + dt, dt)
        system.evaluate(time + dt, x, v, world.f)
        system.complete(dt)
