r"""Energy that passes through a body in reduced coordinates, and errors that its motion repays.

To rounding: leapfrog keeps :math:`K + E - dt^2/8\, F \cdot \tilde M^{-1} F` where forces are linear in the
positions; the work of loads, prescribed motion and tools and the heat of damping are forces times distances,
summed over ticks; refining changes nothing; momenta.

Not exact, and therefore repaid: what forces that are not linear add to a step (the trapezoidal work is of
second order), the jump of the :math:`dt^2/8` term where the tick or the levels change, and what a contact
returns beyond what it took. Each is found as a difference of energies of the state, and added to ``owed``;
then the velocities of deformation are scaled so that kinetic energy falls by it, or rises where it is
negative. Momenta and the rigid motion of free pieces do not change.

So the ledger closes because errors are repaid. It says that no energy appears, not how exact steps are: that
is what ``repaid`` is for, the sum of the absolute values, which should be small beside the energy that moves.
``levels`` and ``numerical`` take losses alone. A gain is always owed, and what cannot be repaid, because
nothing deforms, remains in the ledger as unexplained."""

from dataclasses import dataclass

MOST_TAKEN, MOST_GIVEN = 0.5, 0.04  # share of the kinetic energy of deformation that one step may change


@dataclass
class Accounts:
    """Energies [J]. moved: the largest so far. Since the last report: heat of damping, work of prescribed
    motion, what changes of level took, and what contacts lost that became softer (with what leapfrog's own
    energy falls by, as forces no longer balance). owed: what leapfrog gained (by forces that are not linear,
    or as its own energy changed with the tick and the levels) and the motion has not repaid yet; repaid: what
    it has repaid or got back in all."""

    moved: float
    heat: float = 0.0
    work: float = 0.0
    levels: float = 0.0
    numerical: float = 0.0
    owed: float = 0.0
    repaid: float = 0.0

    def reported(self) -> "Accounts":
        """The accounts after a report."""
        return Accounts(self.moved, owed=self.owed, repaid=self.repaid)
