"""Levels of a hierarchy and the links between them, as arrays for the kernels."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from pliant.mesh.types import Surface, tet_volumes
from pliant.models.tet_fields import edge_matrices
from pliant.models.tet_stiffness import assemble, element_stiffness, gradients, isotropic_stiffness
from pliant.structure.carrier import embed
from pliant.typing import AnyArray, Array, IntArray

LINEAR, COROTATIONAL, DEBUNNE = 0, 1, 2
OPERATORS = {"linear": LINEAR, "corotational": COROTATIONAL, "debunne": DEBUNNE}
SAMPLES = 0.75 * np.eye(4) + 0.0625 * (1.0 - np.eye(4))  # points inside a tet, as weights of its corners
SAMPLES /= SAMPLES.sum(axis=1, keepdims=True)


@dataclass(frozen=True)
class Rows:
    """Sparse rows: row i is ``columns[first[i] : first[i + 1]]`` with ``weights``."""

    first: IntArray
    columns: IntArray
    weights: Array

    @classmethod
    def none(cls, count: int) -> "Rows":
        """``count`` empty rows."""
        return cls(np.zeros(count + 1, np.int64), np.zeros(0, np.int64), np.zeros(0))

    @classmethod
    def of(cls, matrix: Any) -> "Rows":
        matrix = matrix.tocsr()
        matrix.sort_indices()
        return cls(matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64), matrix.data)


class Level:
    """One mesh: its tets with shape gradients, stiffness rows in 3x3 blocks, masses and critical step.

    points (n, 3); tets (m, 4); gradients (m, 4, 3) [1/m]; volumes (m,); around: tets (times 4, plus corner)
    of each node; critical: ``2 / omega_max`` [s] of the whole level, undamped.
    """

    def __init__(self, points: Array, tets: IntArray, lame: tuple[float, float], operator: int) -> None:
        self.points, self.tets, self.operator = points, np.ascontiguousarray(tets, np.int64), operator
        self.lam, self.mu = lame
        self.volumes = tet_volumes(points, self.tets)
        self.gradients = gradients(np.asarray(np.linalg.inv(edge_matrices(points, self.tets)), float))
        self.count = len(points)
        corners = self.tets.ravel()
        order = np.argsort(corners, kind="stable")
        self.around = order.astype(np.int64)
        self.around_first = np.concatenate([[0], np.cumsum(np.bincount(corners, minlength=self.count))])
        matrix = assemble(self._element_matrices(), self.tets, self.count)
        self.first = matrix.indptr.astype(np.int64)
        self.columns = matrix.indices.astype(np.int64)
        self.blocks: Array = np.ascontiguousarray(matrix.data)
        self.matrix = matrix
        self.mass: Array = np.zeros(self.count)
        self.critical = np.inf
        edges = points[self.columns] - np.repeat(points, np.diff(self.first), axis=0)
        lengths = np.linalg.norm(edges, axis=1)
        self.spacing = float(np.median(lengths[lengths > 0]))

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
        """Give the nodes their masses [kg] and measure the critical step."""
        self.mass = mass
        self.critical = critical_step(self.matrix, mass)

    def averaging(self) -> list[Any]:
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


def critical_step(matrix: Any, mass: Array) -> float:
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


class Link:
    """How a coarse and a fine level hang together.

    corners, weights (n_fine, 4): a fine node's parent tet; parent (n_fine,): the nearest coarse node;
    push, pull: quadratic interpolation of fine nodes from coarse ones and back,
    ``u = sum_i w_i (u_i + 1/2 g_i . (x - x_i))`` with averaged nodal gradients g: exact on linear fields;
    down (n_coarse, 4): a coarse node's child tet, with weights; children: fine nodes of each coarse node;
    samples (m_fine, 4): coarse tets that hold four points of each fine tet.
    """

    def __init__(self, coarse: Level, fine: Level) -> None:
        from scipy.spatial import cKDTree

        self.corners, self.weights = _held(fine.points, coarse)
        self.down, self.down_weights = _held(coarse.points, fine)
        self.parent = np.asarray(cKDTree(coarse.points).query(fine.points)[1], np.int64)
        self.children = np.argsort(self.parent, kind="stable").astype(np.int64)
        self.children_first = np.concatenate(
            [[0], np.cumsum(np.bincount(self.parent, minlength=coarse.count))]
        )
        self.push = _quadratic(self.corners, self.weights, fine.points, coarse)
        self.pull = _quadratic(self.down, self.down_weights, coarse.points, fine)
        inside = np.einsum("sk,mkc->msc", SAMPLES, fine.points[fine.tets]).reshape(-1, 3)
        self.samples = _tet_of(inside, coarse).reshape(-1, 4)


def _held(points: Array, level: Level) -> tuple[IntArray, Array]:
    """Corners and weights (n, 4) of the tet of ``level`` that holds each point, or the best near one."""
    found = embed(Surface(points, np.zeros((0, 3), np.int64)), level.points, level.tets)
    weights = np.where(np.abs(found.weights) < 1e-12, 0.0, found.weights)
    return found.indices.astype(np.int64), np.ascontiguousarray(weights)


def _tet_of(points: Array, level: Level) -> IntArray:
    """The tet of ``level`` that holds each point, or the best near one."""
    corners, _ = _held(points, level)
    key = _key(level.tets, level.count)
    order = np.argsort(key)
    return np.asarray(order[np.searchsorted(key[order], _key(corners, level.count))], np.int64)


def _key(tets: AnyArray, count: int) -> AnyArray:
    ordered = np.sort(tets, axis=1).astype(object) if count > 50_000 else np.sort(tets, axis=1)
    return np.asarray(
        ((ordered[:, 0] * count + ordered[:, 1]) * count + ordered[:, 2]) * count + ordered[:, 3]
    )


def _quadratic(corners: IntArray, weights: Array, points: Array, source: Level) -> Rows:
    """``W + 1/2 sum_c (X_c W - W Y_c) B_c``: X, Y places of targets and sources, B nodal gradients."""
    n = len(points)
    rows = np.repeat(np.arange(n), 4)
    w = sparse.csr_array((weights.ravel(), (rows, corners.ravel())), shape=(n, source.count))
    total = w.copy()
    for c, gradient in enumerate(source.averaging()):
        here, there = sparse.diags_array(points[:, c]), sparse.diags_array(source.points[:, c])
        total = total + 0.5 * ((here @ w - w @ there) @ gradient)
    total = sparse.csr_array(total)
    total.data[np.abs(total.data) < 1e-13] = 0.0
    total.eliminate_zeros()
    return Rows.of(total)


class Hierarchy:
    """All levels, the coarsest first, and the links between neighbours."""

    def __init__(
        self, meshes: list[tuple[Array, IntArray]], mass: Array, lame: tuple[float, float], operator: int
    ) -> None:
        self.levels = [Level(points, tets, lame, operator) for points, tets in meshes]
        self.links = [Link(a, b) for a, b in zip(self.levels[:-1], self.levels[1:], strict=True)]
        self.levels[-1].set_mass(mass)
        for k in range(len(self.links) - 1, -1, -1):
            self.levels[k].set_mass(self._handed_up(k))

    def _handed_up(self, k: int) -> Array:
        """Masses of level k: those of the next finer one, shared out by its weights in parent tets.

        So every level has the body's mass, and a uniform load accelerates all nodes alike. Nodes that would
        get too little (fine nodes outside of coarse tets have negative weights) get a share of their tets'.
        """
        level, link, fine = self.levels[k], self.links[k], self.levels[k + 1]
        handed = np.bincount(
            link.corners.ravel(), (link.weights * fine.mass[:, None]).ravel(), minlength=level.count
        )
        own = np.bincount(level.tets.ravel(), np.repeat(0.25 * level.volumes, 4), minlength=level.count)
        own *= fine.mass.sum() / own.sum()
        mass = np.maximum(handed, 0.5 * own)
        return np.asarray(mass * (fine.mass.sum() / mass.sum()))
