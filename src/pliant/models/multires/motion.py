"""What moves: displacements and velocities of all levels, and what acts on them during one advance."""

from collections.abc import Callable
from typing import Protocol

import numpy as np

from pliant.models.multires import kernels
from pliant.models.multires.levels import Hierarchy
from pliant.typing import Array, BoolArray, IntArray

Contacts = Callable[
    [int, float, float], None
]  # (level, time, dt): pushes that level's nodes out of obstacles


class Motion:
    """Displacement d [m], velocity v [m/s] and force f [N] of every level's nodes, (n, 3) each.

    load: external forces [N] on simulated nodes; inverse: 1 / mass of the level, zero for driven degrees of
    freedom. Between advances v belongs to the time of d as far as loads go, and to the middle of each
    level's last step as far as the body's own forces go.
    """

    def __init__(self, hierarchy: Hierarchy) -> None:
        self.hierarchy = hierarchy
        self.d: list[Array] = [np.zeros((level.count, 3)) for level in hierarchy.levels]
        self.v: list[Array] = [np.zeros((level.count, 3)) for level in hierarchy.levels]
        self.f: list[Array] = [np.zeros((level.count, 3)) for level in hierarchy.levels]
        self.load: list[Array] = [np.zeros((level.count, 3)) for level in hierarchy.levels]
        self.inverse: list[Array] = [1.0 / np.repeat(level.mass[:, None], 3, 1) for level in hierarchy.levels]

    def shift(self, coupling: "Coupling", times: list[float]) -> None:
        """Give velocities what loads do in ``times`` [s] of the levels: to the middle of a step and back, so
        that constant loads act exactly."""
        for k, nodes in enumerate(coupling.active):
            self.v[k][nodes] += times[k] * coupling.inverse[k][nodes] * self.load[k][nodes]

    def pull(self, level: int, nodes: IntArray) -> None:
        """Values of coarse nodes from the finer level."""
        rows = self.hierarchy.links[level].pull
        for field in (self.d, self.v):
            out = np.empty((len(nodes), 3))
            kernels.interpolate(nodes, rows.first, rows.columns, rows.weights, field[level + 1], out)
            field[level][nodes] = out

    def hang(self, level: int, nodes: IntArray) -> None:
        """Values of fine nodes from their parent tets."""
        link = self.hierarchy.links[level - 1]
        for field in (self.d, self.v):
            kernels.hang(nodes, link.corners, link.weights, field[level - 1], field[level])


class Coupling(Protocol):
    """How levels move together."""

    active: list[IntArray]  # nodes of each level that are simulated
    mass: list[Array]  # [kg] of all levels' nodes, as they move
    inverse: list[Array]  # 1 / mass (n, 3), zero for driven degrees of freedom

    def arrange(self, split: list[BoolArray]) -> None:
        """Take over which nodes are replaced by finer ones."""

    def share(self, values: Array) -> list[Array]:
        """Forces [N] or impulses [N s] on the finest nodes, as their virtual work puts them on simulated ones."""

    def weigh(self) -> None:
        """Bring ``inverse`` up to date with masses and drives."""

    def advance(self, time: float, dt: float, counts: list[int], contacts: Contacts) -> None:
        """Move everything by dt; level k takes ``counts[k]`` steps (powers of two)."""

    def fill(self) -> None:
        """Give every node of every level the values of the finest simulated one there."""

    def limits(self) -> list[float]:
        """Longest step [s] of each level."""

    def energy(self) -> tuple[float, float]:
        """Kinetic and elastic energy [J] of what is simulated."""

    def reactions(self) -> None:
        """Forces of the present state on all simulated nodes, into ``motion.f``."""


def flagged(count: int) -> BoolArray:
    return np.zeros(count, bool)


def limit(critical: float, beta: float) -> float:
    """Longest step of symplectic Euler with ``f = -K (d + beta v)``, with some to spare.

    The limit is ``sqrt(beta^2 + dtc^2) - beta`` where dtc = 2/omega.
    """
    return float(min(0.75 * critical, 0.95 * (np.hypot(beta, critical) - beta)))
