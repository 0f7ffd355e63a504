"""What drives a simulation and looks at it."""

from typing import TYPE_CHECKING, ClassVar, Literal, Protocol

from pliant.interfaces.common import Columns

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


class Measure(Protocol):
    """Parameters of a measure; one class per entry of ``MEASURES``."""

    kind: ClassVar[str]

    @property
    def every(self) -> Literal["frame", "step"]: ...

    def prepare(self, system: "System") -> Columns: ...
