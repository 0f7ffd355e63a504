"""Runtime of CPM2 for one body."""

from typing import TYPE_CHECKING

import numpy as np

from pliant.core.typing import Array, BoolArray
from pliant.interfaces import Structure
from pliant.kernels.element_blocks import WIDTH, make_blocks
from pliant.kernels.simd_transpose import aligned
from pliant.models.continuum_particles.cpm2 import kernels
from pliant.models.continuum_particles.cpm2.subfaces import SubFaces, image_weights, isotropic, printed
from pliant.models.continuum_particles.material_mapping import FaceConstants, Form
from pliant.models.continuum_particles.mechanics import ParticleMechanics
from pliant.models.tets import fields

if TYPE_CHECKING:
    from pliant.materials import ResolvedMaterial as Material


class Cpm2Mechanics(ParticleMechanics):
    """Forces and stiffness of six sub-faces per tet."""

    printed_along = 1.0

    def __init__(
        self, structure: Structure, material: "Material", form: Form, constants: FaceConstants
    ) -> None:
        super().__init__(structure, material, form)
        self.constants = constants
        self.cells = make_blocks(self.tets, len(structure.rest))
        self._index = np.ascontiguousarray(self.cells.index.transpose(0, 2, 1)).ravel()
        self._buffer = aligned(np.zeros((len(self.cells.buffer), 4)))
        self._even = isotropic(structure.rest, self.tets)
        self.faces = printed(structure.rest, self.tets) if form == "everts" else self._even
        self.set_constants()

    def set_constants(self) -> None:
        c = self.constants
        if self.form == "everts":
            self._rows = self._printed_rows()
            # products: the symmetric stiffness that comes nearest, half the shear constant
            self._product_rows = self._rest_rows(self._even, c.stretch, 0.5 * c.shear)
        else:
            self._rows = self._product_rows = self._rest_rows(self.faces, c.stretch, c.shear)

    def _rest_rows(self, faces: SubFaces, stretch: Array, shear: Array) -> Array:
        columns, forceful = [self.volumes, self.constants.bulk / self.volumes], [1]
        for f in range(6):
            forceful += [len(columns) + 6, len(columns) + 7]
            constants = (stretch * faces.size[:, f], shear * faces.size[:, f], faces.floor[:, f])
            columns += [*faces.edge_weights[:, f].T, *faces.area_weights[:, f].T, *constants]
        return self._padded(columns, forceful)

    def _printed_rows(self) -> Array:
        c, images = self.constants, image_weights(self.structure.rest, self.tets)
        columns = [self.volumes, c.bulk / self.volumes, c.stretch, c.shear, *images.reshape(-1, 9).T]
        for area in self.faces.size.T:
            columns += [area, (24.0 * area) ** -2.0]
        return self._padded(columns, [1, 2, 3])

    def _padded(self, columns: list[Array], forceful: list[int]) -> Array:
        """Rows of blocks in which padding repeats the tet before it, without the constants that make forces:
        an empty tet would send its block the slow way."""
        rows = self.cells.rows(*columns).reshape(len(self.cells.index), -1, WIDTH)
        real = np.zeros(len(rows) * WIDTH, bool)
        real[self.cells.slots] = True
        source = np.maximum.accumulate(np.where(real, np.arange(len(real)), 0))
        flat = rows.transpose(1, 0, 2).reshape(len(columns), -1)[:, source]
        for column in forceful:
            flat[column, ~real] = 0.0
        shaped = flat.reshape(len(columns), -1, WIDTH).transpose(1, 0, 2)
        return aligned(shaped.reshape(len(rows), -1))

    def add_elastic_forces(self, x: Array, out: Array) -> None:
        c = self.cells
        as_printed, index = self.form == "everts", self._index
        kernels.forces[c.parallel](
            as_printed, c.starts, c.low, c.high, c.offset, index, self._rows, x, self._buffer, out
        )

    def add_stiffness_product(self, x: Array, dx: Array, out: Array) -> None:
        """Add ``K dx`` with the Gauss-Newton stiffness: never negative, exact at rest."""
        c = self.cells
        rows, own = self._product_rows, np.ascontiguousarray(dx)
        kernels.product[c.parallel](
            c.starts, c.low, c.high, c.offset, self._index, rows, x, own, self._buffer, out
        )

    def face_stiffness(self) -> tuple[Array, Array, Array]:
        c, size = self.constants, self.faces.size
        stretch, shear = (size * c.stretch[:, None]).ravel(), (size * c.shear[:, None]).ravel()
        return stretch, shear, self.faces.floor.ravel()

    def face_vectors(self, x: Array) -> tuple[Array, Array]:
        m, n = self.faces.vectors(x, self.tets)
        return m.reshape(-1, 3), n.reshape(-1, 3)

    def printed_sides(self, above: BoolArray) -> Array:
        side = above[self.tets].astype(float)
        return np.asarray(side[:, kernels.FIRST] - side[:, kernels.SECOND]).ravel()

    def face_shifts(self, x: Array, above: BoolArray) -> tuple[Array, Array]:
        """A sub-face follows all four particles of its tet."""
        side = above[self.tets].astype(float)
        shift = side[:, 1:] - side[:, :1]  # of a, b, c when the particles above move
        edges = fields.edge_matrices(x, self.tets).transpose(0, 2, 1)
        a, b = edges[:, [1, 2, 0]], edges[:, [2, 0, 1]]  # A_k = a x b
        arm = shift[:, [1, 2, 0], None] * b - shift[:, [2, 0, 1], None] * a  # dA_k = e x arm
        arms = np.einsum("mfk,mkc->mfc", self.faces.area_weights, arm).reshape(-1, 3)
        return np.einsum("mfk,mk->mf", self.faces.edge_weights, shift).ravel(), arms
