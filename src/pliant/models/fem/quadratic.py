"""Quadratic tetrahedra: the fem model on tets with a particle in the middle of each edge."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.core.typing import Array, BoolArray, IntArray
from pliant.interfaces import Cuttable, Structure
from pliant.kernels.element_blocks import WIDTH, make_blocks, partitions_for
from pliant.models.fem import fields, quadratic_kernels
from pliant.models.fem.mechanics import HyperelasticTetFem
from pliant.models.fem.plasticity import LargePlasticity, SmallPlasticity
from pliant.models.fem.reference import ReferenceTets
from pliant.models.tets.stiffness import assemble, stiffness_at
from pliant.structure.samplers.tets import EDGES, PIECES

if TYPE_CHECKING:
    from pliant.materials import ResolvedMaterial as Material

NEAR, FAR = (5.0 + 3.0 * np.sqrt(5.0)) / 20.0, (5.0 - np.sqrt(5.0)) / 20.0
POINTS = np.full((4, 4), FAR) + (NEAR - FAR) * np.eye(4)  # barycentric; exact for quadratic integrands
MOST_PARTITIONS = 4  # edge particles are numbered after all vertices: a partition touches most rows


def shape_slopes(weights: Array) -> Array:
    r"""Gradients of the ten shape functions by the local coordinates at barycentric ``weights`` (p, 4).

    :math:`N_a = L_a (2 L_a - 1)` at corners, :math:`N_{ab} = 4 L_a L_b` on edges; local coordinates are L_1,
    L_2, L_3. Shape (p, 10, 3).
    """
    by_weight = np.zeros((len(weights), 10, 4))
    for a in range(4):
        by_weight[:, a, a] = 4.0 * weights[:, a] - 1.0
    for k, (a, b) in enumerate(EDGES):
        by_weight[:, 4 + k, a] = 4.0 * weights[:, b]
        by_weight[:, 4 + k, b] = 4.0 * weights[:, a]
    return by_weight[:, :, 1:] - by_weight[:, :, :1]


def _piece_centres() -> Array:
    """Barycentric coordinates of the middles of the eight pieces, (8, 4)."""
    nodes = np.concatenate([np.eye(4), [[0.5 * (k in pair) for k in range(4)] for pair in EDGES]])
    return np.asarray(nodes[PIECES].mean(axis=1))


SLOPES, PIECE_SLOPES = shape_slopes(POINTS), shape_slopes(_piece_centres())
MIDDLE = shape_slopes(np.full((1, 4), 0.25))[0]


class QuadraticTetFem(HyperelasticTetFem):
    """Forces, stiffness and fields of quadratic tets: strain is linear in each, integrated at four points.

    Fields are per piece (eight to a tet), taken at its middle. They cannot be cut and do not crack.
    """

    capabilities = HyperelasticTetFem.capabilities - {Cuttable}

    def _make_rest(self, structure: Structure, material: "Material", full: bool) -> ReferenceTets:
        self.elements: IntArray = structure.cells["tetra10"]
        own = self._elements_of(structure)
        most = min(partitions_for(len(self.elements)), MOST_PARTITIONS)
        blocks = make_blocks(self.elements, len(structure.rest), most)
        self._nothing = np.zeros(WIDTH)
        return ReferenceTets(own, material, full, blocks, len(SLOPES))

    def _elements_of(self, structure: Structure) -> Structure:
        return replace(
            structure,
            cells={"tetra": structure.cells["tetra10"][:, :4]},
            regions=None if structure.regions is None else structure.regions[::8],
        )

    def _flow(self, plasticity: SmallPlasticity | LargePlasticity, x: Array, dt: float) -> tuple[bool, float]:
        """Plastic strain is constant in each tet and follows the strain in its middle, where the edge matrix
        is spanned by three points of their own."""
        if plasticity.index is None:
            index = np.zeros((len(self.rest.rows) * WIDTH, 4), np.uint32)
            index[self.blocks.slots] = 4 * self.blocks.order[:, None] + np.arange(4)
            plasticity.index = index.reshape(-1, WIDTH, 4)
        spanned = np.zeros((len(self.elements), 4, 3))
        spanned[:, 1:] = np.einsum("mai,ak->mki", x[self.elements], MIDDLE)
        flowed, heat = plasticity.step(spanned.reshape(-1, 3), dt)
        return flowed, len(SLOPES) * heat

    # ---------------------------------------------------------------------------------- forces

    def _run_law(self, x: Array, forces: bool, energy: bool) -> float:
        b = self.blocks
        run = quadratic_kernels.law_loops(self.law, self.rest.full)[b.parallel]
        total: float = run(
            *(b.starts, b.low, b.offset, b.index, self.rest.rows, self._nothing, SLOPES),
            *(self.constants, x, b.buffer, forces, energy),
        )
        return total

    def _add_product(self, frame: int, x: Array, dx: Array, out: Array) -> None:
        b = self.blocks
        run = quadratic_kernels.product_parallel if b.parallel else quadratic_kernels.product_serial
        run(b.starts, b.low, b.offset, b.index, self.rest.rows, SLOPES, frame, x, -dx, b.buffer)
        b.add_to(out)

    def rest_stiffness(self) -> Any:
        rest = self.rest
        parts = sum(
            stiffness_at(slopes @ rest.first_inverse, rest.weights, rest.stiffness) for slopes in SLOPES
        )
        return assemble(np.asarray(parts), self.elements, len(self.structure.rest))

    # ---------------------------------------------------------------------------------- fields

    def owner(self, cells: IntArray) -> IntArray:
        return cells // len(PIECES)

    def deformation(self, x: Array, cells: IntArray) -> Array:
        own = self.owner(cells)
        edges = np.einsum("mai,mak->mik", x[self.elements[own]], PIECE_SLOPES[cells % len(PIECES)])
        return np.asarray(edges @ self.rest.inverse[own])

    @property
    def cell_volumes(self) -> Array:
        return np.repeat(self.rest.volumes / len(PIECES), len(PIECES))

    def section_force(self, x: Array, above: BoolArray) -> dict[str, tuple[Array, float]]:
        side = above[self.elements]
        cut = np.flatnonzero(side.any(axis=1) & ~side.all(axis=1))
        nodes, inverse = x[self.elements[cut]], self.rest.inverse[cut]
        forces = np.zeros_like(nodes)
        for slopes in SLOPES:
            F = np.einsum("mai,ak->mik", nodes, slopes) @ inverse
            P = fields.first_piola(self, F, cut, np.zeros(len(cut)))
            forces -= np.einsum("m,mij,maj->mai", self.rest.weights[cut], P, slopes @ inverse)
        resultant = (forces * side[cut][:, :, None]).sum(axis=1)
        return {"elastic": (resultant.sum(axis=0), float(np.linalg.norm(resultant, axis=1).sum()))}
