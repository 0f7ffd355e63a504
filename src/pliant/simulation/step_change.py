r"""What a change of the step would leave with the bodies is taken out of their deformation.

Leapfrog does not conserve K + U but :math:`K + U - C` with :math:`C = \tfrac{dt^2}{8} \sum w f^2`
(``EnergyLedger``). With another step at the same state C is another, and so would be the energy of the motion
from there on. Here the velocities of deformation d of each connected part, those without its rigid motion,
are scaled by k instead, so that the conserved energy stays:

.. math:: (1 - k^2)\, \tfrac12 \sum m d^2 = \Delta C,

where :math:`\Delta C` is the part's fall of C by accelerations that deform it. Momenta do not change. What
exceeds the limits of k, as in bodies under load that are almost at rest, remains numerical.
"""

from typing import TYPE_CHECKING

import numpy as np

from pliant.interfaces import Integrator

if TYPE_CHECKING:
    from pliant.integrators.implicit.rigid_motion import ConnectedParts
    from pliant.simulation.system import System
    from pliant.state.world import World

MOST_TAKEN, MOST_GIVEN = 0.5, 0.1  # shares of the kinetic energy of deformation that one change may move


class StepChange:
    """Keeps the energy of bodies where the step changes."""

    def __init__(self) -> None:
        self._version = -1
        self._parts: ConnectedParts | None = None

    def begin_step(self, system: "System", integrator: Integrator, dt: float) -> None:
        """Called before a step of ``dt`` [s]."""
        ledger = system.energy_ledger
        change = ledger.begin_step(dt)
        if change and integrator.order == 2 and ledger.correction is not None:
            ledger.totals.numerical += self.repay(system, change)

    def repay(self, system: "System", gain: float) -> float:
        """Take ``gain`` [J], the rise of the scheme's energy by a new step, out of the velocities of
        deformation; returns what was taken."""
        world, n = system.world, system.integrated_rows
        parts = self._connected(world)
        inside = np.arange(world.count) < n
        moves = (world.inverse_mass > 0.0) & inside[:, None]
        acceleration = np.where(moves, world.inverse_mass * world.f, 0.0)
        whole = float(np.sum(world.mass[:, None] * acceleration**2))
        if not whole > 0.0:
            return 0.0
        bent = np.where(moves, parts.deformation_velocity(world.x, acceleration), 0.0)
        speed = np.where(moves, parts.deformation_velocity(world.x, world.v), 0.0)
        share = parts.sums(world.mass[:, None] * bent**2).sum(axis=1) / whole
        kinetic = 0.5 * parts.sums(world.mass[:, None] * speed**2).sum(axis=1)
        taken = np.clip(gain * share, -MOST_GIVEN * kinetic, MOST_TAKEN * kinetic)
        factor = np.sqrt(1.0 - np.divide(taken, kinetic, out=np.zeros_like(taken), where=kinetic > 0.0))
        before = world.kinetic_energy()
        world.v += (factor - 1.0)[parts.label, None] * speed
        return before - world.kinetic_energy()

    def _connected(self, world: "World") -> "ConnectedParts":
        """The connected parts of the bodies at present."""
        from scipy.sparse import block_diag

        from pliant.integrators.implicit.preconditioners.stiffness import neighbour_graph
        from pliant.integrators.implicit.rigid_motion import ConnectedParts

        if self._parts is None or self._version != world.topology_version or not self._parts.fits(world):
            graphs = [neighbour_graph(part) for part in world.bodies]
            self._parts = ConnectedParts(block_diag(graphs, format="csr"), world)
            self._version = world.topology_version
        return self._parts
