"""The sampler for meshless models: phyxels on a lattice, a body-centred lattice, an octree or in slices."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from pliant.core.errors import MeshError
from pliant.core.typing import Array, BoolArray, IntArray
from pliant.embedding.mls import carried_by_phyxels
from pliant.interfaces import Geometry, Structure
from pliant.mesh.edge_length import MOST_PARTICLES, particles
from pliant.mesh.mesh import Surface

if TYPE_CHECKING:
    from pliant.materials import ResolvedMaterial as Material
    from pliant.structure.samplers.phyxels.lattices import InsideTest

Sampling = Literal["lattice", "bcc", "octree", "stencil"]
Spread = tuple[Array, BoolArray, float]
USUAL = 1200  # phyxels unless a count or an edge length is given
FEWEST = 8
LIGHTEST = 0.02  # of spacing^3: phyxels with less volume are left out
TRIES = 8
_BITS = 20


@dataclass(frozen=True)
class PhyxelSampler:
    """Fills a closed surface with phyxels, in the body's own axes.

    sampling: "lattice" and "bcc" put a layer of phyxels on the surface; "octree" is [Stegmayr2008]_ table
    3.1, finer at the surface, "stencil" his table 3.2, a lattice of cells (``stencil.py``).
    count: how many phyxels, about; None: as the body's edge says.
    """

    sampling: Sampling = "lattice"
    count: int | None = None

    def sample(self, geometry: Geometry, material: "Material") -> Structure:
        from pliant.structure.samplers.phyxels.lattices import InsideTest, relaxed

        surface = geometry.surface()
        scale = abs(float(np.linalg.det(geometry.linear))) ** (1 / 3)
        back = np.linalg.inv(geometry.linear)
        own = Surface((surface.points - geometry.position) @ back.T, surface.triangles)
        solid = InsideTest(own)
        volume = geometry.volume()
        if self.count is None and geometry.edge is not None:
            points, free, spacing = self._spaced(solid, geometry.edge / scale)
        else:
            usual = USUAL if volume is None else len(volume.points)
            points, free, spacing = self._counted(solid, self.count or usual)
        points = relaxed(points, free, solid, spacing)
        points, volumes = _with_volumes(points, solid, spacing, 2.0 if self.sampling == "octree" else 1.0)
        order = along_curve(points, spacing)
        rest = points[order] @ geometry.linear.T + geometry.position
        return Structure(
            rest=rest,
            mass=material.density * scale**3 * volumes[order],
            cells={},
            groups={},
            spacing=scale * spacing,
            carrier=carried_by_phyxels(surface, rest),
        )

    def _spaced(self, solid: "InsideTest", spacing: float) -> Spread:
        """Phyxels about ``spacing`` apart, which of them may be moved, and the spacing they have."""
        if spacing > float(np.linalg.norm(solid.extent)):
            raise MeshError(
                f"A spacing of {spacing:.4g} is larger than the whole body.",
                hint="Give a smaller edge, or a count of particles.",
            )
        if particles(solid.volume, solid.area, spacing) > MOST_PARTICLES:
            raise MeshError(
                f"A spacing of {spacing:.4g} gives more than {MOST_PARTICLES} phyxels.",
                hint="Give a larger edge, or a count of particles. Is the file in another unit?",
            )
        if self.sampling == "octree":
            from pliant.structure.samplers.phyxels.lattices import divisions_for, octree_centres

            points, found = octree_centres(solid, *divisions_for(solid, spacing))
            return points, np.zeros(len(points), bool), found
        if self.sampling == "stencil":
            from pliant.structure.samplers.phyxels.stencil import stencil_centres

            points, found = stencil_centres(solid, spacing)
            return points, np.zeros(len(points), bool), found
        from pliant.structure.samplers.phyxels.lattices import centred_nodes, cubic_nodes, fitted

        nodes = (cubic_nodes if self.sampling == "lattice" else centred_nodes)(solid, spacing)
        return *fitted(nodes, solid, spacing), spacing

    def _counted(self, solid: "InsideTest", count: int) -> Spread:
        """The sampling whose number of phyxels is nearest to ``count``, as far as a few tries find it."""
        spacing = float(np.cbrt(solid.volume / count))
        best: Spread | None = None
        for _ in range(TRIES):
            found = self._spaced(solid, spacing)
            if best is None or abs(len(found[0]) - count) < abs(len(best[0]) - count):
                best = found
            if len(best[0]) == count:
                break
            step = np.cbrt(len(found[0]) / count) if len(found[0]) else 0.7
            spacing *= float(np.clip(step, 0.7, 1.4))
        assert best is not None
        return best


def _with_volumes(points: Array, solid: "InsideTest", spacing: float, coarser: float) -> tuple[Array, Array]:
    """The phyxels that have a volume worth simulating, and these volumes [m3], by ``coarser`` voxels."""
    from pliant.structure.samplers.phyxels.lattices import shares

    if len(points) >= FEWEST:
        volumes = shares(points, solid, coarser * spacing)
        light = volumes < LIGHTEST * spacing**3
        if not light.any():
            return points, volumes
        points = points[~light]
        if len(points) >= FEWEST:
            return points, shares(points, solid, coarser * spacing)
    raise MeshError(
        f"The body gets only {len(points)} particles, too few for a body.",
        hint="Give a smaller edge, or a count of some hundreds.",
    )


def along_curve(points: Array, spacing: float) -> IntArray:
    """The points sorted along Morton's curve through cells of ``spacing``; ties keep their order."""
    cells = np.floor((points - points.min(axis=0)) / spacing + 0.37).astype(np.uint64)  # off every lattice
    code = np.zeros(len(points), np.uint64)
    for bit in range(_BITS):
        for axis in range(3):
            code |= ((cells[:, axis] >> np.uint64(bit)) & np.uint64(1)) << np.uint64(3 * bit + axis)
    return np.argsort(code, kind="stable")
