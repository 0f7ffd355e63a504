"""Actions, and what their runtimes may do."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Protocol, runtime_checkable

from pliant.core.typing import Array, BoolArray, IntArray, Vector

if TYPE_CHECKING:
    from pliant.state.world import World


@runtime_checkable
class BetweenSteps(Protocol):
    """An action with something to do at each step boundary while it acts: a moving blade."""

    def between_steps(self, time: float, world: "World") -> bool:
        """True where it changed the World or a body's topology."""


class Action(Protocol):
    """Parameters of what the world does to bodies; one class per entry of ``ACTIONS``."""

    kind: ClassVar[str]

    def prepare(self, world: "World", up: Vector) -> "ActionRuntime":
        """The runtime; raises SelectionError or IncompatibleError where it cannot act."""


class ActionRuntime:
    """Base of action runtimes: a time window. Derive and add the capabilities below.

    A runtime that keeps rows of the World also has ``remap(change, world)``, to keep up with changes of
    topology; one that has to look at the World when it starts to act overrides ``begin``.
    """

    start: float = 0.0
    until: float = float("inf")

    def begin(self, world: "World", time: float) -> None:
        """Called when the action starts to act, at the step boundary ``time``."""

    def active(self, time: float) -> bool:
        """Whether the action holds at ``time`` (with a rounding margin at the ends)."""
        return self.start - 1e-12 <= time < self.until - 1e-12


@runtime_checkable
class Forces(Protocol):
    """Adds external forces; those of an action with an attribute ``constant = True`` never change while it
    acts, and are added up once."""

    velocity_dependent: bool

    def add_forces(self, time: float, x: Array, v: Array, out: Array) -> None: ...


@runtime_checkable
class Power(Protocol):
    """Feeds the energy ledger."""

    def power(self, time: float, world: "World") -> tuple[float, float]:
        """(work done on the bodies [W], power turned into heat [W])."""


@runtime_checkable
class Potential(Protocol):
    """A conservative external force, such as gravity."""

    def potential(self, x: Array) -> float: ...


@runtime_checkable
class PrescribedMotion(Protocol):
    """Prescribes degrees of freedom: their inverse mass is zero while it acts."""

    rows: IntArray  # particles
    axes: BoolArray  # (3,)
    still: bool  # holds, and so does no work

    def drive(self, time: float, x: Array, v: Array) -> None:
        """Write positions and velocities of the driven degrees of freedom at ``time``."""

    def acceleration(self, time: float) -> Array:
        """Prescribed acceleration of the driven particles, (rows, 3) [m/s2]."""


@runtime_checkable
class Projection(Protocol):
    """Corrects positions and velocities after the drift of each step: contacts, constraints."""

    exact: bool  # what must hold exactly when the step is done comes after what need not

    def project(self, time: float, dt: float, world: "World") -> None: ...


@dataclass(frozen=True)
class RigidShape:
    """A rigid shape for compiled loops: its number and size (``models.shape_contact``), the frame (3, 3) that
    its axes are the columns of, and its places (k, 3) [m] at k times."""

    kind: int
    size: Array
    frame: Array
    places: Array
    restitution: float
    friction: float


@runtime_checkable
class ContactShape(Protocol):
    """A rigid shape that particles are pushed out of. Implicit integrators hold particles against it while
    they solve, and self-stepping bodies resolve the contact within their step, so that its projection has
    nothing left to do."""

    friction: float
    restitution: float
    refines: bool  # whether bodies with resolution levels refine near it
    moves: bool  # whether its place changes

    def distances(self, time: float, points: Array) -> tuple[Array, Array]:
        """Distances [m] of points (k, 3) at ``time``, negative inside, and outward normals (k, 3)."""

    def velocity(self, time: float, dt: float) -> Array:
        """Mean velocity (3,) [m/s] over the step that ends at ``time``."""

    def record_contact(
        self, time: float, points: Array, impulses: Array, velocity: Array, heat: float
    ) -> None:
        """Take note of the impulses (k, 3) [N s] that it gave at ``points``, and of the heat [J]."""

    def rigid(self, times: Array) -> RigidShape:
        """The shape and its places at ``times`` (k,) [s], for compiled loops that push particles out."""

    def take_contacts(self, out: Array) -> None:
        """Add the impulse [N s], its torque [N m s], the work and the heat [J] (8,) of such loops."""


@runtime_checkable
class Event(Protocol):
    """Happens once, at the first step boundary at or after ``at``."""

    at: float

    def apply(self, world: "World") -> None: ...
