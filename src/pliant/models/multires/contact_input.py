"""What others do to a body of levels: changes of its particles between steps, and obstacles within them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pliant.contact.obstacle import ObstacleRuntime
from pliant.core.typing import Array, BoolArray, IntArray
from pliant.models.multires import particle_output, substep_kernels
from pliant.models.multires.coupling import Coupling
from pliant.models.multires.level_state import LevelState, flagged


@dataclass(frozen=True)
class ExternalChange:
    """Particles (rows) that contacts, constraints or impulses have moved by ``moved`` [m], and whose
    velocities they have changed by ``kicks`` [m/s], since the last step."""

    rows: IntArray
    moved: Array
    kicks: Array

    @classmethod
    def since(cls, written: Array, x: Array, v: Array, prescribed: BoolArray) -> "ExternalChange":
        """written (n, 6): positions and velocities at the end of the last step."""
        rows = particle_output.changed(x, v, written, prescribed)
        held, before = prescribed[rows], written[rows]
        moved = np.where(held, 0.0, x[rows] - before[:, :3])
        return cls(rows, moved, np.where(held, 0.0, v[rows] - before[:, 3:]))

    def apply(self, mass: Array, motion: LevelState, coupling: Coupling) -> None:
        """Let active nodes follow the changes of the particles (of the given masses) that follow them.

        Changes of velocity are applied as impulses; an active node moves with the particle of its own that
        was moved furthest, so that nothing stays inside of what it was pushed out of.
        """
        impulses = mass[self.rows, None] * self.kicks
        if impulses.any():
            coupling.apply_impulses(self.rows, impulses)
        lengths = np.linalg.norm(self.moved, axis=1)
        order = np.argsort(lengths, kind="stable")
        order = order[lengths[order] > 0.0]
        place = self.rows[order]
        active = flagged(int(motion.first[-1]))
        active[coupling.active_stacked[0]] = True
        for k in range(len(motion.d) - 1, -1, -1):
            if not len(place):
                break
            found = active[place + motion.first[k]]
            target, source = place[found], order[found]
            nodes, last = np.unique(target[::-1], return_index=True)  # the last in order moved furthest
            motion.d[k][nodes] += self.moved[source[::-1][last]]
            order, place = order[~found], place[~found]
            if k:
                place = motion.hierarchy.transfers[k - 1].parent_node[place]


@dataclass(frozen=True)
class NearbyObstacles:
    """Obstacles that may be touched during a step, and per level and obstacle the nodes that may touch it."""

    obstacles: list[ObstacleRuntime]
    nodes: list[list[IntArray]]

    @classmethod
    def of(
        cls,
        obstacles: Sequence[ObstacleRuntime],
        motion: LevelState,
        coupling: Coupling,
        time: float,
        dt: float,
    ) -> "NearbyObstacles":
        """The active nodes of each level that may touch an obstacle within ``dt``."""
        levels = motion.hierarchy.levels
        found = cls([], [[] for _ in levels])
        spacing = np.array([level.spacing for level in levels])
        for obstacle in obstacles:
            shape = obstacle.rigid(np.array([time, time + dt]) if obstacle.moves else np.array([time]))
            close, begins = substep_kernels.nodes_within_reach(
                shape.kind, shape.size, shape.frame, shape.places, *coupling.active_stacked, coupling.points,
                *motion.stacked[:2], spacing, dt,
            )  # fmt: skip
            if len(close):
                found.obstacles.append(obstacle)
                for row, own in zip(found.nodes, motion.split_by_level(close, begins), strict=True):
                    row.append(own)
        return found

    def contacts(self, time: float, dt: float, ticks: int, coupling: Coupling) -> substep_kernels.Contacts:
        """The obstacles and nodes as compiled loops of ``ticks`` steps want them."""
        times = time + np.arange(ticks + 1) * dt / ticks
        shapes = [obstacle.rigid(times) for obstacle in self.obstacles]
        count = len(shapes)
        sizes, frames = np.zeros((count, 3)), np.zeros((count, 3, 3))
        restitution, friction, places = np.zeros(count), np.zeros(count), np.zeros((count, ticks + 1, 3))
        for o, shape in enumerate(shapes):
            sizes[o], frames[o], places[o] = shape.size, shape.frame, shape.places
            restitution[o], friction[o] = shape.restitution, shape.friction
        kinds = np.array([shape.kind for shape in shapes], np.int64)
        nodes = [some + coupling.motion.first[k] for k, row in enumerate(self.nodes) for some in row]
        first = np.concatenate([[0], np.cumsum([len(some) for some in nodes])]).astype(np.int64)
        near = np.concatenate([np.zeros(0, np.int64), *nodes])
        pressing = np.zeros((coupling.finest_active + 1 if coupling.synchronous else 0, len(near), 3))
        return substep_kernels.Contacts(
            kinds, sizes, frames, restitution, friction, places, near, first, coupling.points,
            coupling.stacked_mass, *coupling.contact_scratch, np.zeros((count, 8)), flagged(len(near)),
            pressing,
        )  # fmt: skip
