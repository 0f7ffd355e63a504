"""Quadratic tetrahedra: elements with a particle in the middle of each edge. The laws and products are those
of linear ones, at four points of each.

A tet has straight edges at rest, so ``D_m^-1`` is the same in all of it. At a point with local coordinates
xi the edge matrix is ``D_s = sum_a x_a grad N_a(xi)``; the laws (``law_blocks.py``) take it in place of the
edges of a linear tet, with a quarter of the volume, and hand back the derivative of the energy by it.
Scratch ``u`` holds the nine particles 1 to 9 relative to particle 0, then their forces: 27 columns each.
"""

# mypy: disable-error-code="no-untyped-def"

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from pliant.core.typing import Array, IntArray, Kernel
from pliant.interfaces import Structure
from pliant.kernels.element_blocks import WIDTH, make_blocks, partitions_for
from pliant.kernels.jit import inlined, jit, prange, twin
from pliant.materials.constitutive.law import Law
from pliant.models.fem.elements import TetElements
from pliant.models.fem.energy_momentum import between_loops
from pliant.models.fem.law_blocks import ENERGY, STIFFNESS, law_loops
from pliant.models.fem.plasticity import Plasticity
from pliant.models.fem.reference import ReferenceTets
from pliant.models.fem.stiffness_product import frame_block, general_block, isotropic_block
from pliant.models.flow_trial import FlowLosses
from pliant.models.tets.kernels import SCRATCH, deform_block
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
POINT_OF_PIECE = _piece_centres().argmax(axis=1)  # the first of those that are nearest


class QuadraticTets(TetElements):
    """Tets of linear strain, integrated at four points; each has eight cells with the strain in their
    middle."""

    def __init__(
        self, structure: Structure, material: "Material", full: bool, law: Law, k: Array, flowing: bool
    ) -> None:
        """flowing: whether the material yields, so that each point has a history of its own."""
        nodes = structure.cells["tetra10"]
        corners = replace(
            structure,
            cells={"tetra": nodes[:, :4]},
            regions=None if structure.regions is None else structure.regions[:: len(PIECES)],
        )
        most = min(partitions_for(len(nodes)), MOST_PARTITIONS)
        blocks = make_blocks(nodes, len(structure.rest), most)
        rest = ReferenceTets(corners, material, full, blocks, len(SLOPES), flowing)
        super().__init__(nodes, corners, rest, law, k)
        self._no_pressure = np.zeros(WIDTH)
        spans = np.zeros((len(SLOPES), len(blocks.index) * WIDTH, 4), np.uint32)
        for q in range(len(SLOPES)):
            spans[q, blocks.slots] = 4 * (len(SLOPES) * blocks.order[:, None] + q) + np.arange(4)
        by_block = spans.reshape(len(SLOPES), -1, WIDTH, 4).transpose(1, 0, 2, 3)
        self._spans = np.ascontiguousarray(by_block).reshape(-1, WIDTH, 4)

    def integrate(self, x: Array, forces: bool, energy: bool) -> float:
        b = self.blocks
        run = law_loops(self.law, self.rest.full, quadratic_law_blocks)[b.parallel]
        total: float = run(
            *(b.starts, b.low, b.offset, b.index, self.rest.rows, self._no_pressure, SLOPES),
            *(self.constants, x, b.buffer, forces, energy),
        )
        return total

    def integrate_between(self, before: Array, after: Array) -> None:
        b = self.blocks
        run = between_loops(self.law, self.rest.full, quadratic_tets_between)[b.parallel]
        run(
            *(b.starts, b.low, b.offset, b.index, self.rest.rows, self._no_pressure, SLOPES),
            *(self.constants, before, after, b.buffer),
        )

    def multiply(self, frame: int, x: Array, dx: Array) -> None:
        b = self.blocks
        run = quadratic_stiffness_product[b.parallel]
        run(b.starts, b.low, b.offset, b.index, self.rest.rows, SLOPES, frame, x, dx, b.buffer)

    def shape_gradients(self, inverse: Array) -> list[Array]:
        return [np.asarray(slopes @ inverse) for slopes in SLOPES]

    def flow(self, plasticity: Plasticity, x: Array, dt: float, solved: bool) -> tuple[bool, FlowLosses]:
        """Each point of integration flows by its own strain: its edge matrix is spanned by points of its
        own."""
        spanned = np.zeros((len(self.nodes), len(SLOPES), 4, 3))
        spanned[:, :, 1:] = np.einsum("mai,qak->mqki", x[self.nodes], SLOPES)
        return plasticity.step(spanned.reshape(-1, 3), self._spans, dt, solved, len(SLOPES))

    def owner(self, cells: IntArray) -> IntArray:
        return cells // len(PIECES)

    def point(self, cells: IntArray) -> IntArray:
        return np.asarray(POINT_OF_PIECE[cells % len(PIECES)])

    def deformation(self, x: Array, cells: IntArray) -> Array:
        own = self.owner(cells)
        edges = np.einsum("mai,mak->mik", x[self.nodes[own]], PIECE_SLOPES[cells % len(PIECES)])
        return np.asarray(edges @ self.rest.inverse_at(self.point(cells), own))

    @property
    def cell_volumes(self) -> Array:
        return np.repeat(self.rest.volumes / len(PIECES), len(PIECES))


FORCES = 27 * 16  # where forces begin in the scratch u
ROOM = 2 * FORCES

apply_between: Kernel = None  # the same of energy-momentum steps
apply_law: Kernel = None  # the block function of the law that the loops are compiled for


@inlined
def row_at(rest, blocks, b, q):
    """The rest row of block b at point q: its own, or that of all points."""
    many = rest.shape[0] // blocks
    return rest[b * many + (q if many > 1 else 0)]


@jit
def gather_nodes(nodes, x, u):
    """Particles 1 to 9 relative to particle 0; forces cleared."""
    for i in range(16):
        p = nodes[i, 0]
        for a in range(9):
            q = nodes[i, a + 1]
            for c in range(3):
                u[48 * a + 16 * c + i] = x[q, c] - x[p, c]
    for k in range(FORCES):
        u[FORCES + k] = 0.0


@jit
def edges_at(u, slopes, w):
    """The edge matrix where shape functions have the gradients ``slopes`` (10, 3), into columns 0 to 8."""
    for k in range(3):
        for j in range(48):
            w[48 * k + j] = slopes[1, k] * u[j]
        for a in range(1, 9):
            s = slopes[a + 1, k]
            for j in range(48):
                w[48 * k + j] += s * u[48 * a + j]


@jit
def add_forces_at(w, slopes, u):
    """Hand the derivatives by the edge matrix, columns 0 to 8, to the particles."""
    for a in range(9):
        for k in range(3):
            s = slopes[a + 1, k]
            for j in range(48):
                u[FORCES + 48 * a + j] += s * w[48 * k + j]


@jit
def scatter_nodes(nodes, u, buffer, shift):
    """Add the forces on particles 1 to 9, and minus their sum on particle 0."""
    for i in range(16):
        p = nodes[i, 0] + shift
        for c in range(3):
            total = 0.0
            for a in range(9):
                f = u[FORCES + 48 * a + 16 * c + i]
                buffer[nodes[i, a + 1] + shift, c] += f
                total += f
            buffer[p, c] -= total


def quadratic_tets_between(starts, low, offset, index, rest, extra, slopes, k, x0, x1, buffer):
    """Forces of an energy-momentum step from ``x0`` to ``x1`` into the buffers; slopes (points, 10, 3)."""
    for p in prange(low.shape[0]):
        w0, w1, shift = np.empty(SCRATCH), np.empty(SCRATCH), offset[p] - low[p]
        u0, u1 = np.empty(ROOM), np.empty(ROOM)
        for b in range(starts[p], starts[p + 1]):
            gather_nodes(index[b], x0, u0)
            gather_nodes(index[b], x1, u1)
            for q in range(slopes.shape[0]):
                edges_at(u0, slopes[q], w0)
                edges_at(u1, slopes[q], w1)
                apply_between(w0, w1, row_at(rest, index.shape[0], b, q), extra, 1.0, k)
                add_forces_at(w1, slopes[q], u1)
            scatter_nodes(index[b], u1, buffer, shift)


def quadratic_law_blocks(first, last, index, rest, extra, slopes, k, x, buffer, shift, forces, energy, w):
    """As ``law_blocks._law_blocks``; slopes (points, 10, 3)."""
    u = np.empty(ROOM)
    for i in range(16):
        w[ENERGY + i] = 0.0
    for b in range(first, last):
        gather_nodes(index[b], x, u)
        for q in range(slopes.shape[0]):
            edges_at(u, slopes[q], w)
            apply_law(w, row_at(rest, index.shape[0], b, q), extra, 1.0, k, forces, energy)
            if forces:
                add_forces_at(w, slopes[q], u)
        if forces:
            scatter_nodes(index[b], u, buffer, shift)
    total = 0.0
    for i in range(16):
        total += w[ENERGY + i]
    return total


@jit
def _product_blocks(first, last, index, rest, slopes, frame, x, dx, buffer, shift, w, u, d):
    general = rest.shape[1] > STIFFNESS
    for b in range(first, last):
        gather_nodes(index[b], x, u)
        gather_nodes(index[b], dx, d)
        for q in range(slopes.shape[0]):
            row = row_at(rest, index.shape[0], b, q)
            edges_at(u, slopes[q], w)
            deform_block(w, row)
            frame_block(w, frame)
            edges_at(d, slopes[q], w)
            if general:
                general_block(w, row)
            else:
                isotropic_block(w, row)
            add_forces_at(w, slopes[q], d)
        scatter_nodes(index[b], d, buffer, shift)


@twin
def quadratic_stiffness_product(starts, low, offset, index, rest, slopes, frame, x, dx, buffer):
    """Minus the product with ``dx`` (n, 3), into the buffers; frames as in ``stiffness_product.py``."""
    for p in prange(low.shape[0]):
        w, u, d = np.empty(SCRATCH), np.empty(ROOM), np.empty(ROOM)
        shift = offset[p] - low[p]
        _product_blocks(starts[p], starts[p + 1], index, rest, slopes, frame, x, dx, buffer, shift, w, u, d)
