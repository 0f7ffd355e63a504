"""All levels of a body with their masses, and the transfers between neighbouring levels."""

import numpy as np

from pliant.core.typing import Array, IntArray
from pliant.models.multires.level_transfer import Containment, LevelTransfer
from pliant.models.multires.levels import Level, LevelMesh
from pliant.structure.mass_scaling import scale_masses


class Hierarchy:
    """All levels, the coarsest first, and the transfers between neighbours.

    containment: where the levels contained each other before any cut; mass (n,) [kg]: of the finest nodes.
    """

    def __init__(
        self,
        meshes: list[LevelMesh],
        containment: list[Containment],
        mass: Array,
        lame: tuple[float, float],
        operator: int,
    ) -> None:
        self.levels = [Level(mesh, lame, operator) for mesh in meshes]
        pairs = zip(self.levels[:-1], self.levels[1:], containment, strict=True)
        self.transfers = [LevelTransfer(coarse, fine, inside) for coarse, fine, inside in pairs]
        self.levels[-1].set_mass(mass)
        for k in range(len(self.transfers) - 1, -1, -1):
            self.levels[k].set_mass(self._restricted_mass(k))

    def _restricted_mass(self, k: int) -> Array:
        """Masses of level k from the next finer level: ``m_j = sum_i w_ij m_i``, w the weights of fine nodes
        i in their parent tets.

        So every level has the body's mass, and a uniform load accelerates all nodes alike. Fine nodes outside
        of coarse tets have negative weights; a node that would get too little gets half of its share of the
        mass of its tets.
        """
        level, transfer, fine = self.levels[k], self.transfers[k], self.levels[k + 1]
        mass = np.bincount(
            transfer.parent_corners.ravel(),
            (transfer.parent_weights * fine.mass[:, None]).ravel(),
            minlength=level.count,
        )
        own = np.bincount(level.tets.ravel(), np.repeat(0.25 * level.volumes, 4), minlength=level.count)
        own *= fine.mass.sum() / own.sum()
        mass = np.maximum(mass, 0.5 * own)
        mass *= fine.mass.sum() / mass.sum()
        return scale_masses(mass, level.nodal_stiffness, level.first, level.columns)


class LevelConnectivity:
    """Parents and children of all nodes, with one number for a node in all levels; level k begins at
    ``first[k]``.

    parent (n,): the nearest node of the next coarser level, -1 at the coarsest; children of node i:
    ``children[children_first[i] : children_first[i + 1]]``; parent_corners, child_corners (n, 4): corners of
    the tets of the next coarser and of the next finer level that contain a node, with weights (zeros where
    there is none). ``tets``: these four arrays, as kernels want them.
    """

    def __init__(self, hierarchy: Hierarchy) -> None:
        levels, transfers = hierarchy.levels, hierarchy.transfers
        counts = [level.count for level in levels]
        first = self.first = np.concatenate([[0], np.cumsum(counts)])
        coarse, fine = (list(zip(begin, transfers, strict=False)) for begin in (first, first[1:]))
        self.parent: IntArray = np.concatenate(
            [np.full(counts[0], -1), *(t.parent_node + a for a, t in coarse)]
        )
        self.children: IntArray = np.concatenate([np.zeros(0, np.int64), *(t.children + b for b, t in fine)])
        sizes = [*(np.diff(t.children_first) for t in transfers), np.zeros(counts[-1], np.int64)]
        self.children_first: IntArray = np.concatenate([[0], np.cumsum(np.concatenate(sizes))]).astype(
            np.int64
        )
        none, last = np.zeros((counts[0], 4)), np.zeros((counts[-1], 4))
        self.parent_corners: IntArray = np.concatenate(
            [none.astype(np.int64), *(t.parent_corners + a for a, t in coarse)]
        )
        self.parent_weights: Array = np.concatenate([none, *(t.parent_weights for t in transfers)])
        self.child_corners: IntArray = np.concatenate(
            [*(t.child_corners + b for b, t in fine), last.astype(np.int64)]
        )
        self.child_weights: Array = np.concatenate([*(t.child_weights for t in transfers), last])

    @property
    def tets(self) -> tuple[IntArray, Array, IntArray, Array]:
        return self.parent_corners, self.parent_weights, self.child_corners, self.child_weights
