"""Leapfrog: the workhorse."""

from typing import TYPE_CHECKING, ClassVar

from pydantic import Field

from pliant.core.parameters import parameters
from pliant.core.units import Number

if TYPE_CHECKING:
    from pliant.simulation.system import System


def half_step_scheme(system: "System", time: float, dt: float, keep: float) -> None:
    r"""One step of leapfrog, with the half-step velocity scaled by ``keep``.

    .. math::
        u = k\,(v_n - \tfrac{dt}{2} a_n) + dt\,a_n, \quad x_{n+1} = x_n + dt\,u, \quad
        v_{n+1} = u + \tfrac{dt}{2} a_{n+1}.

    With keep k = 1 this is kick-drift-kick. Forces that depend on velocity are evaluated at
    :math:`u + \tfrac{dt}{2} a_n`, which keeps second order ([Stegmayr2008]_, eq. 3.54).
    """
    from pliant.integrators import kernels

    world, n = system.world, system.integrated_rows
    x, v, f, w = world.x[:n], world.v[:n], world.f[:n], world.inverse_mass[:n]
    if keep != 1.0 and system.keeps_ledger:
        slowed = v - 0.5 * dt * w * f
        lost = 0.5 * (1.0 - keep**2) * float((world.mass[:n, None] * slowed**2)[w > 0.0].sum())
        system.totals.dissipated += lost
    kernels.kick_drift(x, v, f, w, (1.0 - 0.5 * keep) * dt, keep, dt)
    system.drive(time + dt, world.x, world.v)
    system.advance(time, dt)
    system.project(time + dt, dt)
    if system.velocity_dependent:
        ahead = system.spare_velocities()
        kernels.kick(v, f, w, 0.5 * dt, ahead[:n])
        ahead[n:] = world.v[n:]
        system.evaluate(time + dt, world.x, ahead, world.f)
    else:
        system.evaluate(time + dt, world.x, world.v, world.f)
    kernels.kick(v, f, w, 0.5 * dt, v)
    system.complete(dt)


@parameters
class Leapfrog:
    """Kick-drift-kick leapfrog: second order, symplectic, one force evaluation a step [Everts2006]_ 4.3."""

    kind: ClassVar[str] = "leapfrog"
    order: ClassVar[int] = 2
    stability: ClassVar[float] = 2.0
    requires: ClassVar[tuple[type, ...]] = ()

    def step(self, system: "System", time: float, dt: float) -> None:
        half_step_scheme(system, time, dt, 1.0)


@parameters
class Verlet:
    """Verlet, ``x_n+1 = x_n + keep (x_n - x_n-1) + dt^2 a_n``, in its velocity form [Stegmayr2008]_ 3.5.

    keep: 1 is the undamped scheme; the text's damped one has 0.99 a step.
    Differs: the difference of positions is kept as a velocity, which loses no digits at small steps.
    """

    kind: ClassVar[str] = "verlet"
    order: ClassVar[int] = 2
    stability: ClassVar[float] = 2.0
    requires: ClassVar[tuple[type, ...]] = ()

    keep: Number = Field(default=1.0, gt=0, le=1)

    def step(self, system: "System", time: float, dt: float) -> None:
        half_step_scheme(system, time, dt, self.keep)
