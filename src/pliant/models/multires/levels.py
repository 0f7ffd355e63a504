"""Levels of a hierarchy and the links between them, as arrays for the kernels."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from pliant.fracture.virtual import VirtualMesh, tet_with, weights_in
from pliant.mesh.types import Surface, tet_volumes
from pliant.models.multires.beside import Sides, copy_beside, holding_beside, nearest_beside
from pliant.models.tet_fields import edge_matrices
from pliant.models.tet_stiffness import assemble, element_stiffness, gradients, isotropic_stiffness
from pliant.structure.carrier import embed
from pliant.typing import Array, BoolArray, IntArray

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

    @property
    def table(self) -> tuple[IntArray, IntArray, Array]:
        """As kernels want it."""
        return self.first, self.columns, self.weights

    @classmethod
    def none(cls, count: int) -> "Rows":
        """``count`` empty rows."""
        return cls(np.zeros(count + 1, np.int64), np.zeros(0, np.int64), np.zeros(0))

    @classmethod
    def of(cls, matrix: Any) -> "Rows":
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

    points (n, 3); tets (m, 4); gradients (m, 4, 3) [1/m]; volumes (m,); around: tets (times 4, plus corner)
    of each node; critical: ``2 / omega_max`` [s] of the whole level, undamped; tet_sides, node_sides: on
    which sides of cuts they are.
    """

    def __init__(self, mesh: LevelMesh, lame: tuple[float, float], operator: int) -> None:
        points = self.points = mesh.points
        tets = self.tets = np.ascontiguousarray(mesh.tets, np.int64)
        self.operator = operator
        self.lam, self.mu = lame
        self.volumes = mesh.volumes()
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
        self.virtual = mesh.virtual
        self.tet_sides, self.node_sides = Sides.none(len(tets)), Sides.none(self.count)
        if (cut := mesh.virtual) is not None:
            self.tet_sides = Sides(cut.above & ~cut.below, cut.below & ~cut.above)
            below, above = (_any_around(flags, tets, self.count) for flags in (cut.below, cut.above))
            self.node_sides = Sides(above & ~below, below & ~above)

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


@dataclass(frozen=True)
class Homes:
    """Where whole levels hold each other, which cuts do not change: the coarse tet of each fine node (up) and
    of four points in each fine tet (samples), the fine tet of each coarse node (down), the nearest coarse
    node of each fine one (parent)."""

    up: IntArray
    down: IntArray
    samples: IntArray
    parent: IntArray

    @classmethod
    def of(cls, coarse: LevelMesh, fine: LevelMesh) -> "Homes":
        """For levels without cuts."""
        from scipy.spatial import cKDTree

        inside = np.einsum("sk,mkc->msc", SAMPLES, fine.points[fine.tets]).reshape(-1, 3)
        parent = np.asarray(cKDTree(coarse.points).query(fine.points)[1], np.int64)
        up, down = _tet_of(fine.points, coarse), _tet_of(coarse.points, fine)
        return cls(up, down, _tet_of(inside, coarse).reshape(-1, 4), parent)


class Link:
    """How a coarse and a fine level hang together, never across a cut.

    corners, weights (n_fine, 4): a fine node's parent tet; parent (n_fine,): the nearest coarse node;
    push, pull: quadratic interpolation of fine nodes from coarse ones and back,
    ``u = sum_i w_i (u_i + 1/2 g_i . (x - x_i))`` with averaged nodal gradients g: exact on linear fields;
    down (n_coarse, 4): a coarse node's child tet, with weights; children: fine nodes of each coarse node;
    samples (m_fine, 4): coarse tets that hold four points of each fine tet.
    """

    def __init__(self, coarse: Level, fine: Level, homes: Homes) -> None:
        up, down, samples, self.parent = homes.up, homes.down, homes.samples, homes.parent
        if coarse.virtual is not None and fine.virtual is not None:
            up = _tet_beside(fine.points, fine.node_sides, up[fine.virtual.owner], coarse)
            down = _tet_beside(coarse.points, coarse.node_sides, down[coarse.virtual.owner], fine)
            self.parent = _node_beside(fine, homes.parent[fine.virtual.owner], coarse)
            samples = _samples_beside(fine, samples[fine.virtual.origin], coarse)
        self.samples = samples
        self.corners, self.weights = _weights(fine.points, coarse, up)
        self.down, self.down_weights = _weights(coarse.points, fine, down)
        self.children = np.argsort(self.parent, kind="stable").astype(np.int64)
        self.children_first = np.concatenate(
            [[0], np.cumsum(np.bincount(self.parent, minlength=coarse.count))]
        )
        self.push = _quadratic(self.corners, self.weights, fine.points, coarse)
        self.pull = _quadratic(self.down, self.down_weights, coarse.points, fine)


def _weights(points: Array, level: Level, home: IntArray) -> tuple[IntArray, Array]:
    """Corners (n, 4) of the tets that hold points, and the points' weights."""
    corners = level.tets[home]
    weights = weights_in(points, level.points[corners])
    return corners, np.ascontiguousarray(np.where(np.abs(weights) < 1e-12, 0.0, weights))


def _tet_beside(points: Array, sides: Sides, whole: IntArray, level: Level) -> IntArray:
    """The copy of a point's ``whole`` tet on the point's side of all cuts, or another tet near it."""
    assert level.virtual is not None
    found, none = copy_beside(sides, whole, level.virtual.origin, 0, level.tet_sides)
    if len(none):
        found[none] = holding_beside(points[none], sides.of(none), level.points, level.tets, level.tet_sides)
    return found


def _node_beside(fine: Level, whole: IntArray, coarse: Level) -> IntArray:
    assert coarse.virtual is not None
    owner = coarse.virtual.owner
    count = int(owner.max()) + 1
    found, none = copy_beside(fine.node_sides, whole, owner, count, coarse.node_sides)
    if len(none):
        sides = fine.node_sides.of(none)
        found[none] = nearest_beside(fine.points[none], sides, coarse.points, coarse.node_sides)
    return found


def _samples_beside(fine: Level, whole: IntArray, coarse: Level) -> IntArray:
    points = np.einsum("sk,mkc->msc", SAMPLES, fine.points[fine.tets]).reshape(-1, 3)
    sides = fine.tet_sides.of(np.repeat(np.arange(len(fine.tets)), 4))
    return _tet_beside(points, sides, whole.ravel(), coarse).reshape(-1, 4)


def _any_around(flags: BoolArray, tets: IntArray, count: int) -> BoolArray:
    """Whether any tet around a node has the flag, (count, c) from (m, c)."""
    found = np.zeros((count, flags.shape[1]), bool)
    for k in range(4):
        for c in range(flags.shape[1]):
            found[tets[flags[:, c], k], c] = True
    return found


def _tet_of(points: Array, mesh: LevelMesh) -> IntArray:
    """The tet of a mesh that holds each point, or the best near one."""
    return tet_with(
        mesh.tets, embed(Surface(points, np.zeros((0, 3), np.int64)), mesh.points, mesh.tets).indices
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
    """All levels, the coarsest first, and the links between neighbours; homes: where they held each other
    when whole."""

    def __init__(
        self,
        meshes: list[LevelMesh],
        homes: list[Homes],
        mass: Array,
        lame: tuple[float, float],
        operator: int,
    ) -> None:
        self.levels = [Level(mesh, lame, operator) for mesh in meshes]
        pairs = zip(self.levels[:-1], self.levels[1:], homes, strict=True)
        self.links = [Link(coarse, fine, home) for coarse, fine, home in pairs]
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
