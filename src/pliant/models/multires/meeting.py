"""What others do to a body of levels: pushes of its particles between steps, and obstacles within them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pliant.models.multires import shown
from pliant.models.multires.motion import Coupling, Motion, Near, flagged
from pliant.protocols import Pushing
from pliant.typing import Array, IntArray


@dataclass(frozen=True)
class Pushed:
    """Particles (rows) that contacts, constraints or kicks have moved by ``moved`` [m] and given other
    velocities, by ``kicks`` [m/s], since they were shown."""

    rows: IntArray
    moved: Array
    kicks: Array

    @classmethod
    def since(cls, last: tuple[Array, Array], x: Array, v: Array, inverse_mass: Array) -> "Pushed":
        rows = shown.changed(x, v, *last, inverse_mass)
        free = inverse_mass[rows] > 0.0
        moved = np.where(free, x[rows] - last[0][rows], 0.0)
        return cls(rows, moved, np.where(free, v[rows] - last[1][rows], 0.0))


def take_pushes(pushed: Pushed, mass: Array, motion: Motion, coupling: Coupling) -> None:
    """Let simulated nodes follow what was done to the particles (of the given masses) that follow them.

    Changes of velocity count as the momentum that they are; places move with the particle of theirs that was
    moved furthest, so that nothing stays inside of what it was pushed out of.
    """
    impulses = mass[pushed.rows, None] * pushed.kicks
    if impulses.any():
        coupling.kick(pushed.rows, impulses)
    lengths = np.linalg.norm(pushed.moved, axis=1)
    order = np.argsort(lengths, kind="stable")
    order = order[lengths[order] > 0.0]
    place = pushed.rows[order]
    here = flagged(int(motion.first[-1]))
    here[coupling.simulated[0]] = True
    for k in range(len(motion.d) - 1, -1, -1):
        if not len(place):
            break
        found = here[place + motion.first[k]]
        target, source = place[found], order[found]
        nodes, last = np.unique(target[::-1], return_index=True)  # the last in order moved furthest
        motion.d[k][nodes] += pushed.moved[source[::-1][last]]
        order, place = order[~found], place[~found]
        if k:
            place = motion.hierarchy.links[k - 1].parent[place]


def reachable(
    obstacles: Sequence[Pushing], motion: Motion, coupling: Coupling, time: float, dt: float
) -> Near:
    """The simulated nodes of each level that may meet an obstacle within ``dt``."""
    levels = motion.hierarchy.levels
    if not obstacles:
        return Near([], [[] for _ in levels])
    nodes, first = coupling.simulated
    d, v = motion.whole[:2]
    counts = np.diff(first)
    spacing = np.repeat([level.spacing for level in levels], counts)
    begin = np.repeat(motion.first[:-1], counts)
    x, speed = coupling.points[nodes] + d[nodes], v[nodes]
    reach = 2.0 * dt * np.sqrt(np.einsum("ij,ij->i", speed, speed)) + spacing
    met, found = [], list[list[IntArray]]([[] for _ in levels])
    for obstacle in obstacles:
        close = obstacle.distance(time, x) < reach
        if obstacle.moves:
            close |= obstacle.distance(time + dt, x) < reach
        if close.any():
            met.append(obstacle)
            here = nodes - begin
            for row, a, b in zip(found, first[:-1], first[1:], strict=True):
                row.append(here[a:b][close[a:b]])
    return Near(met, found)
