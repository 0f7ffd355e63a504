"""Bodies that take part in a step, or take it themselves."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from pliant.core.typing import Array, IntArray

if TYPE_CHECKING:
    from pliant.interfaces.action import ContactShape


@dataclass(slots=True)
class StepContext:
    """One step of a self-stepping body: the body's own rows (n, 3) of the World, and what acts on them.

    The step goes from ``time`` to ``time + dt`` [s]. x [m], v [m/s]: written in place. external [N]: forces
    of actions, at the beginning of the step in ``advance`` and at its end in ``finish_step``. inverse_mass
    [1/kg]: zero for prescribed degrees of freedom, which are at their place of ``time + dt`` already.
    obstacles: rigid shapes that the body resolves its contacts with. damped: whether any action depends on
    velocities. keep_heat: whether the energy ledger wants the heat of internal damping (``report_energy``).
    """

    time: float
    dt: float
    x: Array
    v: Array
    external: Array
    inverse_mass: Array
    obstacles: Sequence["ContactShape"] = ()
    damped: bool = False
    keep_heat: bool = False


@runtime_checkable
class SelfStepping(Protocol):
    """Mechanics that advance their own particles: resolution levels with local steps, rigid bodies.

    Such bodies have the last rows of the World; integrators work on the rows before them. A step calls
    ``advance`` after the drift of the other bodies, then contacts are projected, forces are evaluated
    (``add_internal_forces`` in place of ``add_forces``), and ``finish_step`` is called.
    """

    def advance(self, ctx: StepContext) -> None:
        """Take the body's own rows to the end of the step, in place. Contacts may have moved rows since the
        last call."""

    def finish_step(self, ctx: StepContext) -> None:
        """Finish the step with the forces of actions at its end; may write ``ctx.v``."""

    def add_internal_forces(self, out: Array) -> None:
        """Add the body's own forces [N] at the end of the last step, for reactions at prescribed rows."""

    def stored(self, x: Array, v: Array) -> tuple[float, float]:
        """Kinetic and elastic energy [J] of the body whose rows are ``x`` and ``v``."""


@runtime_checkable
class RigidContact(Protocol):
    """Mechanics of bodies that do not deform. Obstacles leave their particles alone: such a body meets them
    by itself (``StepContext.obstacles``).

    contact_triangles (t, 3), own rows, closed and outward, ``radius`` [m] thick to either side: what touches
    other bodies; contact_mass (n,) [kg]: what a contact there has to move; contact_stiffness [N/m].
    """

    radius: float
    contact_triangles: IntArray
    contact_mass: Array
    contact_stiffness: float


@runtime_checkable
class StepHook(Protocol):
    """Mechanics with something to do once per accepted step: plasticity, cracks, adaptation."""

    def after_step(self, time: float, dt: float, x: Array, v: Array) -> bool:
        """True where the forces at ``x`` changed and have to be evaluated again."""
