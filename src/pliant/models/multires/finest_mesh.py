"""Forces and energy of the finest mesh at given positions, whatever is simulated."""

import numpy as np

from pliant.core.typing import Array, BoolArray, IntArray
from pliant.interfaces import FieldData
from pliant.models.multires import tet_kernels
from pliant.models.multires.levels import Level
from pliant.models.tets import fields
from pliant.models.tets.fields import crossing, resultant


class FinestMesh:
    """The finest level as one mesh of all particles; x, v: their positions and velocities, (n, 3)."""

    def __init__(self, level: Level) -> None:
        self._level = level

    def add_forces(self, x: Array, v: Array, damping: float, out: Array, factor: float = 1.0) -> None:
        """Add ``factor`` times the forces [N] of all tets, with stiffness damping beta ``damping`` [s], to
        ``out``."""
        level = self._level
        out += factor * self._forces(np.arange(len(level.tets)), np.arange(level.count), x, v, damping)[0]

    def _forces(
        self, tets: IntArray, nodes: IntArray, x: Array, v: Array, damping: float
    ) -> tuple[Array, Array]:
        """Forces of the listed tets on nodes (n, 3), and tet by tet (m, 4, 3)."""
        level = self._level
        f, each, weight = np.zeros_like(x), np.zeros((4 * len(level.tets), 3)), np.ones(len(level.tets))
        tet_kernels.tet_forces(tets, nodes, level, weight, x - level.points, v, damping, each, f)
        return f, each.reshape(-1, 4, 3)[tets]

    def energy(self, x: Array) -> float:
        """Elastic energy [J]."""
        level = self._level
        out = np.zeros(len(level.tets))
        tet_kernels.tet_energies(
            np.arange(len(level.tets)), level.tets, level.gradients, level.volumes, np.ones(len(out)),
            level.operator, level.lam, level.mu, x - level.points, out,
        )  # fmt: skip
        return float(out.sum())

    def kinetic_energy(self, v: Array) -> float:
        """Kinetic energy [J]."""
        return 0.5 * float(np.sum(self._level.mass[:, None] * v**2))

    def section_force(self, x: Array, above: BoolArray) -> dict[str, tuple[Array, float]]:
        """Forces of the tets that have particles on both sides of a section."""
        cut, side = crossing(self._level.tets, above)
        return {"elastic": resultant(self._forces(cut, cut[:0], x, np.zeros_like(x), 0.0)[1], side)}

    def fields(self, x: Array, names: list[str]) -> dict[str, FieldData]:
        """Strains, stresses and the like of the tets."""
        level = self._level
        lame = np.full(len(level.tets), level.lam), np.full(len(level.tets), level.mu)
        return fields.tet_fields(x, level.points, level.tets, lame, names)
