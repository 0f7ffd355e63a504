"""What an integrator may offer beyond a step."""

from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

if TYPE_CHECKING:
    from pliant.simulation.system import System


@runtime_checkable
class Prepared(Protocol):
    """Integrators that keep something from step to step: ``system.solver`` holds it.

    Where it is a Memory it is checkpointed, and where it has Columns they are in the series.
    """

    def prepare(self, system: "System") -> Any: ...
