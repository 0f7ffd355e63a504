"""Actions and their runtimes."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from pliant.core.errors import IncompatibleError
from pliant.core.typing import AnyArray, Array, BoolArray, IntArray
from pliant.interfaces.capability import C, Capable
from pliant.interfaces.force_term import ForceTerm
from pliant.interfaces.shared_data import EnergyTotals
from pliant.interfaces.structure import Structure
from pliant.interfaces.topology import IndexMap

if TYPE_CHECKING:
    from collections.abc import Callable

    from pliant.state.world import BodyState, World


@dataclass(frozen=True)
class AddStiffnessDamping:
    """Request: damp the forces of ``body`` by ``-seconds K v`` more."""

    body: "BodyState"
    seconds: float


@dataclass(frozen=True)
class ClampFace:
    """Request: ``rows`` of ``body`` (its own numbers) stand for a face that lies ``distance`` spacings beyond
    them, along ``outward`` (3,) at rest, for the whole run."""

    body: "BodyState"
    rows: IntArray
    distance: float
    outward: Array


@dataclass(frozen=True)
class DisableVolumetricTerm:
    """Request: leave the volumetric stiffness of ``body`` to a constraint."""

    body: "BodyState"


@dataclass(frozen=True)
class HideBody:
    """Request: ``body`` is absent until an event creates it."""

    body: "BodyState"


@dataclass(frozen=True)
class MakeSticky:
    """Request: what touches ``body`` stays on it while ``sticky(time)`` is true."""

    body: "BodyState"
    sticky: "Callable[[float], bool]"


Request = AddStiffnessDamping | ClampFace | DisableVolumetricTerm | HideBody | MakeSticky


class ActionRuntime(Capable, ForceTerm):
    """Base of action runtimes: a force term with a time window. All members have neutral defaults.

    rows: rows of the World that the action holds; whoever has them also has ``remap``. implicit_only: whether
    implicit integrators alone evaluate it, inside their solves. reads_forces: whether it reads the World's
    forces, those on held particles too.
    """

    start: float = 0.0
    until: float = float("inf")
    rows: IntArray | None = None
    series_names: tuple[str, ...] = ()
    requests: tuple[Request, ...] = ()
    implicit_only: bool = False
    reads_forces: bool = False

    def begin(self, world: "World", time: float) -> None:
        """Called when the action starts to act, at the step boundary ``time``."""

    def active(self, time: float) -> bool:
        """Whether the action holds at ``time`` (with a rounding margin at the ends)."""
        return self.start - 1e-12 <= time < self.until - 1e-12

    def remap(self, change: IndexMap, world: "World") -> None:
        """Keep up with a change of the World's rows."""
        if self.rows is not None:
            raise IncompatibleError(
                f"{type(self).__name__} holds particles of a body whose particles appear and disappear, "
                "and does not implement 'remap'."
            )

    def sample(self, time: float) -> Sequence[float]:
        """Values of ``series_names``."""
        return ()

    def reset(self) -> None:
        """Begin a new interval of averages: the last row of series has been written."""

    def state(self) -> dict[str, AnyArray]:
        """Everything that a restart needs beyond the parameters."""
        return {}

    def restore(self, state: Mapping[str, AnyArray]) -> None:
        """Continue from ``state``."""


class PrescribedMotion(Protocol):
    """Prescribes degrees of freedom: their inverse mass is zero while it acts."""

    start: float
    until: float
    rows: IntArray  # particles
    axes: BoolArray  # (3,)
    is_static: bool  # holds, and so does no work

    def drive(self, time: float, x: Array, v: Array) -> None:
        """Write positions and velocities of the prescribed degrees of freedom at ``time``."""

    def acceleration(self, time: float) -> Array:
        """Prescribed acceleration of the particles, (rows, 3) [m/s2]."""


class Projection(Protocol):
    """Corrects positions and velocities after the drift of each step: contacts, constraints."""

    applied_last: bool  # whether it comes after those that need not hold exactly when the step is done

    def project(self, time: float, dt: float, world: "World") -> None: ...


BodyChange = tuple["BodyState", Structure]
"""A body that was created or removed, and its structure from now on."""


class Event(Protocol):
    """Happens once, at the first step boundary at or after ``at``."""

    at: float

    def apply(self, world: "World") -> Sequence[BodyChange]:
        """Make it happen; returns the bodies that were created or removed."""

    def book(self, work: float, totals: EnergyTotals) -> None:
        """Book the change ``work`` [J] of the stored energy (``ForceTerm.book``)."""


class RecurringEvent(Protocol):
    """Happens at each step boundary where it is ``due`` while the action acts."""

    def due(self, time: float, world: "World") -> bool: ...

    def apply(self, world: "World") -> Sequence[BodyChange]:
        """As for an ``Event``."""

    def book(self, work: float, totals: EnergyTotals) -> None:
        """As for an ``Event``."""


class BetweenSteps(Protocol):
    """Something to do at each step boundary while the action acts: a moving blade."""

    def between_steps(self, time: float, world: "World") -> bool:
        """True where it changed the World or a body's topology."""


def offered(runtimes: Iterable[ActionRuntime], capability: type[C]) -> list[C]:
    """Those of ``runtimes`` that declare ``capability``."""
    return [found for runtime in runtimes if (found := runtime.offer(capability)) is not None]
