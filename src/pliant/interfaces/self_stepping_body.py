"""Bodies that take part in a step, or take it themselves."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from pliant.core.typing import Array, IntArray

if TYPE_CHECKING:
    from pliant.interfaces.action import Pushing


@runtime_checkable
class SelfStepping(Protocol):
    """Mechanics that advance their own particles: levels of detail with local steps, rigid bodies.

    Such bodies have the last rows of the World; integrators work on the rows before them. A step calls
    ``advance`` after the drift of the other bodies, then contacts are projected, then forces are evaluated:
    ``add_internal`` in place of ``add_forces``. Who also is ``Settling`` hands work and heat to the ledger.
    """

    def advance(
        self, time: float, dt: float, x: Array, v: Array, external: Array, inverse_mass: Array
    ) -> None:
        """Take the body's own rows from ``time`` to ``time + dt``, in place.

        external: forces [N] of actions at ``time``. Degrees of freedom with zero ``inverse_mass`` are driven:
        they are where they belong at ``time + dt`` already, and stay there. Contacts may have moved rows
        since the last call.
        """

    def add_internal(self, out: Array) -> None:
        """Add the body's own forces [N] at the end of the last ``advance``, for reactions at driven rows."""


@runtime_checkable
class Slowed(Protocol):
    """Mechanics that own their step and go by whether actions slow bodies down (``velocity_dependent``)."""

    slowed: bool


@runtime_checkable
class Completing(Protocol):
    """Mechanics that own their step and want the forces at its end, as well as those at its beginning."""

    def complete(self, dt: float, x: Array, v: Array, external: Array, inverse_mass: Array) -> None:
        """Finish the step of ``dt``: external [N] are the forces of actions at its end. May write ``v``."""


@runtime_checkable
class RigidContact(Protocol):
    """Mechanics of bodies that do not deform. Obstacles leave their particles alone: such a body meets them
    by itself (``set_obstacles``).

    contact_triangles (t, 3), own rows, closed and outward, ``radius`` [m] thick to either side: what touches
    other bodies; contact_mass (n,) [kg]: what a contact there has to move; contact_stiffness [N/m].
    """

    radius: float
    contact_triangles: IntArray
    contact_mass: Array
    contact_stiffness: float


@runtime_checkable
class MeetsObstacles(Protocol):
    """Mechanics that resolve contacts with obstacles themselves, within their step."""

    def set_obstacles(self, obstacles: Sequence["Pushing"]) -> None:
        """Take notice of the obstacles that act from now on."""


@runtime_checkable
class StepHook(Protocol):
    """Mechanics with something to do once per accepted step: plasticity, cracks, adaptation."""

    def after_step(self, time: float, dt: float, x: Array, v: Array) -> bool:
        """True where the forces at ``x`` changed and have to be evaluated again."""
