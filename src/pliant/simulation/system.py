"""The System: a World and everything that acts on it, as integrators see it."""

from collections.abc import Mapping, Sequence

import numpy as np

from pliant.contact.obstacle import ObstacleRuntime, leave_obstacles, shared_impulses
from pliant.core.typing import AnyArray, Array
from pliant.interfaces import (
    ActionRuntime,
    BetweenSteps,
    BodyChange,
    EnergyKeeping,
    EnergyTotals,
    Event,
    ForceTerm,
    Mechanics,
    PrescribedMotion,
    Projection,
    RecurringEvent,
    SelfStepping,
    StepContext,
    StepHook,
    StoredEnergy,
    Structure,
    offered,
)
from pliant.simulation import checkpoint
from pliant.simulation.action_schedule import ActionSchedule
from pliant.simulation.body_term import BodyTerm, damping_terms
from pliant.simulation.energy_ledger import EnergyLedger
from pliant.simulation.protocol_check import check_capabilities
from pliant.simulation.requests import apply_requests
from pliant.simulation.topology import TopologyTracker
from pliant.state.world import World


class System:
    """Sums forces, drives prescribed degrees of freedom, projects constraints, keeps the energy ledger."""

    def __init__(self, world: World, actions: Sequence[tuple[str, ActionRuntime]]) -> None:
        self.world = world
        self.schedule = ActionSchedule(actions)
        for part in world.bodies:
            check_capabilities(f"body '{part.name}'", part.mechanics, Mechanics)
        apply_requests(world, [a for _, a in actions])
        self.topology = TopologyTracker(world, [a for _, a in actions])
        self.energy_ledger = EnergyLedger(world)
        self.breaks_booked = True  # whether bodies reported the energy that the last change of topology took
        self.substeps = 1  # number of substeps that a planned step is taken in
        self._spare: Array = world.v.copy()
        self._holding_due = False  # whether forces on held particles are missing in the World's
        self._external: Array = np.zeros_like(world.x)  # forces of actions on bodies that own their step
        self._bind()

    @property
    def actions(self) -> list[tuple[str, ActionRuntime]]:
        """Label and runtime of every action, in order."""
        return self.schedule.actions

    @property
    def totals(self) -> EnergyTotals:
        """Work and heat so far."""
        return self.energy_ledger.totals

    # ------------------------------------------------------------------------------ what acts when

    def _bind(self) -> None:
        """Collect the terms that act now and their bound methods: a step costs few Python operations."""
        from pliant.simulation.kernels import copy_rows

        self._copy_rows = copy_rows
        world = self.world
        owning = [(p, found) for p in world.bodies if (found := p.mechanics.offer(SelfStepping))]
        self._self_stepping: list[tuple[SelfStepping, slice]] = [
            (found, p.rows) for p, found in owning if p.present
        ]
        self._steps_under_way: list[tuple[SelfStepping, StepContext]] = []  # under way, see ``advance``
        others = [p for p in world.bodies if p.present and not p.mechanics.offer(SelfStepping)]
        self.bodies: list[BodyTerm] = [BodyTerm(p) for p in others]
        damping = damping_terms(others)
        self.integrated_rows = min((p.rows.start for p, _ in owning), default=world.count)
        hooks = [(p, p.mechanics.offer(StepHook)) for p in world.bodies if p.present]
        self._hooks = [(hook.after_step, p.rows.start, p.rows.stop) for p, hook in hooks if hook is not None]
        self.acting: list[ActionRuntime] = self.schedule.active()
        pushing = [term for term in self.acting if "add_forces" in term.members]
        direct = (*self.bodies, *(term for term in pushing if term.account is None))
        self._varying = [term.add_forces for term in direct if not term.constant]
        self._external_varies = any(not term.constant for term in pushing)
        self._constant: Array = np.zeros_like(world.x)  # forces that never change, added up once
        self._external_outdated = True  # these are not in _external yet
        for term in pushing:
            if term.constant:
                term.add_forces(0.0, world.x, world.v, self._constant)
        self._forces_read = any(term.reads_forces for term in self.acting)
        self._drives: list[PrescribedMotion] = offered(self.acting, PrescribedMotion)
        projections = sorted(offered(self.acting, Projection), key=lambda each: each.applied_last)
        self._projections = [each.project for each in projections]
        self.obstacles = [each for each in self.acting if isinstance(each, ObstacleRuntime)]
        self._between: list[BetweenSteps] = offered(self.acting, BetweenSteps)
        self._recurring: list[RecurringEvent] = offered(self.acting, RecurringEvent)
        self._potentials = [term for term in self.acting if "potential_energy" in term.members]
        every = [*(a for _, a in self.actions), *(BodyTerm(p) for p in world.bodies)]
        keeping = [(p.mechanics.offer(EnergyKeeping), p.rows) for p in world.bodies if p.present]
        self._keeping = [(own, rows) for own, rows in keeping if own is not None]
        self.energy_ledger.bind(
            every, [*damping, *self.acting], self._drives, self.integrated_rows, self._own_scheme_energy,
            [rows for _, rows in self._keeping],
        )  # fmt: skip
        self._booked = self.energy_ledger.varying
        self.velocity_dependent = bool(damping) or any(term.velocity_dependent for term in pushing)

    @property
    def terms(self) -> list[ForceTerm]:
        """Everything with a stiffness that pushes now: the bodies, then the actions."""
        return [*self.bodies, *self.acting]

    def activate(self, time: float) -> bool:
        """Bring the set of acting actions up to date for a step from ``time`` on; True if it changed."""
        if not self.schedule.changes_at(time):
            return False
        world = self.world
        kinetic = self._kinetic_energy()
        if not self.schedule.activate_at(time, world):
            return False
        self._bind()
        self._mask()
        self.drive(time, world.x, world.v)
        self.totals.work += self._kinetic_energy() - kinetic
        return True

    def _kinetic_energy(self) -> float:
        return self.energies()[0] if self._self_stepping else self.world.kinetic_energy()

    def _mask(self) -> None:
        """Zero inverse mass for the driven degrees of freedom."""
        world = self.world
        world.inverse_mass[:] = 1.0 / world.mass[:, None]
        for drive in self._drives:
            world.inverse_mass[np.ix_(drive.rows, np.flatnonzero(drive.axes))] = 0.0
        for part in world.bodies:
            if not part.present:
                world.inverse_mass[part.rows] = 0.0

    def add_action(self, label: str, action: ActionRuntime, time: float, place: int) -> None:
        """Let ``action`` act from the step boundary ``time`` on, as if the scene had said ``from = time``, at
        its ``place`` among the actions (contact between bodies comes after those of the scene)."""
        self.schedule.add_action(label, action, time, place)
        self.topology.followers.append(action)
        apply_requests(self.world, [action])

    def cancel_action(self, action: ActionRuntime) -> None:
        """Undo ``add_action`` of an action that has done nothing yet and requested nothing."""
        self.schedule.cancel_action(action)
        self.topology.followers = [each for each in self.topology.followers if each is not action]
        self._bind()

    def end_action(self, action: ActionRuntime, time: float) -> None:
        """Let ``action`` end at the step boundary ``time``, as if the scene had said ``until = time``."""
        self.schedule.end_action(action, time)

    def prepare_step(self, time: float) -> bool:
        """Everything that happens at the boundary ``time`` between two steps; True if that changed the state
        or what acts on it, so that the next step does not continue the last one."""
        correction = self.energy_ledger.scheme_energy() if self.schedule.changes_at(time) else None
        changed = self.activate(time)
        due = [event for event in self._recurring if event.due(time, self.world)]
        while event := due.pop() if due else self.schedule.next_event(time):
            if correction is None:
                correction = self.energy_ledger.scheme_energy()
            self._apply(event, time)
            changed = True
        for action in self._between:
            if action.between_steps(time, self.world):
                self._apply_topology_changes()
                changed = True
        if changed:
            self._evaluate_again(time, correction)
            self.energy_ledger.open()
        return changed

    def _evaluate_again(self, time: float, correction: float | None = None) -> None:
        """Forces at an unchanged state after something changed them. What that changes in the correction of
        the scheme (``correction`` before, at the latest now) is numerical."""
        if correction is None:
            correction = self.energy_ledger.scheme_energy()
        self.evaluate(time, self.world.x, self.world.v, self.world.f)
        self.totals.numerical += correction - self.energy_ledger.scheme_energy()

    def _apply(self, event: Event | RecurringEvent, time: float) -> None:
        """Let ``event`` happen; what it changes in the stored energy belongs to the account of the action."""
        booked = self._booked_changes()
        before = self._stored()
        changes = event.apply(self.world)
        self._apply_topology_changes(changes)
        for name in self.topology.resampled:
            leave_obstacles(self.world, name, self.obstacles, time)
        booked = self._booked_changes() - booked
        event.book(self._stored() - before + booked, self.totals)

    def _booked_changes(self) -> float:
        """What self-stepping bodies have booked so far for changes of their own [J]."""
        if self._self_stepping:
            self.energy_ledger.report()
        return self.totals.levels + self.totals.numerical

    def _stored(self) -> float:
        return sum(self.energies()) + self.potential_energy()

    def finish_step(self, time: float, dt: float) -> bool:
        """Plasticity, cracks, changes of topology and the ledger, after the step that ended at ``time``; True
        if the topology changed."""
        world = self.world
        if world.contact_impulses is not None:
            world.contact_impulses.end_step(dt)
        self.energy_ledger.add_step(time)
        again, correction = False, None
        for after_step, start, stop in self._hooks:
            again |= after_step(time, dt, world.x[start:stop], world.v[start:stop])
        changed = self.topology.outdated
        if changed:
            self.breaks_booked = self.topology.booked
            correction = self.energy_ledger.scheme_energy()
            before = world.kinetic_energy() + self.potential_energy("contact")
            self._apply_topology_changes()
            self.totals.fracture += before - world.kinetic_energy() - self.potential_energy("contact")
        if again or changed:
            self._evaluate_again(time, correction)
            self.energy_ledger.open()
        return changed

    # ------------------------------------------------------------------------------------ topology

    def _apply_topology_changes(self, created_or_removed: Sequence[BodyChange] = ()) -> bool:
        """Give the World the particles that models made or removed; True if there were any."""
        changed = self.topology.apply_changes(created_or_removed)
        if changed:
            self._bind()
            self._mask()
        return changed

    def restore_topology(self, structures: Sequence[Structure], state: Mapping[str, AnyArray]) -> None:
        """Bring a System that was built for topology 0 to that of ``state`` (for resumed runs)."""
        self.topology.restore_topology(structures, state)
        self._bind()
        self._mask()

    # ------------------------------------------------------------------------ what integrators call

    def evaluate(self, time: float, x: Array, v: Array, out: Array) -> None:
        """Total force [N] on every particle, into ``out``."""
        self._copy_rows(self._constant, out)
        for add_forces in self._varying:
            add_forces(time, x, v, out)
        if self._booked and out is self.world.f:
            self.energy_ledger.keep_elastic(out)
        for booked in self._booked:
            booked.evaluate(time, x, v, out)
        self.energy_ledger.current = out is self.world.f
        if self._self_stepping:
            if self._external.shape != out.shape:
                self._external, self._external_outdated = np.zeros_like(out), True
            if self._external_outdated or self._external_varies:
                self._external[self.integrated_rows :] = out[self.integrated_rows :]
                self._external_outdated = False
            for mechanics, rows in self._self_stepping:
                mechanics.add_internal_forces(out[rows])
            if out is self.world.f:
                self._holding_due = True
                if self._forces_read:
                    self.complete_forces()

    def complete_forces(self) -> None:
        """Add to the World's forces those on held particles that bodies find only when they are read."""
        if self._holding_due:
            self._holding_due = False
            for mechanics, rows in self._self_stepping:
                mechanics.add_holding_forces(self.world.f[rows])

    def advance(self, time: float, dt: float) -> None:
        """Let self-stepping bodies take the step from ``time`` on; prescribed rows are at its end already."""
        w = self.world
        self._steps_under_way = []
        for mechanics, rows in self._self_stepping:
            ctx = StepContext(
                time, dt, w.x[rows], w.v[rows], self._external[rows], w.inverse_mass[rows], self.obstacles
            )
            with shared_impulses(self.world, self.obstacles, rows):
                mechanics.advance(ctx)
            self._steps_under_way.append((mechanics, ctx))

    def _own_scheme_energy(self, dt: float) -> float:
        """The correction of the schemes of self-stepping bodies [J]."""
        w, external = self.world, self._external
        if external.shape != w.x.shape:
            return 0.0
        return sum(own.scheme_energy(external[r], w.inverse_mass[r], dt) for own, r in self._keeping)

    def complete(self, dt: float) -> None:
        """Let self-stepping bodies finish the step that ``advance`` began, with the forces at its end."""
        for (mechanics, ctx), (_, rows) in zip(self._steps_under_way, self._self_stepping, strict=True):
            with shared_impulses(self.world, self.obstacles, rows):
                mechanics.finish_step(ctx)

    def internal_forces(self, x: Array, v: Array, out: Array) -> None:
        """Add the bodies' own forces [N] to ``out``."""
        for body in self.bodies:
            body.mechanics.add_forces(x[body.body.rows], v[body.body.rows], out[body.body.rows])

    def external_forces(self, time: float, x: Array, v: Array, out: Array) -> None:
        """Add the forces of actions [N] to ``out``."""
        for term in self.acting:
            term.add_forces(time, x, v, out)

    def add_stiffness_product(self, x: Array, dx: Array, out: Array) -> None:
        """Add ``K dx`` of all terms that have a stiffness to ``out``."""
        for term in self.terms:
            term.add_stiffness_product(x, dx, out)

    def internal_energy(self, x: Array) -> float:
        """Elastic energy [J] at positions ``x``, of all bodies that have one."""
        return sum(body.potential_energy(x) for body in self.bodies)

    def spare_velocities(self) -> Array:
        """An array like the World's v for a step's own use; its content does not last."""
        if self._spare.shape != self.world.v.shape:
            self._spare = self.world.v.copy()
        return self._spare

    def drive(self, time: float, x: Array, v: Array) -> None:
        """Write the driven degrees of freedom at ``time`` into ``x`` and ``v``."""
        for drive in self._drives:
            drive.drive(time, x, v)

    @property
    def projects(self) -> bool:
        """Whether any contact or constraint acts now."""
        return bool(self._projections)

    @property
    def collides(self) -> bool:
        """Whether bodies may collide now, with obstacles or each other, or constraints act on them."""
        return self.projects or any(term.stored == "contact" for term in self._potentials)

    def project(self, time: float, dt: float) -> None:
        """Apply contacts and constraints to the World, whose x has just moved by ``dt v`` to ``time``."""
        for project in self._projections:
            project(time, dt, self.world)

    # ---------------------------------------------------------------------------------- accounting

    def reactions(self, time: float) -> Array:
        """Forces that hold or move the driven degrees of freedom, ``m a - f`` [N]; shape (n, 3)."""
        world = self.world
        self.complete_forces()
        out = np.zeros_like(world.x)
        for drive in self._drives:
            needed = world.mass[drive.rows, None] * drive.acceleration(time) - world.f[drive.rows]
            out[drive.rows] += np.where(drive.axes, needed, 0.0)
        return out

    def energies(self) -> tuple[float, float]:
        """Kinetic energy of all bodies and elastic energy of those that have one [J]."""
        world, kinetic, elastic = self.world, 0.0, 0.0
        for part in world.bodies:
            x, v, own = world.x[part.rows], world.v[part.rows], part.mechanics
            if part.present and (stepping := own.offer(SelfStepping)):
                moving, bent = stepping.stored(x, v)
                kinetic, elastic = kinetic + moving, elastic + bent
                continue
            kinetic += 0.5 * float(np.sum(world.mass[part.rows, None] * v**2))
            if part.present and (storing := own.offer(StoredEnergy)):
                elastic += storing.energy(x)
        return kinetic, elastic

    def potential_energy(self, stored: str | None = None) -> float:
        """Energy in conservative forces of actions [J]: all, or those of the column ``stored``."""
        terms = [term for term in self._potentials if stored is None or term.stored == stored]
        return sum(term.potential_energy(self.world.x) for term in terms)

    # ------------------------------------------------------------------------------------- restart

    def state(self) -> dict[str, AnyArray]:
        """Everything that a restart needs beyond the scene."""
        self.complete_forces()
        found = checkpoint.state(self)
        return found | {"external": self._external} if self._self_stepping else found

    def restore(self, state: Mapping[str, AnyArray]) -> None:
        """Continue from ``state``; the World has its topology already."""
        checkpoint.restore(self, state)
        if "external" in state:
            self._external = np.array(state["external"])
        self._bind()
        self._mask()
        self._holding_due = False
        self.energy_ledger.restore(state)
