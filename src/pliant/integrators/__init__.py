"""Time integrators, one class each; ``INTEGRATORS`` names them for scenes."""

from pliant.integrators.euler import ExplicitEuler, SymplecticEuler
from pliant.integrators.implicit.schemes import Bdf2, ImplicitEuler, ImplicitMidpoint, Newmark
from pliant.integrators.implicit.static import Static
from pliant.integrators.leapfrog import Leapfrog, Verlet
from pliant.integrators.runge_kutta import RungeKutta4
from pliant.protocols import Integrator
from pliant.registry import Registry

_EXPLICIT = (Leapfrog, Verlet, SymplecticEuler, RungeKutta4, ExplicitEuler)
_IMPLICIT = (ImplicitEuler, ImplicitMidpoint, Newmark, Bdf2, Static)

Rk4 = RungeKutta4  # as scenes call it

INTEGRATORS: Registry[Integrator] = Registry(
    "integrator",
    {cls.kind: cls for cls in (*_EXPLICIT, *_IMPLICIT)},
    entry_points="pliant.integrators",
)

__all__ = [
    "INTEGRATORS",
    "Bdf2",
    "ExplicitEuler",
    "ImplicitEuler",
    "ImplicitMidpoint",
    "Leapfrog",
    "Newmark",
    "Rk4",
    "RungeKutta4",
    "Static",
    "SymplecticEuler",
    "Verlet",
]
