"""Moving the boundary of a tet mesh onto the surface it was made from."""

import numpy as np

from pliant.core.typing import Array, IntArray
from pliant.mesh.bvh import Bvh
from pliant.mesh.features import features, nearest_on_segments
from pliant.mesh.mesh import boundary_triangles
from pliant.mesh.quality import mean_ratio

ROUNDS = 12
STEPS = (1.0, 0.5, 0.25, 0.125, 0.0)  # shares of a move that are tried
SOFT = (0.4, 0.8)  # a tet's shape measure stays above the first, or above this share of what it was
HARD = (0.1, 0.3)  # the same, for vertices whose boundary triangles all end up exactly on the surface


def conform(
    points: Array,
    tets: IntArray,
    surface: Array,
    triangles: IntArray,
    reach: float,
    sharp_reach: float,
    exact: bool = True,
) -> Array:
    """Points (n, 3) with those of the boundary on the surface, wherever the tets at them stay good.

    The boundary vertex nearest to a corner of the surface goes there, vertices on sharp edges of the
    boundary go to the nearest sharp edge (both within ``sharp_reach`` [m]), the others to the nearest point
    of the surface (within ``reach`` [m]), and off it where it is round, so that the volume stays. Flat and
    straight parts come out exact; ``exact`` lets tets there become worse for it. A move that would make a
    tet bad is halved, and tried in full again when its neighbours have moved.
    """
    target, moving, flat = _targets(points, tets, surface, triangles, reach, sharp_reach)
    shape = mean_ratio(points, tets)
    x = _moved(points, tets, target, moving, np.minimum(SOFT[0], SOFT[1] * shape))
    return _moved(x, tets, target, flat, np.minimum(HARD[0], HARD[1] * shape)) if exact else x


def _moved(points: Array, tets: IntArray, target: Array, moving: IntArray, floor: Array) -> Array:
    """Points, the ``moving`` ones as near to their targets as shape measures above ``floor`` (m,) allow."""
    x = points.copy()
    touched = np.isin(tets, moving).any(axis=1)
    tets, floor = tets[touched], floor[touched]
    for _ in range(ROUNDS):
        share = np.zeros(len(x))
        share[moving] = (target[moving] != x[moving]).any(axis=1)
        for lower in (*STEPS[1:], None):
            trial = np.where((share == 1)[:, None], target, x + share[:, None] * (target - x))
            bad = mean_ratio(trial, tets) < floor
            if not bad.any() or lower is None:
                break
            blocked = np.unique(tets[bad])
            share[blocked] = np.minimum(share[blocked], lower)
        if bad.any() or (trial == x).all():
            break
        x = trial
    return x


def _targets(
    points: Array, tets: IntArray, surface: Array, triangles: IntArray, reach: float, sharp_reach: float
) -> tuple[Array, IntArray, IntArray]:
    """Where every vertex should be (n, 3), which should move, and which of them to an exact place."""
    boundary = boundary_triangles(tets)
    skin = np.unique(boundary)
    tree = Bvh(surface, triangles)
    target, near = points.copy(), np.zeros(len(points), dtype=bool)
    target[skin], gap, _ = tree.nearest(points[skin])
    near[skin[gap <= reach]] = True
    target[~near] = points[~near]
    smooth = near.copy()
    sharp = features(surface, triangles)
    if len(sharp.edges):
        ridge = np.unique(features(points, boundary).edges)
        place, gap = nearest_on_segments(
            points[ridge], surface[sharp.edges[:, 0]], surface[sharp.edges[:, 1]]
        )
        taken = ridge[gap < sharp_reach]
        target[taken] = place[gap < sharp_reach]
        near[taken], smooth[taken] = True, False
    if len(sharp.corners):
        gap, which = _nearest_points(surface[sharp.corners], points[skin])
        order = np.argsort(-gap, kind="stable")  # the nearest corner has the last word
        order = order[gap[order] < sharp_reach]
        taken = skin[which[order]]
        target[taken] = surface[sharp.corners[order]]
        near[taken], smooth[taken] = True, False
    bulge = _bulge(target, boundary, tree, reach)
    target[smooth] += bulge[smooth]
    moving = near & (target != points).any(axis=1)
    flat = moving & (bulge == 0).all(axis=1)
    return target, np.flatnonzero(moving), np.flatnonzero(flat)


def _nearest_points(queries: Array, points: Array) -> tuple[Array, IntArray]:
    """Distance (q,) and number (q,) of the nearest point to each query."""
    from scipy.spatial import cKDTree

    gap, which = cKDTree(points).query(queries)
    return np.asarray(gap), np.asarray(which, dtype=np.int64)


def _bulge(points: Array, boundary: IntArray, tree: Bvh, reach: float) -> Array:
    """How far to move boundary vertices off a curved surface so that the mesh keeps its volume; (n, 3).

    A flat triangle with corners on a round surface lies below it: by s at its centre, by 3/4 s on average
    (an equilateral one, s small). So each vertex goes outward by 3/4 of the mean gap at the centres of its
    triangles. Exactly flat parts stay.
    """
    a, b, c = (points[boundary[:, k]] for k in range(3))
    area = np.cross(b - a, c - a)
    normal = area / np.maximum(np.linalg.norm(area, axis=1), np.finfo(float).tiny)[:, None]
    centre = (a + b + c) / 3
    gap = np.einsum("ij,ij->i", tree.nearest(centre)[0] - centre, normal)
    gap = np.where(np.abs(gap) > 1e-6 * reach, np.clip(gap, -reach, reach), 0.0)
    count = np.maximum(np.bincount(boundary.reshape(-1), minlength=len(points)), 1)
    mean, upright = np.zeros(len(points)), np.zeros_like(points)
    for k in range(3):
        np.add.at(mean, boundary[:, k], gap)
        np.add.at(upright, boundary[:, k], area)
    upright /= np.maximum(np.linalg.norm(upright, axis=1), np.finfo(float).tiny)[:, None]
    return np.asarray(0.75 * (mean / count)[:, None] * upright)
