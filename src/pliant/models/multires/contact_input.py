"""What others do to a body of levels: pushes of its particles between steps, and obstacles within them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pliant.contact.obstacle import ObstacleRuntime
from pliant.core.typing import Array, BoolArray, IntArray
from pliant.models.multires import obstacle_proximity, particle_output
from pliant.models.multires.level_state import Coupling, LevelState, NearbyObstacles, flagged


@dataclass(frozen=True)
class ExternalChange:
    """Particles (rows) that contacts, constraints or kicks have moved by ``moved`` [m] and given other
    velocities, by ``kicks`` [m/s], since they were shown."""

    rows: IntArray
    moved: Array
    kicks: Array

    @classmethod
    def since(cls, last: Array, x: Array, v: Array, driven: BoolArray) -> "ExternalChange":
        """last (n, 6): places and velocities as they were shown."""
        rows = particle_output.changed(x, v, last, driven)
        held, before = driven[rows], last[rows]
        moved = np.where(held, 0.0, x[rows] - before[:, :3])
        return cls(rows, moved, np.where(held, 0.0, v[rows] - before[:, 3:]))


def apply_external_changes(
    pushed: ExternalChange, mass: Array, motion: LevelState, coupling: Coupling
) -> None:
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


def nearby_obstacles(
    obstacles: Sequence[ObstacleRuntime], motion: LevelState, coupling: Coupling, time: float, dt: float
) -> NearbyObstacles:
    """The simulated nodes of each level that may meet an obstacle within ``dt``."""
    levels = motion.hierarchy.levels
    if not obstacles:
        return NearbyObstacles([], [[] for _ in levels])
    nodes, first = coupling.simulated
    spacing = np.array([level.spacing for level in levels])
    met, found = [], list[list[IntArray]]([[] for _ in levels])
    for obstacle in obstacles:
        shape = obstacle.rigid(np.array([time, time + dt]) if obstacle.moves else np.array([time]))
        close, begins = obstacle_proximity.within_reach(
            shape.kind, shape.size, shape.frame, shape.places, nodes, first, coupling.points,
            *motion.whole[:2], spacing, dt,
        )  # fmt: skip
        if len(close):
            met.append(obstacle)
            for row, own in zip(found, motion.own_lists(close, begins), strict=True):
                row.append(own)
    return NearbyObstacles(met, found)
