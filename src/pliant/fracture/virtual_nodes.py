r"""Tets that are cut without being cut up: a tet with material on both sides of a cut becomes two of its own
shape, one for each side, with their shares of its volume.

The cut itself is made on a copy of the mesh, the shadow, by the tested ways to divide and part tets. Material
of one tet that still hangs together within it makes one virtual tet; virtual tets share the corners of a face
that is not open. This is the virtual node algorithm of [MolinoBaoFedkiw2004]_. Stiffness and mass of a tet
shrink alike, so that :math:`\omega_{max}^2 \le \max_t \omega_t^2` of whole tets: cuts leave explicit steps
as they are, however thin the slices.

Differs: the pieces of a tet come from a real subdivision (see ``subdivide``), so bodies can be cut again and
again, and along a front that ends inside.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from pliant.core.typing import AnyArray, Array, BoolArray, IntArray
from pliant.fracture.tet_cut import cut_through, imprinted, parted
from pliant.fracture.tet_topology import TetEdit, named_copies, shared_faces
from pliant.mesh.mesh import tet_volumes
from pliant.mesh.topology import components


@dataclass(frozen=True)
class CutMesh:
    """The tets of a whole mesh (points, whole), cut up and parted.

    rest (q, 3) [m], tets (s, 4), origin (s,): the whole tet of each; sides (s, c): on which side of each cut
    so far, -1 or 1; before (s,): the tet of the shadow before the last change.
    """

    points: Array
    whole: IntArray
    rest: Array
    tets: IntArray
    origin: IntArray
    sides: IntArray
    before: IntArray

    @classmethod
    def of(cls, points: Array, whole: IntArray) -> "CutMesh":
        rows = np.arange(len(whole))
        return cls(points, whole, points, whole, rows, np.zeros((len(whole), 0), np.int64), rows)

    def _after(self, edit: TetEdit, sides: IntArray) -> "CutMesh":
        rest, origin = edit.blended(self.rest), self.origin[edit.origin]
        return replace(self, rest=rest, tets=edit.tets, origin=origin, sides=sides, before=edit.origin)

    def cut(self, level: Array) -> "CutMesh | None":
        """Cut through and parted where ``level`` (q,) is zero; None where that changes nothing."""
        found = cut_through(self.tets, level)
        return None if found is None else self._after(found[0], self._and(found[0], found[1]))

    def mark_cut(self, level: Array) -> "CutMesh":
        """Cut up where ``level`` (q,) is zero, and not parted."""
        edit, made = imprinted(self.tets, level)
        return self._after(edit, self._and(edit, made.side))

    def part(self, sides: IntArray, where: BoolArray | None) -> "CutMesh | None":
        """Neighbours of different ``sides`` (s,) parted; only across faces of vertices ``where`` (q,)."""
        edit = parted(self.tets, len(self.rest), sides, where)
        return None if edit is None else self._after(edit, self.sides)

    def with_sides(self, sides: IntArray) -> "CutMesh":
        """With one more column of sides (s,)."""
        return replace(self, sides=np.column_stack([self.sides, sides]), before=np.arange(len(self.tets)))

    def _and(self, edit: TetEdit, side: IntArray) -> IntArray:
        return np.column_stack([self.sides[edit.origin], side])

    @cached_property
    def home(self) -> tuple[IntArray, Array]:
        """For every vertex a tet (q,) that has it, and its weights (q, 4) in that tet's whole one."""
        home = np.zeros(len(self.rest), np.int64)
        home[self.tets.ravel()[::-1]] = np.repeat(np.arange(len(self.tets)), 4)[::-1]
        return home, weights_in(self.rest, self.points[self.whole[self.origin[home]]])


def weights_in(p: Array, corners: Array) -> Array:
    """Barycentric weights (p, 4) of points in the tets ``corners`` (p, 4, 3)."""
    edges = (corners[:, 1:] - corners[:, :1]).transpose(0, 2, 1)
    inner = np.linalg.solve(edges, (p - corners[:, 0])[:, :, None])[:, :, 0]
    return np.concatenate([1.0 - inner.sum(axis=1, keepdims=True), inner], axis=1)


@dataclass(frozen=True)
class VirtualMesh:
    """Virtual tets (m, 4) over nodes that are copies of whole ones, ``owner`` (n,): the first copy has the
    owner's number, others follow.

    origin (m,): the whole tet of each; share (m,) of its volume; of (s,): the virtual tet of each tet of the
    shadow; below, above (m, c): whether it has material on the negative and positive side of each cut.
    """

    tets: IntArray
    owner: IntArray
    origin: IntArray
    share: Array
    of: IntArray
    below: BoolArray
    above: BoolArray

    def parents(self, before: "VirtualMesh", shadow: CutMesh) -> IntArray:
        """The node (n,) of the virtual mesh before the shadow's last change that each node continues."""
        first = np.unique(self.of, return_index=True)[1]
        old = before.of[shadow.before[first]]
        parents = np.zeros(len(self.owner), np.int64)
        parents[self.tets.ravel()] = before.tets[old].ravel()
        return parents

    def at_vertices(self, shadow: CutMesh, values: Array) -> Array:
        """Values (n,) of nodes at the vertices of the shadow."""
        home, weights = shadow.home
        return np.asarray(np.einsum("qk,qk->q", weights, values[self.tets[self.of[home]]]), float)


def virtual_mesh(shadow: CutMesh) -> VirtualMesh:
    """The virtual tets of a shadow."""
    joints = shared_faces(shadow.tets) // 4
    source = shadow.origin[joints]
    inner = source[:, 0] == source[:, 1]
    _, label = components(len(shadow.tets), joints[inner])
    first, inverse = np.unique(label, return_index=True, return_inverse=True)[1:]
    order = np.lexsort((first, shadow.origin[first]))
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    of = rank[inverse.reshape(-1)]
    origin = shadow.origin[first[order]]
    tets, owner = _joined(shadow.whole[origin], len(shadow.points), of[joints[~inner]])
    volume = np.bincount(of, tet_volumes(shadow.rest, shadow.tets), len(origin))
    flags = [np.zeros((len(origin), shadow.sides.shape[1]), bool) for _ in range(2)]
    for flag, sign in zip(flags, (-1, 1), strict=True):
        there, cut = np.nonzero(shadow.sides == sign)
        flag[of[there], cut] = True
    total = np.bincount(origin, volume, len(shadow.whole))  # shares of a tet sum to one
    return VirtualMesh(tets, owner, origin, volume / total[origin], of, *flags)


def _joined(corners: IntArray, count: int, pairs: IntArray) -> tuple[IntArray, IntArray]:
    """Tets over nodes, where ``pairs`` (p, 2) of tets share the corners that they have in common of whole
    ``corners`` (m, 4); and the whole node of each."""
    row, i, j = np.nonzero(corners[pairs[:, 0]][:, :, None] == corners[pairs[:, 1]][:, None, :])
    links = np.column_stack([4 * pairs[row, 0] + i, 4 * pairs[row, 1] + j])
    _, group = components(corners.size, links)
    tets, owner = named_copies(corners.ravel(), group, count)
    return tets.reshape(-1, 4), owner


def tet_with(tets: IntArray, corners: AnyArray) -> IntArray:
    """The tets that have these ``corners`` (p, 4), in any order."""
    row = np.dtype((np.void, 32))
    each = (np.sort(np.asarray(some, np.int64), axis=1) for some in (tets, corners))
    keys, wanted = (np.ascontiguousarray(some).view(row).ravel() for some in each)
    order = np.argsort(keys, kind="stable")
    return np.asarray(order[np.searchsorted(keys, wanted, sorter=order)], np.int64)
