"""The tets around each edge, in order: fans of dual vertices that bound the face across the edge."""

from dataclasses import dataclass

import numpy as np

from pliant.core.typing import BoolArray, IntArray
from pliant.mesh.mesh import tet_edges

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
