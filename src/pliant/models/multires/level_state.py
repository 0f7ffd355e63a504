"""The state of motion of all levels: displacements, velocities, forces and loads."""

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from pliant.core.typing import Array, BoolArray, IntArray
from pliant.models.multires import transfer_kernels
from pliant.models.multires.hierarchy import Hierarchy, LevelConnectivity
from pliant.models.multires.levels import CsrRows

_Scalar = TypeVar("_Scalar", bound=np.generic)


class LevelState:
    """Displacement d [m], velocity v [m/s] and force f [N] of every level's nodes, (n, 3) each.

    load: external forces [N] on active nodes; inverse: 1 / mass [1/kg] of the level's nodes, zero for
    prescribed degrees of freedom. These five are lists of one array per level, views of the arrays in
    ``stacked``, which hold all levels end to end: level k begins at ``first[k]``.
    """

    def __init__(self, hierarchy: Hierarchy) -> None:
        self.hierarchy, self.connectivity = hierarchy, LevelConnectivity(hierarchy)
        self.first = self.connectivity.first
        self.stacked: list[Array] = [np.zeros((int(self.first[-1]), 3)) for _ in range(5)]
        self.d, self.v, self.f, self.load, self.inverse = (self.by_level(array) for array in self.stacked)
        for inverse, level in zip(self.inverse, hierarchy.levels, strict=True):
            inverse[:] = 1.0 / level.mass[:, None]

    def by_level(self, stacked: NDArray[_Scalar]) -> list[NDArray[_Scalar]]:
        """The rows of each level in an array that holds all levels, as views."""
        return [stacked[a:b] for a, b in zip(self.first[:-1], self.first[1:], strict=True)]

    def copy_from(self, old: "LevelState", parents: list[IntArray]) -> None:
        """Take d, v and f of the nodes of another state that each level's nodes continue."""
        for own, before in ((self.d, old.d), (self.v, old.v), (self.f, old.f)):
            for values, source, rows in zip(own, before, parents, strict=True):
                values[:] = source[rows]

    def split_by_level(self, nodes: IntArray, begins: IntArray) -> list[IntArray]:
        """A list of nodes of all levels as lists in the numbers of each level; level k begins at
        ``begins[k]``."""
        spans = zip(self.first, begins[:-1], begins[1:], strict=False)
        return [nodes[a:b] - first for first, a, b in spans]

    def stacked_rows(self, rows: list[CsrRows], towards: int) -> tuple[IntArray, IntArray, Array]:
        """Sparse rows of all levels end to end; columns are nodes of the level ``towards`` levels further."""
        places = [np.zeros(1, np.int64)]
        columns = []
        for k, some in enumerate(rows):
            places.append(some.first[1:] + places[-1][-1])
            columns.append(some.columns + (self.first[k + towards] if len(some.columns) else 0))
        return np.concatenate(places), np.concatenate(columns), np.concatenate([r.weights for r in rows])

    def restrict(self, level: int, nodes: IntArray) -> None:
        """Set the values of nodes of ``level`` from the finer level by quadratic interpolation."""
        self._interpolate(nodes, self.hierarchy.transfers[level].restriction, level + 1, level)

    def prolongate(self, level: int, nodes: IntArray) -> None:
        """Set the values of nodes of ``level`` from the coarser level by quadratic interpolation."""
        self._interpolate(nodes, self.hierarchy.transfers[level - 1].prolongation, level - 1, level)

    def _interpolate(self, nodes: IntArray, rows: CsrRows, source: int, target: int) -> None:
        d, v = self.d, self.v
        transfer_kernels.interpolate_rows(
            0, len(nodes), nodes, rows.table, d[source], v[source], d[target], v[target], False
        )

    def interpolate_in_parents(self, level: int, flags: BoolArray) -> None:
        """Set the values of flagged nodes from their parent tets, ``u = sum_q w_q u_q``."""
        t, d, v, coarse = self.hierarchy.transfers[level - 1], self.d, self.v, level - 1
        transfer_kernels.interpolate_flagged(
            0, len(flags), flags, t.parent_corners, t.parent_weights, d[coarse], v[coarse], d[level], v[level]
        )

    def interpolate_in_children(self, level: int, nodes: IntArray) -> None:
        """Set the values of nodes from their child tets in the finer level, ``u = sum_q w_q u_q``."""
        t, d, v, fine = self.hierarchy.transfers[level], self.d, self.v, level + 1
        transfer_kernels.interpolate_constrained(
            0, len(nodes), nodes, t.child_corners, t.child_weights, d[fine], v[fine], d[level], v[level]
        )


def stack_nodes(nodes: list[IntArray], first: IntArray) -> tuple[IntArray, IntArray]:
    """Lists of each level's nodes as one list in the numbers of arrays that hold all levels, where level k
    begins at ``first[k]``; and the place in this list where each level begins."""
    begin = np.concatenate([[0], np.cumsum([len(some) for some in nodes])])
    return np.concatenate([some + a for some, a in zip(nodes, first, strict=False)]), begin


def flagged(count: int) -> BoolArray:
    """Flags (count,), none of them set."""
    return np.zeros(count, bool)
