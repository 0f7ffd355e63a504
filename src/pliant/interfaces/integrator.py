"""Time integrators and their state."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

from pliant.core.diagnostics import Diagnostics
from pliant.core.typing import AnyArray, Array

if TYPE_CHECKING:
    from pliant.simulation.system import System


class IntegratorState:
    """What an integrator keeps from step to step; explicit schemes keep nothing and use this class as it is.

    The loop passes it to every step, calls ``reset_history`` where a step does not continue the one before,
    writes ``state`` into checkpoints (under ``integrator/``) and samples ``series_names`` once per frame.
    """

    series_names: tuple[str, ...] = ()

    @cached_property
    def diagnostics(self) -> Diagnostics:
        """Where it reports what a user should know, when it starts and while it runs."""
        return Diagnostics()

    def sample(self, time: float) -> Sequence[float]:
        """Values of the series since the last ``reset``."""
        return ()

    def reset(self) -> None:
        """Begin the next row of series."""

    def reset_history(self) -> None:
        """Forget past steps: actions began or ended, an event changed the state, or the topology changed."""

    def state(self) -> dict[str, AnyArray]:
        """Arrays that ``restore`` needs to continue with the same bytes."""
        return {}

    def restore(self, state: Mapping[str, AnyArray]) -> None:
        """Continue from ``state``."""


class Integrator(ABC):
    """Advances a System by one step; one frozen parameter class per entry of ``INTEGRATORS``."""

    kind: ClassVar[str]
    order: ClassVar[int]
    stability: ClassVar[float]  # largest dt * omega on the imaginary axis; 0: none, inf: any
    requires: ClassVar[tuple[type, ...]] = ()  # capabilities that every body's mechanics must have
    keeps_energy: ClassVar[bool] = (
        False  # whether, with ``scheme_energy``, for linear forces it keeps it exactly
    )

    def start(self, system: "System") -> IntegratorState:
        """The state for a run of ``system``; raises IncompatibleError where the scheme cannot advance it."""
        return IntegratorState()

    def choose(self, system: "System", steps: float) -> tuple["Integrator", str]:
        """The scheme to use for ``system``, and why; ``steps``: stable explicit steps a frame. Itself, unless
        it stands for a choice."""
        return self, ""

    def scheme_energy(self, v: Array, f: Array, w: Array, dt: float) -> float:
        """What the scheme keeps constant for linear forces, less the energy itself [J]; all arrays (n, 3), w:
        inverse masses."""
        return 0.0

    @abstractmethod
    def step(self, system: "System", state: IntegratorState, time: float, dt: float) -> None:
        """Advance the World from ``time`` to ``time + dt`` [s], in place.

        On entry ``world.f`` holds the forces at ``time``; on return those at ``time + dt``.
        """
