"""Tets in pairs that share a face: five particles are gathered for two tets, not eight."""

# mypy: disable-error-code="no-untyped-def"

import numpy as np

from pliant.core.typing import IntArray
from pliant.kernels.jit import jit

FACES = ((1, 2, 3), (0, 3, 2), (0, 1, 3), (0, 2, 1))  # face k lies opposite corner k and faces outwards


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
    outwards = np.array(FACES)[face]
    across = np.where(alone, 0, np.argmax(neighbours[second] == first[:, None], axis=1))
    pairs = np.empty((len(first), 5), np.int64)
    pairs[:, :3] = np.take_along_axis(tets[first], outwards[:, [0, 2, 1]], axis=1)
    pairs[:, 3] = tets[first, face]
    pairs[:, 4] = np.where(alone, pairs[:, 0], tets[second, across])
    return pairs, np.column_stack([first, second])


def face_neighbours(tets: IntArray) -> IntArray:
    """The tet across the face opposite each corner (m, 4); -1 at the boundary."""
    faces = np.sort(tets[:, np.array(FACES)].reshape(-1, 3), axis=1)
    order = np.lexsort(faces.T)
    same = (faces[order[1:]] == faces[order[:-1]]).all(axis=1)
    a, b = order[:-1][same], order[1:][same]
    out = np.full(4 * len(tets), -1)
    out[a], out[b] = b // 4, a // 4
    return out.reshape(-1, 4)


@jit
def _match(neighbours, partner):
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
