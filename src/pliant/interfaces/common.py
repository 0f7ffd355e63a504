"""What models and actions alike can offer: memory, series, notes, limits of the step."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from pliant.core.typing import AnyArray


@dataclass(frozen=True)
class StableStep:
    """The largest stable explicit step [s] of a body, and why."""

    seconds: float
    reason: str


@runtime_checkable
class Checkpointable(Protocol):
    """Anything with state beyond positions and velocities: it is checkpointed and restored."""

    def state(self) -> dict[str, AnyArray]: ...
    def restore(self, state: Mapping[str, AnyArray]) -> None: ...


@dataclass(frozen=True)
class FieldData:
    """A named field: values per particle or per cell."""

    values: AnyArray
    per: str = "particle"  # or "cell"
    unit: str = ""


@runtime_checkable
class Settling(Protocol):
    """Contacts and kicks: hand the work and heat since the last step to the ledger."""

    def report_energy(self, ledger: "Ledger") -> None: ...


@runtime_checkable
class StepLimit(Protocol):
    """An action that limits the explicit step (a fast damping rate, a stiff contact)."""

    def stable_step(self) -> StableStep: ...


@runtime_checkable
class Restarting(Protocol):
    """Averages over the time since the last row of series: told when the next one begins."""

    def reset(self) -> None: ...


@runtime_checkable
class Noting(Protocol):
    """An action that found something out when it was made that a user should know."""

    notes: list[str]


@runtime_checkable
class Speaking(Protocol):
    """Mechanics and actions that find things out while they run; whoever tells the user empties the list."""

    warnings: list[str]


@runtime_checkable
class Deciding(Protocol):
    """Mechanics that decided by what they measured on this machine: time [s] and what was decided. Their
    model repeats it where its key ``decisions`` says so."""

    decisions: list[tuple[float, float]]


@runtime_checkable
class Columns(Protocol):
    """Brings series of its own (an obstacle's reaction)."""

    series_names: tuple[str, ...]

    def sample(self, time: float) -> Sequence[float]: ...


@dataclass
class Ledger:
    """Running totals of the energy that actions gave and took [J], and the powers [W] at the last step.

    driven: kinetic energy of the driven degrees of freedom [J].
    """

    work: float = 0.0
    dissipated: float = 0.0
    powers: tuple[float, float] = (0.0, 0.0)
    driven: float = 0.0
