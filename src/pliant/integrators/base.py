"""What an integrator may offer beyond a step."""

from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from pliant.simulation.system import System


@runtime_checkable
class StatefulIntegrator(Protocol):
    """Integrators that keep something from step to step: ``system.solver`` holds it."""

    def prepare(self, system: "System") -> "IntegratorState": ...


class IntegratorState(Protocol):
    """What an integrator keeps. Where it is a Memory it is checkpointed; Columns are in the series."""

    def interrupt(self) -> None:
        """Called between two steps when actions begin or end, or an event changes the state."""
