"""Time integrators, one class each; ``INTEGRATORS`` names them for scenes."""

from pliant.integrators.euler import ExplicitEuler, SymplecticEuler
from pliant.integrators.leapfrog import Leapfrog, Verlet
from pliant.integrators.runge_kutta import RungeKutta4
from pliant.protocols import Integrator
from pliant.registry import Registry

INTEGRATORS: Registry[Integrator] = Registry(
    "integrator",
    {cls.kind: cls for cls in (Leapfrog, Verlet, SymplecticEuler, RungeKutta4, ExplicitEuler)},
    entry_points="pliant.integrators",
)

__all__ = ["INTEGRATORS", "ExplicitEuler", "Leapfrog", "RungeKutta4", "SymplecticEuler", "Verlet"]
