"""``integrator = "auto"``: the scheme that suits the bodies of a scene."""

from typing import TYPE_CHECKING, ClassVar

from pliant.core.parameters import parameters
from pliant.integrators.explicit import Leapfrog
from pliant.integrators.implicit.schemes import TrBdf2
from pliant.interfaces import Integrator, IntegratorState, SelfStepping, StoredEnergy, Tangent

if TYPE_CHECKING:
    from pliant.simulation.system import System

MOST_STEPS = 1500  # explicit steps a frame above which an implicit scheme is chosen


@parameters
class Auto(Integrator):
    """Leapfrog, or TR-BDF2 for bodies so stiff that leapfrog would need more than 1500 steps a frame.

    Leapfrog keeps the energy, treats every contact and costs least in ordinary motion: dropped and kicked
    bodies of 200 to 1700 particles took implicit steps 1.3 to 25 times as long at 34 to 506 explicit steps a
    frame. Bodies that step by themselves, and models without a stiffness, need an explicit scheme anyway.
    """

    kind: ClassVar[str] = "auto"
    order: ClassVar[int] = 2
    stability: ClassVar[float] = 2.0

    def choose(self, system: "System", steps: float) -> tuple[Integrator, str]:
        for part in system.world.bodies:
            if part.mechanics.offer(SelfStepping) is not None:
                return Leapfrog(), f"leapfrog, because body '{part.name}' takes its own steps"
            if part.mechanics.offer(Tangent) is None or part.mechanics.offer(StoredEnergy) is None:
                return (
                    Leapfrog(),
                    f"leapfrog, because the model of body '{part.name}' has explicit steps only",
                )
        if steps > MOST_STEPS:
            return TrBdf2(), f"tr-bdf2, because leapfrog would need {steps:.0f} steps a frame"
        return Leapfrog(), "leapfrog"

    def step(self, system: "System", state: IntegratorState, time: float, dt: float) -> None:
        raise NotImplementedError  # ``choose`` has been asked for a scheme before
