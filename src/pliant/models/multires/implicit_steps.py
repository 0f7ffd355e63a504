r"""Implicit steps of a body in reduced coordinates: TR-BDF2 (Bank et al. 1985; Hosea and Shampine 1996).

With :math:`\gamma = 2 - \sqrt2`, :math:`h = \gamma\,dt / 2`, and forces F that include damping and contacts,

.. math::
    \tilde M (x_\gamma - x_0 - 2 h v_0) &= h^2 (F_0 + F_\gamma), & v_\gamma &= (x_\gamma - x_0) / h - v_0, \\
    \tilde M (x_1 - \hat x - h \hat v) &= h^2 F_1, & v_1 &= (x_1 - \hat x) / h,

where :math:`\hat x = a x_\gamma - b x_0`, :math:`\hat v = a v_\gamma - b v_0`, :math:`a = 1 / (\gamma (2 -
\gamma))`, :math:`b = (1 - \gamma)^2 a`. Newton's method solves each stage with :math:`\tilde M / h^2 + (1 +
\beta / h) K`, by conjugate gradients. Their preconditioner is the factor of that matrix at rest with lumped
masses, made once for each arrangement of levels and turned with the body, so that a few products do. The
scheme is of second order and damps what is much faster than a step."""

from dataclasses import dataclass, field

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import SuperLU, splu

from pliant.core.typing import Array
from pliant.models.multires import motion_kernels
from pliant.models.multires.arrangement import Arrangement, network_of
from pliant.models.multires.contact_kernels import Touching, book_contacts
from pliant.models.multires.motion_kernels import NodeMotion
from pliant.models.multires.patch import Patch

TICKS = 4  # implicit steps in one of the scene
GAMMA = 2.0 - np.sqrt(2.0)
NEWTON, ITERATIONS = 8, 40
SOLVED, INEXACT = 1e-7, 1e-3  # residual of a stage beside its forces; of the linear solves in it


@dataclass
class ImplicitSteps:
    """Implicit steps of one arrangement: its operator at rest, factored for steps of h."""

    arrangement: Arrangement
    h: float
    patch: Patch = field(init=False)
    factor: SuperLU = field(init=False)

    def __post_init__(self) -> None:
        a, h = self.arrangement, self.arrangement.hierarchy
        self.patch = Patch(a, np.ones(len(h.points), bool))
        rows = sparse.csr_array(sparse.kron(a.rows_of_particles(), sparse.eye(3), format="csr"))
        self.free = np.flatnonzero(~a.held.ravel())
        rows = sparse.csr_array(rows[:, self.free])
        masses = sparse.diags_array(np.repeat(a.mass, 3)[self.free] / self.h**2)
        matrix = (1.0 + a.beta / self.h) * (rows.T @ (h.stiffness @ rows)) + masses
        self.factor = splu(sparse.csc_array(matrix))

    def advance(
        self, count: int, dt: float, motion: NodeMotion, touching: Touching
    ) -> tuple[float, float, float, float] | None:
        """``count`` steps of dt, as ``motion_kernels.take_ticks``; None where one was not solved."""
        own, held = self.arrangement.active, self.arrangement.held
        begin, particles = self.arrangement.hierarchy.particles.start, touching.particle
        heat = led = given = energy = 0.0
        for tick in range(1, count + 1):
            was = (motion.x[begin + particles], touching.force.copy(), touching.stored.copy())
            x0, f0, q0, v0 = (array[own] for array in (motion.x, motion.f, motion.q, motion.v))
            v0 = np.where(held, motion.led[own], v0)
            solved = self._step(tick, dt, motion, touching, x0, v0, f0)
            if solved is None:
                return None
            energy, moved = solved, motion.x[own] - x0
            heat -= 0.5 * dt * float(np.sum(q0 * v0 + motion.q[own] * motion.v[own]))
            given += float(np.sum(motion.load[own] * moved))
            led -= 0.5 * float(np.sum(((f0 + motion.f[own]) * moved)[held]))
            book_contacts(tick, dt, touching, motion.x[begin:], *was)
        return heat, led, given, energy

    def _step(
        self, tick: int, dt: float, motion: NodeMotion, touching: Touching, x0: Array, v0: Array, f0: Array
    ) -> float | None:
        """One step; its elastic energy [J] at the end."""
        a, own, h, held = self.arrangement, self.arrangement.active, self.h, self.arrangement.held
        share = 1.0 / (GAMMA * (2.0 - GAMMA))
        less = (1.0 - GAMMA) ** 2 * share
        start = f0 + a.momenta_of(2.0 * v0) / h
        motion.x[own] = np.where(held, x0 + GAMMA * dt * v0, x0 + 2.0 * h * v0)
        if self._solve(tick, dt, motion, touching, x0, v0, start) is None:
            return None
        x1, v1 = motion.x[own], np.where(held, v0, (motion.x[own] - x0) / h - v0)
        base = share * x1 - less * x0
        start = a.momenta_of(share * v1 - less * v0) / h
        motion.x[own] = np.where(held, x0 + dt * v0, base + h * v1)
        energy = self._solve(tick, dt, motion, touching, base, np.zeros_like(v0), start)
        if energy is None:
            return None
        motion.p[own] = a.momenta_of(motion.v[own])
        return energy

    def _solve(
        self,
        tick: int,
        dt: float,
        motion: NodeMotion,
        touching: Touching,
        base: Array,
        back: Array,
        start: Array,
    ) -> float | None:
        """Find x with ``F + start = M~ (x - base) / h^2``, velocities being ``(x - base) / h - back``;
        returns the elastic energy, or None where it is not solved."""
        a, own, h, held = self.arrangement, self.arrangement.active, self.h, self.arrangement.held
        network, acting = network_of(a.hierarchy), a.acting
        last = np.inf
        for _ in range(NEWTON):
            motion.v[own] = np.where(held, motion.led[own], (motion.x[own] - base) / h - back)
            energy = motion_kernels.evaluate(network, acting, motion, touching, tick, dt, True)
            inertia = a.momenta_of(motion.x[own] - base) / h**2
            off = np.where(held, 0.0, motion.f[own] + start - inertia)
            size, scale = float(np.abs(off).max(initial=0.0)), float(np.abs(inertia).max(initial=0.0))
            scale = max(
                scale, float(np.abs(start).max(initial=0.0)), float(np.abs(motion.f[own]).max(initial=0.0))
            )
            if not np.isfinite(size):
                return None
            if size <= SOLVED * scale or size == 0.0:
                return float(energy)
            if size > 0.9 * last and size <= 1e-4 * scale:
                return float(energy)
            last = min(last, size)
            motion.x[own] += self._linear(motion.x, off)
        return None

    def _linear(self, x: Array, b: Array) -> Array:
        """``(M~ / h^2 + (1 + beta / h) K) u = b`` at x."""
        a, h = self.arrangement, self.h
        turn = self._turn(x)
        stiff = 1.0 + a.beta / h
        u, r = np.zeros_like(b), b.copy()
        z = self._precondition(r, turn)
        d, rho = z.copy(), float(np.sum(r * z))
        goal = INEXACT * float(np.linalg.norm(b))
        for _ in range(ITERATIONS):
            product = np.where(a.held, 0.0, a.momenta_of(d) / h**2 + stiff * self.patch.product(x, d))
            curvature = float(np.sum(d * product))
            if curvature <= 0.0 or rho <= 0.0:
                break
            u += rho / curvature * d
            r -= rho / curvature * product
            if float(np.linalg.norm(r)) <= goal:
                break
            z = self._precondition(r, turn)
            rho, before = float(np.sum(r * z)), rho
            d = z + rho / before * d
        return u

    def _precondition(self, r: Array, turn: Array) -> Array:
        z = np.zeros(r.size)
        z[self.free] = self.factor.solve((r @ turn).ravel()[self.free])
        return np.where(self.arrangement.held, 0.0, z.reshape(r.shape) @ turn.T)

    def _turn(self, x: Array) -> Array:
        """The rotation nearest to that of all simulated nodes; none of bodies that something holds."""
        a = self.arrangement
        if a.held.any():
            return np.eye(3)
        rest, mass = a.hierarchy.points[a.active], a.mass[:, None]
        arms = rest - (mass * rest).sum(axis=0) / mass.sum()
        u, _, v = np.linalg.svd((x[a.active] - x[a.active].mean(axis=0)).T @ (mass * arms))
        return np.asarray(u @ np.diag([1.0, 1.0, np.linalg.det(u @ v)]) @ v)
