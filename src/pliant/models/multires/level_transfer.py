"""How two neighbouring levels hang together: weights, parents, children, and what is inside of what."""

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from pliant.core.typing import Array, BoolArray, IntArray
from pliant.embedding.barycentric import embed
from pliant.fracture.virtual_nodes import tet_with, weights_in
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
    """Where whole levels hold each other, which cuts do not change: the coarse tet of each fine node (up) and
    of four points in each fine tet (samples), the fine tet of each coarse node (down), the nearest coarse
    node of each fine one (parent)."""

    up: IntArray
    down: IntArray
    samples: IntArray
    parent: IntArray

    @classmethod
    def of(cls, coarse: LevelMesh, fine: LevelMesh) -> "Containment":
        """For levels without cuts."""
        from scipy.spatial import cKDTree

        inside = np.einsum("sk,mkc->msc", SAMPLES, fine.points[fine.tets]).reshape(-1, 3)
        parent = np.asarray(cKDTree(coarse.points).query(fine.points)[1], np.int64)
        up, down = _tet_of(fine.points, coarse), _tet_of(coarse.points, fine)
        return cls(up, down, _tet_of(inside, coarse).reshape(-1, 4), parent)


class LevelTransfer:
    """How a coarse and a fine level hang together, never across a cut.

    corners, weights (n_fine, 4): a fine node's parent tet; parent (n_fine,): the nearest coarse node;
    push, pull: quadratic interpolation of fine nodes from coarse ones and back,
    ``u = sum_i w_i (u_i + 1/2 g_i . (x - x_i))`` with averaged nodal gradients g: exact on linear fields;
    down (n_coarse, 4): a coarse node's child tet, with weights; children: fine nodes of each coarse node;
    samples (m_fine, 4): coarse tets that hold four points of each fine tet; shares (n_fine, 4): how a fine
    node's mass and loads go to its corners, which is by weights unless it is far from the tet; bounds
    (n_fine, 4): the mass that a unit of a fine node's asks of its corners, so that none moves faster.
    """

    def __init__(self, coarse: Level, fine: Level, homes: Containment) -> None:
        up, down, samples, self.parent = homes.up, homes.down, homes.samples, homes.parent
        if coarse.virtual is not None and fine.virtual is not None:
            up = _tet_beside(fine.points, fine.node_sides, up[fine.virtual.owner], coarse)
            down = _tet_beside(coarse.points, coarse.node_sides, down[coarse.virtual.owner], fine)
            self.parent = _node_beside(fine, homes.parent[fine.virtual.owner], coarse)
            samples = _samples_beside(fine, samples[fine.virtual.origin], coarse)
        self.corners, self.weights = _weights(fine.points, coarse, up)
        self.bounds: Array = np.abs(self.weights) * np.abs(self.weights).sum(axis=1, keepdims=True)
        far = self.weights.min(axis=1) < -FAR
        near = np.maximum(self.weights, 0.0)
        near /= near.sum(axis=1, keepdims=True)
        self.shares: Array = np.where(far[:, None], near, self.weights)
        self.samples = _in_one_piece(samples, fine.tets, far)
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


def _in_one_piece(samples: IntArray, tets: IntArray, far: BoolArray) -> IntArray:
    """Samples of fine tets, where those around ``far`` fine nodes that hang together have one coarse tet:
    that of most of them. Horns and tails that a coarse level lacks are refined as a whole or not at all, so
    that none of their nodes is ever slaved to a tet far away."""
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
    """The copy of a point's ``whole`` tet on the point's side of all cuts, or another tet near it."""
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
    """The tet of a mesh that holds each point, or the best near one."""
    return tet_with(
        mesh.tets, embed(Surface(points, np.zeros((0, 3), np.int64)), mesh.points, mesh.tets).indices
    )


def _quadratic(corners: IntArray, weights: Array, points: Array, source: Level) -> CsrRows:
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
    return CsrRows.of(total)
