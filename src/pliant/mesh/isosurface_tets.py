"""Tets from a body-centred cubic lattice cut along a surface: isosurface stuffing, uniform version.

Source: Labelle and Shewchuk, Isosurface stuffing: fast tetrahedral meshes with good dihedral angles (2007).
Differs: all vertices are warped at once, and where both cuts of a face lie on short edges the diagonal
follows the vertex numbers instead of the lattice's parity, so the paper's angle bounds are aims, not proofs.
"""

from collections.abc import Callable

import numpy as np

from pliant.core.typing import Array, BoolArray, IntArray
from pliant.mesh.mesh import tet_volumes

LONG, SHORT = 0.24999, 0.41189  # of an edge: a cut nearer to a vertex than this moves the vertex onto it

Signed = Callable[[Array], Array]


def lattice_points(low: Array, high: Array, a: float) -> tuple[Array, tuple[int, int, int]]:
    """Corners, then centres, of cubes of side a that cover a box with one to spare; cubes per axis."""
    n = np.ceil((high - low) / a).astype(int) + 2
    origin = (low + high - n * a) / 2
    corners = np.stack(np.meshgrid(*(np.arange(k + 1) for k in n), indexing="ij"), axis=-1).reshape(-1, 3)
    centres = np.stack(np.meshgrid(*(np.arange(k) for k in n), indexing="ij"), axis=-1).reshape(-1, 3) + 0.5
    return origin + a * np.concatenate([corners, centres]), (int(n[0]), int(n[1]), int(n[2]))


def lattice_tets(n: tuple[int, int, int], wanted: BoolArray) -> IntArray:
    """The lattice's tets with a ``wanted`` vertex: two neighbouring centres, then two corners; (m, 4)."""
    corner = np.arange((n[0] + 1) * (n[1] + 1) * (n[2] + 1)).reshape(n[0] + 1, n[1] + 1, n[2] + 1)
    centre = corner.size + np.arange(n[0] * n[1] * n[2]).reshape(n)
    out = []
    for axis in range(3):
        c, p = np.moveaxis(centre, axis, 0), np.moveaxis(corner, axis, 0)[1:-1]
        ring = [p[:, :-1, :-1], p[:, 1:, :-1], p[:, 1:, 1:], p[:, :-1, 1:]]
        for k in range(4):
            tets = np.stack([c[:-1], c[1:], ring[k], ring[(k + 1) % 4]], axis=-1).reshape(-1, 4)
            out.append(tets[wanted[tets].any(axis=1)])
    return np.concatenate(out)


def stuff(points: Array, tets: IntArray, value: Array, signed: Signed) -> tuple[Array, IntArray]:
    """The part of lattice tets where the signed distance is positive, cut along its zero; points and tets.

    ``value`` (n,) is the signed distance at the points, ``signed`` gives it anywhere.
    """
    points, value = points.copy(), value.copy()
    edges, is_long = _edges(tets)
    cut = value[edges[:, 0]] * value[edges[:, 1]] < 0
    edges, is_long = edges[cut], is_long[cut]
    share = _crossing(
        points[edges[:, 0]], points[edges[:, 1]], value[edges[:, 0]], value[edges[:, 1]], signed
    )
    _warp(points, value, edges, is_long, share)
    apart = value[edges[:, 0]] * value[edges[:, 1]] < 0
    edges, is_long, share = edges[apart], is_long[apart], share[apart]
    a, b = points[edges[:, 0]], points[edges[:, 1]]
    everything = np.concatenate([points, a + share[:, None] * (b - a)])
    rank = np.arange(len(everything))
    rank[len(points) :] += np.where(is_long, 2, 1) * len(everything)
    number = dict(zip(map(tuple, edges.tolist()), range(len(points), len(everything)), strict=True))
    kept = _stencils(tets, value, number, rank)
    volumes = tet_volumes(everything, kept)
    kept = np.where((volumes < 0)[:, None], kept[:, [0, 1, 3, 2]], kept)
    return everything, kept[volumes != 0]


def _edges(tets: IntArray) -> tuple[IntArray, BoolArray]:
    """Distinct edges, lower vertex first, and which ones are long (centre to centre or corner to corner)."""
    pairs = np.concatenate([tets[:, list(k)] for k in ((0, 1), (2, 3), (0, 2), (0, 3), (1, 2), (1, 3))])
    straight = np.arange(len(pairs)) < 2 * len(tets)
    edges, first = np.unique(np.sort(pairs, axis=1), axis=0, return_index=True)
    return edges, straight[first]


def _crossing(a: Array, b: Array, va: Array, vb: Array, signed: Signed) -> Array:
    """Where along ab the signed distance is zero, as a share of ab: four steps of regula falsi (Illinois)."""
    low, high, va, vb = np.zeros(len(a)), np.ones(len(a)), va.copy(), vb.copy()
    share = va / (va - vb)
    for _ in range(4):
        value = signed(a + share[:, None] * (b - a))
        same = value * va > 0
        low, high = np.where(same, share, low), np.where(same, high, share)
        va, vb = np.where(same, value, va / 2), np.where(same, vb / 2, value)
        width = va - vb
        share = low + (high - low) * np.divide(va, width, out=np.full_like(va, 0.5), where=width != 0)
    return np.clip(share, 1e-6, 1 - 1e-6)


def _warp(points: Array, value: Array, edges: IntArray, is_long: BoolArray, share: Array) -> None:
    """Move vertices onto their nearest cut where one is too near; their value becomes 0."""
    limit = np.where(is_long, LONG, SHORT)
    length = np.linalg.norm(points[edges[:, 1]] - points[edges[:, 0]], axis=1)
    place = points[edges[:, 0]] + share[:, None] * (points[edges[:, 1]] - points[edges[:, 0]])
    ends = np.concatenate([edges[:, 0], edges[:, 1]])
    gap = np.concatenate([share * length, (1 - share) * length])
    close = np.concatenate([share < limit, 1 - share < limit])
    order = np.argsort(-gap, kind="stable")
    order = order[close[order]]  # the nearest cut has the last word
    points[ends[order]] = np.concatenate([place, place])[order]
    value[ends[order]] = 0.0


def _stencils(tets: IntArray, value: Array, number: dict[tuple[int, int], int], rank: IntArray) -> IntArray:
    """What is left of every tet inside the surface, as tets."""
    sign = np.sign(value[tets]).astype(np.int64)
    tets = np.take_along_axis(tets, np.argsort(-sign, axis=1, kind="stable"), axis=1)
    plus, minus = (sign > 0).sum(axis=1), (sign < 0).sum(axis=1)

    def rows(p: int, m: int) -> IntArray:
        return np.asarray(tets[(plus == p) & (minus == m)])

    def cut(t: IntArray, i: int, j: int) -> IntArray:
        pairs = np.sort(t[:, [i, j]], axis=1).tolist()
        return np.array([number[a, b] for a, b in pairs], dtype=np.int64)

    def stack(*columns: IntArray) -> IntArray:
        return np.stack(columns, axis=1)

    out = [tets[(minus == 0) & (plus > 0)]]
    t = rows(1, 3)
    out.append(stack(t[:, 0], cut(t, 0, 1), cut(t, 0, 2), cut(t, 0, 3)))
    t = rows(1, 2)
    out.append(stack(t[:, 0], t[:, 1], cut(t, 0, 2), cut(t, 0, 3)))
    t = rows(1, 1)
    out.append(stack(t[:, 0], t[:, 1], t[:, 2], cut(t, 0, 3)))
    t = rows(2, 1)
    out += _pyramids(stack(t[:, 0], t[:, 1], cut(t, 1, 3), cut(t, 0, 3)), t[:, 2], rank)
    t = rows(2, 2)
    ends = cut(t, 0, 2), cut(t, 0, 3), cut(t, 1, 2), cut(t, 1, 3)
    out += _prisms(stack(t[:, 0], ends[0], ends[1], t[:, 1], ends[2], ends[3]), rank)
    t = rows(3, 1)
    out += _prisms(stack(t[:, 0], t[:, 1], t[:, 2], cut(t, 0, 3), cut(t, 1, 3), cut(t, 2, 3)), rank)
    return np.concatenate(out)


def _pyramids(base: IntArray, tip: IntArray, rank: IntArray) -> list[IntArray]:
    """Pyramids as two tets each, the base's diagonal at its vertex of highest rank."""
    first = np.argmax(rank[base], axis=1) % 2 == 0
    a, b, c, d = base.T
    one = np.where(first[:, None], np.stack([a, b, c, tip], axis=1), np.stack([a, b, d, tip], axis=1))
    two = np.where(first[:, None], np.stack([a, c, d, tip], axis=1), np.stack([b, c, d, tip], axis=1))
    return [one, two]


def _prisms(prism: IntArray, rank: IntArray) -> list[IntArray]:
    """Prisms (0 1 2 below 3 4 5) as three tets each, every side's diagonal at its vertex of highest rank.

    Source: Dompierre et al., How to subdivide pyramids, prisms and hexahedra into tetrahedra (1999).
    """
    turns = np.array(
        [[0, 1, 2, 3, 4, 5], [1, 2, 0, 4, 5, 3], [2, 0, 1, 5, 3, 4], [3, 5, 4, 0, 2, 1], [4, 3, 5, 1, 0, 2],
         [5, 4, 3, 2, 1, 0]]
    )  # fmt: skip
    p = np.take_along_axis(prism, turns[np.argmax(rank[prism], axis=1)], axis=1)
    across = np.maximum(rank[p[:, 1]], rank[p[:, 5]]) > np.maximum(rank[p[:, 2]], rank[p[:, 4]])
    one = np.where(across[:, None], p[:, [0, 1, 2, 5]], p[:, [0, 1, 2, 4]])
    two = np.where(across[:, None], p[:, [0, 1, 5, 4]], p[:, [0, 4, 2, 5]])
    return [one, two, p[:, [0, 4, 5, 3]]]
