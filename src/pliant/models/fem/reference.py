"""The rest state of a fem body as its kernels read it."""

from typing import TYPE_CHECKING

import numpy as np

from pliant.core.typing import Array, IntArray
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
    share of V. flowing: each point has a row of its own, one after the other in each block, because plastic
    flow makes them differ.
    """

    def __init__(
        self,
        structure: Structure,
        material: "Material",
        full: bool,
        blocks: ElementBlocks | None = None,
        points: int = 1,
        flowing: bool = False,
    ) -> None:
        self.full, self.points, self._kept = full, points, points if flowing else 1
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
        self.rows = self.point_rows(*columns)
        self._slot_of = np.empty(len(self.tets), np.int64)
        self._slot_of[self.blocks.order] = self.blocks.slots

    def point_rows(self, *columns: Array) -> Array:
        """Rows of columns (m,), repeated for the points that have rows of their own."""
        return np.ascontiguousarray(np.repeat(self.blocks.rows(*columns), self._kept, axis=0))

    def _table(self) -> Array:
        """The rows as (blocks, points, columns, 16)."""
        return self.rows.reshape(-1, self._kept, self.rows.shape[1] // WIDTH, WIDTH)

    def read(self, first: int, count: int) -> Array:
        """Columns of the rest rows per tet and point, (m, points, count)."""
        lanes = self._table().transpose(0, 3, 1, 2)
        return lanes[self._slot_of // WIDTH, self._slot_of % WIDTH, :, first : first + count]

    def write(self, first: int, values: Array) -> None:
        """Set columns of the rest rows from values (m, points, count), or (m, 1, count) for all points."""
        table, many = self._table(), np.broadcast_to(values, (len(values), self._kept, values.shape[2]))
        for p in range(self._kept):
            for c in range(values.shape[2]):
                table[self._slot_of // WIDTH, p, first + c, self._slot_of % WIDTH] = many[:, p, c]

    def drop_lambda(self) -> None:
        """Leave Lame's lambda out (isotropic tets)."""
        lam, mu = np.zeros(len(self.tets)), self.lame[1]
        self.lame = (lam, mu)
        self.write(10, lam[:, None, None])
        if self.full:
            upper = self.stiffness[:, *np.triu_indices(6)] * self.weights[:, None]
            self.write(11, upper[:, None])

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

    def per_point(self, lanes: Array) -> Array:
        """Values (blocks * points, 16) in the order of the tets (m, points)."""
        by_lane = lanes.reshape(-1, self._kept, WIDTH).transpose(0, 2, 1).reshape(-1, self._kept)
        return np.asarray(by_lane[self._slot_of])

    def point_lanes(self, values: Array) -> Array:
        """The inverse of ``per_point``; one value per tet (m,) serves all points."""
        each = np.broadcast_to(values.reshape(len(values), -1), (len(values), self._kept))
        return np.stack([self.blocks.rows(column) for column in each.T], axis=1).reshape(-1, WIDTH)

    @property
    def inverses(self) -> Array:
        """``D_m^-1`` (m, points, 3, 3) [1/m] of the present rest shape, after plastic flow; one for all
        points of a tet that cannot flow."""
        found = self.read(0, 9)
        return found.reshape(*found.shape[:2], 3, 3)

    def inverse_at(self, point: IntArray | int, which: IntArray) -> Array:
        """Those of the tets ``which`` at a point of integration of each, (k, 3, 3)."""
        return self.inverses[which, np.minimum(point, self._kept - 1)]

    @property
    def plastic_strains(self) -> Array:
        """Additive plastic strain (m, points, 6), xx, yy, zz, yz, xz, xy (tensor components)."""
        shape = (len(self.tets), self._kept, 6)
        return self.read(PLASTIC_COLUMN, 6) if self.full else np.zeros(shape)

    def plastic_strain_at(self, point: IntArray | int, which: IntArray) -> Array:
        """That of the tets ``which`` at a point of integration of each, (k, 6)."""
        return self.plastic_strains[which, np.minimum(point, self._kept - 1)]
