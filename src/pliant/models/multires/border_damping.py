"""Stiffness damping of the coupling ``schwarz``: more of it at borders to coarser levels."""

from itertools import pairwise
from typing import Any

import numpy as np

from pliant.core.typing import AnyArray, Array, BoolArray, IntArray
from pliant.models.multires import border_damping_kernels, transfer_kernels
from pliant.models.multires.hierarchy import Hierarchy
from pliant.models.multires.level_state import LevelState, damping_scratch, flagged, laid_out, limit
from pliant.models.multires.levels import DEBUNNE
from pliant.models.multires.node_roles import ACTIVE

STIFFNESS_DAMPING = 0.25  # of a level's critical step
EDGES = 4  # of a level's own, about two of the coarser one's: how deep the layer at a border is


class BorderDamping:
    r"""Forces of damping, :math:`-\sum_t \beta_t K_t v` over the tets t of each level.

    Away from borders beta is a quarter of the level's critical step. What the coarser mesh cannot carry would
    be thrown back by the border. So the tets within a few edges of it are damped as much as the coarser level
    is, or as a mesh of its edge length and their shape would be: waves meet its viscosity before they meet
    its mesh. It is less where the step leaves no room for that: the layer costs no updates.

    base, tops: beta [s] of each level, and that of its layer at the present step; rows: of the nodes of all
    levels, end to end, where all their tets have the same, else base. Those nodes, at the ``edge`` of the
    layer, have stiffness rows of the layer's tets of their own.
    """

    def __init__(self, hierarchy: Hierarchy, motion: LevelState, material: float, printed: bool) -> None:
        levels, share = hierarchy.levels, 0.0 if printed else STIFFNESS_DAMPING
        self.hierarchy, self._motion, self._printed = hierarchy, motion, printed
        self.base = [material + share * level.critical for level in levels]
        self._most = [self.base[0]]
        for coarse, fine in pairwise(levels):
            as_coarse = max(coarse.critical, fine.critical * max(1.0, coarse.spacing / fine.spacing))
            self._most.append(material + share * as_coarse)
        self.tops = list(self.base)
        self.rows: Array = np.repeat(self.base, [level.count for level in levels])
        self.of_level: list[Array] = motion.parts(self.rows)
        self.tets: list[BoolArray] = [flagged(len(level.tets)) for level in levels]  # whether in the layer
        self._inner: list[IntArray] = [np.zeros(0, np.int64) for _ in levels]
        self._marks = flagged(len(self.rows))
        self._rings: list[IntArray] = [np.full(level.count, EDGES + 1) for level in levels]

    def limits(self) -> list[float]:
        """Longest step [s] of each level."""
        levels = self.hierarchy.levels
        return [limit(level.critical, beta) for level, beta in zip(levels, self.base, strict=True)]

    def lay(self, ghosts: list[IntArray], standing: list[AnyArray]) -> None:
        """Put layers around these ghosts; standing: how nodes do, see ``arrangement``."""
        nodes, begins, blocks = [], [np.zeros(1, np.int64)], [np.zeros((0, 3, 3))]
        if self._printed:
            ghosts = [some[:0] for some in ghosts]
        for k, level in enumerate(self.hierarchy.levels):
            self.of_level[k][self._inner[k]] = self.base[k]
            self.tets[k][:] = False
            around = (level.around_first, level.around)
            reached, last = border_damping_kernels.rings_around(
                ghosts[k], level.first, level.columns, EDGES, standing[k], self._rings[k]
            )
            inner, edge = reached[:last], reached[last:]
            edge = edge[standing[k][edge] == ACTIVE]
            transfer_kernels.mark_tets(inner, *around, self.tets[k])
            begin, own = border_damping_kernels.partial_rows(
                edge, level.first, level.columns, *around, level.tets, level.gradients, level.volumes,
                self.tets[k], level.operator == DEBUNNE, level.lam, level.mu,
            )  # fmt: skip
            self._inner[k] = inner
            nodes.append(edge)
            begins.append(begin[1:] + sum(len(some) for some in blocks))
            blocks.append(own)
        edges, self._edge_first = laid_out(nodes, self._motion.first)
        self._edge = (edges, np.concatenate(begins), np.concatenate(blocks))

    def follow(self, steps: list[float]) -> None:
        """Damp the layers as much as these steps of the levels allow."""
        for k, (level, nodes) in enumerate(zip(self.hierarchy.levels, self._inner, strict=True)):
            self.tops[k] = max(self.base[k], min(self._most[k], damping_scratch(level.critical, steps[k])))
            self.of_level[k][nodes] = self.tops[k]

    @property
    def more(self) -> Array:
        """What layers have beyond their levels [s]."""
        return np.subtract(self.tops, self.base)

    @property
    def table(self) -> Any:
        """As the compiled loop wants it: beta of nodes; nodes at the edge of layers, with their rows; where
        each level's begin; what layers have beyond their levels."""
        return self.rows, self._edge, self._edge_first, self.more

    def damp_edge(self, k: int, nodes: IntArray, first: IntArray, columns: IntArray) -> None:
        """Add what the layer's tets take from those of level k's nodes that are at its edge; first, columns:
        sparse rows of all levels."""
        v, f = self._motion.whole[1:3]
        border_damping_kernels.damp_listed(
            *self._edge_first[k : k + 2], nodes + self._motion.first[k], self._edge, first, columns, v,
            self.more[k], self._marks, f,
        )  # fmt: skip
