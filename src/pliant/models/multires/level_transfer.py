"""Interpolation between two neighbouring levels: which tets contain which nodes, and with what weights."""

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from pliant.core.typing import Array, BoolArray, IntArray
from pliant.embedding.barycentric import embed
from pliant.fracture.virtual_nodes import tet_with, weights_in
from pliant.kernels.csr import incidence
from pliant.mesh.mesh import Surface
from pliant.mesh.topology import components
from pliant.models.multires.cut_sides import (
    CutSides,
    containing_on_same_side,
    copy_on_same_side,
    nearest_on_same_side,
)
from pliant.models.multires.levels import CsrRows, Level, LevelMesh

SAMPLES = 0.75 * np.eye(4) + 0.0625 * (1.0 - np.eye(4))  # points inside a tet, as weights of its corners
SAMPLES /= SAMPLES.sum(axis=1, keepdims=True)
FAR = 0.25  # a fine node is far from its coarse tet where a weight is below minus this


@dataclass(frozen=True)
class Containment:
    """Which tets of two uncut levels contain which nodes: the coarse tet of each fine node (parent_tet) and
    of four points in each fine tet (samples), the fine tet of each coarse node (child_tet), and the nearest
    coarse node of each fine one (parent_node)."""

    parent_tet: IntArray
    child_tet: IntArray
    samples: IntArray
    parent_node: IntArray

    @classmethod
    def of(cls, coarse: LevelMesh, fine: LevelMesh) -> "Containment":
        """Search the tets of two levels without cuts."""
        from scipy.spatial import cKDTree

        inside = np.einsum("sk,mkc->msc", SAMPLES, fine.points[fine.tets]).reshape(-1, 3)
        parent = np.asarray(cKDTree(coarse.points).query(fine.points)[1], np.int64)
        parent_tet, child_tet = _tet_of(fine.points, coarse), _tet_of(coarse.points, fine)
        return cls(parent_tet, child_tet, _tet_of(inside, coarse).reshape(-1, 4), parent)


class LevelTransfer:
    """Interpolation between a coarse and a fine level, never across a cut.

    parent_corners, parent_weights (n_fine, 4): the coarse tet that contains a fine node, ``u = sum_q w_q
    u_q``; child_corners, child_weights (n_coarse, 4): the fine tet that contains a coarse node; parent_node
    (n_fine,): the nearest coarse node, whose ``children`` the fine nodes are. prolongation, restriction:
    sparse rows of the quadratic interpolation of fine nodes from coarse ones and back, ``u = sum_i w_i (u_i +
    1/2 g_i . (x - x_i))`` with averaged nodal gradients g: exact on linear fields.

    samples (m_fine, 4): coarse tets that contain four points of each fine tet; load_weights (n_fine, 4):
    parts of a fine node's mass and loads for the corners of its parent tet, parent_weights unless it is far
    from the tet; mass_weights (n_fine, 4): ``|w_q| sum_p |w_p|``, the mass that a unit of a fine node's
    requires of the corners, so that the node's highest frequency is not exceeded.
    """

    def __init__(self, coarse: Level, fine: Level, uncut: Containment) -> None:
        parent_tet, child_tet, samples = uncut.parent_tet, uncut.child_tet, uncut.samples
        self.parent_node = uncut.parent_node
        if coarse.virtual is not None and fine.virtual is not None:
            parent_tet = _tet_beside(fine.points, fine.node_sides, parent_tet[fine.virtual.owner], coarse)
            child_tet = _tet_beside(coarse.points, coarse.node_sides, child_tet[coarse.virtual.owner], fine)
            self.parent_node = _node_beside(fine, uncut.parent_node[fine.virtual.owner], coarse)
            samples = _samples_beside(fine, samples[fine.virtual.origin], coarse)
        self.parent_corners, weights = _weights(fine.points, coarse, parent_tet)
        self.parent_weights = weights
        self.mass_weights: Array = np.abs(weights) * np.abs(weights).sum(axis=1, keepdims=True)
        far = weights.min(axis=1) < -FAR
        near = np.maximum(weights, 0.0)
        near /= near.sum(axis=1, keepdims=True)
        self.load_weights: Array = np.where(far[:, None], near, weights)
        self.samples = _in_one_piece(samples, fine.tets, far)
        self.child_corners, self.child_weights = _weights(coarse.points, fine, child_tet)
        self.children, self.children_first = incidence(self.parent_node, coarse.count)
        self.prolongation = _quadratic(self.parent_corners, weights, fine.points, coarse)
        self.restriction = _quadratic(self.child_corners, self.child_weights, coarse.points, fine)


def _weights(points: Array, level: Level, home: IntArray) -> tuple[IntArray, Array]:
    """Corners (n, 4) of the tets that contain points, and the points' barycentric weights."""
    corners = level.tets[home]
    weights = weights_in(points, level.points[corners])
    return corners, np.ascontiguousarray(np.where(np.abs(weights) < 1e-12, 0.0, weights))


def _in_one_piece(samples: IntArray, tets: IntArray, far: BoolArray) -> IntArray:
    """Samples of fine tets, where those around connected ``far`` fine nodes have one coarse tet: that of most
    of them. Horns and tails that a coarse level lacks are refined as a whole or not at all, so that none of
    their nodes is ever slaved to a tet far away."""
    touching = np.flatnonzero(far[tets].any(axis=1))
    if not len(touching):
        return samples
    ends = tets[touching]
    one = ends[np.arange(len(ends)), far[ends].argmax(axis=1)]  # a far corner of each
    pairs = np.stack([np.repeat(one, 4), ends.ravel()], axis=1)
    group = components(len(far), pairs[far[pairs[:, 1]]])[1][one]
    votes, count = np.unique(
        np.stack([np.repeat(group, 4), samples[touching].ravel()], axis=1), axis=0, return_counts=True
    )
    order = np.lexsort((votes[:, 1], -count, votes[:, 0]))
    groups, first = np.unique(votes[order, 0], return_index=True)
    chosen = votes[order[first], 1]
    found = samples.copy()
    found[touching] = chosen[np.searchsorted(groups, group)][:, None]
    return found


def _tet_beside(points: Array, sides: CutSides, whole: IntArray, level: Level) -> IntArray:
    """The copy of a point's tet of the uncut level (``whole``) on its side of all cuts, or another near
    it."""
    assert level.virtual is not None
    found, none = copy_on_same_side(sides, whole, level.virtual.origin, 0, level.tet_sides)
    if len(none):
        found[none] = containing_on_same_side(
            points[none], sides.of(none), level.points, level.tets, level.tet_sides
        )
    return found


def _node_beside(fine: Level, whole: IntArray, coarse: Level) -> IntArray:
    assert coarse.virtual is not None
    owner = coarse.virtual.owner
    count = int(owner.max()) + 1
    found, none = copy_on_same_side(fine.node_sides, whole, owner, count, coarse.node_sides)
    if len(none):
        sides = fine.node_sides.of(none)
        found[none] = nearest_on_same_side(fine.points[none], sides, coarse.points, coarse.node_sides)
    return found


def _samples_beside(fine: Level, whole: IntArray, coarse: Level) -> IntArray:
    points = np.einsum("sk,mkc->msc", SAMPLES, fine.points[fine.tets]).reshape(-1, 3)
    sides = fine.tet_sides.of(np.repeat(np.arange(len(fine.tets)), 4))
    return _tet_beside(points, sides, whole.ravel(), coarse).reshape(-1, 4)


def _tet_of(points: Array, mesh: LevelMesh) -> IntArray:
    """The tet of a mesh that contains each point, or the best near one."""
    return tet_with(
        mesh.tets, embed(Surface(points, np.zeros((0, 3), np.int64)), mesh.points, mesh.tets).indices
    )


def _quadratic(corners: IntArray, weights: Array, points: Array, source: Level) -> CsrRows:
    """``W + 1/2 sum_c (X_c W - W Y_c) B_c``: X, Y places of targets and sources, B nodal gradients."""
    n = len(points)
    rows = np.repeat(np.arange(n), 4)
    w = sparse.csr_array((weights.ravel(), (rows, corners.ravel())), shape=(n, source.count))
    total = w.copy()
    for c, gradient in enumerate(source.nodal_gradient_matrices()):
        here, there = sparse.diags_array(points[:, c]), sparse.diags_array(source.points[:, c])
        total = total + 0.5 * ((here @ w - w @ there) @ gradient)
    total = sparse.csr_array(total)
    total.data[np.abs(total.data) < 1e-13] = 0.0
    total.eliminate_zeros()
    return CsrRows.of(total)
