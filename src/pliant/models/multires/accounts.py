"""Energy that passes through a body in reduced coordinates, and the scheme's errors, which motion repays."""

from dataclasses import dataclass

from pliant.models.multires.arrangement import Arrangement
from pliant.models.multires.level_change import pay
from pliant.models.multires.motion_kernels import NodeMotion

MOST_TAKEN, MOST_GIVEN = 0.5, 0.04  # share of the kinetic energy of deformation that one step may change


@dataclass
class Accounts:
    """Energies [J]. moved: the largest so far. Since the last report: heat of damping, work of prescribed
    motion, what changes of level took, and what contacts lost that became softer. owed: what leapfrog gained
    (by forces that are not linear, or as its own energy changed with the tick and the levels) and the motion
    has not repaid yet; repaid: what it has repaid or got back in all."""

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


def taken_from_motion(arrangement: Arrangement, motion: NodeMotion, owed: float) -> float:
    """Scale the motion that is not rigid so that its energy falls by ``owed`` [J], or rises where that is
    negative: momenta stay. Returns by how much it fell, which is less where there is not enough motion."""
    return pay(arrangement, motion, owed, MOST_TAKEN, MOST_GIVEN)
