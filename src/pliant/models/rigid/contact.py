"""A rigid body against obstacles: impulses at the points that touch, and their compiled solver."""

# mypy: disable-error-code="no-untyped-def"

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pliant.contact.obstacle import ObstacleRuntime
from pliant.core.typing import Array, IntArray
from pliant.kernels.jit import jit
from pliant.models.rigid.kernels import resultant

MOST = 8  # points that bear a body on one obstacle


@dataclass(frozen=True)
class ContactPoints:
    """What a body touches with: balls of ``radius`` at ``points`` (k, 3), no farther than ``size`` from its
    ``centre``; closer than a ``hair`` [m] counts as touching."""

    points: Array
    radius: float
    centre: Array
    size: float
    hair: float


class ObstacleImpulses:
    """Points of a body that meet obstacles, collected obstacle by obstacle, and the impulses there."""

    def __init__(self, body: ContactPoints) -> None:
        self.body = body
        self.met: list[tuple[ObstacleRuntime, Array]] = []  # obstacles and their velocities
        self.points: list[tuple[Array, Array, Array]] = []  # arms, normals, wanted velocities

    def speeds(self, near: IntArray, normal: Array, velocity: Array, twist: Array) -> tuple[Array, Array]:
        """Arms (k, 3) of the points ``near``, and their velocity along the normals (n, 3) of all."""
        arms = self.body.points[near] - self.body.radius * normal[near] - self.body.centre
        along = np.empty(len(near))
        point_speeds(twist, arms, velocity, normal[near], along)
        return arms, along

    def add(
        self, obstacle: ObstacleRuntime, velocity: Array, arms: Array, normals: Array, wanted: Array
    ) -> None:
        """Points that are to have at least the velocities ``wanted`` (k,) away from ``obstacle``."""
        self.met.append((obstacle, velocity))
        self.points.append((arms, normals, wanted))

    def exchange(self, time: float, twist: Array, yielding: Array, kicked: Array) -> float | None:
        r"""Change ``twist`` (6,) by the impulses j; returns the energy that the body got [J], None if nothing
        is met.

        kicked (6,): what the half kick before has changed in the twist, :math:`\tfrac{dt}{2} W F`. The ledger
        counts the work of forces F along the whole displacement of the step, which j has changed, so the body
        gets :math:`j \cdot (u_- + u_+)/2 - \tfrac{dt}{2} j \cdot W F`; the obstacle's work less that is heat.
        """
        if not self.met:
            return None
        arms, normals, wanted = (np.concatenate(parts) for parts in zip(*self.points, strict=True))
        counts = [len(own[0]) for own in self.points]
        speeds = np.repeat([velocity for _, velocity in self.met], counts, axis=0)
        friction = np.repeat([float(obstacle.friction) for obstacle, _ in self.met], counts)
        impulses, before = np.zeros_like(arms), twist.copy()
        solve_impulses(arms, normals, speeds, wanted, friction, yielding, twist, impulses)
        mean, parts, total = 0.5 * (before + twist) - kicked, np.split(impulses, np.cumsum(counts)[:-1]), 0.0
        for (obstacle, velocity), (at, normal, _), own in zip(self.met, self.points, parts, strict=True):
            got = float(mean @ resultant(at, np.zeros(3), own))
            heat = float((own @ velocity).sum()) - got  # what the obstacle gave, less what the body got
            obstacle.record_contact(time, at + self.body.centre, own, velocity, heat, normal)
            total += got
        return total


def contact_impulses(
    obstacles: Sequence[ObstacleRuntime], time: float, dt: float, ahead: float, body: ContactPoints,
    twist: Array, yielding: Array, slow: float, kicked: Array,
) -> float | None:  # fmt: skip
    """Change ``twist`` (6,) by the impulses of obstacles that the points of a body would enter within
    ``ahead`` [s] from ``time`` on (0: that they touch).

    A point may come up to the surface, and no further; one that comes faster than ``slow`` [m/s] bounces off
    with the obstacle's restitution; friction takes what it can of the velocity along the surface. dt: the
    World's step. Returns the energy that the body got [J], see ``ObstacleImpulses.exchange``.
    """
    contacts = ObstacleImpulses(body)
    for obstacle in obstacles:
        gap, normal = obstacle.distances(time, body.points)
        gap = gap - body.radius
        velocity = obstacle.velocity(time + ahead, dt)
        reach = float(np.linalg.norm(twist[:3] - velocity)) + float(np.linalg.norm(twist[3:])) * body.size
        near = np.flatnonzero(gap < body.hair + ahead * reach)
        if not len(near):
            continue
        _, approach = contacts.speeds(near, normal, velocity, twist)
        near = near[gap[near] + ahead * approach < body.hair]
        if len(near):
            near = spread(near, gap, normal, body.points)
            arms, approach = contacts.speeds(near, normal, velocity, twist)
            bounce = float(obstacle.restitution)
            wanted = -np.maximum(gap[near], 0.0) / ahead if ahead > 0.0 else np.zeros(len(near))
            wanted = np.where((-approach > slow) & (bounce > 0.0), -bounce * approach, wanted)
            contacts.add(obstacle, velocity, arms, normal[near], wanted)
    return contacts.exchange(time, twist, yielding, kicked)


def stop_at_surface(
    obstacles: Sequence[ObstacleRuntime], time: float, dt: float, body: ContactPoints, after: Array,
    twist: Array, yielding: Array, kicked: Array,
) -> float | None:  # fmt: skip
    """Change ``twist`` (6,) at ``time`` so that its drift, which took the points of ``body`` to ``after``
    (k, 3), takes none deeper into an obstacle than it was: points of a body that turns do not move straight,
    as ``contact_impulses`` thinks. Returns the energy that the body got [J]."""
    contacts = ObstacleImpulses(body)
    for obstacle in obstacles:
        gap, normal = obstacle.distances(time + dt, after)
        gap = gap - body.radius
        deep = np.flatnonzero(gap < -body.hair)
        if not len(deep):
            continue
        earlier = obstacle.distances(time, body.points)[0] - body.radius
        lack = np.minimum(earlier, 0.0) - gap
        deep = deep[lack[deep] > body.hair]
        if len(deep):
            deep = spread(deep, gap, normal, body.points)
            velocity = obstacle.velocity(time + dt, dt)
            arms, along = contacts.speeds(deep, normal, velocity, twist)
            contacts.add(obstacle, velocity, arms, normal[deep], along + lack[deep] / dt)
    return contacts.exchange(time, twist, yielding, kicked)


def push_out(
    obstacles: Sequence[ObstacleRuntime], time: float, body: ContactPoints, move: Array, yielding: Array
) -> None:
    """Change the small ``move`` (6,) of a body so that its points come out of obstacles."""
    arms, normals, depth = [], [], []
    for obstacle in obstacles:
        gap, normal = obstacle.distances(time, body.points)
        gap = gap - body.radius
        inside = np.flatnonzero(gap < 0.0)
        if len(inside):
            inside = spread(inside, gap, normal, body.points)
            arms.append(body.points[inside] - body.radius * normal[inside] - body.centre)
            normals.append(normal[inside])
            depth.append(-gap[inside])
    if arms:
        r, n, wanted = np.concatenate(arms), np.concatenate(normals), np.concatenate(depth)
        still = np.zeros_like(r)
        solve_impulses(r, n, still, wanted, np.zeros(len(r)), yielding, move, np.zeros_like(r))


def spread(chosen: IntArray, gap: Array, normal: Array, points: Array) -> IntArray:
    """At most eight of ``chosen``: the outermost ones across the mean normal, and the deepest."""
    if len(chosen) <= MOST:
        return chosen
    return np.asarray(outermost(points, chosen, normal, gap, MOST - 1))


ROUNDS = 400  # of the contact solver, at most
SOFT, HARDER = 0.3, 0.85  # contacts give at first, so that those that are alike bear alike


@jit
def point_speeds(twist, arms, velocity, normals, out):
    """Velocity of points at ``arms`` along ``normals``, relative to ``velocity`` (3,), into ``out`` (k,)."""
    for k in range(arms.shape[0]):
        a, b, c = arms[k, 0], arms[k, 1], arms[k, 2]
        out[k] = (
            (twist[0] + twist[4] * c - twist[5] * b - velocity[0]) * normals[k, 0]
            + (twist[1] + twist[5] * a - twist[3] * c - velocity[1]) * normals[k, 1]
            + (twist[2] + twist[3] * b - twist[4] * a - velocity[2]) * normals[k, 2]
        )


@jit
def outermost(points, chosen, normals, gap, corners):
    """Up to ``corners`` + 1 of ``chosen``, sorted: the farthest in ``corners`` directions across the mean
    normal, and the one with the smallest gap."""
    n, mean = np.zeros(3), np.zeros(3)
    for i in chosen:
        for c in range(3):
            n[c] += normals[i, c]
            mean[c] += points[i, c] / chosen.shape[0]
    axis = 0
    for c in range(1, 3):
        if abs(n[c]) < abs(n[axis]):
            axis = c
    a, b = (axis + 1) % 3, (axis + 2) % 3
    one = np.zeros(3)
    one[a], one[b] = n[b], -n[a]
    two = np.empty(3)
    two[0] = n[1] * one[2] - n[2] * one[1]
    two[1] = n[2] * one[0] - n[0] * one[2]
    two[2] = n[0] * one[1] - n[1] * one[0]
    long, wide = np.sqrt((one * one).sum()) + 1e-300, np.sqrt((two * two).sum()) + 1e-300
    out = np.empty(corners + 1, np.int64)
    deepest = chosen[0]
    for i in chosen:
        if gap[i] < gap[deepest]:
            deepest = i
    out[corners] = deepest
    for k in range(corners):
        angle = 0.1 + 2.0 * np.pi * k / corners
        p, q = np.cos(angle) / long, np.sin(angle) / wide
        best = -np.inf
        for i in chosen:
            reach = 0.0
            for c in range(3):
                reach += (points[i, c] - mean[c]) * (p * one[c] + q * two[c])
            if reach > best:
                best = reach
                out[k] = i
    return np.unique(out)


@jit
def _along(r, d, out):
    """What a twist of 1 in each degree of freedom moves the point at ``r`` along ``d``, (6,)."""
    out[0], out[1], out[2] = d[0], d[1], d[2]
    out[3] = r[1] * d[2] - r[2] * d[1]
    out[4] = r[2] * d[0] - r[0] * d[2]
    out[5] = r[0] * d[1] - r[1] * d[0]


@jit
def solve_impulses(arms, normals, speeds, wanted, friction, yielding, twist, impulses):
    """Impulses (k, 3) at contacts of one body, by Gauss-Seidel; ``twist`` (6,) is changed by them.

    arms (k, 3): from the centre; speeds (k, 3): of the obstacle there; wanted (k,): the least velocity away
    from it along ``normals``; friction (k,); yielding (6, 6): twist per unit of impulse.
    Tangential impulses stay within friction times the normal one.
    """
    count = arms.shape[0]
    rows = np.empty((count, 3, 6))
    given = np.empty((count, 3, 6))
    own = np.empty((count, 3))
    amount = np.zeros((count, 3))
    for k in range(count):
        n = normals[k]
        axis = 0
        for c in range(1, 3):
            if abs(n[c]) < abs(n[axis]):
                axis = c
        t = np.zeros(3)
        t[axis] = 1.0
        out = n[axis]
        for c in range(3):
            t[c] -= out * n[c]
        size = np.sqrt(t[0] * t[0] + t[1] * t[1] + t[2] * t[2])
        for c in range(3):
            t[c] /= size
        b = np.empty(3)
        b[0], b[1], b[2] = n[1] * t[2] - n[2] * t[1], n[2] * t[0] - n[0] * t[2], n[0] * t[1] - n[1] * t[0]
        for c in range(3):
            _along(arms[k], (n if c == 0 else t if c == 1 else b), rows[k, c])
            own[k, c] = 0.0
            for i in range(6):
                total = 0.0
                for j in range(6):
                    total += yielding[i, j] * rows[k, c, j]
                given[k, c, i] = total
                own[k, c] += total * rows[k, c, i]
    scale = 0.0
    for k in range(count):
        for c in range(3):
            scale = max(scale, abs(speeds[k, c]))
        scale = max(scale, abs(wanted[k]))
        for c in range(3):
            own_speed = 0.0
            for i in range(6):
                own_speed += rows[k, c, i] * twist[i]
            scale = max(scale, abs(own_speed))
    soft = SOFT
    for _ in range(ROUNDS):
        change = soft * scale
        soft *= HARDER
        for k in range(count):
            before = amount[k].copy()
            now = np.zeros(3)
            for c in range(3):
                for i in range(6):
                    now[c] += rows[k, c, i] * twist[i]
                for i in range(3):
                    now[c] -= rows[k, c, i] * speeds[k, i]
            if own[k, 0] > 1e-300:
                give = soft * own[k, 0]
                push = amount[k, 0] + (wanted[k] - now[0] - give * amount[k, 0]) / (own[k, 0] + give)
                amount[k, 0] = max(0.0, push)
            most, most_own = friction[k] * amount[k, 0], max(own[k, 1], own[k, 2])
            if most > 0.0 and most_own > 1e-300:
                for c in range(1, 3):
                    amount[k, c] -= now[c] / most_own
            size = np.sqrt(amount[k, 1] * amount[k, 1] + amount[k, 2] * amount[k, 2])
            if size > most:
                for c in range(1, 3):
                    amount[k, c] *= most / size
            for c in range(3):
                for i in range(6):
                    twist[i] += given[k, c, i] * (amount[k, c] - before[c])
            for c in range(3):
                change = max(change, abs(amount[k, c] - before[c]) * own[k, c])
        if change <= 1e-14 * scale:
            break
    for k in range(count):
        for i in range(3):
            impulses[k, i] = (
                amount[k, 0] * rows[k, 0, i] + amount[k, 1] * rows[k, 1, i] + amount[k, 2] * rows[k, 2, i]
            )
