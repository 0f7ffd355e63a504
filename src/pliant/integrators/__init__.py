"""Time integrators, one class each; ``INTEGRATORS`` names them for scenes."""

from pliant.core.registry import Registry
from pliant.integrators.automatic import Auto as Auto
from pliant.integrators.explicit import ExplicitEuler as ExplicitEuler
from pliant.integrators.explicit import ExplicitIntegrator as ExplicitIntegrator
from pliant.integrators.explicit import Leapfrog as Leapfrog
from pliant.integrators.explicit import RungeKutta as RungeKutta
from pliant.integrators.explicit import RungeKutta4 as RungeKutta4
from pliant.integrators.explicit import SymplecticEuler as SymplecticEuler
from pliant.integrators.explicit import Verlet as Verlet
from pliant.integrators.implicit.schemes import Bdf2 as Bdf2
from pliant.integrators.implicit.schemes import CompliantConstraints as CompliantConstraints
from pliant.integrators.implicit.schemes import EnergyMomentum as EnergyMomentum
from pliant.integrators.implicit.schemes import ImplicitEuler as ImplicitEuler
from pliant.integrators.implicit.schemes import ImplicitMidpoint as ImplicitMidpoint
from pliant.integrators.implicit.schemes import Newmark as Newmark
from pliant.integrators.implicit.schemes import TrBdf2 as TrBdf2
from pliant.integrators.implicit.static import Static as Static
from pliant.interfaces import Integrator

_EXPLICIT = (Leapfrog, Verlet, SymplecticEuler, RungeKutta4, ExplicitEuler)
_IMPLICIT = (
    TrBdf2,
    EnergyMomentum,
    ImplicitEuler,
    Bdf2,
    ImplicitMidpoint,
    Newmark,
    CompliantConstraints,
    Static,
)

Rk4 = RungeKutta4  # as scenes call it

INTEGRATORS: Registry[Integrator] = Registry(
    "integrator",
    (Auto, *_EXPLICIT, *_IMPLICIT),
    entry_points="pliant.integrators",
)
