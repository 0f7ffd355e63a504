"""The two first-order Euler schemes."""

from typing import TYPE_CHECKING, ClassVar

from pliant.parameters import parameters

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

        world = system.world
        kernels.kick_drift(world.x, world.v, world.f, world.inverse_mass, dt, 1.0, dt)
        system.drive(time + dt, world.x, world.v)
        system.project(time + dt, dt)
        system.evaluate(time + dt, world.x, world.v, world.f)


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

        world = system.world
        kernels.drift(world.x, world.v, dt, world.x)
        kernels.kick(world.v, world.f, world.inverse_mass, dt, world.v)
        system.drive(time + dt, world.x, world.v)
        system.project(time + dt, dt)
        system.evaluate(time + dt, world.x, world.v, world.f)
