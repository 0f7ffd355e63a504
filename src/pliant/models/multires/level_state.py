"""What moves: displacements and velocities of all levels, and what acts on them during one advance."""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from pliant.contact.obstacle import ObstacleRuntime
from pliant.core.typing import AnyArray, Array, BoolArray, IntArray
from pliant.models.multires import particle_output, transfer_kernels
from pliant.models.multires.hierarchy import Hierarchy
from pliant.models.multires.level_connectivity import LevelConnectivity
from pliant.models.multires.levels import CsrRows

SPARED = 0.95  # of the longest step of what is damped


@dataclass(frozen=True)
class NearbyObstacles:
    """Obstacles that may be met during an advance, and per level and obstacle the nodes that may meet it."""

    obstacles: list[ObstacleRuntime]
    nodes: list[list[IntArray]]

    def tables(
        self, time: float, dt: float, ticks: int, all_nodes: "StackedNodes", pressing: int = 0
    ) -> tuple[Any, Array]:
        """What compiled loops of ``ticks`` steps want to know about contacts, and the rows (o, 8) that they
        add them to. pressing: levels whose forces on the nodes near are kept apart."""
        shapes = [obstacle.rigid(time + np.arange(ticks + 1) * dt / ticks) for obstacle in self.obstacles]
        count, out = len(shapes), np.zeros((len(shapes), 8))
        numbers, places = np.zeros((count, 14)), np.zeros((count, ticks + 1, 3))
        for o, shape in enumerate(shapes):
            numbers[o] = [*shape.size, *shape.frame.ravel(), shape.restitution, shape.friction]
            places[o] = shape.places
        kinds = np.array([shape.kind for shape in shapes], np.int64)
        nodes = [some + all_nodes.first[k] for k, row in enumerate(self.nodes) for some in row]
        first = np.concatenate([[0], np.cumsum([len(some) for some in nodes])]).astype(np.int64)
        flat = np.concatenate([np.zeros(0, np.int64), *nodes])
        own = (all_nodes.points, all_nodes.mass, all_nodes.radius, all_nodes.places)
        forces = np.zeros((pressing, len(flat), 3))
        return (kinds, numbers, places, flat, first, *own, out, flagged(len(flat)), forces), out


class StackedNodes:
    """Rest places, masses and radii (none) of the nodes of all levels, end to end; places: room for them."""

    def __init__(self, hierarchy: Hierarchy, mass: list[Array]) -> None:
        self.first = np.concatenate([[0], np.cumsum([level.count for level in hierarchy.levels])])
        self.points = np.concatenate([level.points for level in hierarchy.levels])
        self.mass: Array = np.concatenate(mass)
        self.radius, self.places = np.zeros(len(self.points)), np.zeros_like(self.points)


class LevelState:
    """Displacement d [m], velocity v [m/s] and force f [N] of every level's nodes, (n, 3) each.

    load: external forces [N] on simulated nodes; inverse: 1 / mass of the level, zero for driven degrees of
    freedom.
    """

    def __init__(self, hierarchy: Hierarchy) -> None:
        self.hierarchy, self.family = hierarchy, LevelConnectivity(hierarchy)
        self.first = self.family.first
        self.whole: list[Array] = [np.zeros((int(self.first[-1]), 3)) for _ in range(5)]  # levels end to end
        self.d, self.v, self.f, self.load, self.inverse = (self.parts(array) for array in self.whole)
        for inverse, level in zip(self.inverse, hierarchy.levels, strict=True):
            inverse[:] = 1.0 / level.mass[:, None]

    def own_lists(self, nodes: IntArray, begins: IntArray) -> list[IntArray]:
        """Lists of the levels' nodes in their own numbers; those of level k begin at ``begins[k]``."""
        spans = zip(self.first, begins[:-1], begins[1:], strict=False)
        return [nodes[a:b] - first for first, a, b in spans]

    def parts(self, whole: Any) -> list[Any]:
        """The levels' own rows of an array, as views."""
        return [whole[a:b] for a, b in zip(self.first[:-1], self.first[1:], strict=True)]

    def joined(self, rows: list[CsrRows], towards: int) -> tuple[IntArray, IntArray, Array]:
        """The levels' rows end to end; columns are nodes of the level ``towards`` levels further."""
        places = [np.zeros(1, np.int64)]
        columns = []
        for k, some in enumerate(rows):
            places.append(some.first[1:] + places[-1][-1])
            columns.append(some.columns + (self.first[k + towards] if len(some.columns) else 0))
        return np.concatenate(places), np.concatenate(columns), np.concatenate([r.weights for r in rows])

    def take_load(self, shares: list[Array]) -> None:
        for load, share in zip(self.load, shares, strict=True):
            load[:] = share

    def pull(self, level: int, nodes: IntArray) -> None:
        """Values of coarse nodes from the finer level."""
        rows, fine = self.hierarchy.links[level].pull, level + 1
        transfer_kernels.interpolate(
            nodes, rows.table, self.d[fine], self.v[fine], self.d[level], self.v[level]
        )

    def hang(self, level: int, flags: BoolArray) -> None:
        """Values of flagged fine nodes from their parent tets."""
        link, d, v = self.hierarchy.links[level - 1], self.d, self.v
        particle_output.interpolate_flagged(
            flags, link.corners, link.weights, d[level - 1], v[level - 1], d[level], v[level]
        )


class ActiveNodes:
    """What couplings know of the nodes that they simulate."""

    hierarchy: Hierarchy
    motion: LevelState
    active: list[IntArray]
    mass: list[Array]

    def momenta(self) -> tuple[Array, Array]:
        """Linear and angular momentum of what is simulated."""
        linear, angular = np.zeros(3), np.zeros(3)
        for k, nodes in enumerate(self.active):
            p = self.mass[k][nodes, None] * self.motion.v[k][nodes]
            linear += p.sum(axis=0)
            angular += np.cross(self.hierarchy.levels[k].points[nodes] + self.motion.d[k][nodes], p).sum(
                axis=0
            )
        return linear, angular

    def keep_momentum(self, linear: Array) -> None:
        """Give a free body this momentum by a uniform velocity. Its spin is left alone: levels differ in
        their moments of inertia, so that one of momentum and speed has to change with them."""
        mass = sum(float(mass[nodes].sum()) for mass, nodes in zip(self.mass, self.active, strict=True))
        push = (linear - self.momenta()[0]) / mass
        for v, nodes in zip(self.motion.v, self.active, strict=True):
            v[nodes] += push


class Coupling(Protocol):
    """How levels move together."""

    synchronous: bool  # velocities belong to the same time as places, or to the middle of each level's step
    active: list[IntArray]  # nodes of each level that are simulated
    simulated: tuple[IntArray, IntArray]  # the same in arrays that hold all levels, and where a level's begin
    points: Array  # rest places [m] of the nodes of all levels
    mass: list[Array]  # [kg] of all levels' nodes, as they move
    inverse: list[Array]  # 1 / mass (n, 3), zero for driven degrees of freedom

    def arrange(self, split: list[BoolArray]) -> None:
        """Take over which nodes are replaced by finer ones."""

    def share(self, values: Array) -> list[Array]:
        """Forces [N] or impulses [N s] on finest nodes, as their virtual work puts them on simulated ones."""

    def kick(self, rows: IntArray, impulses: Array) -> None:
        """Give simulated nodes their shares of impulses [N s] (m, 3) on the finest nodes ``rows``."""

    def weigh(self) -> None:
        """Bring ``inverse`` up to date with masses and drives."""

    heat: Array  # [J] of damping, added up where it has a place (1,)
    left_over: Array  # [N] (3,) by which forces between nodes miss zero, lately; see Schwarz

    def advance(self, time: float, dt: float, counts: list[int], near: NearbyObstacles) -> None:
        """Move everything by dt; level k takes ``counts[k]`` steps (powers of two), and is pushed out of the
        obstacles near it after each."""

    def momenta(self) -> tuple[Array, Array]:
        """Linear [kg m/s] and angular momentum [kg m2/s] of what is simulated."""

    def keep_momentum(self, linear: Array) -> None:
        """Give a free body this momentum by a uniform velocity."""

    hanging: list[BoolArray]  # nodes of each level that follow their parent tets

    def fill(self) -> None:
        """Give every node of every level the values of the finest simulated one there, but the finest ones
        that hang: these take theirs where particles are shown."""

    def surround(self) -> None:
        """Give the nodes around simulated ones the values that these see."""

    def limits(self) -> list[float]:
        """Longest step [s] of each level."""

    def energy(self) -> tuple[float, float]:
        """Kinetic and elastic energy [J] of what is simulated."""

    def reactions(self, nodes: list[IntArray]) -> None:
        """Forces of the present state on these simulated nodes, at least, into ``motion.f``."""


def laid_out(nodes: list[IntArray], first: IntArray) -> tuple[IntArray, IntArray]:
    """Numbers in arrays that hold all levels, where each level's begin with ``first``, and where each level's
    begin among them."""
    begin = np.concatenate([[0], np.cumsum([len(some) for some in nodes])])
    return np.concatenate([some + a for some, a in zip(nodes, first, strict=False)]), begin


def nonzero_rows(values: AnyArray) -> IntArray:
    """Rows (of three) that are not all zero."""
    x, y, z = values.T
    return np.flatnonzero((x != 0) | (y != 0) | (z != 0))


def flagged(count: int) -> BoolArray:
    return np.zeros(count, bool)


def limit(critical: float, beta: float) -> float:
    """Longest step of symplectic Euler with ``f = -K (d + beta v)``, with some to spare.

    The limit is ``sqrt(beta^2 + dtc^2) - beta`` where dtc = 2/omega.
    """
    return float(min(0.75 * critical, SPARED * (np.hypot(beta, critical) - beta)))


def damping_scratch(critical: float, step: float) -> float:
    """The largest beta [s] with which ``limit`` still allows the step; not positive where none does."""
    whole = step / SPARED
    return float((critical**2 / whole - whole) / 2.0)
