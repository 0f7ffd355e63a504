r"""Runtime of CPM2 for one body, and the six sub-faces of each tet at rest.

For Hooke's law without lambda a face of normal n holds the energy :math:`\mu w |\varepsilon n|^2` at small
strains, so a tet is isotropic, and exactly the linear tet of finite elements, if
:math:`\sum w\, n n^T = V I` over its faces. The sub-faces have :math:`w = A_0 h_0 = V/2` each, which gives
:math:`V T` with T near I, but not I. The variational form therefore turns the normals: with
:math:`\tilde n = T^{-1/2} n` in place of n, and w grown by :math:`|\tilde n|^2`, the sum is exact for
any tet. The printed form keeps the faces of [Everts2006]_.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from pliant.core.typing import Array, BoolArray, IntArray
from pliant.interfaces import FieldData, Structure
from pliant.kernels.element_blocks import WIDTH, make_blocks
from pliant.kernels.simd_transpose import aligned
from pliant.models.continuum_particles.cpm2 import kernels
from pliant.models.continuum_particles.cpm2.anisotropy import AnisotropicTerm
from pliant.models.continuum_particles.cpm2.kernels import FIRST, SECOND
from pliant.models.continuum_particles.face_law import FLAT
from pliant.models.continuum_particles.material_mapping import FaceConstants, Form
from pliant.models.continuum_particles.mechanics import ParticleMechanics
from pliant.models.tets import fields
from pliant.models.tets.fields import edge_matrices, volume_gradients

if TYPE_CHECKING:
    from scipy.sparse import bsr_array

    from pliant.materials import ResolvedMaterial as Material


@dataclass(frozen=True)
class SubFaces:
    """Sub-faces of tets, all (m, 6, ...).

    edge_weights (m, 6, 3): of x_k - x_0 in the image of the unit normal; area_weights (m, 6, 3): of
    ``A_k = 6 dV/dx_k``, k = 1 .. 3, in the area vector; size (m, 6): what the constants of the law are
    multiplied with, A0 [m2] for printed forces, A0 h0 [m3] for the energy; floor (m, 6) [m2].
    """

    edge_weights: Array
    area_weights: Array
    size: Array
    floor: Array

    def vectors(self, x: Array, tets: IntArray) -> tuple[Array, Array]:
        """Images m of the rest normals and area vectors N [m2] of all faces; (m, 6, 3) each."""
        m, n = np.empty((len(tets), 6, 3)), np.empty((len(tets), 6, 3))
        kernels.face_vectors(np.ascontiguousarray(x), tets, self.edge_weights, self.area_weights, m, n)
        return m, n


def _areas(rest: Array, tets: IntArray) -> Array:
    """Area vectors of the printed sub-faces [m2], from i to j, ``(dV/dx_j - dV/dx_i) / 4``; (m, 6, 3)."""
    g = volume_gradients(rest, tets)
    return np.asarray((g[:, SECOND] - g[:, FIRST]) / 4.0)


def _made(rest: Array, tets: IntArray, areas: Array, size: Array) -> SubFaces:
    edges = edge_matrices(rest, tets)
    area = np.linalg.norm(areas, axis=2)
    outward = np.linalg.inv(6.0 * volume_gradients(rest, tets)[:, 1:].transpose(0, 2, 1))
    return SubFaces(
        edge_weights=np.einsum("mkc,mfc->mfk", np.linalg.inv(edges), areas / area[:, :, None]),
        area_weights=np.einsum("mkc,mfc->mfk", outward, areas),
        size=size,
        floor=FLAT * area,
    )


def image_weights(rest: Array, tets: IntArray) -> Array:
    """Weights of x_k - x_0 in the images ``B_k = F A_k`` of the rest vectors A_1 .. A_3; (m, 3, 3)."""
    outward = 6.0 * volume_gradients(rest, tets)[:, 1:]
    return np.asarray(np.einsum("mkc,mfc->mfk", np.linalg.inv(edge_matrices(rest, tets)), outward))


def printed_faces(rest: Array, tets: IntArray) -> SubFaces:
    """The faces of [Everts2006]_ 7.3."""
    areas = _areas(rest, tets)
    return _made(rest, tets, areas, np.linalg.norm(areas, axis=2))


def isotropic_faces(rest: Array, tets: IntArray) -> SubFaces:
    """The faces with their normals turned so that they make an isotropic tet."""
    areas = _areas(rest, tets)
    area = np.linalg.norm(areas, axis=2)
    normals = areas / area[:, :, None]
    values, vectors = np.linalg.eigh(0.5 * np.einsum("mfi,mfj->mij", normals, normals))
    root = np.einsum("mik,mk,mjk->mij", vectors, 1.0 / np.sqrt(values), vectors)
    turned = np.einsum("mij,mfj->mfi", root, normals)
    length = np.linalg.norm(turned, axis=2)
    volumes = np.linalg.det(edge_matrices(rest, tets)) / 6.0
    return _made(rest, tets, turned * (area / length)[:, :, None], 0.5 * volumes[:, None] * length**2)


class Cpm2Mechanics(ParticleMechanics):
    """Forces and stiffness of six sub-faces per tet."""

    printed_along = 1.0

    def __init__(
        self, structure: Structure, material: "Material", form: Form, constants: FaceConstants | None
    ) -> None:
        """``constants``: those of the faces; None for an anisotropic material, whose stiffness says them."""
        super().__init__(structure, material, form)
        self._anisotropic = AnisotropicTerm(structure, material) if constants is None else None
        if self._anisotropic is not None:
            mu = self._anisotropic.rest.on_faces
            constants = FaceConstants(2.0 * mu, 0.5 * mu, np.zeros_like(mu))
        assert constants is not None
        self.constants = constants
        cells = make_blocks(self.tets, len(structure.rest), columns=4)
        self.cells = replace(cells, buffer=aligned(cells.buffer))
        self._index = np.ascontiguousarray(cells.index.transpose(0, 2, 1)).ravel()
        self._even = isotropic_faces(structure.rest, self.tets)
        self.faces = printed_faces(structure.rest, self.tets) if form == "everts" else self._even
        self.set_constants()

    def set_constants(self) -> None:
        c, size = self.constants, self.faces.size
        stretch, shear = (size * c.stretch[:, None]).ravel(), (size * c.shear[:, None]).ravel()
        self._stiffness = stretch, shear, self.faces.floor.ravel()
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
        c, printed = self.cells, self.form == "everts"
        kernels.forces[c.parallel](printed, c.starts, c.low, c.offset, self._index, self._rows, x, c.buffer)
        c.add_to(out)
        if self._anisotropic is not None:
            self._anisotropic.add_forces(x, out)

    def energy(self, x: Array) -> float:
        c = self.cells
        parts = np.empty(len(c.low))
        kernels.energies[c.parallel](c.starts, self._index, self._rows, np.ascontiguousarray(x), parts)
        own = 0.0 if self._anisotropic is None else self._anisotropic.energy(np.ascontiguousarray(x))
        return float(parts.sum()) + own

    def add_stiffness_product(self, x: Array, dx: Array, out: Array) -> None:
        """Add ``K dx`` with the Gauss-Newton stiffness: never negative, exact at rest."""
        c, rows, own = self.cells, self._product_rows, np.ascontiguousarray(dx)
        kernels.product[c.parallel](c.starts, c.low, c.offset, self._index, rows, x, own, c.buffer)
        c.add_to(out)
        if self._anisotropic is not None:
            self._anisotropic.add_product(x, own, out)

    def add_damping_forces(self, x: Array, v: Array, out: Array) -> None:
        super().add_damping_forces(x, v, out)
        if self._anisotropic is not None:
            self._anisotropic.add_product(x, -self.damping_time * v, out, damping=True)

    def rest_stiffness(self) -> "bsr_array":
        own = super().rest_stiffness()
        return (
            own
            if self._anisotropic is None
            else own + self._anisotropic.rest_stiffness(len(self.structure.rest))
        )

    def section_force(self, x: Array, above: BoolArray) -> dict[str, tuple[Array, float]]:
        parts = super().section_force(x, above)
        if self._anisotropic is not None:
            parts["volumetric"] = self._anisotropic.section_force(x, above)
        return parts

    def fields(self, x: Array, v: Array, names: Sequence[str]) -> dict[str, FieldData]:
        if self._anisotropic is None:
            return super().fields(x, v, names)
        F = fields.deformation_gradients(x, self.structure.rest, self.tets)
        return fields.deformation_fields(F, self.lame, names, self._anisotropic.rest.whole)

    def face_stiffness(self) -> tuple[Array, Array, Array]:
        return self._stiffness

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
