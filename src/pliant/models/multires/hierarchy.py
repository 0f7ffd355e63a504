"""All levels of a body: its mesh, the cages around it, and how nodes hang on coarser ones."""

from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
from scipy import sparse

from pliant.core.typing import AnyArray, Array, BoolArray, IntArray
from pliant.fracture.tet_topology import pieces
from pliant.kernels.csr import incidence
from pliant.mesh.mesh import tet_volumes
from pliant.models.multires import element_kernels
from pliant.models.multires.cages import (
    FEWEST,
    SHRINKS,
    SIDE,
    WIDER,
    Cage,
    Interpolation,
    barycentric,
    cage_in,
    make_cage,
    particles_in,
)
from pliant.models.multires.element_kernels import LAWS, NEO_HOOKEAN, Clusters, MeshTets
from pliant.models.tets.fields import edge_matrices
from pliant.models.tets.stiffness import assemble, gradients

ENTRIES = 400  # of a matrix, which are read and multiplied in the time that a mesh tet takes
ANCHORS = 4  # the first nodes, on which particles hang that stay where they are


@dataclass(frozen=True)
class LevelTets:
    """Tets (m, 4) of one level in its own numbers, with gradients (m, 4, 3) and volumes of material (m,); the
    tets around node i: ``incident[incident_first[i] : incident_first[i + 1]]``, 4 t + corner."""

    tets: IntArray
    gradients: Array
    volumes: Array
    incident: IntArray
    incident_first: IntArray

    @classmethod
    def of(cls, points: Array, tets: IntArray, volumes: Array) -> "LevelTets":
        slopes = gradients(np.asarray(np.linalg.inv(edge_matrices(points, tets)), float))
        return cls(np.ascontiguousarray(tets), slopes, volumes, *incidence(tets, len(points)))


class Hierarchy:
    """Levels, the coarsest first; the last one's nodes are the body's particles.

    Nodes have one number in all levels, those of level k begin at ``first[k]``. points (n, 3) [m]; level
    (n,); nested_corners, nested_weights (n, 4): how a node hangs on the next coarser level (of the coarsest:
    zeros). mesh: the body's tets. level_tets: tets of each level, for the change of strain. clusters: all cage
    tets as elements, those of level k from ``cluster_first[k]`` on; piece (n,): the connected piece of the
    body that a node belongs to; cluster_parent: the coarser cage tet that each lies in (-1: none);
    tet_cluster (m,): the cluster of the finest cage that each mesh tet is in; summed: whether
    the clusters of each level have matrices, which those do not whose mesh tets one by one take less. asked: levels that were asked
    for; sides: of the cages to make, as they were before a cut.

    The first four nodes, of level -1, are anchors: the corners of a tet around the body, which never move.
    Particles that stay where they are (``anchored``, flags) hang on these instead of coarse nodes, in corners
    and weights (n, 4): they are exactly at their places whatever is simulated around them, and coarse elements
    that they belong to have four nodes more."""

    def __init__(
        self,
        rest: Array,
        tets: IntArray,
        share: Array | None,
        mass: Array,
        edge: float,
        asked: int,
        law: str,
        lame: tuple[float, float],
        sides: Array | None = None,
    ) -> None:
        volumes = np.abs(tet_volumes(rest, tets)) * (1.0 if share is None else share)
        self.asked, self.edge = asked, edge
        self.sides: list[float] = []  # of the cages [m]
        cages = self._cages(rest, tets, volumes, edge, sides)
        hanging = self._interpolations(rest, tets, cages)
        counts = [len(cage.points) for cage in cages] + [len(rest)]
        self.count = len(counts)
        first = self.first = np.cumsum([ANCHORS, *counts]).astype(np.int64)
        self.points: Array = np.concatenate([_around(rest), *(cage.points for cage in cages), rest])
        self.level: IntArray = np.repeat(np.arange(-1, len(counts)), [ANCHORS, *counts])
        self.corners: IntArray = np.zeros((int(first[-1]), 4), np.int64)
        self.weights: Array = np.zeros((int(first[-1]), 4))
        for k, each in enumerate(hanging, 1):
            self.corners[first[k] : first[k + 1]] = each.corners + first[k - 1]
            self.weights[first[k] : first[k + 1]] = each.weights
        self.nested_corners, self.nested_weights = self.corners, self.weights
        self.particles = slice(int(first[-2]), int(first[-1]))
        self.mass = mass
        self.anchored: BoolArray = np.zeros(len(rest), bool)
        finest = LevelTets.of(rest, np.ascontiguousarray(tets, np.int64), volumes)
        self.level_tets = [*(LevelTets.of(c.points, c.tets, c.volume) for c in cages), finest]
        self.mesh = MeshTets(finest.tets, finest.gradients, volumes, LAWS[law], *lame)
        self.pieces, of_tets = pieces(finest.tets)
        self.piece: IntArray = np.zeros(int(first[-1]), np.int64)
        self.piece[first[-2] + finest.tets.ravel()] = np.repeat(of_tets, 4)
        for k, cage in enumerate(cages):
            self.piece[first[k] + cage.tets[cage.tet_of].ravel()] = np.repeat(of_tets[cage.of_tet], 4)
        self.particle_piece: IntArray = self.piece[self.particles]
        self.unjoined = self.piece
        self._number_clusters(cages)
        self.children_first, self.children = self._children()
        self._critical: dict[tuple[int, bytes], float] = {}

    # -------------------------------------------------------------------------------------- building

    def _cages(
        self, rest: Array, tets: IntArray, volumes: Array, edge: float, sides: Array | None
    ) -> list[Cage]:
        """Cages, the coarsest first: of the given sides, or else those that have clearly fewer nodes than the
        last, of which a thin body's first may be none."""
        found, last = list[Cage](), len(rest)
        origin = rest.min(axis=0) - 1e-3 * edge
        for side in SIDE * edge * 2.0 ** np.arange(1, self.asked + WIDER):
            if len(found) == self.asked - 1:
                break
            cage = make_cage(rest, tets, volumes, side, origin)
            if len(cage.points) > SHRINKS * last and sides is None:
                continue
            if len(cage.points) < FEWEST and sides is None:
                break
            if sides is None or (np.abs(sides - side) < 1e-6 * side).any():
                last = len(cage.points)
                found.insert(0, cage)
                self.sides.insert(0, float(side))
        return found

    def _interpolations(self, rest: Array, tets: IntArray, cages: list[Cage]) -> list[Interpolation]:
        self._inside: list[IntArray] = []
        if not cages:
            return []
        found = [particles_in(rest, tets, cages[-1])]
        for k in range(len(cages) - 1, 0, -1):
            inside, hanging = cage_in(cages[k], cages[k - 1])
            self._inside.insert(0, inside)
            found.insert(0, hanging)
        return found

    def rows_of_particles(self, level: int) -> sparse.csr_array:
        """How particles hang on the nodes of ``level`` where nothing finer is simulated, (particles,
        nodes)."""
        n = len(self.mass)
        rows = sparse.csr_array(sparse.eye(n, format="csr"))
        for k in range(self.count - 1, level, -1):
            a, b, before = self.first[k], self.first[k + 1], self.first[k - 1]
            nodes = np.repeat(np.arange(b - a), 4)
            table = (self.nested_weights[a:b].ravel(), (nodes, (self.nested_corners[a:b] - before).ravel()))
            rows = rows @ sparse.csr_array(table, shape=(b - a, a - before))
        rows.data[np.abs(rows.data) < 1e-13] = 0.0
        rows.eliminate_zeros()
        rows.sort_indices()
        return rows

    def with_anchored(self, flags: BoolArray) -> Self:
        """The hierarchy whose flagged particles hang on the anchors; their pieces count as one."""
        if self.count == 1 or np.array_equal(flags, self.anchored):
            return self
        found = copy(self)
        vars(found).pop("clusters", None)
        rows = np.flatnonzero(flags)
        nodes = rows + self.particles.start
        found.anchored = flags.copy()
        found.corners, found.weights = self.nested_corners.copy(), self.nested_weights.copy()
        found.corners[nodes] = np.arange(ANCHORS)
        place = np.broadcast_to(self.points[:ANCHORS], (len(rows), ANCHORS, 3))
        found.weights[nodes] = barycentric(self.points[nodes], place)
        found.piece, touched = self.unjoined.copy(), np.unique(self.unjoined[nodes])
        if len(touched):
            found.piece[np.isin(found.piece, touched)] = touched[0]
            found.piece[:ANCHORS] = touched[0]
        found.particle_piece = found.piece[self.particles]
        return found

    def _number_clusters(self, cages: list[Cage]) -> None:
        """Number the cage tets of all levels, and find which mesh tets each has, and whether their sums would
        take less than these."""
        sizes, m = [len(cage.tets) for cage in cages], len(self.mesh.tets)
        self.cluster_first: IntArray = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        self.cluster_parent: IntArray = np.full(int(self.cluster_first[-1]), -1)
        self.tet_cluster: IntArray = np.full(m, -1)
        self.summed: BoolArray = np.zeros(len(cages), bool)
        self._homes = [cages[-1].home] if cages else list[IntArray]()
        for k in range(len(cages) - 1, 0, -1):
            a, b, inside = self.cluster_first[k], self.cluster_first[k + 1], self._inside[k - 1]
            self.cluster_parent[a:b] = inside + self.cluster_first[k - 1]
            self._homes.insert(0, inside[self._homes[0]])
        if cages:
            self.tet_cluster = self._homes[-1] + self.cluster_first[-2]
        for k in range(len(cages) if self.mesh.law != NEO_HOOKEAN else 0):
            nodes = np.diff(self._pattern(k, self.rows_of_particles(k))[1].indptr)
            self.summed[k] = 9 * ((nodes - 1) ** 2).sum() < ENTRIES * m

    def _pattern(self, k: int, rows: sparse.csr_array) -> tuple[sparse.csr_array, sparse.csr_array]:
        """Which mesh tets each cage tet of level k has, and on which nodes these hang, by ``rows``."""
        m, count = len(self.mesh.tets), int(np.diff(self.cluster_first)[k])
        member = sparse.csr_array((np.ones(m), (self._homes[k], np.arange(m))), shape=(count, m))
        member.sort_indices()
        corners = (np.ones(4 * m), (np.repeat(np.arange(m), 4), self.mesh.tets.ravel()))
        used = sparse.csr_array(member @ sparse.csr_array(corners, shape=(m, len(self.mass))) @ abs(rows))
        used.sort_indices()
        return member, used

    @cached_property
    def clusters(self) -> Clusters:
        """The mesh tets of every cage tet, summed into one element on its level's nodes; of levels that are
        not ``summed``, none."""
        found = [self._level_clusters(k) for k in range(self.count - 1)]
        first = _chained([each[0] for each in found])
        nodes = np.concatenate([np.zeros(0, np.int64), *(each[1] for each in found)])
        slopes = np.concatenate([np.zeros((0, 3)), *(each[2] for each in found)])
        matrix_first = _chained([each[3] for each in found])
        matrix = np.concatenate([np.zeros(0, np.float32), *(each[4] for each in found)])
        diagonal = np.concatenate([np.zeros(0), *(each[5] for each in found)])
        most = int(np.diff(first).max(initial=1))
        return Clusters(first, nodes, slopes, matrix_first, matrix, diagonal, most)

    def _level_clusters(self, k: int) -> tuple[IntArray, IntArray, Array, IntArray, AnyArray, Array]:
        """First nodes, nodes, mean gradients, first entries and entries of the matrices of level k, and their
        diagonals."""
        if not self.summed[k]:
            empty = np.zeros(int(np.diff(self.cluster_first)[k]) + 1, np.int64)
            return empty, empty[:0], np.zeros((0, 3)), empty, np.zeros(0, np.float32), np.zeros(0)
        rows = self._rows_with_anchors(k)
        member, used = self._pattern(k, rows)
        first, nodes = used.indptr.astype(np.int64), used.indices.astype(np.int64)
        entries = 9 * (np.diff(first) - 1) ** 2
        matrix_first = np.concatenate([[0], np.cumsum(entries)]).astype(np.int64)
        slopes, matrix = np.zeros((len(nodes), 3)), np.zeros(int(matrix_first[-1]), np.float32)
        diagonal = np.zeros(len(nodes))
        element_kernels.sum_clusters(
            member.indptr.astype(np.int64), member.indices.astype(np.int64), self.mesh,
            rows.indptr.astype(np.int64), rows.indices.astype(np.int64), rows.data, first, nodes, matrix_first,
            slopes, matrix, diagonal,
        )  # fmt: skip
        numbers = np.where(nodes < ANCHORS, nodes, nodes - ANCHORS + self.first[k])
        return first, numbers, np.nan_to_num(slopes), matrix_first, matrix, diagonal

    def _rows_with_anchors(self, level: int) -> sparse.csr_array:
        """``rows_of_particles`` with the anchors before the nodes of the level."""
        rows, fixed = self.rows_of_particles(level), self.weights[self.particles] * self.anchored[:, None]
        if self.anchored.any():
            rows = sparse.csr_array(sparse.diags_array(np.where(self.anchored, 0.0, 1.0)) @ rows)
        both = sparse.csr_array(sparse.hstack([sparse.csr_array(fixed), rows]))
        both.eliminate_zeros()
        both.sort_indices()
        return both

    def _children(self) -> tuple[IntArray, IntArray]:
        """The nodes of the next finer level that hang on each node, as sparse rows."""
        nodes = np.repeat(np.arange(len(self.points)), 4)
        used = (self.nested_weights != 0.0).ravel()
        parent = self.nested_corners.ravel()[used]
        order = np.argsort(parent, kind="stable")
        first = np.concatenate([[0], np.cumsum(np.bincount(parent, minlength=len(self.points)))])
        return first.astype(np.int64), nodes[used][order].astype(np.int64)

    def level_mass(self, level: int) -> Array:
        """Masses of a level's nodes where nothing else is simulated: ``d = G^T m``."""
        return np.asarray(self.rows_of_particles(level).T @ self.mass)

    def critical_step(self, level: int, prescribed: BoolArray) -> float:
        """``2 / omega_max`` [s] of the body in the space of one level, undamped and at rest, with lumped
        masses (``Arrangement``); prescribed (particles, 3): degrees of freedom that do not move."""
        key = (level, np.packbits(prescribed).tobytes() if prescribed.any() else b"")
        if key not in self._critical:
            self._critical[key] = self._find_critical_step(level, prescribed)
        return self._critical[key]

    @cached_property
    def stiffness(self) -> sparse.csr_array:
        """The stiffness of the mesh at rest [N/m]."""
        m, g = self.mesh, self.mesh.gradients
        blocks = (
            m.mu * np.einsum("mic,mjc->mij", g, g)[:, :, None, :, None] * np.eye(3)[None, None, :, None, :]
        )
        first, second = (m.lam + m.mu, 0.0) if m.law == LAWS["debunne"] else (m.lam, m.mu)
        blocks = (
            blocks + first * np.einsum("mia,mjb->miajb", g, g) + second * np.einsum("mib,mja->miajb", g, g)
        )
        blocks = (m.volumes[:, None, None, None, None] * blocks).reshape(len(m.tets), 12, 12)
        return sparse.csr_array(assemble(blocks, m.tets, len(self.mass)))

    def _find_critical_step(self, level: int, prescribed: BoolArray) -> float:
        from scipy.sparse.linalg import eigsh

        rows = sparse.csr_array(sparse.kron(self.rows_of_particles(level), sparse.eye(3), format="csr"))
        free = sparse.diags_array(np.where(prescribed.ravel(), 0.0, 1.0))
        rows = sparse.csr_array(free @ rows)
        sizes = abs(rows)
        mass = sizes.T @ (np.repeat(self.mass, 3) * sizes.sum(axis=1))
        kept = np.flatnonzero(mass > 1e-9 * mass.max(initial=1e-300))
        if not len(kept):
            return float("inf")
        scaled = sparse.csr_array(rows[:, kept] @ sparse.diags_array(1.0 / np.sqrt(mass[kept])))
        matrix = sparse.csr_array(scaled.T @ (self.stiffness @ scaled))
        if len(kept) < 60:
            top = float(np.linalg.eigvalsh(matrix.toarray())[-1])
        else:
            start = np.random.default_rng(0).standard_normal(len(kept))
            top = float(eigsh(matrix, k=1, v0=start, tol=1e-3, ncv=20, return_eigenvectors=False)[0])
        return 2.0 / np.sqrt(top) if top > 0.0 else float("inf")


def _around(rest: Array) -> Array:
    """Corners (4, 3) of a regular tet around points (n, 3)."""
    low, high = rest.min(axis=0), rest.max(axis=0)
    ways = np.array([[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]]) / np.sqrt(3.0)
    return np.asarray(0.5 * (low + high) + 2.0 * np.linalg.norm(high - low) * ways)


def _chained(firsts: list[IntArray]) -> IntArray:
    """Starts of rows of several tables, as those of one table."""
    found = [np.zeros(1, np.int64)]
    for each in firsts:
        found.append(each[1:] + found[-1][-1])
    return np.concatenate(found)
