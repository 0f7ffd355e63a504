r"""The energy ledger: what was put into the bodies, what they hold, and where the rest went.

.. math:: E = K + U + V + S + \sum_a D_a - W

is constant: K kinetic, U elastic, V potentials of actions and contacts, S the correction of the time scheme
(``Integrator.scheme_energy`` and ``NonlinearCorrection``), D the accounts of ``EnergyTotals``, W the work.
Its change since the start is what nothing explains.

Forces Q without a potential do the work :math:`\tfrac12 (Q_n + Q_{n+1}) \cdot (x_{n+1} - x_n)` in a step.
With leapfrog this is exact: with :math:`u = (x_{n+1} - x_n)/dt` and S as for leapfrog,
:math:`\Delta (K + S) = \tfrac12 (f_n + f_{n+1}) \cdot dt\, u` for the sum f of all forces, to rounding. What
elastic forces add to that where they are not linear is found by ``NonlinearCorrection``.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from pliant.core.typing import AnyArray, Array, IntArray
from pliant.interfaces import ACCOUNTS, EnergyTotals, ForceTerm, Integrator, PrescribedMotion
from pliant.simulation.nonlinear_correction import NonlinearCorrection
from pliant.state.world import World

if TYPE_CHECKING:
    from pliant.simulation.system import System


class BookedTerm:
    """A force term whose work is booked: its forces (n, 3) [N] at both ends of a step, and its potential."""

    def __init__(self, term: ForceTerm, world: World) -> None:
        self.term = term
        self.before, self.now = np.zeros_like(world.x), np.zeros_like(world.x)
        self.has_potential = "potential_energy" in term.members
        self.potential = 0.0
        if term.constant:
            term.add_forces(0.0, world.x, world.v, self.now)

    def evaluate(self, time: float, x: Array, v: Array, out: Array) -> None:
        """Find its forces, and add them to ``out``."""
        self.now[:] = 0.0
        self.term.add_forces(time, x, v, self.now)
        out += self.now

    def advance(self, x: Array) -> float:
        """Make the end of a step the beginning of the next; returns the change of the potential [J]."""
        if not self.term.constant:
            self.before, self.now = self.now, self.before
        was = self.potential
        self.potential = self.term.potential_energy(x) if self.has_potential else 0.0
        return self.potential - was


def _nothing(dt: float) -> float:
    return 0.0


class EnergyLedger:
    """Books the work and heat of all force terms of a World, step by step."""

    def __init__(self, world: World) -> None:
        self.totals = EnergyTotals()
        self.start: float | None = None  # total energy at the start of the run [J]
        self.dt = 0.0  # the step [s] that the scheme's correction belongs to
        self.correction: NonlinearCorrection | None = (
            None  # of schemes that keep energy, if all bodies have one
        )
        self._world = world
        self._elastic: Array = np.zeros((0, 3))  # forces that are not booked, where others are
        self._integrator: Integrator | None = None
        self._reporting: list[ForceTerm] = []
        self._booked: list[BookedTerm] = []
        self._moving: list[tuple[PrescribedMotion, IntArray]] = []  # and the rows whose work is booked here
        self._rows = world.count  # those that the integrator moves
        self._own_scheme_energy: Callable[[float], float] = _nothing
        self._idle = True  # whether there is nothing to book in a step
        self._varies = False  # whether forces of booked terms change from step to step
        self._x: Array = world.x.copy()  # at the beginning of the step
        self._driven_energy_before = 0.0
        self._driven_forces: list[Array] = []
        self.current = False  # whether the booked terms' forces are those at the end of the step

    def use(self, integrator: Integrator, dt: float) -> None:
        """The scheme whose correction belongs to the stored energy, and its step [s]."""
        self._integrator, self.dt = integrator, dt

    def bind(
        self,
        every: Sequence[ForceTerm],
        active: Sequence[ForceTerm],
        drives: Sequence[PrescribedMotion],
        integrated_rows: int,
        own_scheme_energy: Callable[[float], float],
        own_rows: Sequence[slice],
    ) -> None:
        """Account for impulses of ``every`` term, the work of ``active`` ones, and prescribed motion; bodies
        with ``own_rows`` report that themselves, and ``own_scheme_energy`` of a step is that of theirs."""
        self._reporting = [term for term in every if "report_energy" in term.members]
        pushing = [term for term in active if "add_forces" in term.members and term.account is not None]
        self._booked = [BookedTerm(term, self._world) for term in pushing]
        booked = np.ones(self._world.count, bool)
        for rows in own_rows:
            booked[rows] = False
        moving = [(drive, drive.rows[booked[drive.rows]]) for drive in drives if not drive.is_static]
        self._moving = [(drive, rows) for drive, rows in moving if len(rows)]
        self._rows, self._own_scheme_energy = integrated_rows, own_scheme_energy
        self._idle = not (self._reporting or self._booked or self._moving)
        self._varies = bool(self.varying)

    @property
    def varying(self) -> list[BookedTerm]:
        """Booked terms whose forces have to be evaluated in each step."""
        return [each for each in self._booked if not each.term.constant]

    def keep_elastic(self, forces: Array) -> None:
        """Remember the ``forces`` (n, 3) of bodies, without those of booked terms, at the end of a step."""
        if self.correction is not None:
            self._elastic = forces.copy()

    def _elastic_forces(self) -> Array:
        """Those of the rows that the integrator moves."""
        return (self._elastic if self._varies else self._world.f)[: self._rows]

    # -------------------------------------------------------------------------------- step by step

    def open(self) -> None:
        """Begin where a step does not continue the last one; forces are those of the present state."""
        world = self._world
        if self._x.shape != world.x.shape:
            self._x = np.empty_like(world.x)
        self.report()
        for each in self._booked:
            each.advance(world.x)
        if self.correction is not None:
            self.correction.open(world.x[: self._rows], self._elastic_forces())
        self.current = False
        self._begin()

    def _begin(self) -> None:
        world = self._world
        if self._booked or self._moving:
            self._x[:] = world.x
        self._driven_energy_before = self._driven_energy()
        self._driven_forces = [world.f[rows][:, drive.axes] for drive, rows in self._moving]

    def begin_step(self, dt: float) -> float:
        """Called before a step of ``dt``: where that differs from the last one, so does the correction of the
        scheme, at the same state. Returns its change [J], which is numerical."""
        if dt == self.dt:
            return 0.0
        before = self.scheme_energy()
        self.dt = dt
        change = self.scheme_energy() - before
        self.totals.numerical -= change
        return change

    def add_step(self, time: float) -> None:
        """Book the step that ended at ``time``, with the forces that it used.

        Prescribed motion does the work that changes the kinetic energy of its particles and works against the
        forces on them, which accounts for jumps of a prescribed velocity exactly.
        """
        from pliant.simulation.kernels import force_work

        world, totals = self._world, self.totals
        if self.correction is not None:
            self.correction.add_step(world.x[: self._rows], self._elastic_forces())
        if self._idle:
            return
        self.report()
        if not self.current:  # implicit steps do not end with an evaluation of the World's forces
            for each in self.varying:
                each.now[:] = 0.0
                each.term.add_forces(time, world.x, world.v, each.now)
        for each in self._booked:
            constant = each.term.constant
            work = force_work(each.now if constant else each.before, each.now, self._x, world.x)
            each.term.book(float(work) + each.advance(world.x), totals)
        for (drive, rows), before in zip(self._moving, self._driven_forces, strict=True):
            moved = (world.x[rows] - self._x[rows])[:, drive.axes]
            totals.work -= 0.5 * float(np.sum((before + world.f[rows][:, drive.axes]) * moved))
        if self._moving:
            totals.work += self._driven_energy() - self._driven_energy_before
        self.current = False
        self._begin()

    def report(self) -> None:
        """Let all terms report what forces do not show."""
        for term in self._reporting:
            term.report_energy(self.totals)

    def _driven_energy(self) -> float:
        world, total = self._world, 0.0
        for drive, rows in self._moving:
            speed = world.v[rows][:, drive.axes]
            total += 0.5 * float(np.sum(world.mass[rows, None] * speed**2))
        return total

    # ------------------------------------------------------------------------------------- balance

    def correction_energy(self) -> float:
        """The corrections of the time scheme [J]: that for linear forces at the present state, and what
        nonlinear ones have added so far."""
        return self.scheme_energy() + self.nonlinear_energy

    @property
    def nonlinear_energy(self) -> float:
        """What nonlinear forces have added to the correction [J] so far."""
        return 0.0 if self.correction is None else self.correction.energy

    def scheme_energy(self) -> float:
        """The correction of the time scheme [J] for linear forces at the present state."""
        if self._integrator is None:
            return 0.0
        w, n = self._world, self._rows
        own = self._own_scheme_energy(self.dt)
        return own + self._integrator.scheme_energy(w.v[:n], w.f[:n], w.inverse_mass[:n], self.dt)

    def total(self, system: "System") -> float:
        """What should be constant [J]. Schemes that do not keep energy by themselves book what they lost."""
        totals = self.totals
        total = self.balance(sum(system.energies()) + system.potential_energy())
        if self._integrator is not None and not self._integrator.keeps_energy:
            totals.numerical -= self.change(total)
            total -= self.change(total)
        return total

    def balance(self, stored: float, scheme: float | None = None) -> float:
        """The total for the energy ``stored`` [J] in bodies, actions and contacts, kinetic included, and the
        ``scheme_energy``, where that is known."""
        correction = (self.scheme_energy() if scheme is None else scheme) + self.nonlinear_energy
        return stored + correction + self.totals.dissipated - self.totals.work

    def change(self, total: float) -> float:
        """How far ``total`` [J] is from what it was when first asked: what nothing explains."""
        if self.start is None:
            self.start = total
        return total - self.start

    # ------------------------------------------------------------------------------------- restart

    def state(self) -> dict[str, Array]:
        """Accounts, the total at the start, the step and the forces at the beginning of the next step."""
        start = np.nan if self.start is None else self.start
        found = {"ledger": np.array([*self.totals.values(), start, self.dt])}
        if self.correction is not None:
            found |= self.correction.state()
            found |= {"scheme/elastic": self._elastic} if self.varying else {}
        return found | {f"ledger/{k}": each.before for k, each in enumerate(self._booked)}

    def restore(self, state: Mapping[str, AnyArray]) -> None:
        """Continue from what ``state`` gave, for the same terms."""
        *accounts, start, self.dt = (float(value) for value in state["ledger"])
        self.totals = EnergyTotals(**dict(zip(ACCOUNTS, accounts, strict=True)))
        self.start = None if np.isnan(start) else start
        for k, each in enumerate(self._booked):
            if not each.term.constant:
                each.now[:] = state[f"ledger/{k}"]
            each.advance(self._world.x)
        self._x = self._world.x.copy()
        if self.correction is not None:
            self._elastic = np.array(state.get("scheme/elastic", self._world.f))
            self.correction.restore(state, self._world.x[: self._rows], self._elastic_forces())
        self._begin()
