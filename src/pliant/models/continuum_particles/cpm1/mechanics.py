"""Runtime of CPM1 for one body."""

from typing import TYPE_CHECKING

import numpy as np

from pliant.core.typing import Array, BoolArray
from pliant.interfaces import StableStep, Structure
from pliant.kernels.simd_transpose import aligned
from pliant.models.continuum_particles.cpm1 import kernels
from pliant.models.continuum_particles.cpm1.layout import (
    FaceData,
    VertexRows,
    build_face_blocks,
    build_vertex_blocks,
    face_data,
    normal_images,
)
from pliant.models.continuum_particles.material_mapping import FaceConstants, Form
from pliant.models.continuum_particles.mechanics import ParticleMechanics
from pliant.structure.samplers.dual.cells import Dual
from pliant.structure.samplers.dual.sampler import mass_added

if TYPE_CHECKING:
    from pliant.materials import ResolvedMaterial as Material


class Cpm1Mechanics(ParticleMechanics):
    """Forces and stiffness of faces across edges, which are polygons of dual vertices."""

    printed_along = 0.0

    def __init__(
        self, structure: Structure, material: "Material", form: Form, dual: Dual, constants: FaceConstants
    ) -> None:
        super().__init__(structure, material, form)
        self.dual, self.constants = dual, constants
        self.edges = dual.edges
        rest = structure.rest
        self._image = normal_images(rest, dual)
        self.cells = build_vertex_blocks(dual.particles, len(self.tets))
        slots = self.cells.slots
        self._weights = self.cells.rows(*dual.weights.T)
        self.set_constants()
        printed = form == "everts"
        self.face_data: FaceData = face_data(rest, self.volumes, dual, self._image, constants, slots, printed)
        self.faces = build_face_blocks(self.face_data, self.cells)
        rows = len(self.cells.index) // 4
        self._y, self._h, self._dy = (aligned(np.zeros((rows, 4))) for _ in range(3))
        self._product_faces = self.faces
        if printed:  # the symmetric stiffness that comes nearest to the printed one: half the shear constant
            half = FaceConstants(constants.stretch, 0.5 * constants.shear, constants.bulk)
            data = face_data(rest, self.volumes, dual, self._image, half, slots, False)
            self._product_faces = self.faces._replace(rest=build_face_blocks(data, self.cells).rest)

    def set_constants(self) -> None:
        none = np.zeros(len(self.dual.particles) - len(self.tets))
        volumes = np.concatenate([self.volumes, none])
        ratio = np.concatenate([self.constants.bulk / self.volumes, none])
        c = self.cells
        self._vertices = VertexRows(c.index, self._weights, c.rows(volumes, ratio), c.starts, c.middle)
        self.volumetric = bool(self.constants.bulk.any())

    @property
    def parallel(self) -> bool:
        return self.cells.parallel

    def add_elastic_forces(self, x: Array, out: Array) -> None:
        run, printed = kernels.forces[self.parallel], self.form == "everts"
        run(printed, self.volumetric, self._vertices, self.faces, x, self._y, self._h, out)

    def energy(self, x: Array) -> float:
        parts = np.empty(self.faces.x_ranges.shape[1])
        kernels.energies[self.parallel](self._vertices, self.faces, np.ascontiguousarray(x), self._y, parts)
        return float(parts.sum())

    def add_stiffness_product(self, x: Array, dx: Array, out: Array) -> None:
        """Add ``K dx`` with the Gauss-Newton stiffness: never negative, exact at rest (see ``product``)."""
        run, own = kernels.product[self.parallel], np.ascontiguousarray(dx)
        run(self._vertices, self._product_faces, x, own, self._y, self._dy, self._h, out)

    def face_vectors(self, x: Array) -> tuple[Array, Array]:
        """Images m of the rest normals and area vectors N of all faces; (e, 3) each."""
        f = self.faces
        found = np.empty((len(f.order), 6))
        kernels.vectors(self._vertices, f, np.ascontiguousarray(x), self._y, found)
        sorted_ = np.empty((len(self.edges), 6))
        real = f.order >= 0
        sorted_[f.order[real]] = found[real]
        return np.ascontiguousarray(sorted_[:, :3]), 0.5 * sorted_[:, 3:]

    def stable_step(self) -> StableStep:
        step = super().stable_step()
        added = mass_added(self.structure, self.dual)
        if added > 1e-6:
            note = f"{step.reason}; sliver cells were made heavier, the body by {100 * added:.2g} %"
            return StableStep(step.seconds, note)
        return step

    def face_stiffness(self) -> tuple[Array, Array, Array]:
        return self.face_data.stretch, self.face_data.shear, self.face_data.floor

    def printed_sides(self, above: BoolArray) -> Array:
        side = above[self.edges].astype(float)
        return np.asarray(side[:, 0] - side[:, 1])

    def face_shifts(self, x: Array, above: BoolArray) -> tuple[Array, Array]:
        """A face follows the particles of its edge and of its dual vertices."""
        d, dual, edges = self.face_data, self.dual, self.edges
        up = above.astype(float)
        middle = 0.5 * (up[edges[:, 0]] + up[edges[:, 1]])
        y = dual.vertices(x)
        y_up = np.einsum("kc,kc->k", dual.weights, up[dual.particles])
        owner = np.repeat(np.arange(len(edges)), np.diff(dual.start))
        q = 0.5 * (x[edges[:, 0]] + x[edges[:, 1]])
        v, share = y[dual.fan] - q[owner], y_up[dual.fan] - middle[owner]
        weight = d.along * (up[edges[:, 1]] - up[edges[:, 0]])
        weight += np.bincount(owner, d.weight * share, len(edges))
        pair = owner[1:] == owner[:-1]
        into = owner[1:][pair]
        moved = share[:-1, None] * v[1:] - share[1:, None] * v[:-1]  # dN = 1/2 e x moved
        arm: Array = np.stack([np.bincount(into, 0.5 * moved[pair, c], len(edges)) for c in range(3)], axis=1)
        return weight, arm
