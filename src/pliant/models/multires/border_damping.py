"""Stiffness damping of the coupling ``schwarz``: more of it at borders to coarser levels."""

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from pliant.core.typing import AnyArray, Array, BoolArray, IntArray
from pliant.models.multires import border_damping_kernels, transfer_kernels
from pliant.models.multires.border_damping_kernels import RimRows
from pliant.models.multires.coupling import damped_step, largest_damping
from pliant.models.multires.hierarchy import Hierarchy
from pliant.models.multires.level_state import LevelState, flagged, stack_nodes
from pliant.models.multires.levels import DEBUNNE
from pliant.models.multires.node_roles import ACTIVE

STIFFNESS_DAMPING = 0.25  # of a level's critical step
EDGES = 4  # of a level's own, about two of the coarser one's: how deep the layer at a border is


class DampingTable(NamedTuple):
    """Damping as the compiled loop wants it: beta (n,) [s] of all nodes; the rim of layers, where each
    level's rim begins, and the beta [s] that each level's layer has beyond its level's."""

    node_beta: Array
    rim: RimRows
    rim_first: IntArray
    extra_beta: Array


class BorderDamping:
    r"""Damping forces :math:`-\sum_t \beta_t K_t v` over the tets t of each level.

    Away from borders beta is a quarter of the level's critical step. Waves that the coarser mesh cannot carry
    would be reflected by the border. So the tets within a few edges of it are damped as much as the coarser
    level is, or as a mesh of its edge length and their shape would be; less where the step does not allow
    that: the layer costs no updates.

    level_beta, layer_beta: beta [s] of each level, and that of its layer at the present step; node_beta: of
    each level's nodes, where all their tets have the same, else level_beta. The latter are the rim of the
    layer, and have stiffness rows of the layer's tets of their own.
    """

    def __init__(self, hierarchy: Hierarchy, motion: LevelState, material: float, published: bool) -> None:
        levels, share = hierarchy.levels, 0.0 if published else STIFFNESS_DAMPING
        self.hierarchy, self._motion, self._published = hierarchy, motion, published
        self.level_beta = [material + share * level.critical_step for level in levels]
        self._most = [self.level_beta[0]]
        for coarse, fine in pairwise(levels):
            as_coarse = max(
                coarse.critical_step, fine.critical_step * max(1.0, coarse.spacing / fine.spacing)
            )
            self._most.append(material + share * as_coarse)
        self.layer_beta = list(self.level_beta)
        self._stacked_beta: Array = np.repeat(self.level_beta, [level.count for level in levels])
        self.node_beta = motion.by_level(self._stacked_beta)
        self.tets: list[BoolArray] = [flagged(len(level.tets)) for level in levels]  # whether in the layer
        self._inner: list[IntArray] = [np.zeros(0, np.int64) for _ in levels]
        self._marks = flagged(len(self._stacked_beta))
        self._rings: list[IntArray] = [np.full(level.count, EDGES + 1) for level in levels]

    def stable_steps(self) -> list[float]:
        """Largest stable step [s] of each level."""
        levels = self.hierarchy.levels
        return [damped_step(v.critical_step, beta) for v, beta in zip(levels, self.level_beta, strict=True)]

    def build_layers(self, ghosts: list[IntArray], role: list[AnyArray]) -> None:
        """Put layers around these ghosts; role: of each level's nodes, see ``node_roles``."""
        nodes, begins, blocks = [], [np.zeros(1, np.int64)], [np.zeros((0, 3, 3))]
        if self._published:
            ghosts = [some[:0] for some in ghosts]
        for k, level in enumerate(self.hierarchy.levels):
            self.node_beta[k][self._inner[k]] = self.level_beta[k]
            self.tets[k][:] = False
            incident = (level.incident_first, level.incident)
            reached, last = border_damping_kernels.rings_around(
                ghosts[k], level.first, level.columns, EDGES, role[k], self._rings[k]
            )
            inner, rim = reached[:last], reached[last:]
            rim = rim[role[k][rim] == ACTIVE]
            transfer_kernels.mark_tets(inner, *incident, self.tets[k])
            begin, own = border_damping_kernels.partial_rows(
                rim, level.first, level.columns, *incident, level.tets, level.gradients, level.volumes,
                self.tets[k], level.operator == DEBUNNE, level.lam, level.mu,
            )  # fmt: skip
            self._inner[k] = inner
            nodes.append(rim)
            begins.append(begin[1:] + sum(len(some) for some in blocks))
            blocks.append(own)
        rims, self._rim_first = stack_nodes(nodes, self._motion.first)
        self._rim = RimRows(rims, np.concatenate(begins), np.concatenate(blocks))

    def limit_to_steps(self, steps: list[float]) -> None:
        """Damp the layers as much as these steps [s] of the levels allow."""
        for k, (level, nodes) in enumerate(zip(self.hierarchy.levels, self._inner, strict=True)):
            allowed = largest_damping(level.critical_step, steps[k])
            self.layer_beta[k] = max(self.level_beta[k], min(self._most[k], allowed))
            self.node_beta[k][nodes] = self.layer_beta[k]

    @property
    def _extra_beta(self) -> Array:
        return np.subtract(self.layer_beta, self.level_beta)

    @property
    def table(self) -> DampingTable:
        return DampingTable(self._stacked_beta, self._rim, self._rim_first, self._extra_beta)

    def add_rim_damping(self, k: int, nodes: IntArray, first: IntArray, columns: IntArray) -> None:
        """Add the damping of the layer's tets to the forces on those of level k's nodes that are on its rim;
        first, columns: sparse rows of all levels."""
        v, f = self._motion.stacked[1:3]
        border_damping_kernels.add_listed_rim_damping(
            *self._rim_first[k : k + 2], nodes + self._motion.first[k], self._rim, first, columns, v,
            self._extra_beta[k], self._marks, f,
        )  # fmt: skip
