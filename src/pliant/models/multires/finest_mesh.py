"""The finest mesh at given positions, whatever is simulated."""

from abc import ABC

import numpy as np

from pliant.core.typing import Array, BoolArray, IntArray
from pliant.interfaces import FieldData, StableStep, Structure
from pliant.models.critical_step import explicit_limit
from pliant.models.multires import tet_kernels
from pliant.models.multires.hierarchy import Hierarchy
from pliant.models.multires.levels import Level
from pliant.models.tets import fields


class FinestMesh(ABC):
    """What the mechanics of levels inherits to answer for positions of its particles."""

    structure: Structure
    hierarchy: Hierarchy
    damping_time: float

    @property
    def _finest(self) -> Level:
        return self.hierarchy.levels[-1]

    def add_forces(self, x: Array, v: Array, out: Array) -> None:
        level = self._finest
        f = self._forces(np.arange(len(level.tets)), np.arange(level.count), x, v, self.damping_time)[0]
        out += f

    def _forces(
        self, tets: IntArray, nodes: IntArray, x: Array, v: Array, damping: float
    ) -> tuple[Array, Array]:
        """Forces of the listed tets on nodes (n, 3), and tet by tet (m, 4, 3)."""
        level = self._finest
        f, each, weight = np.zeros_like(x), np.zeros((4 * len(level.tets), 3)), np.ones(len(level.tets))
        tet_kernels.tet_forces(tets, nodes, level, weight, x - level.points, v, damping, each, f)
        return f, each.reshape(-1, 4, 3)[tets]

    def energy(self, x: Array) -> float:
        """Elastic energy [J]."""
        level = self._finest
        out = np.zeros(len(level.tets))
        tet_kernels.tet_energies(
            np.arange(len(level.tets)), level.tets, level.gradients, level.volumes, np.ones(len(out)),
            level.operator, level.lam, level.mu, x - level.points, out,
        )  # fmt: skip
        return float(out.sum())

    def kinetic(self, v: Array) -> float:
        """Kinetic energy [J]."""
        return 0.5 * float(np.sum(self.structure.mass[:, None] * v**2))

    def section_force(self, x: Array, above: BoolArray) -> dict[str, tuple[Array, float]]:
        """Forces of the tets that have particles on both sides of a cut."""
        side = above[self._finest.tets]
        cut = np.flatnonzero(side.any(axis=1) & ~side.all(axis=1))
        forces = self._forces(cut, cut[:0], x, np.zeros_like(x), 0.0)[1]
        resultant = (forces * side[cut][:, :, None]).sum(axis=1)
        return {"elastic": (resultant.sum(axis=0), float(np.linalg.norm(resultant, axis=1).sum()))}

    def tet_fields(self, x: Array, names: list[str]) -> dict[str, FieldData]:
        """Strains, stresses and the like of the tets."""
        tets, level = self.structure.cells["tetra"], self._finest
        lame = np.full(len(tets), level.lam), np.full(len(tets), level.mu)
        return fields.tet_fields(x, self.structure.rest, tets, lame, names)

    def finest_step(self) -> StableStep:
        """The largest stable step of the finest mesh alone."""
        return explicit_limit(self, self.structure, self.damping_time)
