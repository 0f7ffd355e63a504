"""The two first-order Euler schemes."""

from typing import TYPE_CHECKING, ClassVar

from pliant.core.parameters import parameters

if TYPE_CHECKING:
    from pliant.simulation.system import System


@parameters
class SymplecticEuler:
    """``v += dt a(x, v)``, then ``x += dt v``: first order, symplectic, energy bounded."""

    kind: ClassVar[str] = "symplectic-euler"
    order: ClassVar[int] = 1
    stability: ClassVar[float] = 2.0
    requires: ClassVar[tuple[type, ...]] = ()

    def step(self, system: "System", time: float, dt: float) -> None:
        from pliant.integrators import kernels

        world, n = system.world, system.integrated_rows
        kernels.kick_drift(world.x[:n], world.v[:n], world.f[:n], world.inverse_mass[:n], dt, 1.0, dt)
        system.drive(time + dt, world.x, world.v)
        system.advance(time, dt)
        system.project(time + dt, dt)
        system.evaluate(time + dt, world.x, world.v, world.f)
        system.complete(dt)


@parameters
class ExplicitEuler:
    """``x += dt v``, then ``v += dt a(x_n, v_n)``: first order, gains energy at any step.

    Kept for the record; the reference texts print it ([JanssonVergeest2000]_, section 4).
    """

    kind: ClassVar[str] = "explicit-euler"
    order: ClassVar[int] = 1
    stability: ClassVar[float] = 0.0
    requires: ClassVar[tuple[type, ...]] = ()

    def step(self, system: "System", time: float, dt: float) -> None:
        from pliant.integrators import kernels

        world, n = system.world, system.integrated_rows
        x, v = world.x[:n], world.v[:n]
        kernels.drift(x, v, dt, x)
        kernels.kick(v, world.f[:n], world.inverse_mass[:n], dt, v)
        system.drive(time + dt, world.x, world.v)
        system.advance(time, dt)
        system.project(time + dt, dt)
        system.evaluate(time + dt, world.x, world.v, world.f)
        system.complete(dt)
