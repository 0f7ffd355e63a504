"""Contacts with rigid shapes inside an implicit solve: touching particles are held while it runs.

A particle that would end a step inside a shape is held on its surface along the normal, and along the surface
too where friction can hold it. Each solve is followed by a look at the forces that this took: what would have
to be pulled is let go, what needs more than friction gives slides (against the friction that its normal force
allows), what has come inside is held; and the solve goes on from where it is, until nothing changes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pliant.core.typing import AnyArray, Array, BoolArray, IntArray

if TYPE_CHECKING:
    from pliant.contact.obstacle import ObstacleRuntime
    from pliant.integrators.implicit.incremental_potential import IncrementalPotential

ROUNDS = 8  # most solves of a step in which particles are held, let go, slide or stick
LAST_ROUNDS = 2  # most solves after these, for particles that friction would drive
CHANGES = 3  # times that a particle may be held or let go in a step
NOISE = 0.02  # of the mean normal force: pulls below it are the solver's, not the contact's
CLEAR = 1e-9  # of the bodies' size: how far above the surface particles are held
TOUCHING = 1e3  # of that: how far above it particles touched at the beginning of a step
SLIGHT = 0.5  # cosine of the angle by which a surface turns in a slide: more is an edge


@dataclass(frozen=True)
class ObstacleForces:
    """What shapes apply at one moment: rows (k,), the number of the shape at each, and forces (k, 3) [N];
    rubbing (k, 3) [N]: friction of those that slide, which is in ``force`` too."""

    rows: IntArray
    shape: IntArray
    force: Array
    rubbing: Array

    def add_to(self, out: Array) -> None:
        """Add the forces to those of all particles (n, 3)."""
        out[self.rows] += self.force


class ActiveSetContact:
    """Held particles of one World: rows (k,), the shape that holds each, whether it sticks, and the
    friction on the others (k, 3) [N]."""

    def __init__(self) -> None:
        self.rows: IntArray = np.zeros(0, np.int64)
        self.shape: IntArray = np.zeros(0, np.int64)
        self.sticks: BoolArray = np.zeros(0, bool)
        self.friction: Array = np.zeros((0, 3))
        self.normal: Array = np.zeros((0, 3))
        self.target: Array = np.zeros((0, 3))  # where the particles end the step, up to sliding
        self.force: Array = np.zeros((0, 3))  # that the shapes apply [N], friction of sliding ones included
        self.rubbing: Array = np.zeros((0, 3))  # the friction of sliding ones in it [N]
        self.changed = False  # new contacts in this step

    # ------------------------------------------------------------------------------ which particles

    def begin(self, potential: "IncrementalPotential", dt: float) -> None:
        """Start a step: particles held in the last one, and those that inertia leads inside."""
        system = potential.system
        self._system, self._dt, self._end = system, dt, potential.end_time
        self._clear = CLEAR * float(np.ptp(system.world.rest, axis=0).max())
        self._changes = np.zeros(system.world.count, np.int8)
        free = system.world.inverse_mass > 0.0
        self._hold_inside(potential.end_positions(np.where(free, potential.x_tilde, potential.x)))
        self._aim(system.world.x + dt * system.world.v)

    def update(self, potential: "IncrementalPotential", x: Array) -> bool:
        """After a solve that led to ``x``, and ``measure``: let go, hold, slide; True where that changed
        anything."""
        push = np.einsum("ki,ki->k", self.force, self.normal)
        pulled = push < -NOISE * max(float(np.abs(push).mean()), 0.0) if len(push) else np.zeros(0, bool)
        pulled &= self._changes[self.rows] < CHANGES
        self._changes[self.rows[pulled]] += 1
        slipped = self._slip(potential.end_positions(x), push) & ~pulled
        self._keep(~pulled)
        end = potential.end_positions(x)
        added = self._hold_inside(end)
        if added or pulled.any() or slipped.any():
            self._aim(end)
            return True
        return False

    def measure(self, potential: "IncrementalPotential") -> None:
        """Take the forces that the shapes apply from the last evaluation."""
        self.rubbing = np.where(self.sticks[:, None], 0.0, self.friction)
        self.force = np.asarray(potential.contact_residual / potential.scale + self.rubbing)

    def _hold_inside(self, end: Array) -> bool:
        """Hold the particles that are inside a shape at ``end``; True if there are new ones."""
        world, found = self._system.world, False
        free = (world.inverse_mass > 0.0).all(axis=1)
        for k, contact in enumerate(self._system.obstacles):
            depth, _ = contact.distances(self._end, end)
            inside = (depth < world.radius) & free
            inside[self.rows] = False
            new = np.flatnonzero(inside)
            if len(new):
                found = self.changed = True
                self.rows = np.concatenate([self.rows, new])
                self.shape = np.concatenate([self.shape, np.full(len(new), k)])
                self.sticks = np.concatenate([self.sticks, np.zeros(len(new), bool)])
                self.friction = np.concatenate([self.friction, np.zeros((len(new), 3))])
                self.force = np.concatenate([self.force, np.zeros((len(new), 3))])
                self.rubbing = np.concatenate([self.rubbing, np.zeros((len(new), 3))])
        return found

    def _keep(self, which: BoolArray) -> None:
        self.rows, self.shape, self.sticks = self.rows[which], self.shape[which], self.sticks[which]
        self.friction, self.force, self.rubbing = self.friction[which], self.force[which], self.rubbing[which]
        self.normal, self.target = self.normal[which], self.target[which]

    def _aim(self, end: Array) -> None:
        """Normals and targets of the held particles, from where they would ``end``."""
        x, radius = self._system.world.x, self._system.world.radius
        self.normal, self.target = np.zeros((len(self.rows), 3)), np.zeros((len(self.rows), 3))
        for k, contact in enumerate(self._system.obstacles):
            own = self.shape == k
            if not own.any():
                continue
            rows = self.rows[own]
            carried = x[rows] + self._dt * contact.velocity(self._end, self._dt)
            place = np.where(self.sticks[own, None], carried, end[rows])
            depth, normal = contact.distances(self._end, place)
            self.target[own] = place + (self._clear + radius[rows] - depth)[:, None] * normal
            self.normal[own] = self._mean_normal(contact, rows, normal)

    def _mean_normal(self, contact: "ObstacleRuntime", rows: IntArray, normal: Array) -> Array:
        """The ``normal`` (k, 3) of ``rows`` at the end of the step, or that between both ends of a slide on a
        curved surface: a force along it does no work on the chord."""
        depth, before = contact.distances(self._end - self._dt, self._system.world.x[rows])
        touching = depth < self._system.world.radius[rows] + TOUCHING * self._clear
        turned = np.einsum("ki,ki->k", before, normal)
        curved = touching & (turned > SLIGHT) & (turned < 1.0 - 1e-12)
        mean = before + normal
        mean /= np.maximum(np.linalg.norm(mean, axis=1), 1e-300)[:, None]
        return np.asarray(np.where(curved[:, None], mean, normal))

    def _slip(self, end: Array, push: Array) -> BoolArray:
        """Let particles slide, or stick; which of them need another solve.

        Sliding particles feel ``friction`` times their normal force against the way they went; where that
        drives one back, it sticks. Sticking ones slide where they are held by more than that.
        """
        changed = np.zeros(len(self.rows), bool)
        for k, contact in enumerate(self._system.obstacles):
            own = self.shape == k
            if not own.any() or contact.friction == 0.0:
                continue
            most = contact.friction * np.maximum(push, 0.0)
            across = self._across(self.force)
            size = np.linalg.norm(across, axis=1)
            started = self._system.world.x[self.rows] + self._dt * contact.velocity(self._end, self._dt)
            drift = self._across(end[self.rows] - started)
            way = drift / np.maximum(np.linalg.norm(drift, axis=1), 1e-300)[:, None]
            early = own & (self._changes[self.rows] < CHANGES)
            over = early & self.sticks & (size > 1.01 * most)
            back = early & ~self.sticks & (np.einsum("ki,ki->k", self.friction, drift) > 0.0)
            slides = own & ~self.sticks & ~back
            wanted = -most[:, None] * way
            off = np.linalg.norm(wanted - self.friction, axis=1)
            stale = slides & (off > 0.1 * np.maximum(most, most[own].mean()))
            self.friction[slides] = wanted[slides]
            self.friction[over] = (across * (most / np.maximum(size, 1e-300))[:, None])[over]
            self.friction[back] = 0.0
            self.sticks[over], self.sticks[back] = False, True
            self._changes[self.rows[over | back]] += 1
            changed |= over | back | stale
        return changed

    def hold_driven(self, end: Array) -> bool:
        """Hold particles whose friction goes with their motion at ``end``, as where they turned back in the
        last solve; True if there are any: friction must not do work on the body."""
        started = self._system.world.x[self.rows]
        driven = np.zeros(len(self.rows), bool)
        for k, contact in enumerate(self._system.obstacles):
            own = (self.shape == k) & ~self.sticks
            if own.any():
                drift = end[self.rows] - started - self._dt * contact.velocity(self._end, self._dt)
                driven |= own & (np.einsum("ki,ki->k", self.friction, drift) > 0.0)
        if not driven.any():
            return False
        self.friction[driven], self.sticks[driven] = 0.0, True
        self._aim(end)
        return True

    def _across(self, vectors: Array) -> Array:
        """The part of vectors (k, 3) along the surface."""
        return np.asarray(vectors - np.einsum("ki,ki->k", vectors, self.normal)[:, None] * self.normal)

    # ---------------------------------------------------------------------- what the solver asks for

    def place(self, potential: "IncrementalPotential", x: Array) -> None:
        """Put held particles where the stage must have them."""
        goal = potential.stage_positions(self.target, self.rows)
        off = goal - x[self.rows]
        along = np.einsum("ki,ki->k", off, self.normal)[:, None] * self.normal
        x[self.rows] += np.where(self.sticks[:, None], off, along)

    def project_out(self, g: Array) -> Array:
        """Take the held directions out of ``g``; returns what was taken (k, 3)."""
        own = g[self.rows]
        along = np.einsum("ki,ki->k", own, self.normal)[:, None] * self.normal
        taken = np.where(self.sticks[:, None], own, along)
        g[self.rows] = own - taken
        return taken

    # ------------------------------------------------------------------------------ end of the step

    def applied(self) -> ObstacleForces:
        """What the shapes apply, as of the last solve."""
        return ObstacleForces(self.rows.copy(), self.shape.copy(), self.force.copy(), self.rubbing.copy())

    def finish(self, before: Array, v_before: Array, applied: Sequence[tuple[float, ObstacleForces]]) -> None:
        """Velocities of held particles after the step from ``before``, and what the shapes did: ``applied``,
        with the shares of the step for which it acted."""
        world, dt = self._system.world, self._dt
        for k, contact in enumerate(self._system.obstacles):
            shift = contact.velocity(self._end, dt)
            for share, forces in applied:
                own = forces.shape == k
                if share and own.any():
                    rows, impulse = forces.rows[own], share * dt * forces.force[own]
                    slide = world.x[rows] - before[rows] - dt * shift
                    rubbed = -share * float(np.sum(forces.rubbing[own] * slide))
                    contact.record_contact(self._end, world.x[rows], impulse, shift, rubbed)
                    self._note(contact, rows, impulse)
            own = self.shape == k
            if not own.any():
                continue
            rows, n = self.rows[own], self.normal[own]
            v, mass = world.v[rows], world.mass[rows]
            approach = -np.einsum("ki,ki->k", v_before[rows] - shift, n)
            pressing = -np.einsum("ki,ki->k", world.f[rows], n) / mass * dt
            bounce = np.where(approach > 2.0 * pressing, contact.restitution * np.maximum(approach, 0.0), 0.0)
            leaving = np.einsum("ki,ki->k", v - shift, n)
            kick = (bounce - leaving)[:, None] * n
            world.v[rows] += kick
            lost = -float(np.sum(mass * np.einsum("ki,ki->k", kick, v + 0.5 * kick - shift)))
            contact.record_contact(self._end, world.x[rows], mass[:, None] * kick, shift, lost)
            self._note(contact, rows, mass[:, None] * kick)

    def _note(self, contact: "ObstacleRuntime", rows: IntArray, impulses: Array) -> None:
        """Hand impulses on ``rows`` to whoever records or measures them."""
        world = self._system.world
        if world.contact_impulses is not None:
            x = world.x[rows]
            _, normals = contact.distances(self._end, x)
            world.contact_impulses.add_obstacle(
                contact.name, rows, world.bodies_of(rows), x, impulses, normals
            )

    def state(self) -> dict[str, AnyArray]:
        return {"held": self.rows, "by": self.shape, "sticks": self.sticks, "friction": self.friction}

    def restore(self, state: Mapping[str, AnyArray]) -> None:
        self.rows, self.shape = state["held"].copy(), state["by"].copy()
        self.sticks, self.friction = state["sticks"].copy(), state["friction"].copy()
        self.force, self.rubbing = np.zeros((len(self.rows), 3)), np.zeros((len(self.rows), 3))
