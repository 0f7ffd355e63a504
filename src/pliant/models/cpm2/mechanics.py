"""CPM2 at work on one body."""

from typing import TYPE_CHECKING

import numpy as np

from pliant.models import tet_fields
from pliant.models.blocks import WIDTH, make_blocks
from pliant.models.cpm2 import kernels
from pliant.models.particles.faces import FLAT
from pliant.models.particles.law import face_energy, face_gradients, printed_forces
from pliant.models.particles.mapping import FaceConstants, Form
from pliant.models.particles.mechanics import ParticleMechanics
from pliant.protocols import Structure
from pliant.typing import Array, BoolArray

if TYPE_CHECKING:
    from pliant.materials import Resolved as Material

PAIRS = np.array([kernels.FIRST, kernels.SECOND])  # corners of the six faces


class Cpm2Mechanics(ParticleMechanics):
    """Forces, flux and stiffness of six sub-faces per tet, in the printed form: it has no energy."""

    def __init__(
        self, structure: Structure, material: "Material", form: Form, constants: FaceConstants
    ) -> None:
        super().__init__(structure, material, form)
        self.constants = constants
        rest = structure.rest
        self.cells = make_blocks(self.tets, len(rest))
        areas = self._areas(rest)
        self.floor = FLAT * np.linalg.norm(areas, axis=2)
        normals = areas * (FLAT / self.floor)[:, :, None]
        inverse = np.linalg.inv(tet_fields.edge_matrices(rest, self.tets))
        self.weights = np.einsum("mij,mfj->mfi", inverse, normals)  # of a, b, c in F n0
        self._set_rows()

    def _set_rows(self) -> None:
        c, half = self.constants, 0.5 * self.volumes
        self._rows = self._rest_rows(c.stretch * half, c.shear * half)
        self._product_rows = self._rows
        if self.form == "everts":  # per area; its stiffness products take half the shear constant
            self._product_rows = self._rest_rows(c.stretch * half, 0.5 * c.shear * half)
            self._rows = self._rest_rows(c.stretch / FLAT, c.shear / FLAT)

    def _rest_rows(self, stretch: Array, shear: Array) -> Array:
        columns = [stretch, shear, self.volumes, self.constants.bulk / self.volumes]
        for f in range(6):
            columns += [*self.weights[:, f].T, self.floor[:, f]]
        rows = self.cells.rows(*columns)
        floors = rows.reshape(len(rows), -1, 4, WIDTH)[:, 1:, 3]
        floors[floors == 0.0] = 1.0  # padding: no force, and no division by zero
        return rows

    def leave_volume_to_constraint(self) -> None:
        """Drop the volumetric term: a constraint on nodal volumes takes its place, and it would only lock."""
        c = self.constants
        self.constants = FaceConstants(c.stretch, c.shear, np.zeros_like(c.bulk))
        self._set_rows()

    def _areas(self, x: Array) -> Array:
        """Area vectors of the sub-faces [m2], from i to j, ``(dV/dx_j - dV/dx_i) / 4``; shape (m, 6, 3)."""
        g = tet_fields.volume_gradients(x, self.tets)
        return (g[:, PAIRS[1]] - g[:, PAIRS[0]]) / 4.0

    def _images(self, x: Array) -> Array:
        """``F n0`` of the sub-faces; shape (m, 6, 3)."""
        return np.asarray(np.einsum("mcj,mfj->mfc", tet_fields.edge_matrices(x, self.tets), self.weights))

    def add_elastic_forces(self, x: Array, out: Array) -> None:
        c = self.cells
        run = kernels.forces_parallel if c.parallel else kernels.forces_serial
        printed = self.form == "everts"
        run(printed, c.starts, c.low, c.high, c.offset, c.index, self._rows, x, c.buffer, out)

    def add_stiffness_product(self, x: Array, dx: Array, out: Array) -> None:
        """Add ``K dx`` with the Gauss-Newton stiffness: never negative, exact at rest."""
        c = self.cells
        run = kernels.product_parallel if c.parallel else kernels.product_serial
        own = np.ascontiguousarray(dx)
        run(c.starts, c.low, c.high, c.offset, c.index, self._product_rows, x, own, c.buffer, out)

    def _face_constants(self) -> tuple[Array, Array]:
        """Constants of the law of each face, flat (6 m,): times A0 (printed) or A0 h0 = V / 2."""
        weight = self.floor / FLAT if self.form == "everts" else np.repeat(0.5 * self.volumes[:, None], 6, 1)
        c = self.constants
        return (weight * c.stretch[:, None]).ravel(), (weight * c.shear[:, None]).ravel()

    def flux(self, x: Array, above: BoolArray) -> dict[str, tuple[Array, float]]:
        """Forces of sub-faces and of tets that have particles on both sides of a cut."""
        stretch, shear = self._face_constants()
        none = np.zeros_like(stretch)
        return {
            "elastic": self._face_flux(x, stretch, none, above),
            "shear": self._face_flux(x, none, shear, above),
            "volumetric": self._volumetric_flux(x, above),
        }

    def _face_flux(self, x: Array, stretch: Array, shear: Array, above: BoolArray) -> tuple[Array, float]:
        m, n = self._images(x).reshape(-1, 3), self._areas(x).reshape(-1, 3)
        force = printed_forces(m, n, stretch, shear, self.floor.ravel(), 1.0)
        side = above[self.tets].astype(float)
        on_above = (side[:, PAIRS[0]] - side[:, PAIRS[1]]).reshape(-1, 1) * force
        return on_above.sum(axis=0), float(np.linalg.norm(on_above, axis=1).sum())


class Cpm2Variational(Cpm2Mechanics):
    """The form whose forces are the gradient of an energy."""

    def energy(self, x: Array) -> float:
        """``sum V/2 (E/2 eps^2 + G/2 gamma^2) + sum lambda/2 V (J - 1)^2`` [J]."""
        stretch, shear = self._face_constants()
        m, n = self._images(x).reshape(-1, 3), self._areas(x).reshape(-1, 3)
        return face_energy(m, n, stretch, shear, self.floor.ravel()) + self._volumetric_energy(x)

    def _face_flux(self, x: Array, stretch: Array, shear: Array, above: BoolArray) -> tuple[Array, float]:
        """A sub-face acts on all four particles of its tet."""
        m, n = self._images(x).reshape(-1, 3), self._areas(x).reshape(-1, 3)
        gm, gn = face_gradients(m, n, stretch, shear, self.floor.ravel())
        side = above[self.tets].astype(float)
        shift = side[:, 1:] - side[:, :1]  # of a, b, c when the particles above move
        edges = tet_fields.edge_matrices(x, self.tets).transpose(0, 2, 1)
        a, b = edges[:, [1, 2, 0]], edges[:, [2, 0, 1]]  # A_k = a x b
        arm = shift[:, [1, 2, 0], None] * b - shift[:, [2, 0, 1], None] * a  # dA_k = e x arm
        arms = np.concatenate([-arm.sum(axis=1, keepdims=True), arm], axis=1)
        of_face = ((arms[:, PAIRS[1]] - arms[:, PAIRS[0]]) / 24.0).reshape(-1, 3)
        weight = np.einsum("mfj,mj->mf", self.weights, shift).reshape(-1, 1)
        on_above = -(weight * gm + np.cross(of_face, gn))
        return on_above.sum(axis=0), float(np.linalg.norm(on_above, axis=1).sum())
