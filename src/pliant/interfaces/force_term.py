"""The common interface of everything that pushes particles."""

from abc import ABC
from typing import TYPE_CHECKING, ClassVar

from pliant.core.typing import Array
from pliant.interfaces.shared_data import EnergyTotals, StableStep

if TYPE_CHECKING:
    pass

NO_LIMIT = StableStep(float("inf"), "no limit")


class ForceTerm(ABC):
    """Whatever pushes particles: the elasticity of a body, a load, an obstacle, a contact, a damper.

    A term has any of the members below; those that it lacks have the neutral value (no energy, no force, no
    limit of the step). ``members`` names those that a class implements. Explicit steps, implicit
    solves, the energy ledger, the stable step and ``pliant check`` walk one list of terms and do not ask what
    each is.
    Arrays are those of the whole World, (n, 3), in SI units.

    account: the account of ``EnergyTotals`` for the work of its forces that its potential does not explain;
    None where the potential explains all of it. Classes with forces and no potential have "work" unless they
    say otherwise. stored: the column of the energy ledger that its potential
    belongs to.
    """

    velocity_dependent: bool = False  # whether forces depend on velocities
    constant: bool = False  # whether forces never change while the term acts, so that they are added up once
    account: str | None = None
    stored: str = "gravity"
    members: frozenset[str] = frozenset()
    MEMBERS: ClassVar[tuple[str, ...]] = (
        "add_forces", "potential_energy", "add_stiffness_product", "stable_step", "report_energy",
    )  # fmt: skip

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        implemented = (name for name in cls.MEMBERS if getattr(cls, name) is not getattr(ForceTerm, name))
        cls.members = frozenset(implemented)
        if cls.account is None and "add_forces" in cls.members and "potential_energy" not in cls.members:
            cls.account = "work"

    def add_forces(self, time: float, x: Array, v: Array, out: Array) -> None:
        """Add the forces [N] at ``time`` to ``out``."""

    def potential_energy(self, x: Array) -> float:
        """Energy [J] stored by a conservative force; f = -dE/dx."""
        return 0.0

    def add_stiffness_product(self, x: Array, dx: Array, out: Array) -> None:
        """Add ``K dx`` with ``K = -df/dx`` [N/m] at ``x`` to ``out``; K may be simplified to stay positive
        semi-definite."""

    def stable_step(self) -> StableStep:
        """The largest explicit step that the term allows."""
        return NO_LIMIT

    def book(self, work: float, totals: EnergyTotals) -> None:
        """Book the ``work`` [J] that its forces did in a step beyond what its potential lost."""
        if self.account == "work":
            totals.work += work
        elif self.account is not None:
            setattr(totals, self.account, getattr(totals, self.account) - work)

    def report_energy(self, totals: EnergyTotals) -> None:
        """Add the work and heat of impulses since the last call to ``totals``: contacts, kicks."""
