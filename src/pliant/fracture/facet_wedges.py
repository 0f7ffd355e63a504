"""Which faces of a complex of triangles bound the same wedge of material, and the vertices that follow.

Around every edge the triangles are sorted by angle; two neighbours there whose inner faces look at each other
belong together. Corners that are connected through such pairs are one vertex: so pieces that would touch in a
vertex or an edge alone are separate, and both faces of a crack share the vertices of its front.
"""

import numpy as np

from pliant.core.typing import Array, IntArray
from pliant.mesh.topology import components


def paired(points: Array, triangles: IntArray, sheet: IntArray) -> IntArray:
    """Pairs (k, 2) of half-edges (3 t + c runs from corner c of triangle t) that bound one wedge.

    triangles (m, 3) are oriented, material behind their faces; sheet (m,): for the two faces of one sheet
    triangle the same number, for others -1.
    """
    half = triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2)
    low, high = half.min(axis=1), half.max(axis=1)
    _, edge, uses = np.unique(low * len(points) + high, return_inverse=True, return_counts=True)
    edge = edge.reshape(-1)
    order = np.argsort(edge, kind="stable")
    start = np.cumsum(uses) - uses
    on_sheet = np.zeros(len(uses), bool)
    on_sheet[edge[np.repeat(sheet >= 0, 3)]] = True
    plain = (uses == 2) & ~on_sheet
    first = start[plain]
    found = [np.column_stack([order[first], order[first + 1]])]
    opposite = half[found[0][:, 0], 0] != half[found[0][:, 1], 0]
    found[0] = found[0][opposite]
    for k in np.flatnonzero(~plain & (uses > 1)):
        found.append(_wedges(points, triangles, sheet, half, order[start[k] : start[k] + uses[k]]))
    return np.concatenate(found)


def _wedges(points: Array, triangles: IntArray, sheet: IntArray, half: IntArray, at: IntArray) -> IntArray:
    """Pairs of the half-edges ``at`` on one edge, neighbours by angle."""
    u, v = sorted(half[at[0]].tolist())
    axis = points[v] - points[u]
    axis = axis / max(float(np.linalg.norm(axis)), 1e-300)
    apex = points[triangles[at // 3, (at % 3 + 2) % 3]] - points[u]
    reach = apex - (apex @ axis)[:, None] * axis
    helper = np.eye(3)[int(np.argmin(np.abs(axis)))]
    first = np.cross(axis, helper)
    first /= np.linalg.norm(first)
    angle = np.arctan2(reach @ np.cross(axis, first), reach @ first)
    facets: dict[int, list[int]] = {}  # facet -> its half-edges, one per face
    for i, h in enumerate(at.tolist()):
        own = int(sheet[h // 3])
        facets.setdefault(own if own >= 0 else -2 - h, []).append(i)
    turn = sorted(facets.values(), key=lambda members: (angle[members[0]], members[0]))
    pairs = []
    for k, members in enumerate(turn):
        after = turn[(k + 1) % len(turn)]
        # a face that runs v -> u has its material on the side of growing angle
        ahead = [i for i in members if half[at[i], 0] == v]
        behind = [i for i in after if half[at[i], 0] == u]
        if ahead and behind:
            pairs.append((at[ahead[0]], at[behind[0]]))
    return np.array(pairs, np.int64).reshape(-1, 2)


def vertices_of(triangles: IntArray, pairs: IntArray) -> tuple[IntArray, IntArray]:
    """Triangles (m, 3) over new vertices, numbered in order of first use, and the old vertex of each."""
    nxt = np.array([1, 2, 0])
    a, b = pairs[:, 0], pairs[:, 1]
    a_end, b_end = a // 3 * 3 + nxt[a % 3], b // 3 * 3 + nxt[b % 3]
    # opposite half-edges: the start of one is the end of the other
    links = np.concatenate([np.column_stack([a, b_end]), np.column_stack([a_end, b])])
    _, label = components(triangles.size, links)
    _, first, inverse = np.unique(label, return_index=True, return_inverse=True)
    rank = np.argsort(np.argsort(first))
    fresh = rank[inverse.reshape(-1)].reshape(-1, 3)
    old = np.empty(len(first), np.int64)
    old[fresh.ravel()] = triangles.ravel()
    return fresh, old


def pieces_of(count: int, pairs: IntArray) -> IntArray:
    """The piece of each of ``count`` triangles, numbered in order of their first triangle."""
    _, label = components(count, pairs // 3)
    _, first, inverse = np.unique(label, return_index=True, return_inverse=True)
    return np.asarray(np.argsort(np.argsort(first))[inverse.reshape(-1)])
