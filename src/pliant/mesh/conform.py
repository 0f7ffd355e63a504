"""Moving the boundary of a tet mesh onto the surface it was made from."""

import numpy as np

from pliant.mesh.features import features, nearest_on_segments
from pliant.mesh.quality import mean_ratio
from pliant.mesh.tree import Tree
from pliant.mesh.types import boundary_triangles
from pliant.typing import Array, IntArray

ROUNDS = 12
KEPT = 0.2  # a tet may lose this much of its shape measure, unless ...
GOOD = 0.4  # ... it stays above this


def conform(
    points: Array, tets: IntArray, surface: Array, triangles: IntArray, reach: float, sharp_reach: float
) -> Array:
    """Points (n, 3) with those of the boundary on the surface, wherever the tets at them stay good.

    The boundary vertex nearest to a corner of the surface goes there, vertices on sharp edges of the
    boundary go to the nearest sharp edge (both within ``sharp_reach`` [m]), the others to the nearest point
    of the surface (within ``reach`` [m]). Flat and straight parts come out exact. A move that would make a
    tet bad is halved, and tried in full again when its neighbours have moved.
    """
    target, moving = _targets(points, tets, surface, triangles, reach, sharp_reach)
    x = points.copy()
    floor = np.minimum(GOOD, (1 - KEPT) * mean_ratio(points, tets))
    near = tets[np.isin(tets, moving).any(axis=1)], floor[np.isin(tets, moving).any(axis=1)]
    for _ in range(ROUNDS):
        left = np.linalg.norm(target[moving] - x[moving], axis=1) > 0
        if not left.any():
            break
        share = np.zeros(len(x))
        share[moving] = left
        for step in (1.0, 0.5, 0.25, 0.125, 0.0):
            trial = np.where((share == 1)[:, None], target, x + share[:, None] * (target - x))
            bad = mean_ratio(trial, near[0]) < near[1]
            if not bad.any():
                break
            blocked = np.unique(near[0][bad])
            share[blocked] = np.minimum(share[blocked], step / 2 if step > 0.125 else 0.0)
        else:
            share[:] = 0.0
            trial = x
        if (trial == x).all():
            break
        x = trial
    return x


def _targets(
    points: Array, tets: IntArray, surface: Array, triangles: IntArray, reach: float, sharp_reach: float
) -> tuple[Array, IntArray]:
    """Where every vertex should be (n, 3), and which ones should move."""
    boundary = boundary_triangles(tets)
    skin = np.unique(boundary)
    target, gap = points.copy(), np.full(len(points), np.inf)
    target[skin], gap[skin], _ = Tree(surface, triangles).nearest(points[skin])
    sharp = features(surface, triangles)
    if len(sharp.edges):
        ridge = np.unique(features(points, boundary).edges)
        place, far = nearest_on_segments(points[ridge], surface[sharp.edges[:, 0]], surface[sharp.edges[:, 1]])
        ridge, place, far = ridge[far < sharp_reach], place[far < sharp_reach], far[far < sharp_reach]
        target[ridge], gap[ridge] = place, np.minimum(far, reach)
    if len(sharp.corners):
        from scipy.spatial import cKDTree

        far, which = cKDTree(points[skin]).query(surface[sharp.corners])
        order = np.argsort(-far, kind="stable")  # the nearest corner has the last word
        order = order[far[order] < sharp_reach]
        target[skin[which[order]]] = surface[sharp.corners[order]]
        gap[skin[which[order]]] = 0.0
    moving = np.flatnonzero((gap <= reach) & (target != points).any(axis=1))
    return target, moving
