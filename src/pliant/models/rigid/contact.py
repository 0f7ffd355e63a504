"""A rigid body against obstacles: impulses at the points that touch."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pliant.contact.obstacle import ObstacleRuntime
from pliant.core.typing import Array, IntArray
from pliant.models.rigid import impulse_solver as solver
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


@dataclass(frozen=True)
class ContactManifold:
    """Points of a body that meet one obstacle: arms from its centre to where they touch, outward normals,
    gaps [m], velocities along the normals; the obstacle's velocity."""

    obstacle: ObstacleRuntime
    arms: Array
    normals: Array
    gaps: Array
    approach: Array
    velocity: Array


def contact_impulses(
    obstacles: Sequence[ObstacleRuntime], time: float, dt: float, ahead: float, body: ContactPoints,
    twist: Array, yielding: Array, slow: float,
) -> bool:  # fmt: skip
    """Change ``twist`` (6,) by the impulses of obstacles that the points of a body would enter within
    ``ahead`` [s] from ``time`` on (0: that they touch).

    A point may come up to the surface, and no further; one that comes faster than ``slow`` [m/s] bounces off
    with the obstacle's restitution; friction takes what it can of the velocity along the surface. dt: the
    World's step. True if there was any.
    """
    met = []
    for obstacle in obstacles:
        gap, normal = obstacle.distances(time, body.points)
        gap = gap - body.radius
        velocity = obstacle.velocity(time + ahead, dt)
        reach = float(np.linalg.norm(twist[:3] - velocity)) + float(np.linalg.norm(twist[3:])) * body.size
        near = np.flatnonzero(gap < body.hair + ahead * reach)
        if not len(near):
            continue
        arms = body.points[near] - body.radius * normal[near] - body.centre
        approach = np.empty(len(near))
        solver.point_speeds(twist, arms, velocity, normal[near], approach)
        near = near[gap[near] + ahead * approach < body.hair]
        if len(near):
            near = spread(near, gap, normal, body.points)
            arms = body.points[near] - body.radius * normal[near] - body.centre
            approach = np.empty(len(near))
            solver.point_speeds(twist, arms, velocity, normal[near], approach)
            met.append(ContactManifold(obstacle, arms, normal[near], gap[near], approach, velocity))
    if not met:
        return False
    arms = np.concatenate([m.arms for m in met])
    normals = np.concatenate([m.normals for m in met])
    gaps = np.concatenate([m.gaps for m in met])
    counts = [len(m.arms) for m in met]
    speeds = np.repeat([m.velocity for m in met], counts, axis=0)
    friction = np.repeat([float(m.obstacle.friction) for m in met], counts)
    bounce = np.repeat([float(m.obstacle.restitution) for m in met], counts)
    approach = np.concatenate([m.approach for m in met])
    wanted = -np.maximum(gaps, 0.0) / ahead if ahead > 0.0 else np.zeros(len(gaps))
    wanted = np.where((-approach > slow) & (bounce > 0.0), -bounce * approach, wanted)
    impulses, before = np.zeros_like(arms), twist.copy()
    solver.solve_impulses(arms, normals, speeds, wanted, friction, yielding, twist, impulses)
    mean, start = 0.5 * (before + twist), 0
    for m in met:  # heat: what the obstacle gave, less what the body got
        own = impulses[start : start + len(m.arms)]
        got = float(mean @ resultant(m.arms, np.zeros(3), own))
        m.obstacle.record_contact(
            time, m.arms + body.centre, own, m.velocity, float((own @ m.velocity).sum()) - got
        )
        start += len(m.arms)
    return True


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
        solver.solve_impulses(r, n, still, wanted, np.zeros(len(r)), yielding, move, np.zeros_like(r))


def spread(chosen: IntArray, gap: Array, normal: Array, points: Array) -> IntArray:
    """At most eight of ``chosen``: the outermost ones across the mean normal, and the deepest."""
    if len(chosen) <= MOST:
        return chosen
    return np.asarray(solver.outermost(points, chosen, normal, gap, MOST - 1))
