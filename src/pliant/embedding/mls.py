"""Surfaces embedded in nearby elements or phyxels: moving least squares around each surface point."""

import numpy as np

from pliant.core.typing import Array, IntArray
from pliant.embedding.barycentric import EmbeddedSurface, FrameOffsets, frames_of
from pliant.kernels.csr import edge_incidence
from pliant.mesh.mesh import Surface
from pliant.mesh.topology import components

NEAR = 20  # elements that carry a point
RINGS = 2  # how many connections away they may be from the nearest one
FAR = 12  # connections to an element that is beside a line of others
OFF = 0.3  # how far beside [spacings]
REACH = 1.3  # points farther than this from all elements stand off stiffly [spacings]
_BLOCK = 4096
_FLAT = 1e-3  # directions in which elements are spread less than this share tell nothing
AROUND = 20  # phyxels that carry a point of the surface
THIN = 1e-3  # less spread than this across a plane: the linear fit is held back there
CLOSE = 0.01  # how little the surface may pass by phyxels on it, as a share of h^2


def carried_by_elements(surface: Surface, rest: Array, spacing: float, edges: IntArray) -> EmbeddedSurface:
    r"""Carry ``surface`` by the elements (n, 3) nearest to its points, and connected there by ``edges``.

    With a weight :math:`\phi` that falls with distance and the elements' mean :math:`\bar X`, the shares
    :math:`w_k = \phi_k [1/\sum\phi + (X_s - \bar X)^T S^{+} (X_k - \bar X)]`,
    :math:`S = \sum \phi_k (X_k - \bar X)(X_k - \bar X)^T`, sum to one and move the point with every affine
    motion of its elements: it is carried by their local frame. Where the elements lie in a
    plane or a line the pseudo-inverse leaves out what they cannot tell, and the point keeps an offset.
    """
    return carried_around(surface, rest, spacing, edges, _homes(surface, rest, edges))


def _homes(surface: Surface, rest: Array, edges: IntArray) -> IntArray:
    """The element (p,) nearest to each point, of those in the part of the surface that the point belongs to:
    parts that do not touch may come so near to each other that the nearest element is in the other one."""
    from scipy.spatial import cKDTree

    from pliant.mesh.bvh import Bvh

    points, triangles = surface.points, surface.triangles
    home = np.asarray(cKDTree(rest).query(points)[1])
    pieces, piece = components(len(rest), edges)
    parts, part = components(len(points), np.concatenate([triangles[:, :2], triangles[:, 1:]]))
    if pieces == 1 or parts == 1:
        return home
    inside = np.zeros((parts, pieces), bool)  # whether a part has elements of a piece
    inside[part[triangles[Bvh(points, triangles).nearest(rest)[2], 0]], piece] = True
    wrong = ~inside[part, piece[home]]
    for each in np.unique(part[wrong]):
        own, rows = np.flatnonzero(inside[each][piece]), np.flatnonzero(wrong & (part == each))
        if len(own):  # parts without elements hang on what is nearest
            home[rows] = own[cKDTree(rest[own]).query(points[rows])[1]]
    return home


def carried_around(
    surface: Surface, rest: Array, spacing: float, edges: IntArray, home: IntArray
) -> EmbeddedSurface:
    """As above; each point by elements within two connections of its ``home`` (p,).

    Parts too thin for elements, as horns, stand off: their points take the place that is ``REACH`` away from
    home, and from there an offset that turns, all of a part with the same frame of elements at its foot.
    """
    points = surface.points
    found = _near(points, rest, edges, home)
    away = np.linalg.norm(points - rest[home], axis=1) / spacing
    carried = rest[home] + (points - rest[home]) * np.minimum(1.0, REACH / np.maximum(away, REACH))[:, None]
    shares = [
        _shares(carried[k : k + _BLOCK], rest[found[k : k + _BLOCK]], spacing)
        for k in range(0, len(points), _BLOCK)
    ]
    weights = np.concatenate(shares)
    missing = points - np.einsum("pk,pki->pi", weights, rest[found])
    framed = np.flatnonzero(np.linalg.norm(missing, axis=1) > 1e-6 * spacing)
    indices = found.astype(np.uint32)
    if not len(framed):
        return EmbeddedSurface(surface, indices, weights)
    triples = _triples(rest, found[framed], widest=False)
    far = away[framed] > REACH
    triples[far] = _triples(rest, found[_feet(surface, away)[framed[far]]], widest=True)
    frames = _beyond_the_line(rest, spacing, edges, triples)
    offsets = FrameOffsets(framed, frames, missing[framed], frames_of(rest, frames))
    return EmbeddedSurface(surface, indices, weights, offsets=offsets)


def _near(points: Array, rest: Array, edges: IntArray, home: IntArray) -> IntArray:
    """The elements that carry each point (p, k): its home first, then others by distance; short rows repeat
    the home."""
    from scipy.sparse import coo_array, identity

    n = len(rest)
    both = np.concatenate([edges, edges[:, ::-1]])
    links = coo_array((np.ones(len(both), np.int32), (both[:, 0], both[:, 1])), shape=(n, n)).tocsr()
    step = links + identity(n, np.int32, "csr")
    homes, of = np.unique(home, return_inverse=True)
    reach = step[homes]
    for _ in range(RINGS - 1):
        reach = reach @ step
    reach = reach.tocsr()
    reach.sort_indices()
    counts = np.diff(reach.indptr)
    out = np.repeat(home[:, None], NEAR, axis=1)
    order = np.argsort(of, kind="stable")
    width = int(counts.max())
    for begin in range(0, len(order), _BLOCK):
        rows = order[begin : begin + _BLOCK]
        first, many = reach.indptr[of[rows]], counts[of[rows]]
        place = first[:, None] + np.minimum(np.arange(width), many[:, None] - 1)
        near = reach.indices[place].astype(np.int64)
        away = np.linalg.norm(rest[near] - points[rows, None], axis=2)
        away[near == home[rows, None]] = -1.0
        away[np.arange(width) >= many[:, None]] = np.inf  # repeats of the last one, which may be the home
        chosen = np.argsort(away, axis=1, kind="stable")[:, :NEAR]
        picked = np.take_along_axis(near, chosen, axis=1)
        there = np.isfinite(np.take_along_axis(away, chosen, axis=1))
        out[rows, : picked.shape[1]] = np.where(there, picked, home[rows, None])
    return out


def _shares(points: Array, near: Array, spacing: float) -> Array:
    """Weights (p, k) of the elements at ``near`` (p, k, 3); a place that repeats the first counts once."""
    d = (near - points[:, None]) / spacing
    square = np.einsum("pki,pki->pk", d, d)
    closest = square.min(axis=1, keepdims=True)
    phi = np.exp(-(square - closest) / (1.0 + np.sqrt(closest)))
    again = (near == near[:, :1]).all(axis=2)
    again[:, 0] = False
    phi[again] = 0.0
    middle = np.einsum("pk,pki->pi", phi, d) / phi.sum(axis=1)[:, None]
    centred = d - middle[:, None]
    spread = np.einsum("pk,pki,pkj->pij", phi, centred, centred)
    inverse = np.linalg.pinv(spread, rcond=_FLAT, hermitian=True)
    lean = np.einsum("pi,pij->pj", -middle, inverse)
    shares: Array = phi / phi.sum(axis=1)[:, None] + phi * np.einsum("pj,pkj->pk", lean, centred)
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))


def _feet(surface: Surface, away: Array) -> IntArray:
    """Of each point farther ``away`` (p,) than the reach, the nearest one of the same part (p,)."""
    far, t = away > REACH, surface.triangles
    sides = np.concatenate([t[:, [0, 1]], t[:, [1, 2]], t[:, [2, 0]]])
    part = components(len(away), sides[far[sides].all(axis=1)])[1]
    order = np.lexsort((away, part))
    first = order[np.concatenate([[True], np.diff(part[order]) > 0])]
    feet: IntArray = first[np.searchsorted(part[first], part)]
    return feet


def _beyond_the_line(rest: Array, spacing: float, edges: IntArray, frames: IntArray) -> IntArray:
    """``frames`` (q, 3) whose elements lie in a line get as their third one the nearest, by connections, that
    does not: a leg of one row of elements turns with the body that it belongs to."""
    lone = np.flatnonzero((frames[:, 2] == frames[:, 1]) & (frames[:, 1] != frames[:, 0]))
    if not len(lone):
        return frames
    first, other, _ = edge_incidence(edges, len(rest))
    out, known = frames.copy(), dict[tuple[int, int], int]()
    for row in lone:
        a, b = int(frames[row, 0]), int(frames[row, 1])
        if (a, b) not in known:
            along = (rest[b] - rest[a]) / np.linalg.norm(rest[b] - rest[a])
            known[a, b] = _off_line(rest, first, other, a, along, OFF * spacing)
        out[row, 2] = known[a, b] if known[a, b] >= 0 else b
    return out


def _off_line(rest: Array, first: IntArray, other: IntArray, start: int, along: Array, least: float) -> int:
    """The nearest element by connections, at most ``FAR`` of them away, that is ``least`` [m] beside the line
    through ``start``; -1: there is none."""
    seen, ring = {start}, [start]
    for _ in range(FAR):
        ring = sorted({int(j) for i in ring for j in other[first[i] : first[i + 1]]} - seen)
        seen |= set(ring)
        d = rest[ring] - rest[start]
        beside = np.linalg.norm(d - (d @ along)[:, None] * along, axis=1)
        if ring and beside.max() > least:
            return ring[int(np.argmax(beside > least))]
    return -1


def _triples(rest: Array, found: IntArray, widest: bool) -> IntArray:
    """Three of each point's elements that span a plane as well as any, the second being next to the first (or
    as far from it as there is one); the second twice where all lie in a line, the first thrice where there is
    one."""
    a = found[:, 0]
    d = rest[found] - rest[a][:, None]
    length = np.linalg.norm(d, axis=2)
    b = length.argmax(axis=1) if widest else np.where(length > 0.0, length, np.inf).argmin(axis=1)
    b = np.where(np.isfinite(length[np.arange(len(b)), b]) & (length.max(axis=1) > 0.0), b, 0)
    one = d[np.arange(len(b)), b]
    across = np.linalg.norm(np.cross(one[:, None], d), axis=2)
    c = across.argmax(axis=1)
    scale = np.maximum(length.max(axis=1) ** 2, 1e-300)
    c = np.where(across[np.arange(len(c)), c] > 1e-6 * scale, c, b)
    rows = np.arange(len(found))
    return np.column_stack([a, found[rows, b], found[rows, c]])


def carried_by_phyxels(surface: Surface, rest: Array) -> EmbeddedSurface:
    """``surface`` embedded in the phyxels at ``rest`` (n, 3) around each of its points."""
    from scipy.spatial import cKDTree

    count = min(AROUND, len(rest) - 1)
    found = cKDTree(rest).query(surface.points, k=count + 1)
    distance, around = np.asarray(found[0]), np.asarray(found[1])
    return EmbeddedSurface(
        surface,
        around[:, :count].astype(np.uint32),
        shape_functions(surface.points, rest, around[:, :count], distance[:, -1]),
    )


def shape_functions(points: Array, rest: Array, around: IntArray, radius: Array) -> Array:
    r"""Weights (p, k) of the phyxels ``around`` each point, by moving least squares with a linear basis.

    .. math:: \phi_j(x) = w_j\,p(x_j)^T \Bigl(\sum_k w_k\,p(x_k) p(x_k)^T\Bigr)^{-1} p(x), \quad
              w_j = \frac{(1 - r_j^2)^3}{r_j^2 + 0.01}, \; r_j = |x - x_j| / h, \; p(x) = (1, x),

    ([Stegmayr2008]_ eq. 3.16 to 3.22). They sum to one and reproduce linear fields, so rigid and affine
    motions carry the surface exactly; nearly so where all phyxels lie in a plane. Differs: the kernel 3.15 is
    divided by r^2, so that the surface keeps close to the phyxels on it ([LancasterSalkauskas1981]_; with
    r^2 alone it would go through them); smoothed ones cut corners, 6 % of a long bar of dough.
    """
    out = np.empty(around.shape)
    for start in range(0, len(points), _BLOCK):
        rows = slice(start, start + _BLOCK)
        near, h = around[rows], radius[rows, None]
        d = (rest[near] - points[rows, None]) / h[:, :, None]
        r2 = np.einsum("pki,pki->pk", d, d)
        w = np.maximum(1.0 - r2, 0.0) ** 3 / (r2 + CLOSE) + 1e-6
        basis = np.concatenate([np.ones((*near.shape, 1)), d], axis=2)
        moments = np.einsum("pk,pki,pkj->pij", w, basis, basis)
        size = np.trace(moments[:, 1:, 1:], axis1=1, axis2=2)
        spread = moments[:, 1:, 1:] - moments[:, 1:, :1] * moments[:, :1, 1:] / moments[:, :1, :1]
        values = np.linalg.eigvalsh(spread)
        flat = values[:, 0] < THIN * values[:, 2]  # few phyxels, or all in a plane
        moments[:, [1, 2, 3], [1, 2, 3]] += np.where(flat, THIN * size, 1e-14 * size)[:, None]
        first = np.linalg.solve(moments, np.broadcast_to(np.eye(4)[:, :1], (len(near), 4, 1)))[:, :, 0]
        out[rows] = w * np.einsum("pki,pi->pk", basis, first)
    return out
