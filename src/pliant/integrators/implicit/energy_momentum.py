"""Forces of energy-momentum steps: bodies by discrete gradients, loads in the middle, contacts at the end."""

from typing import TYPE_CHECKING

import numpy as np

from pliant.core.typing import Array, IntArray
from pliant.integrators.implicit import kernels
from pliant.integrators.implicit.rigid_motion import without_rigid_motion
from pliant.interfaces import Damped, DiscreteGradient, Mechanics, StoredEnergy

if TYPE_CHECKING:
    from pliant.integrators.implicit.barrier_solve import ContactPreconditioner
    from pliant.integrators.implicit.preconditioners.rest import RestPreconditioner
    from pliant.integrators.implicit.preconditioners.tangent import TangentPreconditioner
    from pliant.simulation.system import System

UNCHANGED = 1e-26  # of sum m |x|^2: a smaller change of shape needs no correction


class GenericForces:
    r"""Energy-momentum forces of a model that has an energy and no closed form:

    .. math:: f = M \Pi M^{-1} \tfrac12 (f_0 + f_1) + \lambda M d, \qquad d = \Pi (x_1 - x_0), \qquad
              \lambda = \frac{E_0 - E_1 - f \cdot (x_1 - x_0)}{d \cdot M d},

    where :math:`\Pi` takes the rigid motion about the mean positions out of a field of vectors, so that f has
    neither a resultant nor a moment. A rigid rotation from x0 to x1 is rigid motion about the mean positions
    too, and no correction is left of it. A discrete gradient in the sense of [Gonzalez2000]_.
    """

    def __init__(self, mechanics: Mechanics, energy: StoredEnergy, mass: Array, x: Array) -> None:
        self._mechanics, self._energy, self._mass, self._x = mechanics, energy, mass, x
        self._f, self._stored = np.zeros_like(x), energy.energy(x)
        mechanics.add_elastic_forces(x, self._f)
        self._least = UNCHANGED * float(np.sum(mass[:, None] * (x - x.mean(axis=0)) ** 2))

    def add(self, x: Array, out: Array) -> None:
        """Add the forces of the step to ``x`` to ``out``."""
        mass, moved = self._mass, x - self._x
        arms = 0.5 * (self._x + x)
        arms -= np.sum(mass[:, None] * arms, axis=0) / mass.sum()
        forces = self._f.copy()
        self._mechanics.add_elastic_forces(x, forces)
        column = mass[:, None]
        forces = column * without_rigid_motion(arms, mass, 0.5 * forces / column)
        shape = without_rigid_motion(arms, mass, moved)
        size = float(np.sum(column * shape**2))
        if size > self._least:
            missing = self._stored - self._energy.energy(x) - float(np.sum(forces * moved))
            forces += missing / size * column * shape
        out += forces


class ForcesBetween:
    r"""The forces of a step from x0 to x1: those of bodies do exactly the work by which their energies
    change; loads and damping are those at the mean positions and velocities, where damping does not see rigid
    rotation; contacts between bodies are those at the end, which only lose energy.

    The residual has no potential. With nodal rotations :math:`R_1` and :math:`R_m` at the end and in the
    middle its Jacobian is near :math:`M + \tfrac{dt^2}4 R_m K_0 R_1^T`: rows of the residual are turned by
    :math:`R_1 R_m^T`, which makes that symmetric and the rest preconditioner fit. ``outer``: the forces of
    actions and of damping at the last evaluation.
    """

    SETTLED = 1e-4  # of the energy: work of unbalanced forces at which a solve may end
    WRONG = 1e-2  # of the energy: work of unbalanced forces with which a step is not taken

    def __init__(self, system: "System", time: float, dt: float) -> None:
        world = system.world
        self._system, self._dt, self._x, self._v = system, dt, world.x.copy(), world.v.copy()
        self._middle_time, self._end_time = time + 0.5 * dt, time + dt
        self._closed: list[tuple[DiscreteGradient, slice]] = []
        self._generic: list[tuple[GenericForces, slice]] = []
        for term in system.bodies:
            part = term.body
            closed, energy = part.mechanics.offer(DiscreteGradient), part.mechanics.offer(StoredEnergy)
            if closed is not None:
                self._closed.append((closed, part.rows))
            else:
                assert energy is not None
                own = GenericForces(part.mechanics, energy, world.mass[part.rows], self._x[part.rows])
                self._generic.append((own, part.rows))
        free = world.inverse_mass > 0.0
        self._free_mass = np.where(free, world.mass[:, None], 0.0)
        self._turnable = free.all(axis=1)
        self.energy = self._kinetic(self._v) + system.internal_energy(self._x)
        self.outer: Array = np.zeros_like(self._x)
        self._rotations: Array | None = None

    def middle(self, x: Array) -> tuple[Array, Array]:
        """The mean positions and velocities of a step to ``x``."""
        return 0.5 * (self._x + x), (x - self._x) / self._dt

    def evaluate(self, x: Array, v: Array, out: Array) -> None:
        """All forces [N] of a step to ``x``, with velocities ``v`` there, into ``out``."""
        middle, speed = self.middle(x)
        outer = self.outer
        outer.fill(0.0)
        for term in self._system.acting:
            if term.stored == "contact":
                term.add_forces(self._end_time, x, v, outer)
            else:
                term.add_forces(self._middle_time, middle, speed, outer)
        self._add_damping(middle, speed, outer)
        out[:] = outer
        for closed, rows in self._closed:
            closed.add_forces_between(self._x[rows], x[rows], out[rows])
        for generic, rows in self._generic:
            generic.add(x[rows], out[rows])

    def _add_damping(self, x: Array, v: Array, out: Array) -> None:
        for term in self._system.bodies:
            rows, damped = term.body.rows, term.mechanics.offer(Damped)
            if damped is not None and damped.damping_time:
                damped.add_damping_forces(x[rows], v[rows], out[rows])

    # ------------------------------------------------------------------------------ turned residuals

    def take_rotations(
        self,
        x: Array,
        g: Array,
        preconditioner: "RestPreconditioner | TangentPreconditioner | ContactPreconditioner",
        held: IntArray | None,
    ) -> None:
        """Turn residuals as the rotations at ``x`` ask for, from now on, and ``g``, the one there; ``held``:
        rows at obstacles, which are not turned."""
        plain = self.unturned(g)
        end, middle = preconditioner.rotations_at(x), preconditioner.rotations_at(self.middle(x)[0])
        turns = np.einsum("nij,nkj->nik", end, middle)
        turns[~self._turnable] = np.eye(3)
        if held is not None:
            turns[held] = np.eye(3)
        self._rotations = turns
        g[:] = plain
        self.turn(g)

    def turn(self, g: Array) -> None:
        """Turn a residual, in place."""
        if self._rotations is not None:
            kernels.rotate(self._rotations, g)

    def unturned(self, g: Array) -> Array:
        """A turned residual as it was."""
        if self._rotations is None:
            return g.copy()
        return np.asarray(np.einsum("nji,nj->ni", self._rotations, g))

    # --------------------------------------------------------------------------------------- energy

    def _kinetic(self, v: Array) -> float:
        return 0.5 * float(np.sum(self._free_mass * v**2))

    def error_share(self, x: Array, g: Array, scale: float) -> float:
        """Work of the unbalanced forces over the step, as a share of the energy that moves."""
        moved = x - self._x
        wrong = abs(float(np.sum(self.unturned(g) * moved))) / scale
        energy = self.energy + self._kinetic(2.0 * moved / self._dt - self._v)
        return wrong / energy if energy > 0.0 else 0.0
