"""Plastic flow of all bodies as a part of implicit solves (``IncrementalFlow``)."""

from typing import TYPE_CHECKING

from pliant.core.typing import Array
from pliant.interfaces import IncrementalFlow

if TYPE_CHECKING:
    from pliant.simulation.system import System


def _flowing(system: "System") -> list[tuple[IncrementalFlow, slice]]:
    offers = [(p.mechanics.offer(IncrementalFlow), p.rows) for p in system.world.bodies if p.present]
    return [(own, rows) for own, rows in offers if own is not None]


def begin_flow(system: "System", dt: float) -> None:
    """Forces and energies are now those after the flow over ``dt`` [s] from the beginning of the step."""
    for own, _ in _flowing(system):
        own.begin_flow(dt)


def leave_flow(system: "System") -> None:
    """Forces and energies are now those of the history at the beginning of the step."""
    for own, _ in _flowing(system):
        own.leave_flow()


def end_flow(system: "System", x: Array, dt: float) -> None:
    """Keep the flow of a step of ``dt`` that ended at ``x`` (n, 3)."""
    for own, rows in _flowing(system):
        own.end_flow(x[rows], dt)
