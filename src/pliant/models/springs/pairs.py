"""Springs in pairs that meet in a particle, and tets in pairs that share a face: kernels gather three
particles for two springs, and five for two tets.
"""

import numpy as np

from pliant.core.typing import Array, IntArray
from pliant.fracture.tet_topology import FACES, shared_faces
from pliant.kernels.element_blocks import ElementBlocks
from pliant.kernels.jit import jit


def pair_springs(edges: IntArray, count: int) -> tuple[IntArray, IntArray]:
    """Pairs (m, 3): the particle where two springs meet and their other ends; springs (m, 2): which ones.

    Each spring belongs to its lower particle; in ascending order, a particle with an odd number passes
    one on to the other end. So at most the last particle of a connected body keeps a single spring: its pair
    has -1 as second spring, and the particle itself as its end.
    """
    number = np.bincount(edges[:, 0], minlength=count)
    by_lower = np.append(np.argsort(edges[:, 0], kind="stable"), 0)
    first = by_lower[np.cumsum(number) - number].tolist()
    far, has, held = edges[:, 1].tolist(), (number > 0).tolist(), number.tolist()
    passed = []
    for p in range(count):
        if held[p] % 2 and has[p]:
            passed.append(first[p])
            held[far[first[p]]] += 1
    meeting, end = edges[:, 0].copy(), edges[:, 1].copy()
    meeting[passed], end[passed] = edges[passed, 1], edges[passed, 0]
    order = np.lexsort((end, meeting))
    sorted_meeting = meeting[order]
    run = np.searchsorted(sorted_meeting, sorted_meeting)
    heads = np.flatnonzero((np.arange(len(edges)) - run) % 2 == 0)
    seconds = np.minimum(heads + 1, len(edges) - 1)
    single = (seconds == heads) | (sorted_meeting[seconds] != sorted_meeting[heads])
    springs = np.column_stack([order[heads], np.where(single, -1, order[seconds])])
    ends = np.where(springs >= 0, end[springs], sorted_meeting[heads][:, None])
    return np.column_stack([sorted_meeting[heads], ends]), springs


def pair_rows(blocks: ElementBlocks, springs: IntArray, *columns: Array) -> Array:
    """Rows of ``blocks``: each column of the first springs, then of the second ones; zero for none."""
    there = springs[:, 1] >= 0
    both = ((c[springs[:, 0]], c[springs[:, 1]] * there) for c in columns)
    return blocks.rows(*(half for halves in both for half in halves))


def pair_tets(tets: IntArray) -> tuple[IntArray, IntArray]:
    """Pairs (m, 5): three particles of a face, then the corners on its two sides; members (m, 2): which tets.

    With edges from the first particle, the first tet's volume is ``det(a, b, c) / 6`` and the second's
    ``-det(a, b, d) / 6``. A tet without a partner has -1 as second tet, and the first particle as its corner.
    """
    neighbours = face_neighbours(tets)
    partner = np.full(len(tets), -1)
    _match(neighbours, partner)
    first = np.flatnonzero((partner < 0) | (partner > np.arange(len(tets))))
    second = partner[first]
    alone = second < 0
    face = np.where(alone, 3, np.argmax(neighbours[first] == second[:, None], axis=1))
    outwards = FACES[face]
    across = np.where(alone, 0, np.argmax(neighbours[second] == first[:, None], axis=1))
    pairs = np.empty((len(first), 5), np.int64)
    pairs[:, :3] = np.take_along_axis(tets[first], outwards[:, [0, 2, 1]], axis=1)
    pairs[:, 3] = tets[first, face]
    pairs[:, 4] = np.where(alone, pairs[:, 0], tets[second, across])
    return pairs, np.column_stack([first, second])


def face_neighbours(tets: IntArray) -> IntArray:
    """The tet across the face opposite each corner (m, 4); -1 at the boundary."""
    a, b = shared_faces(tets).T
    out = np.full(4 * len(tets), -1)
    out[a], out[b] = b // 4, a // 4
    return out.reshape(-1, 4)


@jit
def _match(neighbours: IntArray, partner: IntArray) -> None:
    """Give each tet, in order, the free neighbour that has the fewest free neighbours itself."""
    free = (neighbours >= 0).sum(axis=1)
    for t in range(neighbours.shape[0]):
        if partner[t] >= 0:
            continue
        best = -1
        for k in range(4):
            u = neighbours[t, k]
            if u >= 0 and partner[u] < 0 and (best < 0 or free[u] < free[best]):
                best = u
        if best >= 0:
            partner[t] = best
            partner[best] = t
            for k in range(4):
                if neighbours[t, k] >= 0:
                    free[neighbours[t, k]] -= 1
                if neighbours[best, k] >= 0:
                    free[neighbours[best, k]] -= 1
