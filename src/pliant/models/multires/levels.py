"""One resolution level: its mesh, stiffness matrix and masses, as arrays for the kernels."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from pliant.core.typing import Array, BoolArray, IntArray
from pliant.fracture.virtual_nodes import VirtualMesh
from pliant.kernels.csr import incidence
from pliant.mesh.mesh import tet_volumes
from pliant.models.multires.cut_sides import CutSides
from pliant.models.tets.fields import edge_matrices
from pliant.models.tets.stiffness import assemble, element_stiffness, gradients, isotropic_stiffness

LINEAR, COROTATIONAL, DEBUNNE = 0, 1, 2
OPERATORS = {"linear": LINEAR, "corotational": COROTATIONAL, "debunne": DEBUNNE}


@dataclass(frozen=True)
class CsrRows:
    """Sparse rows: row i is ``columns[first[i] : first[i + 1]]`` with ``weights``."""

    first: IntArray
    columns: IntArray
    weights: Array

    @property
    def table(self) -> tuple[IntArray, IntArray, Array]:
        """First entries of the rows, columns and weights, as kernels want them."""
        return self.first, self.columns, self.weights

    @classmethod
    def none(cls, count: int) -> "CsrRows":
        """``count`` empty rows."""
        return cls(np.zeros(count + 1, np.int64), np.zeros(0, np.int64), np.zeros(0))

    @classmethod
    def of(cls, matrix: sparse.csr_array) -> "CsrRows":
        matrix = matrix.tocsr()
        matrix.sort_indices()
        return cls(matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64), matrix.data)


@dataclass(frozen=True)
class LevelMesh:
    """Points (n, 3) [m] and tets (m, 4); where cuts went through it, these are ``virtual``."""

    points: Array
    tets: IntArray
    virtual: VirtualMesh | None = None

    def volumes(self) -> Array:
        """Volumes of the material in the tets (m,) [m3]."""
        whole = tet_volumes(self.points, self.tets)
        return whole if self.virtual is None else whole * self.virtual.share


class Level:
    """One mesh: its tets with shape gradients, stiffness rows in 3x3 blocks, masses and critical step.

    points (n, 3) [m]; tets (m, 4); gradients (m, 4, 3) [1/m] of the shape functions; volumes (m,) [m3]. Tets
    incident to node i: ``incident[incident_first[i] : incident_first[i + 1]]``, each 4 times the number of
    the tet plus the corner that the node is. Stiffness K in sparse rows: 3x3 ``blocks`` [N/m] of row i at
    ``first[i] : first[i + 1]``, with ``columns``. nodal_stiffness (n,) [N/m]: largest eigenvalue of ``K_ii``.
    critical_step: ``2 / omega_max`` [s] of the whole level, undamped. tet_sides, node_sides: sides of cuts.
    """

    def __init__(self, mesh: LevelMesh, lame: tuple[float, float], operator: int) -> None:
        points = self.points = mesh.points
        tets = self.tets = np.ascontiguousarray(mesh.tets, np.int64)
        self.operator = operator
        self.lam, self.mu = lame
        self.volumes = mesh.volumes()
        self.gradients = gradients(np.asarray(np.linalg.inv(edge_matrices(points, self.tets)), float))
        self.count = len(points)
        self.incident, self.incident_first = incidence(self.tets, self.count)
        matrix = assemble(self._element_matrices(), self.tets, self.count)
        self.first = matrix.indptr.astype(np.int64)
        self.columns = matrix.indices.astype(np.int64)
        self.blocks: Array = np.ascontiguousarray(matrix.data)
        self.matrix = matrix
        diagonal = self.columns == np.repeat(np.arange(self.count), np.diff(self.first))
        self.nodal_stiffness: Array = np.linalg.eigvalsh(self.blocks[diagonal])[:, -1]
        self.mass: Array = np.zeros(self.count)
        self.critical_step = np.inf
        edges = points[self.columns] - np.repeat(points, np.diff(self.first), axis=0)
        lengths = np.linalg.norm(edges, axis=1)
        self.spacing = float(np.median(lengths[lengths > 0]))
        self.virtual = mesh.virtual
        self.tet_sides, self.node_sides = CutSides.none(len(tets)), CutSides.none(self.count)
        if (cut := mesh.virtual) is not None:
            self.tet_sides = CutSides(cut.above & ~cut.below, cut.below & ~cut.above)
            below, above = (_any_incident(flags, tets, self.count) for flags in (cut.below, cut.above))
            self.node_sides = CutSides(above & ~below, below & ~above)

    def _element_matrices(self) -> Array:
        m = len(self.tets)
        if self.operator == DEBUNNE:
            g = self.gradients
            dots = np.einsum("mic,mjc->mij", g, g)
            blocks = self.mu * dots[:, :, None, :, None] * np.eye(3)[None, None, :, None, :]
            blocks = blocks + (self.lam + self.mu) * np.einsum("mia,mjb->miajb", g, g)
            return np.asarray((self.volumes[:, None, None, None, None] * blocks).reshape(m, 12, 12))
        stiffness = isotropic_stiffness(np.full(m, self.lam), np.full(m, self.mu))
        return element_stiffness(self.gradients[:, 1:], self.volumes, stiffness)

    def set_mass(self, mass: Array) -> None:
        """Set the masses [kg] of the nodes, and compute the critical step."""
        self.mass = mass
        self.critical_step = critical_step(self.matrix, mass)

    def nodal_gradient_matrices(self) -> list[sparse.csr_array]:
        """Sparse (n, n) matrices of the volume-averaged nodal gradient, one per direction."""
        weight = (
            self.volumes[:, None]
            / np.bincount(self.tets.ravel(), np.repeat(self.volumes, 4), self.count)[self.tets]
        )
        rows = np.repeat(self.tets, 4, axis=1).ravel()
        columns = np.tile(self.tets, (1, 4)).ravel()
        found = []
        for c in range(3):
            values = (weight[:, :, None] * self.gradients[:, None, :, c]).ravel()
            found.append(sparse.csr_array((values, (rows, columns)), shape=(self.count, self.count)))
        return found


def _any_incident(flags: BoolArray, tets: IntArray, count: int) -> BoolArray:
    """Whether any incident tet of a node has the flag, (count, c) from (m, c)."""
    found = np.zeros((count, flags.shape[1]), bool)
    for k in range(4):
        for c in range(flags.shape[1]):
            found[tets[flags[:, c], k], c] = True
    return found


def critical_step(matrix: sparse.bsr_array, mass: Array) -> float:
    """``2 / omega_max`` [s] of ``M^-1 K``, by Lanczos iteration from a fixed start; inf without stiffness."""
    from scipy.sparse.linalg import LinearOperator, eigsh

    root = 1.0 / np.sqrt(np.repeat(mass, 3))
    n = len(root)
    if n < 60:
        dense = root[:, None] * matrix.toarray() * root
        top = float(np.linalg.eigvalsh(0.5 * (dense + dense.T))[-1])
    else:
        operator: Any = LinearOperator((n, n), matvec=lambda u: root * (matrix @ (root * u)), dtype=float)
        start = np.random.default_rng(0).standard_normal(n)
        top = float(eigsh(operator, k=1, v0=start, tol=1e-3, ncv=20, return_eigenvectors=False)[0])
    return 2.0 / np.sqrt(top) if top > 0 else np.inf
