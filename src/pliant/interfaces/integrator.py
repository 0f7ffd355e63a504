"""Time integrators."""

from typing import TYPE_CHECKING, ClassVar, Protocol

if TYPE_CHECKING:
    from pliant.simulation.system import System


class Integrator(Protocol):
    """Advances a System by one step; one class per entry of ``INTEGRATORS``."""

    kind: ClassVar[str]
    order: ClassVar[int]
    stability: ClassVar[float]  # largest dt * omega on the imaginary axis; 0: none, inf: any
    requires: ClassVar[tuple[type, ...]]  # capabilities that every body's mechanics must have

    def step(self, system: "System", time: float, dt: float) -> None:
        """On entry ``world.f`` holds the forces at ``time``; on return those at ``time + dt``."""
