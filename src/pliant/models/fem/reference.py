"""The rest state of a fem body as its kernels read it."""

from typing import TYPE_CHECKING

import numpy as np

from pliant.core.typing import Array
from pliant.interfaces import Structure
from pliant.kernels.element_blocks import WIDTH, ElementBlocks, make_blocks
from pliant.mesh.mesh import tet_volumes
from pliant.models.fem.law_blocks import PLASTIC
from pliant.models.regions import lame_per_cell, per_cell
from pliant.models.tets.fields import edge_matrices
from pliant.models.tets.stiffness import isotropic_stiffness

if TYPE_CHECKING:
    from pliant.materials import ResolvedMaterial as Material

PLASTIC_COLUMN = PLASTIC // WIDTH


class ReferenceTets:
    """Tets in blocks with their rest rows: ``D_m^-1`` (9), V mu, V lambda; if ``full``, also the 21
    constants of V C and the plastic strain (6).

    Quadratic tets come with ``blocks`` of their own and several ``points`` of integration, each with its
    share of V.
    """

    def __init__(
        self,
        structure: Structure,
        material: "Material",
        full: bool,
        blocks: ElementBlocks | None = None,
        points: int = 1,
    ) -> None:
        self.full = full
        self.tets = structure.cells["tetra"]
        self.volumes = tet_volumes(structure.rest, self.tets)
        self.weights = self.volumes / points
        self._points = structure.rest
        self.lame = lame_per_cell(structure, material)
        self._anisotropic: Array | None = (
            per_cell(structure, material, lambda own: own.stiffness())
            if material.anisotropic or any(region.moduli for region in material.regions or ())
            else None
        )
        self.blocks = blocks or make_blocks(self.tets, len(structure.rest))
        lam, mu = self.lame
        self.first_inverse: Array = np.linalg.inv(self.edges).astype(np.float64)
        columns = [*self.first_inverse.reshape(-1, 9).T, self.weights * mu, self.weights * lam]
        if full:
            upper = self.stiffness[:, *np.triu_indices(6)] * self.weights[:, None]
            columns += [*upper.T, *np.zeros((6, len(self.tets)))]
        self.rows = self.blocks.rows(*columns)
        self._slot_of = np.empty(len(self.tets), np.int64)
        self._slot_of[self.blocks.order] = self.blocks.slots

    def read(self, first: int, count: int) -> Array:
        """Columns of the rest rows per tet, (m, count)."""
        lanes = self.rows.reshape(len(self.rows), -1, WIDTH).transpose(0, 2, 1)
        return lanes[self._slot_of // WIDTH, self._slot_of % WIDTH, first : first + count]

    def write(self, first: int, values: Array) -> None:
        """Set columns of the rest rows from values per tet (m, count)."""
        table = self.rows.reshape(len(self.rows), -1, WIDTH)
        for c, column in enumerate(values.T):
            table[self._slot_of // WIDTH, first + c, self._slot_of % WIDTH] = column

    def drop_lambda(self) -> None:
        """Leave Lame's lambda out (isotropic tets)."""
        lam, mu = np.zeros(len(self.tets)), self.lame[1]
        self.lame = (lam, mu)
        self.write(10, lam[:, None])
        if self.full:
            self.write(11, self.stiffness[:, *np.triu_indices(6)] * self.weights[:, None])

    @property
    def stiffness(self) -> Array:
        """Stiffness of each tet in Voigt's order (m, 6, 6) [Pa]; made when it is asked for if isotropic."""
        own = self._anisotropic
        return isotropic_stiffness(*self.lame) if own is None else own

    @property
    def edges(self) -> Array:
        """Edges of the tets at rest as columns, (m, 3, 3) [m]."""
        return edge_matrices(self._points, self.tets)

    def per_tet(self, lanes: Array) -> Array:
        """Values (blocks, 16) in the order of the tets (m,)."""
        return np.asarray(lanes.ravel()[self._slot_of])

    @property
    def inverse(self) -> Array:
        """``D_m^-1`` of each tet (m, 3, 3) [1/m]: the present rest shape, after plastic flow."""
        return self.read(0, 9).reshape(-1, 3, 3)

    @property
    def plastic_strain(self) -> Array:
        """Additive plastic strain (m, 6), xx, yy, zz, yz, xz, xy (tensor components)."""
        return self.read(PLASTIC_COLUMN, 6) if self.full else np.zeros((len(self.tets), 6))
