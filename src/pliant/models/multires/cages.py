r"""Nested cages: coarser levels of a tet mesh that contain all of it, however thin its parts are.

A cage is a body-centred cubic lattice of tets of side a, of which those are kept that hold material. Sides
are doubled from level to level with one origin; all faces of the lattice lie in planes :math:`\pm x_i \pm x_j
\in a Z`, so that a tet of one cage lies inside of one of the next coarser cage, and interpolation is nested
exactly.

A cage tet may bridge parts of a body that have nothing to do with each other, two fingers or the sides of a
cut. Mesh tets in it that hang together by faces make one copy of it each; corners of copies are one node only
where the copies share a mesh tet, or mesh tets of theirs share a face."""

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from pliant.core.typing import Array, IntArray
from pliant.fracture.tet_topology import shared_faces
from pliant.mesh.topology import components

SIDE = 1.08  # of the finest mesh's edge: with this a cage's nodes are about as far apart as its side says
SHRINKS = 0.6  # a coarser level has at most this share of the nodes of the next one
FEWEST = 6  # nodes of a level
WIDER = 2  # times that the side may be doubled again where a cage has too many nodes

_CORNERS, _EDGES = np.eye(4), np.array([(i, j) for i in range(4) for j in range(i)])
# where a mesh tet is sampled: its middle, near its corners, and in the middle of its edges and faces
_SAMPLES = np.concatenate(
    [
        np.full((1, 4), 0.25),
        0.92 * _CORNERS + 0.02,
        0.48 * (_CORNERS[_EDGES[:, 0]] + _CORNERS[_EDGES[:, 1]]) + 0.01,
        0.32 * (1.0 - _CORNERS) + 0.01,
    ]
)


@dataclass(frozen=True)
class Cage:
    """One cage of c cage tets: points (n, 3) [m] of its nodes and its tets (c, 4); home (m,): the cage tet
    that most of each mesh tet is in; volume (c,) [m3] of the material in each.

    of_tet, tet_of: pairs of mesh tets and the cage tets that they have samples in, sorted by mesh tets.
    """

    points: Array
    tets: IntArray
    home: IntArray
    volume: Array
    of_tet: IntArray
    tet_of: IntArray


@dataclass(frozen=True)
class Interpolation:
    """Values of one level's nodes (n,) from the next coarser one's: corners (n, 4) and weights (n, 4)."""

    corners: IntArray
    weights: Array


def lattice_tets(points: Array) -> tuple[IntArray, IntArray]:
    """Corners (p, 4, 3) of the lattice tets that points (p, 3) [a] lie in, in halves of the side a, and a
    number (p, 3) for each tet.

    With c the middle of the point's cube, r = x - c and :math:`|r_m| \\ge |r_n| \\ge |r_l|`: c, :math:`c +
    s_m e_m` and :math:`c + (s_m e_m + s_n e_n \\pm e_l) / 2`, s the signs of r."""
    cell = np.floor(points).astype(np.int64)
    r = points - cell - 0.5
    order = np.argsort(-np.abs(r), axis=1, kind="stable")
    each = np.arange(len(points))
    unit = np.eye(3, dtype=np.int64)
    m, n, l = (unit[order[:, k]] for k in range(3))
    sign = np.where(r >= 0.0, 1, -1)
    to_m, to_n = m * sign[each, order[:, 0]][:, None], n * sign[each, order[:, 1]][:, None]
    middle = 2 * cell + 1
    found = np.stack([middle, middle + 2 * to_m, middle + to_m + to_n + l, middle + to_m + to_n - l], axis=1)
    return found, 2 * (middle + to_m) + to_n


def _codes(numbers: IntArray, low: IntArray, span: IntArray) -> IntArray:
    """One integer for each row (p, 3)."""
    shifted = numbers - low
    return np.asarray((shifted[..., 0] * span[1] + shifted[..., 1]) * span[2] + shifted[..., 2], np.int64)


def barycentric(points: Array, corners: Array) -> Array:
    """Weights (p, 4) of points (p, 3) in tets (p, 4, 3); they sum to one to rounding."""
    edges = (corners[:, 1:] - corners[:, :1]).transpose(0, 2, 1)
    inner = np.linalg.solve(edges, (points - corners[:, 0])[:, :, None])[:, :, 0]
    return np.concatenate([1.0 - inner.sum(axis=1, keepdims=True), inner], axis=1)


def make_cage(rest: Array, tets: IntArray, volume: Array, side: float, origin: Array) -> Cage:
    """The cage of ``side`` [m] around tets (m, 4) with the given volumes of material (m,)."""
    count, samples = len(tets), len(_SAMPLES)
    points = np.einsum("sk,mkc->msc", _SAMPLES, rest[tets]).reshape(-1, 3)
    corners, number = lattice_tets((points - origin) / side)
    low = number.min(axis=0)
    code = _codes(number, low, np.ptp(number, axis=0) + 1)
    known, kind = np.unique(code, return_inverse=True)
    kind = kind.reshape(-1)
    pairs, sample_pair = np.unique(
        np.repeat(np.arange(count), samples) * len(known) + kind, return_inverse=True
    )
    of_tet, in_kind = pairs // len(known), pairs % len(known)
    share = np.bincount(sample_pair.reshape(-1), minlength=len(pairs)) / samples
    faces = shared_faces(tets) // 4
    label = _copies(pairs, of_tet, len(known), count, faces)
    first = np.unique(label, return_index=True)[1]  # copies in the order of their first pairs
    copies = len(first)
    example = np.zeros(len(known), np.int64)
    example[kind[::-1]] = np.arange(len(kind))[::-1]
    lattice = corners[example[in_kind[first]]]  # (copies, 4, 3)
    nodes = _shared_corners(lattice, of_tet, label, count, faces)
    where = np.zeros((int(nodes.max()) + 1, 3))
    where[nodes.ravel()] = lattice.reshape(-1, 3)
    begin = np.searchsorted(of_tet, np.arange(count))
    best = np.lexsort((label, -share, of_tet))[begin]
    material: Array = np.bincount(label, volume[of_tet] * share, copies).astype(float)
    return Cage(origin + 0.5 * side * where, nodes, label[best], material, of_tet, label)


def _copies(pairs: IntArray, of_tet: IntArray, kinds: int, count: int, faces: IntArray) -> IntArray:
    """The copy of its cage tet that each pair of a mesh tet and a cage tet belongs to."""
    begin = np.searchsorted(of_tet, np.arange(count + 1))
    sizes = np.diff(begin)[faces[:, 0]]
    row = np.repeat(np.arange(len(faces)), sizes)
    own = begin[faces[row, 0]] + np.arange(len(row)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    wanted = faces[row, 1] * kinds + pairs[own] % kinds
    place = np.minimum(np.searchsorted(pairs, wanted), len(pairs) - 1)
    both = pairs[place] == wanted
    return _numbered(components(len(pairs), np.column_stack([own[both], place[both]]))[1])


def _numbered(label: IntArray) -> IntArray:
    """Labels as numbers in the order of their first places."""
    _, first, inverse = np.unique(label, return_index=True, return_inverse=True)
    rank = np.empty(len(first), np.int64)
    rank[np.argsort(first, kind="stable")] = np.arange(len(first))
    return np.asarray(rank[inverse.reshape(-1)])


def _shared_corners(
    lattice: IntArray, of_tet: IntArray, label: IntArray, count: int, faces: IntArray
) -> IntArray:
    """Nodes (c, 4) of the copies: corners at one place are one where copies touch in material."""
    copies = len(lattice)
    member = sparse.csr_array((np.ones(len(label)), (of_tet, label)), shape=(count, copies))
    ones = np.ones(len(faces))
    joined = sparse.csr_array((ones, (faces[:, 0], faces[:, 1])), shape=(count, count))
    touching = (member.T @ (member + joined @ member)).tocoo()
    a, b = touching.row, touching.col
    apart = a != b
    a, b = a[apart], b[apart]
    flat = lattice.reshape(-1, 3)
    code = _codes(flat, flat.min(axis=0), np.ptp(flat, axis=0) + 1).reshape(copies, 4)
    row, i, j = np.nonzero(code[a][:, :, None] == code[b][:, None, :])
    same = np.column_stack([4 * a[row] + i, 4 * b[row] + j])
    return _numbered(components(4 * copies, same)[1]).reshape(copies, 4)


def _best_home(points: Array, node: IntArray, tried: IntArray, cage: Cage) -> tuple[IntArray, Interpolation]:
    """For each node the one of the cage tets ``tried`` (for ``node``) with the largest least weight."""
    where = np.unique(node * len(cage.tets) + tried)
    node, tried = where // len(cage.tets), where % len(cage.tets)
    weights = barycentric(points[node], cage.points[cage.tets[tried]])
    least = np.round(weights.min(axis=1), 12)
    order = np.lexsort((tried, -least, node))
    pick = order[np.searchsorted(node[order], np.arange(len(points)))]
    chosen = weights[pick]
    chosen[np.abs(chosen) < 1e-12] = 0.0
    chosen /= chosen.sum(axis=1, keepdims=True)
    return tried[pick], Interpolation(cage.tets[tried[pick]], chosen)


def particles_in(rest: Array, tets: IntArray, cage: Cage) -> Interpolation:
    """How the mesh's particles hang on a cage."""
    node = tets[cage.of_tet].ravel()
    return _best_home(rest, node, np.repeat(cage.tet_of, 4), cage)[1]


def cage_in(fine: Cage, coarse: Cage) -> tuple[IntArray, Interpolation]:
    """The coarse cage tet that each fine one lies in, and how the fine nodes hang on the coarse ones."""
    first = np.unique(fine.tet_of, return_index=True)[1]
    middle = fine.points[fine.tets].mean(axis=1)
    mesh = fine.of_tet[first]
    begin, end = np.searchsorted(coarse.of_tet, mesh), np.searchsorted(coarse.of_tet, mesh, "right")
    sizes = end - begin
    row = np.repeat(np.arange(len(mesh)), sizes)
    entry = np.repeat(begin - np.cumsum(sizes) + sizes, sizes) + np.arange(len(row))
    tried = coarse.tet_of[entry]
    least = barycentric(middle[row], coarse.points[coarse.tets[tried]]).min(axis=1)
    order = np.lexsort((tried, -np.round(least, 9), row))
    inside = tried[order[np.searchsorted(row[order], np.arange(len(mesh)))]]
    return inside, _best_home(fine.points, fine.tets.ravel(), np.repeat(inside, 4), coarse)[1]
