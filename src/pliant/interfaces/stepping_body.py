"""Bodies that take their own steps."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from pliant.core.typing import Array

if TYPE_CHECKING:
    from pliant.contact.obstacle import ObstacleRuntime


@dataclass(slots=True)
class StepContext:
    """One step of a self-stepping body: the body's own rows (n, 3) of the World, and what acts on them.

    The step goes from ``time`` to ``time + dt`` [s]. x [m], v [m/s]: written in place. external [N]: forces
    of actions, at the beginning of the step in ``advance`` and at its end in ``finish_step``. inverse_mass
    [1/kg]: zero for prescribed degrees of freedom, which are at their place of ``time + dt`` already.
    obstacles: rigid shapes that the body resolves its contacts with.
    """

    time: float
    dt: float
    x: Array
    v: Array
    external: Array
    inverse_mass: Array
    obstacles: Sequence["ObstacleRuntime"] = ()


class SelfStepping(Protocol):
    """Mechanics that advance their own particles: resolution levels with steps of their own, rigid bodies.

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

    def add_holding_forces(self, out: Array) -> None:
        """Add those forces on prescribed rows that are found only when someone reads them."""

    def stored(self, x: Array, v: Array) -> tuple[float, float]:
        """Kinetic and elastic energy [J] of the body whose rows are ``x`` and ``v``."""


class EnergyKeeping(Protocol):
    """A self-stepping body whose energy ledger closes, so that the guard judges its steps too. The work of
    prescribed motion of its rows is in its ``report_energy``. checks_steps: whether it takes steps that gain
    energy again by itself; in a scene of such bodies alone the guard only stops runs."""

    checks_steps: bool

    def scheme_energy(self, external: Array, inverse_mass: Array, dt: float) -> float:
        """The correction of its time scheme [J], see ``Integrator.scheme_energy``, for steps of ``dt`` [s]
        under the forces ``external`` [N] of actions on its rows; inverse_mass as in ``StepContext``."""
