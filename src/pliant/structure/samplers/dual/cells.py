"""Dual cells: faces across the edges of a tet mesh, made of dual vertices that move with the particles.

The tets around each edge, in order, are the fan of dual vertices that bounds the face across the edge.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from pliant.core.typing import Array, BoolArray, IntArray
from pliant.mesh.mesh import boundary_triangles, tet_edges, tet_volumes

# (i, j, k, l) of a positive tet: seen along i -> j the tet lies between k and l, k first.
WEDGES = np.array([[0, 1, 2, 3], [0, 2, 3, 1], [0, 3, 1, 2], [1, 2, 0, 3], [1, 3, 2, 0], [2, 3, 0, 1]])


@dataclass(frozen=True)
class Chains:
    """The wedges (tet, edge) of a mesh, chained around their edges.

    edges (e, 2), i < j. Per wedge in chain order: edge, tet, first and last (the ring particles it lies
    between, turning right-handed about i -> j). Per chain: start (c + 1,) into the wedges, closed (c,).
    Interior edges have one closed chain; boundary edges an open one, or several where parts of the body
    meet in the edge only.
    """

    edges: IntArray
    edge: IntArray
    tet: IntArray
    first: IntArray
    last: IntArray
    start: IntArray
    closed: BoolArray


def chains(tets: IntArray) -> Chains:
    """Chain the six wedges of every tet around their edges, in O(m log m)."""
    edges, n = tet_edges(tets), int(tets.max()) + 1
    corner = tets[:, WEDGES].reshape(-1, 4)
    turned = corner[:, 0] > corner[:, 1]  # i and j swapped: k and l swap too
    corner[turned] = corner[turned][:, [1, 0, 3, 2]]
    tet = np.repeat(np.arange(len(tets)), 6)
    edge = np.searchsorted(edges[:, 0] * n + edges[:, 1], corner[:, 0] * n + corner[:, 1])
    order = np.argsort(edge * n + corner[:, 2], kind="stable")
    edge, tet, first, last = edge[order], tet[order], corner[order, 2], corner[order, 3]
    following = _lookup(edge * n + first, edge * n + last)
    head, rank = _rank(edge, following)
    order = np.lexsort((rank, head))
    head = head[order]
    begins = np.flatnonzero(np.concatenate([[True], head[1:] != head[:-1]]))
    ends = np.append(begins[1:], len(head)) - 1
    return Chains(
        edges=edges,
        edge=edge[order],
        tet=tet[order],
        first=first[order],
        last=last[order],
        start=np.append(begins, len(head)),
        closed=following[order[ends]] == head[begins],
    )


def _lookup(keys: IntArray, wanted: IntArray) -> IntArray:
    """Places of ``wanted`` in the sorted ``keys``, -1 where there is none."""
    place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where(keys[place] == wanted, place, -1)


def _rank(edge: IntArray, following: IntArray) -> tuple[IntArray, IntArray]:
    """Head and place of every wedge in its chain; wedges are sorted by edge, so heads are as well."""
    count = len(edge)
    has_before = np.zeros(count + 1, bool)
    has_before[following] = True
    heads = np.flatnonzero(~has_before[:count])
    open_edge = np.zeros(int(edge.max()) + 1, bool)
    open_edge[edge[heads]] = True
    lowest = np.flatnonzero(np.concatenate([[True], edge[1:] != edge[:-1]]))
    heads = np.concatenate([heads, lowest[~open_edge[edge[lowest]]]])
    head, rank = np.full(count, -1), np.zeros(count, np.int64)
    here, owner, place = heads, heads, 0
    while len(here):
        head[here], rank[here] = owner, place
        onward = following[here]
        going = (onward >= 0) & (onward != owner)
        here, owner, place = onward[going], owner[going], place + 1
    return head, rank


Recipe = Literal["blended", "barycentric", "everts"]
SMALLEST = 0.3  # smallest face kept, as a share of the barycentric one
SWEEPS = 16
MORE = 0.1  # blend added in a sweep
FARTHEST = 1e6  # weight of a corner in a circumcentre above which the barycentre is taken


@dataclass(frozen=True)
class Dual:
    """Faces of the dual cells of a tet mesh, one across each edge (i, j).

    particles, weights (k, 4): the particles that each dual vertex depends on (the last repeated with weight
    zero where there are fewer), tets first, then boundary triangles, then edge midpoints; edges (e, 2);
    start (e + 1,) into fan: each face's dual vertices as an open list that is closed through the midpoint q
    of its edge; areas (e, 3): area vectors at rest [m2], from i to j; blend (m,) per tet: 0 is its
    circumcentre, 1 its barycentre; around: the tets around each edge; flat (m,): tets whose circumcentre was
    replaced because they are too flat to have one.
    """

    particles: IntArray
    weights: Array
    edges: IntArray
    start: IntArray
    fan: IntArray
    areas: Array
    blend: Array
    around: Chains
    flat: BoolArray

    def vertices(self, x: Array) -> Array:
        """Positions of the dual vertices (k, 3) when the particles are at ``x``."""
        return np.asarray(np.einsum("kc,kcd->kd", self.weights, x[self.particles]))

    def cell_volumes(self, rest: Array) -> Array:
        """Volume of each particle's cell [m3], ``1/6 sum N_ij . d_ij``; they add up to the body's."""
        d = rest[self.edges[:, 1]] - rest[self.edges[:, 0]]
        part = np.einsum("ij,ij->i", self.areas, d) / 6.0
        volumes: Array = np.bincount(self.edges.ravel(), np.repeat(part, 2), len(rest)).astype(np.float64)
        return volumes


def dual_cells(points: Array, tets: IntArray, recipe: Recipe = "blended") -> Dual:
    r"""The dual cells of a tet mesh.

    The face across edge (i, j) joins, around the edge, the dual vertex :math:`C_t` of each tet; where a chain
    of tets ends at a boundary triangle, the dual vertex of that triangle comes next; it is closed through the
    edge's midpoint. Areas are signed. Then :math:`\sum d \otimes N = V I` over all faces.

    blended: :math:`C_t` is the circumcentre (the barycentre of slivers whose corners weigh more than 1e6 in
    it, which is only rounding), moved towards the tet's barycentre until it does not lie behind
    a boundary triangle, then by 0.1 at a time while a face of its edges is smaller than 0.3 of the
    barycentric one; boundary triangles have their barycentres. barycentric: barycentres everywhere.
    everts: the recipe of [Everts2006]_, circumcentres of tets and boundary triangles, however they lie.

    Source: [Everts2006]_ 6.4.1. Differs: raw circumcentres leave negative areas and cells, and those of
    boundary triangles break the identity above; hence the blend. No face needs its tets sorted by walking
    from neighbour to neighbour, and edges where parts of the body touch have a face as well.
    """
    chained, triangles = chains(tets), boundary_triangles(tets)
    corner_weights = np.full((len(triangles), 3), 1.0 / 3.0)
    flat = np.zeros(len(tets), bool)
    if recipe == "barycentric":
        weights, blend = np.full((len(tets), 4), 0.25), np.ones(len(tets))
    else:
        weights, blend = tet_circumcentre_weights(points, tets), np.zeros(len(tets))
    if recipe == "blended":
        flat = flat_tets(weights)
        weights[flat], blend[flat] = 0.25, 1.0
    if recipe == "everts":
        corner_weights = triangle_circumcentre_weights(points, triangles)
    particles, start, fan, pinched = _fans(chained, tets, triangles)
    rest_of = np.zeros((len(triangles) + len(pinched), 4))
    rest_of[: len(triangles), :3] = corner_weights
    rest_of[len(triangles) :, :2] = 0.5

    def made(blend: Array) -> Dual:
        all_weights = np.concatenate([blended(weights, blend), rest_of])
        y = np.einsum("kc,kcd->kd", all_weights, points[particles])
        areas = area_vectors(points, chained.edges, start, fan, y)
        return Dual(particles, all_weights, chained.edges, start, fan, areas, blend, chained, flat)

    if recipe == "everts":
        start, fan = _close_on_one_side(chained.edges, start, fan, points, particles, weights, rest_of)
    if recipe == "blended":
        blend = _blend(points, tets, chained, weights, made)
    return made(blend)


def face_triangles(dual: Dual) -> tuple[IntArray, IntArray]:
    """Triangles (m, 3) over the dual vertices and then the midpoints of edges, and the edge of each (m,)."""
    count = np.diff(dual.start)
    face = np.repeat(np.arange(len(count)), count)
    last = np.zeros(len(dual.fan), bool)
    last[dual.start[1:] - 1] = True
    inner = np.flatnonzero(~last)
    middle = len(dual.particles) + face[inner]
    return np.stack([middle, dual.fan[inner], dual.fan[inner + 1]], axis=1), face[inner]


def area_vectors(points: Array, edges: IntArray, start: IntArray, fan: IntArray, y: Array) -> Array:
    """``N = 1/2 sum (v_k - q) x (v_k+1 - q)`` of every face, shape (e, 3)."""
    owner = np.repeat(np.arange(len(edges)), np.diff(start))
    q = 0.5 * (points[edges[:, 0]] + points[edges[:, 1]])
    v = y[fan] - q[owner]
    pair = owner[1:] == owner[:-1]
    crossed = 0.5 * np.cross(v[:-1][pair], v[1:][pair])
    into = owner[1:][pair]
    return np.stack([np.bincount(into, crossed[:, c], len(edges)) for c in range(3)], axis=1)


def _blend(
    points: Array, tets: IntArray, chained: Chains, weights: Array, made: Callable[[Array], Dual]
) -> Array:
    """The blend of each tet: see ``dual_cells``. Ends with no small face: at 1 all faces are barycentric."""
    outside = np.where(_opposite_boundary(tets) & (weights < 0.0), -weights, 0.0)
    blend = (outside / (0.25 + outside)).max(axis=1)  # the least that brings dual vertices into the body
    d = points[chained.edges[:, 1]] - points[chained.edges[:, 0]]
    share = tet_volumes(points, tets)[chained.tet]
    barycentric = 0.5 * np.bincount(chained.edge, share, len(d))  # N . d of the barycentric face
    for sweep in range(SWEEPS + len(tets)):
        small = np.einsum("ij,ij->i", made(blend).areas, d) < SMALLEST * barycentric * (1.0 - 1e-9)
        if not small.any():
            break
        touched = np.unique(chained.tet[small[chained.edge]])
        blend[touched] = np.minimum(1.0, blend[touched] + (MORE if sweep < SWEEPS else 1.0))
    return np.asarray(blend)


def _opposite_boundary(tets: IntArray) -> BoolArray:
    """Whether the triangle opposite each corner belongs to one tet only; shape (m, 4)."""
    faces = np.sort(tets[:, [[1, 2, 3], [0, 2, 3], [0, 1, 3], [0, 1, 2]]].reshape(-1, 3), axis=1)
    _, inverse, count = np.unique(faces, axis=0, return_inverse=True, return_counts=True)
    return np.asarray(count[inverse.reshape(-1)] == 1).reshape(-1, 4)


def _fans(
    chained: Chains, tets: IntArray, triangles: IntArray
) -> tuple[IntArray, IntArray, IntArray, IntArray]:
    """Particles of all dual vertices, start and fan of the open lists, and edges with several chains.

    A closed chain ends with its first vertex again; an open one begins and ends with the vertices of its
    boundary triangles; between two chains of an edge comes its midpoint, which adds no area.
    """
    n, c = int(tets.max()) + 1, chained
    begins, ends = c.start[:-1], c.start[1:] - 1
    edge_of = c.edge[begins]
    again = np.concatenate([[False], edge_of[1:] == edge_of[:-1]])
    pinched = np.unique(edge_of[again])
    key = np.sort(triangles, axis=1)
    keys = (key[:, 0] * n + key[:, 1]) * n + key[:, 2]
    sequence = np.argsort(keys)

    def triangle_vertex(edge: IntArray, third: IntArray) -> IntArray:
        t = np.sort(np.column_stack([c.edges[edge], third]), axis=1)
        place = np.searchsorted(keys[sequence], (t[:, 0] * n + t[:, 1]) * n + t[:, 2])
        return np.asarray(len(tets) + sequence[place])

    size = ends - begins + 2 + ~c.closed + again
    at = np.concatenate([[0], np.cumsum(size)])
    fan = np.empty(int(at[-1]), np.int64)
    lead = again.astype(np.int64) + ~c.closed  # what comes before a chain's first tet
    place = np.arange(len(c.tet)) - np.repeat(begins, ends - begins + 1)
    fan[np.repeat(at[:-1] + lead, ends - begins + 1) + place] = c.tet
    fan[at[:-1][again]] = len(tets) + len(triangles) + np.searchsorted(pinched, edge_of[again])
    fan[at[1:][c.closed] - 1] = c.tet[begins[c.closed]]
    opened = ~c.closed
    fan[at[:-1][opened] + again[opened]] = triangle_vertex(edge_of[opened], c.first[begins[opened]])
    fan[at[1:][opened] - 1] = triangle_vertex(edge_of[opened], c.last[ends[opened]])
    start = np.concatenate([[0], np.cumsum(np.bincount(edge_of, size, len(c.edges)).astype(np.int64))])
    midpoints = c.edges[pinched][:, [0, 1, 1, 1]]
    particles = np.concatenate([tets, triangles[:, [0, 1, 2, 2]], midpoints])
    return particles, start, fan, pinched


def _close_on_one_side(
    edges: IntArray,
    start: IntArray,
    fan: IntArray,
    points: Array,
    particles: IntArray,
    weights: Array,
    others: Array,
) -> tuple[IntArray, IntArray]:
    """Close faces without the midpoint where both boundary vertices lie on one side of the edge."""
    y = np.einsum("kc,kcd->kd", np.concatenate([weights, others]), points[particles])
    q = 0.5 * (points[edges[:, 0]] + points[edges[:, 1]])
    a, b = fan[start[:-1]], fan[start[1:] - 1]
    one_side = (a != b) & (np.einsum("ij,ij->i", y[a] - q, y[b] - q) > 0.0)
    longer = np.insert(fan, start[1:][one_side], a[one_side])
    return np.concatenate([[0], np.cumsum(np.diff(start) + one_side)]), longer


def tet_circumcentre_weights(points: Array, tets: IntArray) -> Array:
    """Barycentric weights of the circumcentres of tets; shape (m, 4), each row sums to 1.

    With edge vectors a, b, c from corner 0: ``2 [a b c]^T u = (|a|^2, |b|^2, |c|^2)`` is the centre,
    ``[a b c] w = u`` its weights.
    """
    p = points[tets]
    edges = p[:, 1:] - p[:, :1]
    flat = np.linalg.det(edges) == 0.0
    squares = np.einsum("mij,mij->mi", edges, edges)[:, :, None]
    edges[flat] = np.eye(3)
    centre = np.linalg.solve(2.0 * edges, squares)
    w = np.linalg.solve(edges.transpose(0, 2, 1), centre)[:, :, 0]
    w[flat] = np.nan
    return np.concatenate([1.0 - w.sum(axis=1, keepdims=True), w], axis=1)


def triangle_circumcentre_weights(points: Array, triangles: IntArray) -> Array:
    """Barycentric weights of the circumcentres of triangles; shape (m, 3).

    Corner k weighs ``s_k (s_i + s_j - s_k)`` with s the squared length of the side opposite to it.
    """
    p = points[triangles]
    sides = p[:, [2, 0, 1]] - p[:, [1, 2, 0]]
    s = np.einsum("mij,mij->mi", sides, sides)
    w = s * (s.sum(axis=1, keepdims=True) - 2.0 * s)
    weights: Array = w / w.sum(axis=1, keepdims=True)
    return weights


def flat_tets(weights: Array) -> BoolArray:
    """Which tets (m,) are so flat that their circumcentre, of ``weights`` (m, 4), is only rounding."""
    return np.asarray(~(np.abs(weights).max(axis=1) < FARTHEST))


def blended(weights: Array, blend: Array) -> Array:
    """``(1 - blend) weights + blend / k``: moved towards the barycentre of k corners; shape (m, k)."""
    return np.asarray(weights + blend[:, None] * (1.0 / weights.shape[1] - weights))
