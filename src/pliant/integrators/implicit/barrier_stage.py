"""Barrier contact inside the problem of one stage: where obstacles are, forces, friction, clamped moves."""

from typing import TYPE_CHECKING

import numpy as np

from pliant.contact.barrier import stencil_kernels as kernels
from pliant.contact.barrier.potential import ActiveStencils, FrictionLag
from pliant.core.typing import Array, BoolArray

if TYPE_CHECKING:
    from pliant.contact.barrier.barrier_contact import BarrierContact
    from pliant.integrators.implicit.incremental_potential import IncrementalPotential

ADVANCE = 0.15  # of the contact distance: what moves by itself waits while anything is nearer
CLAMPED = 0.9  # of the share of a first guess that distances allow


class BarrierStage:
    """The contact of a stage: factor times the barrier's forces act in it, and friction over the way from the
    beginning of the step.

    What is prescribed, obstacles included, goes along with ``driven``, from 0 where the stage begins to 1 at
    its end: no farther than distances allow.
    """

    def __init__(
        self, contact: "BarrierContact", potential: "IncrementalPotential", time: float, factor: float,
        places: Array | None,
    ) -> None:  # fmt: skip
        """time: the beginning of the step; places (k, 3): obstacles where the stage begins, if not there."""
        system, world = potential.system, potential.system.world
        self.contact, self.factor = contact, factor
        self.found = contact.potential(system.obstacles, time)
        self.geometry = self.found.geometry
        self.begin: Array = potential.stage.origin[0]
        self._free: BoolArray = world.inverse_mass > 0.0
        self._w = world.inverse_mass
        start = contact.present_places(time)
        self._from = start if places is None else places
        self.to = contact.places(potential.end_time)
        self.drive: Array = np.where(self._free, 0.0, potential.x - self.begin)
        self.step_start = contact.vertices(self.geometry, world.x, start)
        self.driven = 0.0
        self.moves_by_itself = bool(self.drive.any() or (self.to != self._from).any())
        self.active: ActiveStencils | None = None  # of the last evaluation
        self.lag = FrictionLag()
        self.x: Array = self.step_start  # vertices of the last evaluation
        self.particles: Array = self.begin  # and particles
        self.normal_forces: Array = np.zeros_like(self.x)  # of the barrier on all vertices, there [N]
        self.start_energy = 0.0  # of the barrier where the stage begins [J]
        self.path: list[Array] | None = [] if contact.way is not None else None  # places of all moves
        self.blocked = -1  # candidate that clamped the last move

    # ------------------------------------------------------------------------------------- places

    def vertices(self, x: Array, driven: float | None = None) -> Array:
        """All vertices for particles at ``x``."""
        share = self.driven if driven is None else driven
        return self.contact.vertices(self.geometry, x, self._from + share * (self.to - self._from))

    def first_move(self, guess: Array) -> Array:
        """As far on the way to ``guess`` as distances allow; sets ``driven``."""
        start = self.vertices(self.begin, 0.0)
        way = self.vertices(guess, 1.0) - start
        share, self.blocked = self.found.clamp(start, way)
        self.active = self.found.active(start)
        self.start_energy = self.active.energy
        self.lag = self.found.lag(self.active)
        if share < 1.0:
            share *= CLAMPED
        self.driven = share if self.moves_by_itself else 1.0
        return guess.copy() if share >= 1.0 else np.asarray(self.begin + share * (guess - self.begin))

    def pass_through(self, x: Array) -> None:
        """Note that particles have come straight to ``x``, where the run records paths."""
        if self.path is not None:
            self.path.append(x.copy())

    def clamp(self, x: Array, p: Array) -> float:
        """The share of the move ``p`` (n, 3) of particles at ``x`` that distances allow."""
        way = np.zeros_like(self.x)
        s = self.geometry.surfaces
        kernels.gather(s.first, s.rows, s.weights, p, way[: self.geometry.count])
        share, self.blocked = self.found.clamp(self.vertices(x), way)
        return share

    def advance(self, x: Array) -> bool:
        """Move what is prescribed on, in ``x`` and in obstacles, as far as distances allow: True if so."""
        left = 1.0 - self.driven
        start = self.vertices(x)
        end = self.vertices(x + left * self.drive, 1.0)
        share, self.blocked = self.found.clamp(start, end - start)
        if share * left < 1e-4 and share < 1.0:
            return False
        x += share * left * self.drive
        self.driven = 1.0 if share >= 1.0 else self.driven + share * left
        return True

    # ------------------------------------------------------------------------------------- forces

    def forces(self, x: Array) -> Array:
        """Forces [N] on the particles at ``x``, times the factor of the stage."""
        self.particles, self.x = x.copy(), self.vertices(x)
        self.active = self.found.active(self.x)
        self.normal_forces = np.zeros_like(self.x)
        kernels.add_gradient(
            self.active.stencils.vertices, self.active.grad, -self.factor, self.normal_forces
        )
        return self._on_particles(len(x))

    def renewed_forces(self, count: int) -> Array:
        """``forces`` (count, 3) where they were evaluated last, with loads and directions of friction from
        there."""
        assert self.active is not None
        self.lag = self.found.lag(self.active)
        return self._on_particles(count)

    def _on_particles(self, count: int) -> Array:
        s, out = self.geometry.surfaces, np.zeros((count, 3))
        kernels.scatter(s.first, s.rows, s.weights, self.vertex_forces()[: self.geometry.count], out)
        return out

    def vertex_forces(self) -> Array:
        """Forces [N] of barrier and friction on all vertices at the last evaluation, times the factor."""
        at = self.normal_forces.copy()
        self.lag.evaluate(self.x - self.step_start)
        kernels.add_forces(self.lag.vertices, self.lag.w, self.lag.force, self.factor, at)
        return at

    def energy(self, x: Array) -> float:
        """Energy [J] of barrier and friction at ``x``, times the factor of the stage."""
        at = self.vertices(x)
        return self.factor * (self.found.active(at).energy + self.lag.evaluate(at - self.step_start))

    @property
    def touches(self) -> bool:
        return self.active is not None and len(self.active.d) > 0

    # ---------------------------------------------------------------------------------- stiffness

    def stiffness(self, scale: float) -> "ContactStiffness":
        """The stiffness of contact at the last evaluation, times ``scale``."""
        assert self.active is not None
        return ContactStiffness(self, scale * self.factor)

    def label(self, which: int) -> str:
        """Names and place of a candidate, for messages."""
        s = self.found.tube.stencils
        if s is None or not 0 <= which < len(s.kinds):
            return ""
        names = [part.name for part in self.contact.world.bodies]
        own, other = (int(self.geometry.body[s.vertices[which, k]]) for k in (0, 2))
        both = [f"'{names[k]}'" if k < len(names) else "an obstacle" for k in sorted((own, other))]
        place = ", ".join(f"{value:.4g}" for value in self.x[s.vertices[which, 0]])
        return f"{both[0]} and {'itself' if own == other else both[1]} at ({place})"

    def nearest_label(self) -> str:
        """Names and place of the pair that is nearest, in distances at which contact begins."""
        if not self.touches:
            return self.label(self.blocked)
        assert self.active is not None
        worst = int(np.argmin(self.active.d / self.active.stencils.reach))
        key = self.active.stencils.vertices[worst]
        s = self.found.tube.stencils
        assert s is not None
        same = np.flatnonzero((s.vertices == key).all(axis=1))
        return self.label(int(same[0])) if len(same) else ""


class ContactStiffness:
    """``C = scale sum w w^T (curvature n n^T + secant (1 - n n^T))`` of the contacts of a stage."""

    def __init__(self, stage: BarrierStage, scale: float) -> None:
        active, lag = stage.active, stage.lag
        assert active is not None
        self._surfaces, self._count, self._size = stage.geometry.surfaces, stage.geometry.count, len(stage.x)
        self._free, self._scale = stage._w, scale
        self._normal = (
            active.stencils.vertices,
            active.w,
            active.n,
            active.values[:, 2],
            np.zeros(len(active.d)),
        )
        self._friction = (lag.vertices, lag.w, lag.n, np.zeros(len(lag.load)), lag.secant())

    def add(self, dx: Array, out: Array) -> None:
        """``out += C dx`` on free degrees of freedom."""
        s = self._surfaces
        moved, at, total = np.zeros((self._size, 3)), np.zeros((self._size, 3)), np.zeros_like(dx)
        kernels.gather(s.first, s.rows, s.weights, dx, moved[: self._count])
        kernels.stiffness_product(*self._normal, moved, self._scale, at)
        kernels.stiffness_product(*self._friction, moved, self._scale, at)
        kernels.scatter(s.first, s.rows, s.weights, at[: self._count], total)
        out += np.where(self._free > 0.0, total, 0.0)
