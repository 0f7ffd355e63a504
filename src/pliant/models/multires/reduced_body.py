"""One body in reduced coordinates: its simulated nodes, their motion, and the energy that passes through."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from pliant.core.diagnostics import Diagnostics
from pliant.core.errors import Diverged
from pliant.core.typing import AnyArray, Array, BoolArray
from pliant.interfaces import EnergyTotals, StepContext, Structure
from pliant.materials import elastic
from pliant.models.multires import body_levels, body_state, level_change, level_kernels, motion_kernels
from pliant.models.multires.accounts import MOST_GIVEN, MOST_TAKEN, Accounts
from pliant.models.multires.arrangement import Arrangement, Prescribed, network_of
from pliant.models.multires.hierarchy import ANCHORS, Hierarchy
from pliant.models.multires.implicit_steps import GAMMA, TICKS, ImplicitSteps
from pliant.models.multires.motion_kernels import Acting, Network, NodeMotion
from pliant.models.multires.obstacle_contact import ObstacleContact
from pliant.models.multires.refinement import Refinement
from pliant.models.multires.tick_count import TickCount
from pliant.structure.samplers.levels import CutArrays

if TYPE_CHECKING:
    from pliant.materials import ResolvedMaterial
    from pliant.models.multires.model import Multires

GAIN = 1e-3  # share of the largest energy that a step may gain before it is taken again


class ReducedBody:
    """Positions and momenta of the simulated nodes of a body, stepped by kick-drift-kick.

    arrangement: what is simulated; motion: the values of all nodes; contact: obstacles that particles touch.
    ticks: of the last step; changes, denied: of levels since the start, and those that would have gained
    energy."""

    def __init__(
        self, structure: Structure, material: "ResolvedMaterial", model: "Multires", diagnostics: Diagnostics
    ) -> None:
        self.model, self.material, self.diagnostics = model, material, diagnostics
        lame = elastic.lame_parameters(material.young, material.poisson)
        cut = CutArrays.of(structure)
        self.hierarchy = h = Hierarchy(
            structure.rest, structure.cells["tetra"], structure.volume_share, structure.mass,
            structure.spacing, model.levels, model.operator, lame,
            None if cut is None else cut.sides_of_cages,
        )  # fmt: skip
        self.beta = material.damping or 0.0
        self.refinement = Refinement(h, model.split)
        n = len(h.points)
        self.motion = NodeMotion(h.points.copy(), *(np.zeros((n, 3)) for _ in range(6)))
        self.contact = ObstacleContact(h.mass)
        self.external: Array = np.zeros((len(h.mass), 3))
        split = np.zeros(n, bool)
        if model.detail == "finest":
            split[ANCHORS : h.particles.start] = True
        self.arrangement = Arrangement(h, split, Prescribed(np.zeros((len(h.mass), 3), bool)), self.beta)
        self.begun, self.dt, self.ticks, self.changes, self.denied = False, 0.0, 0, 0, 0
        self.elastic = self.scheme = self.led = 0.0
        # the energy of a strain of 1e-7 does not count as motion
        self.accounts = Accounts(1e-14 * material.young * float(h.mesh.volumes.sum()))
        self.gain_told, self.since_merge = False, 0.0
        self.implicit = model.steps == "implicit"
        self.tick_count = TickCount(TICKS if self.implicit else None)
        self._implicit_steps: ImplicitSteps | None = None

    @property
    def network(self) -> Network:
        """What does not change with the levels."""
        return network_of(self.hierarchy)

    @property
    def pinned(self) -> BoolArray:
        """Particles that are prescribed in some direction."""
        return self.arrangement.prescribed.particles

    # -------------------------------------------------------------------------------------- beginning

    def begin(self, x: Array, v: Array, prescribed: BoolArray, external: Array, dt: float) -> None:
        """Start from the particles' positions and velocities: momenta are handed up."""
        h, motion = self.hierarchy, self.motion
        before = 0.5 * float(np.sum(h.mass[:, None] * v**2)) - float(np.sum(external * h.points[h.particles]))
        h = self.hang_on_anchors(self._staying(prescribed, x, v))
        self.arrangement = Arrangement(h, self.arrangement.split, Prescribed(prescribed), self.beta)
        motion.p[h.particles] = h.mass[:, None] * v
        level_kernels.restrict_all(self.arrangement.own, h.corners, h.weights, motion.p)
        motion.led[h.particles] = np.where(prescribed, v, 0.0)
        self.begun = True
        self.set_loads(external)
        motion_kernels.velocities(self.arrangement.acting, motion)
        level_kernels.interpolate_all(self.arrangement.own, h.corners, h.weights, motion.x, motion.v)
        self.dt = dt / self.tick_count.stable(self.arrangement, dt, self.arrangement.deepest)
        self.book_change(before)

    def set_loads(self, external: Array) -> None:
        """Hand forces on particles (n, 3) up to the simulated nodes."""
        h = self.hierarchy
        self.external = external.copy()
        self.motion.load[:] = 0.0
        self.motion.load[h.particles] = external
        level_kernels.restrict_all(self.arrangement.own, h.corners, h.weights, self.motion.load)

    def _staying(self, prescribed: BoolArray, x: Array, v: Array) -> BoolArray:
        """Particles that are prescribed in all directions, at their places at rest (x, v), and do not
        move."""
        h, found = self.hierarchy, np.zeros(len(x), bool)
        level_kernels.staying(prescribed, x, v, h.points[h.particles], 1e-12 * h.edge, found)
        return found

    def hang_on_anchors(self, staying: BoolArray) -> Hierarchy:
        """Let these particles hang on the anchors, and no others."""
        self.hierarchy = self.refinement.hierarchy = self.hierarchy.with_anchored(staying)
        return self.hierarchy

    def set_prescribed(self, prescribed: BoolArray, x: Array, v: Array) -> None:
        """Prescribe other degrees of freedom than before, at x and v of the end of this step."""
        changed = not np.array_equal(prescribed, self.arrangement.prescribed.flags)
        anchored, staying = self.hierarchy.anchored, self._staying(prescribed, x, v)
        if not changed and not (anchored & ~staying).any():
            return
        self.simulate(self.pinned & ~prescribed.any(axis=1))  # those released stay where they are
        before, staying = self.balance(), staying if changed else anchored & staying
        self.arrangement = level_change.prescribe(self.arrangement, prescribed, staying, self.motion)
        self.hierarchy = self.refinement.hierarchy = self.arrangement.hierarchy
        self.set_loads(self.external)
        self.book_change(before)

    def take_changes(self, moved: Array, kicked: Array) -> None:
        """Take over what others did to the particles since the last step: impulses ``m kicked`` are handed
        up, and so are displacements, weighted by mass."""
        h, motion, arrangement = self.hierarchy, self.motion, self.arrangement
        if kicked.any():
            motion.p[:] += self._handed_up(h.mass[:, None] * kicked)
            motion_kernels.velocities(arrangement.acting, motion)
            level_kernels.interpolate_all(arrangement.own, h.corners, h.weights, motion.x, motion.v)
        if moved.any():
            spare = motion._replace(p=self._handed_up(h.mass[:, None] * moved), v=np.zeros_like(motion.v),
                                    led=np.zeros_like(motion.v))  # fmt: skip
            motion_kernels.velocities(arrangement.acting, spare)
            motion.x[arrangement.active] += spare.v[arrangement.active]
            level_kernels.interpolate_all(arrangement.own, h.corners, h.weights, motion.x, motion.v)
            self.renew()

    def _handed_up(self, values: Array) -> Array:
        h = self.hierarchy
        out = np.zeros_like(self.motion.p)
        out[h.particles] = values
        level_kernels.restrict_all(self.arrangement.own, h.corners, h.weights, out)
        return out

    # ------------------------------------------------------------------------------------------ energy

    def evaluate(self) -> None:
        """Forces and elastic energy at the present state."""
        acting = self.arrangement.with_particles(self.contact.particles)
        self.elastic = motion_kernels.evaluate(
            self.network, acting, self.motion, self.contact.pairs, 0, self.dt, True
        )

    def settle(self) -> None:
        """Find the energies of the present state that depend on its forces and velocities."""
        arrangement, motion = self.arrangement, self.motion
        self.scheme = self._scheme_energy()
        self.led = arrangement.led_energy(motion)

    def _scheme_energy(self) -> float:
        """Leapfrog's own energy [J]; implicit steps have none."""
        return 0.0 if self.implicit else self.arrangement.scheme_energy(self.motion, self.dt)

    def kinetic(self) -> float:
        return self.arrangement.kinetic_energy(self.motion)

    def stored_elastic(self) -> float:
        return self.elastic + self.scheme + self.contact.stored

    def total(self) -> float:
        """Kinetic and stored energy [J], leapfrog's own included."""
        return self.kinetic() + self.stored_elastic()

    def balance(self) -> float:
        """Kinetic and stored energy [J] and the potential of the loads, without leapfrog's own."""
        return self.plain() + self.load_potential()

    def plain(self) -> float:
        """Kinetic and stored energy [J] without leapfrog's own."""
        return self.kinetic() + self.elastic + self.contact.stored

    def load_potential(self) -> float:
        """Potential [J] of the forces on particles, at the present state."""
        return -float(np.sum(self.external * self.motion.x[self.hierarchy.particles]))

    def book_change(self, before: float) -> None:
        """After a change from the balance ``before``, book what it took; what it gave has to be repaid."""
        self.renew()
        taken = before - self.balance()
        self.accounts.levels += max(taken, 0.0)
        self.accounts.owed += max(-taken, 0.0)

    def renew(self) -> None:
        """Find forces and energies after a change; that of leapfrog's own energy has to be repaid."""
        scheme = self.scheme
        self.evaluate()
        self.settle()
        self.accounts.owed += self.scheme - scheme

    def stored(self, kicked: Array) -> tuple[float, float]:
        """Kinetic and stored energy [J] once the particles' velocities have changed by ``kicked``."""
        motion, arrangement = self.motion, self.arrangement
        kicked = np.where(arrangement.prescribed.flags, 0.0, kicked)
        if not kicked.any():
            return self.kinetic(), self.stored_elastic()
        given = self._handed_up(self.hierarchy.mass[:, None] * kicked)
        spare = motion._replace(p=motion.p + given, v=motion.v.copy())
        motion_kernels.velocities(arrangement.acting, spare)
        return arrangement.kinetic_energy(spare), self.stored_elastic()

    def momenta(self, kicked: Array | None = None) -> tuple[Array, Array]:
        """Linear and angular momentum about the origin, once particles' velocities changed by ``kicked``."""
        own, arrangement = self.arrangement.active, self.arrangement
        p = np.where(arrangement.held, arrangement.mass[:, None] * self.motion.v[own], self.motion.p[own])
        if kicked is not None and kicked.any():
            p = p + self._handed_up(self.hierarchy.mass[:, None] * kicked)[own]
        return p.sum(axis=0), np.cross(self.motion.x[own], p).sum(axis=0)

    def report_energy(self, totals: EnergyTotals) -> None:
        totals.damping += self.accounts.heat
        totals.work += self.accounts.work
        totals.levels += self.accounts.levels
        totals.numerical += self.accounts.numerical
        self.accounts = self.accounts.reported()

    def repay(self, most: float = MOST_TAKEN) -> float:
        """Take from the motion what the scheme gave, and give back what it took, as far as that can be: at
        once at ``most`` this share of the energy of deformation. Returns what was taken [J]."""
        accounts = self.accounts
        taken = level_change.pay(self.arrangement, self.motion, accounts.owed, most, MOST_GIVEN)
        accounts.owed -= taken
        accounts.repaid += abs(taken)
        return taken

    # ------------------------------------------------------------------------------------------- steps

    def advance(self, ctx: StepContext, prescribed: BoolArray) -> None:
        """Take the body from ``ctx.time`` to the end of the step."""
        h, motion, arrangement = self.hierarchy, self.motion, self.arrangement
        if not np.array_equal(ctx.external, self.external):
            self.set_loads(ctx.external)
            self.renew()
        rows = np.flatnonzero(self.pinned & ~h.anchored)
        nodes = rows + h.particles.start
        motion.led[nodes] = np.where(prescribed[rows], (ctx.x[rows] - motion.x[nodes]) / ctx.dt, 0.0)
        while not self._attempt(ctx, self.tick_count.stable(arrangement, ctx.dt, arrangement.deepest)):
            pass
        self.tick_count.pass_time(ctx.dt)
        self.contact.finish_step(self.dt)

    def _attempt(self, ctx: StepContext, ticks: int) -> bool:
        """Take the step in so many ticks; False where energy was gained or a contact missed: then again."""
        h, motion, arrangement = self.hierarchy, self.motion, self.arrangement
        own = arrangement.active
        kept = [array[own] for array in motion]
        pairs, obstacles, dt_before = self.contact.pairs, self.contact.obstacles, self.dt
        begin, elastic_energy, scheme = self.total(), self.elastic, self.scheme
        self.dt = ctx.dt / ticks
        self.contact.prepare(
            ctx.obstacles, motion.x[h.particles], motion.v[h.particles], h.edge, ctx.time, ctx.dt, ticks
        )
        acting = arrangement.with_particles(self.contact.particles)
        if len(pairs.particle) or len(self.contact.pairs.particle):
            self.evaluate()
        accounts, owed = self.accounts, (self.accounts.owed, self.accounts.repaid)
        self.scheme, longer = self._scheme_energy(), scheme * (self.dt / dt_before) ** 2
        softened = begin - scheme - (self.total() - self.scheme)
        accounts.owed += self.scheme - scheme + max(-softened, 0.0)
        if softened > 0.0 and longer > self.scheme:  # softer contacts no longer balance the elastic forces
            softened, accounts.owed = softened + longer - self.scheme, accounts.owed + longer - self.scheme
        start, led_before = self.total() - self.repay(), self.led
        heat, led, given, self.elastic = self._take_ticks(ticks, acting)
        self.settle()
        led += self.led - led_before
        touched = self.contact.pairs.out.sum(axis=0) if len(self.contact.pairs.out) else np.zeros(8)
        end = self.total()
        gain = end - start - given - led + heat - float(touched[6] - touched[7])
        level_kernels.interpolate_all(arrangement.own, h.corners, h.weights, motion.x, motion.v)
        finite, now = bool(np.isfinite(end)), ctx.time + ctx.dt
        missed = finite and self.contact.missed(ctx.obstacles, motion.x[h.particles], now)
        if finite and not missed:
            accounts.moved = max(accounts.moved, self.kinetic() + self.elastic)
        if missed or not finite or gain > GAIN * accounts.moved:
            if missed or self.tick_count.halve():
                accounts.owed, accounts.repaid = owed
                for array, old in zip(motion, kept, strict=True):
                    array[own] = old
                level_kernels.interpolate_all(arrangement.own, h.corners, h.weights, motion.x, motion.v)
                self.contact.pairs, self.contact.obstacles, self.dt = pairs, obstacles, dt_before
                self.elastic, self.scheme, self.led = elastic_energy, scheme, led_before
                return False
            self._tell_gain(ctx.time, gain)
        self.ticks = ticks
        if not finite:
            if np.isfinite(motion.x[own]).all():
                raise Diverged(
                    f"Stopped at t = {ctx.time:.6g} s: implicit steps of a body were not solved.",
                    hint='Try model steps = "explicit", a gentler load, or a higher fps.',
                )
            return True  # whoever runs the simulation finds that it diverged
        accounts.heat, accounts.work = accounts.heat + heat, accounts.work + led
        accounts.numerical += max(softened, 0.0) + (max(-gain, 0.0) if self.implicit else 0.0)
        accounts.owed += max(gain, 0.0 if self.implicit else -GAIN * accounts.moved) + self.contact.gained()
        self.repay()
        return True

    def _take_ticks(self, ticks: int, acting: Acting) -> tuple[float, float, float, float]:
        """Take the ticks of a step: the heat of damping, the work of prescribed motion, that of loads, and
        the elastic energy at the end [J]; not finite where an implicit one was not solved."""
        motion, pairs = self.motion, self.contact.pairs
        if not self.implicit:
            found = motion_kernels.take_ticks(ticks, self.dt, self.network, acting, motion, pairs)
            return found  # type: ignore[no-any-return]
        h, steps = 0.5 * GAMMA * self.dt, self._implicit_steps
        if steps is None or steps.arrangement is not self.arrangement or steps.h != h:
            steps = self._implicit_steps = ImplicitSteps(self.arrangement, h)
        return steps.advance(ticks, self.dt, motion, pairs) or (np.nan, np.nan, np.nan, np.nan)

    def _tell_gain(self, time: float, gain: float) -> None:
        if not self.gain_told:
            self.gain_told, share = True, 100 * gain / self.accounts.moved
            self.diagnostics.warn(
                f"at {time:.3f} s a step gained {gain:.3g} J ({share:.2g} % of the energy "
                "that moved), also with much shorter ticks: forces change faster than they can follow"
            )

    def finish(self, external: Array, step: float) -> Array | None:
        """Close the ``step`` [s] with other forces on particles than it began with, so that their impulse is
        that of the mean. Returns how the particles' velocities change; None: they do not."""
        if np.array_equal(external, self.external):
            return None
        h, motion, before = self.hierarchy, self.motion, self.motion.load.copy()
        was = motion.v[h.particles].copy()
        self.set_loads(external)
        own = self.arrangement.active
        change = motion.load[own] - before[own]
        motion.f[own] += change
        motion.p[own] += 0.5 * step * change
        motion_kernels.velocities(self.arrangement.acting, motion)
        level_kernels.interpolate_all(self.arrangement.own, h.corners, h.weights, motion.x, motion.v)
        self.scheme = self._scheme_energy()
        return np.asarray(motion.v[h.particles] - was)

    def write(self, prescribed: BoolArray, x: Array, v: Array, written: Array) -> None:
        """Write the particles' positions and velocities, and what was written (n, 6)."""
        h = self.hierarchy
        level_kernels.interpolate_all(
            self.arrangement.own, h.corners, h.weights, self.motion.x, self.motion.v
        )
        motion_kernels.write_particles(h.particles.start, prescribed, self.motion, x, v, written)

    def add_internal_forces(self, out: Array) -> None:
        """Add the forces on prescribed particles that are simulated, without what actions exert on them."""
        if self.begun:
            rows = np.flatnonzero(self.pinned & ~self.hierarchy.anchored)
            nodes = rows + self.hierarchy.particles.start
            out[rows] += self.motion.f[nodes] - self.motion.load[nodes]

    def add_holding_forces(self, out: Array) -> None:
        """Add the forces on particles that hang on the anchors, without what actions exert on them."""
        anchored = self.hierarchy.anchored
        if self.begun and anchored.any():
            out[anchored] += self.arrangement.anchored_forces(self.motion)

    # ------------------------------------------------------------------------------------------ levels

    def refine(self, ctx: StepContext, budget: float | None, elapsed: float) -> tuple[float, int]:
        """Choose the levels again; returns the updates that the coarsest alone takes, and how many nodes the
        budget kept from splitting."""
        return body_levels.refine(self, ctx, budget, elapsed)

    def simulate(self, particles: BoolArray) -> None:
        """Simulate the flagged particles themselves."""
        if self.begun:
            self.set_split(self.arrangement.split | self.refinement.above(particles))

    def set_split(self, split: BoolArray) -> None:
        """Refine and then coarsen to the given split flags, as far as neither gains energy."""
        both = self.arrangement.split | split
        for flags in (both, split):
            if not np.array_equal(flags, self.arrangement.split):
                body_levels.change(self, flags)

    # ------------------------------------------------------------------------------------------ restart

    def state(self) -> dict[str, AnyArray]:
        return body_state.state(self)

    def restore(self, state: Mapping[str, AnyArray]) -> None:
        body_state.restore(self, state)
