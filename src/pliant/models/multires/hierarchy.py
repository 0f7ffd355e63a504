"""All levels of a body with their masses, and the links between them."""

import numpy as np

from pliant.core.typing import Array
from pliant.models.multires.level_transfer import Containment, LevelTransfer
from pliant.models.multires.levels import Level, LevelMesh
from pliant.structure.mass_scaling import scale_masses


class Hierarchy:
    """All levels, the coarsest first, and the links between neighbours; homes: where they held each other
    when whole."""

    def __init__(
        self,
        meshes: list[LevelMesh],
        homes: list[Containment],
        mass: Array,
        lame: tuple[float, float],
        operator: int,
    ) -> None:
        self.levels = [Level(mesh, lame, operator) for mesh in meshes]
        pairs = zip(self.levels[:-1], self.levels[1:], homes, strict=True)
        self.links = [LevelTransfer(coarse, fine, home) for coarse, fine, home in pairs]
        self.levels[-1].set_mass(mass)
        for k in range(len(self.links) - 1, -1, -1):
            self.levels[k].set_mass(self._handed_up(k))

    def _handed_up(self, k: int) -> Array:
        """Masses of level k: those of the next finer one, shared out by its weights in parent tets.

        So every level has the body's mass, and a uniform load accelerates all nodes alike. Nodes that would
        get too little (fine nodes outside of coarse tets have negative weights) get a share of their tets'.
        """
        level, link, fine = self.levels[k], self.links[k], self.levels[k + 1]
        handed = np.bincount(
            link.corners.ravel(), (link.weights * fine.mass[:, None]).ravel(), minlength=level.count
        )
        own = np.bincount(level.tets.ravel(), np.repeat(0.25 * level.volumes, 4), minlength=level.count)
        own *= fine.mass.sum() / own.sum()
        mass = np.maximum(handed, 0.5 * own)
        mass *= fine.mass.sum() / mass.sum()
        return scale_masses(mass, level.firmness, level.first, level.columns)
