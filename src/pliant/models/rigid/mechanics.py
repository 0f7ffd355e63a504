"""Runtime of the rigid model for one body."""

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from pliant.contact.obstacle import ObstacleRuntime
from pliant.core.errors import IncompatibleError
from pliant.core.typing import AnyArray, Array
from pliant.interfaces import (
    ContactSurface,
    EnergyKeeping,
    EnergyTotals,
    FieldData,
    Mechanics,
    SelfStepping,
    StableStep,
    StepContext,
    Structure,
)
from pliant.mesh.triangles import double_areas
from pliant.models.rigid import kernels
from pliant.models.rigid.contact import ContactPoints, contact_impulses, push_out, stop_at_surface
from pliant.models.rigid.joints import Joints
from pliant.models.rigid.kernels import cross, quaternion_of, turned
from pliant.structure.samplers.rigid import RigidContact

if TYPE_CHECKING:
    from pliant.materials import ResolvedMaterial as Material

TURN = 0.05  # largest turn within a step of the free rotation [rad]
MOST_PARTS = 1e4  # of a step
MOST_DRIFTS = 8  # tries to end a step where joints and obstacles want it
CLOSE, STILL = 1e-9, 1e-13  # what counts as there; the motion of joints in a step that counts as none [size]


class RigidMechanics(Mechanics):
    r"""Pose and momenta of a rigid body, and the rows of the World that follow them.

    centre (3,), quaternion (4,): principal axes to the world; momentum P, spin momentum L about the centre.
    A step is kick, drift, kick: half of the forces' impulse on P and L, free flight and free rotation, the
    other half. Impulses at obstacles and joints are part of each kick: what rests does not move. Those of the
    first kick are such that the drift ends where joints and obstacles want it, so that energies are those of
    leapfrog with constraints: K + S changes by the work of all forces along the displacement, with
    :math:`S = -\tfrac{dt^2}{8} F \cdot W F`, W the mobility that joints leave.
    """

    capabilities = frozenset({SelfStepping, EnergyKeeping})
    checks_steps = False
    inversion_safe = True

    def __init__(self, structure: Structure, material: "Material", stiffness: float | None) -> None:
        self.structure, self.material = structure, material
        self.friction = material.friction
        mass, rest = structure.mass, structure.rest
        self.total = float(mass.sum())
        self.centre = (mass @ rest) / self.total
        arms = rest - self.centre
        second = (mass[:, None] * arms).T @ arms
        self.inertia, axes = np.linalg.eigh(np.trace(second) * np.eye(3) - second)
        axes[:, 2] *= np.linalg.det(axes)
        self.arms = arms @ axes  # in the principal axes
        self.quaternion = quaternion_of(axes)
        self.size = float(np.linalg.norm(arms, axis=1).max())
        contact = RigidContact.of(structure)
        assert contact is not None  # the sampler of rigid bodies makes one
        self.contact_triangles, self.radius = contact.triangles, contact.radius
        self.touching = np.unique(self.contact_triangles)
        self.contact_mass = self._contact_mass()
        self.contact_stiffness = stiffness or 0.6 * material.young * structure.spacing
        self.momentum, self.spin = np.zeros(3), np.zeros(3)
        self._giving = np.zeros(6)
        self._work = 0.0  # of moving joints, and of obstacles that move the body out, not yet reported [J]
        self._load, self._moved = np.zeros(6), np.zeros(6)  # at the beginning of the step; by ``_correct``
        self._drifted = np.zeros(6)  # twist at the end of the drift
        self._driven = False  # whether joints move in this step
        self.held = np.zeros(6)  # mean force and torque of joints over the last step
        self._shown: tuple[Array, Array] | None = None  # rows as last written
        self._joints: Joints | None = None

    def contact_surface(self) -> ContactSurface:
        return ContactSurface(
            self.radius, self.friction, rigid=True, triangles=self.contact_triangles, mass=self.contact_mass,
            stiffness=self.contact_stiffness, resolves_obstacles=True,
        )  # fmt: skip

    def _contact_mass(self) -> Array:
        """Of a contact with a face (a sixth of the surface) each row bears its share of the body."""
        rows = np.full(len(self.structure.rest), self.total)
        t, x = self.contact_triangles, self.structure.rest
        own = 0.5 * double_areas(x, t)
        if own.sum() > 0.0:
            share = np.zeros(len(x))
            np.add.at(share, t.ravel(), np.repeat(own / 3.0, 3))
            touching = self.touching
            rows[touching] = self.total * np.clip(6.0 * share[touching] / own.sum(), 0.01, 1.0)
        return rows

    # ------------------------------------------------------------------------------ state of motion

    def _turn(self) -> Array:
        R = np.empty((3, 3))
        kernels.turn_matrix(self.quaternion, R)
        return R

    def _twist(self, R: Array) -> Array:
        """Velocity of the centre and spin (6,)."""
        return np.concatenate([self.momentum / self.total, R @ ((self.spin @ R) / self.inertia)])

    def _take(self, R: Array, twist: Array) -> None:
        """Momenta of a twist."""
        self.momentum = self.total * twist[:3]
        self.spin = R @ (self.inertia * (twist[3:] @ R))

    def _yielding(self, R: Array) -> Array:
        """Twist per unit of impulse and of torque impulse (6, 6)."""
        out = np.zeros((6, 6))
        out[:3, :3] = np.eye(3) / self.total
        out[3:, 3:] = (R / self.inertia) @ R.T
        return out

    def _show(self, x: Array, v: Array, inverse_mass: Array, coming: Array | None = None) -> None:
        """Write the rows; with the impulse that is still to come, as far as it is known."""
        R = self._turn()
        twist = self._twist(R)
        if coming is not None:
            twist += self._yielding(R) @ coming
        kernels.follow(self.centre, R, self.arms, twist, inverse_mass, x, v)
        self._shown = (x.copy(), v.copy())

    def _take_kicks(self, x: Array, v: Array, inverse_mass: Array) -> None:
        """Take over velocities that others have changed (an impulse; the initial ones), by their momenta."""
        if self._shown is not None and np.array_equal(v, self._shown[1]):
            return
        free = inverse_mass > 0.0
        if self._shown is not None and not ((v != self._shown[1]) & free).any():
            return
        found = kernels.resultant(x, self.centre, self.structure.mass[:, None] * v)
        self.momentum, self.spin = found[:3], found[3:]

    def _kick(self, dt: float, load: Array) -> None:
        self.momentum = self.momentum + dt * load[:3]
        self.spin = self.spin + dt * load[3:]

    def _kinetic(self, R: Array, twist: Array) -> float:
        own = twist[3:] @ R
        return 0.5 * (self.total * float(twist[:3] @ twist[:3]) + float(self.inertia @ (own * own)))

    # ------------------------------------------------------------------------------------ the step

    def advance(self, ctx: StepContext) -> None:
        time, dt, x, v, inverse_mass = ctx.time, ctx.dt, ctx.x, ctx.v, ctx.inverse_mass
        if self._shown is None:
            R = self._turn()
            self._shown = (np.empty_like(x), np.empty_like(v))
            kernels.follow(self.centre, R, self.arms, self._twist(R), np.ones_like(x), *self._shown)
        self._take_kicks(x, v, inverse_mass)
        before, speed = self._shown
        R = self._turn()
        load = kernels.resultant(before, self.centre, ctx.external)
        started = self._kinetic(R, self._twist(R))
        self._kick(0.5 * dt, load)
        twist, joints, yielding = self._twist(R), Joints.of(inverse_mass), self._yielding(R)
        self._giving, self._driven = np.zeros(6), False
        if joints is not None:
            joints.prepare(before - self.centre, yielding)
            wanted = (x - before) / dt
            self._driven = dt * max(map(joints.gap, (wanted, v, speed))) > STILL * self.size
            self._giving += joints.hold(twist, wanted) / dt
            yielding = joints.yielding
        kicked = 0.5 * dt * yielding @ load
        got, met = 0.0, False
        if ctx.obstacles:
            slow, body = 2.0 * dt * math.hypot(*load[:3]) / self.total, self._body(before)
            first = contact_impulses(ctx.obstacles, time, dt, dt, body, twist, yielding, slow, kicked)
            got, met = first or 0.0, first is not None
        pose = self.centre, self.quaternion
        for drift in range(MOST_DRIFTS):
            self._take(R, twist)
            self._drift(pose, dt, twist)
            if (joints is None and not ctx.obstacles) or drift == MOST_DRIFTS - 1:
                break
            again, rows = False, self.centre + self.arms @ self._turn().T
            if joints is not None and joints.gap(x - rows) > CLOSE * self.size:
                self._giving += joints.shift(twist, (x - rows) / dt) / dt
                again = True
            if ctx.obstacles:
                more = stop_at_surface(
                    ctx.obstacles, time, dt, body, rows[self.touching], twist, yielding, kicked
                )
                again, got, met = again or more is not None, got + (more or 0.0), met or more is not None
            if not again:
                break
        if self._driven:
            kept = self._kinetic(R, twist) + 0.25 * dt * float(kicked @ load)
            self._work += kept - started - 0.5 * dt * float(load @ twist) - got
        self._load, self._drifted = load, self._twist(self._turn())
        self._correct(time + dt, x, joints, ctx.obstacles)
        if joints is not None:
            self._follow_joints(joints, x, v, dt)
        self._joints = joints
        self._show(x, v, inverse_mass, None if met or joints is not None else 0.5 * dt * load)

    def _drift(self, pose: tuple[Array, Array], dt: float, twist: Array) -> None:
        """Free flight and free rotation from ``pose`` for ``dt`` with the present momenta."""
        self.centre, self.quaternion = pose[0] + dt * twist[:3], pose[1].copy()
        parts = math.hypot(*twist[3:]) * dt / TURN
        steps = max(1, math.ceil(parts)) if parts <= MOST_PARTS else 1  # the watchdog stops what needs more
        kernels.free_rotation(self.quaternion, self.spin, self.inertia, dt, steps)

    def _body(self, rows: Array) -> ContactPoints:
        return ContactPoints(rows[self.touching], self.radius, self.centre, self.size, CLOSE * self.size)

    def _correct(
        self, time: float, x: Array, joints: Joints | None, obstacles: Sequence[ObstacleRuntime]
    ) -> None:
        """Bring the pose where joints and obstacles want it, as far as the drift did not."""
        self._moved = np.zeros(6)
        for _ in range(8 if joints is not None or obstacles else 0):
            R = self._turn()
            rows = self.centre + self.arms @ R.T
            move, yielding = np.zeros(6), self._yielding(R)
            worst = 0.0
            if joints is not None:
                joints.prepare(rows - self.centre, yielding)
                joints.hold(move, x - rows)
                yielding = joints.yielding
                worst = joints.gap(x - rows)
            if obstacles:
                push_out(obstacles, time, self._body(rows), move, yielding)
            if not move.any() or max(np.abs(move[:3]).max(), np.abs(move[3:]).max() * self.size) < (
                1e-15 * self.size
            ):
                if worst > 1e-6 * self.size:
                    raise IncompatibleError(
                        "Particles of a rigid body are moved in a way that it cannot follow: "
                        f"they are {worst:.3g} m off.",
                        hint="Move or hold them as one piece.",
                    )
                return
            self._moved += move
            self.centre = self.centre + move[:3]
            self.quaternion = turned(self.quaternion, move[3:])

    def _follow_joints(self, joints: Joints, x: Array, v: Array, dt: float) -> None:
        R = self._turn()
        twist = self._twist(R)
        joints.prepare(self.arms @ R.T, self._yielding(R))
        self._giving += joints.hold(twist, v) / dt
        self._take(R, twist)

    def finish_step(self, ctx: StepContext) -> None:
        assert self._shown is not None
        dt = ctx.dt
        R = self._turn()
        rows = self.centre + self.arms @ R.T
        load = kernels.resultant(rows, self.centre, ctx.external)
        self._kick(0.5 * dt, load)
        twist, yielding, got = self._twist(R), self._yielding(R), 0.0
        if self._joints is not None:
            self._joints.prepare(rows - self.centre, yielding)
            self._giving += self._joints.hold(twist, ctx.v) / dt
            yielding = self._joints.yielding
        if ctx.obstacles:
            at, body = ctx.time + dt, self._body(rows)
            first = contact_impulses(ctx.obstacles, at, dt, 0.0, body, twist, yielding, np.inf, np.zeros(6))
            got = first or 0.0
        if self._driven:
            kept = self._kinetic(R, twist) - dt * dt / 8.0 * float(load @ yielding @ load)
            own = self._drifted
            self._work += kept - self._kinetic(R, own) - 0.5 * dt * float(load @ own) - got
        self._work -= 0.5 * float((self._load + load) @ self._moved)
        self.held = self._giving
        self._take(R, twist)
        self._show(ctx.x, ctx.v, ctx.inverse_mass)

    def report_energy(self, totals: EnergyTotals) -> None:
        totals.work += self._work
        self._work = 0.0

    def scheme_energy(self, external: Array, inverse_mass: Array, dt: float) -> float:
        R = self._turn()
        arms, yielding = self.arms @ R.T, self._yielding(R)
        load = kernels.resultant(arms, np.zeros(3), external)
        if (joints := Joints.of(inverse_mass)) is not None:
            joints.prepare(arms, yielding)
            yielding = joints.yielding
        return -dt * dt / 8.0 * float(load @ yielding @ load)

    def stored(self, x: Array, v: Array) -> tuple[float, float]:
        """``P^2/2M + L . I^-1 L/2`` of the momenta that the rows have: impulses on some rows move all."""
        momenta = kernels.resultant(x, self.centre, self.structure.mass[:, None] * v)
        return 0.5 * float(momenta @ self._yielding(self._turn()) @ momenta), 0.0

    def add_internal_forces(self, out: Array) -> None:
        """What makes each particle move with the body: ``m a - f``, less what joints bear."""
        R = self._turn()
        spin = self._twist(R)[3:]
        whole = kernels.resultant(self.arms @ R.T, np.zeros(3), out) + self.held
        torque = whole[3:] - cross(spin, self.spin)
        gain = R @ ((torque @ R) / self.inertia)
        kernels.inertial_forces(R, self.arms, self.structure.mass, spin, whole[:3] / self.total, gain, out)
        if self._joints is not None:
            out -= self._joints.shared(self.held)

    def add_holding_forces(self, out: Array) -> None:
        """None: ``add_internal_forces`` finds all."""

    def add_elastic_forces(self, x: Array, out: Array) -> None:
        """None: a rigid body does not deform."""

    def stable_step(self) -> StableStep:
        return StableStep(
            float(np.sqrt(self.size / 9.81)) / 50.0,
            "a fiftieth of the time in which a rigid body falls by its own size",
        )

    def fields(self, x: Array, v: Array, names: Sequence[str]) -> dict[str, FieldData]:
        return {}

    # ------------------------------------------------------------------------------------- restart

    def state(self) -> dict[str, AnyArray]:
        return {
            "pose": np.concatenate([self.centre, self.quaternion]),
            "momenta": np.concatenate([self.momentum, self.spin]),
            "held": self.held,
            "friction": np.array(self.friction),
        }

    def restore(self, state: Mapping[str, AnyArray]) -> None:
        self.centre, self.quaternion = state["pose"][:3].copy(), state["pose"][3:].copy()
        self.momentum, self.spin = state["momenta"][:3].copy(), state["momenta"][3:].copy()
        self.held, self.friction = state["held"].copy(), float(state["friction"])
        self._shown, self._work = None, 0.0
