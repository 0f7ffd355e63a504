"""The three meshers: fTetWild and TetGen in child processes, and a lattice cut along the surface."""

import re
from collections.abc import Mapping
from contextlib import suppress

import numpy as np

from pliant.core.errors import MeshError
from pliant.core.text import counted
from pliant.core.typing import AnyArray, Array, IntArray
from pliant.mesh.bvh import Bvh
from pliant.mesh.diagnostics import hidden
from pliant.mesh.isosurface_tets import lattice_points, lattice_tets, stuff
from pliant.mesh.mesh import Surface, boundary_triangles, surface_volume, tet_edges, tet_volumes
from pliant.mesh.mesher_process import Progress, run_child
from pliant.mesh.quality import mean_ratio
from pliant.mesh.simplify import simplify
from pliant.mesh.topology import components, features, nearest_on_segments

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
    from scipy.spatial import cKDTree

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
        gap, which = map(np.asarray, cKDTree(points[skin]).query(surface[sharp.corners]))
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


HINT = "Try a larger edge, or mesher='lattice'."
ENVELOPE = (5e-4, 4e-3)  # smallest and largest, of the bounding box' diagonal
PER_EDGE = 0.08  # envelope over edge: a round surface can then be followed by edges of that length
ENERGY = 10.0  # fTetWild's own measure of the worst tet, at which it stops improving
TOO_FINE = 0.4  # median edge over wished edge below which the mesh is made again, as coarse as it may be


def tetwild(
    points: Array, triangles: IntArray, edge: float, timeout: float, progress: Progress | None
) -> tuple[Array, IntArray, list[str]]:
    """Points (n, 3) and tets (m, 4) of about ``edge`` [m] inside a surface, and notes about them.

    The envelope, in which fTetWild may move the surface, is 8 % of the edge, between 0.05 % and 0.4 % of the
    box diagonal. The surface is first simplified within a quarter of it (fTetWild's own simplification
    takes minutes above 50k triangles), and the result's boundary is moved back onto the given surface.
    Where a few long edges would do, fTetWild keeps shorter ones that it came by: such a mesh is made again
    with its option to coarsen.

    Source: Hu et al., Fast tetrahedral meshing in the wild (2020), through the package pytetwild.
    """
    centre = (points.min(axis=0) + points.max(axis=0)) / 2
    diagonal = float(np.linalg.norm(np.ptp(points, axis=0)))
    scale = float(2.0 ** np.ceil(np.log2(diagonal)))  # a power of two, so that scaling is exact
    unit = (points - centre) / scale
    size = diagonal / scale
    envelope = float(np.clip(PER_EDGE * edge / diagonal, *ENVELOPE))
    if progress:
        progress(None, "simplifying the surface")
    x, t = simplify(unit, triangles, envelope / 4 * size, edge / scale)
    given = {"points": x, "triangles": t, "edge": edge / scale, "epsilon": envelope, "energy": ENERGY}
    made = run_child("pliant.mesh.mesher_child", "fTetWild", given, timeout, progress, HINT)
    if len(made["tets"]) and _edge(made) < TOO_FINE * edge / scale:
        with suppress(MeshError):  # then the fine one is kept
            given["coarsen"] = True
            coarse = run_child("pliant.mesh.mesher_child", "fTetWild", given, timeout, progress, HINT)
            if len(coarse["tets"]):
                made = min(made, coarse, key=lambda m: abs(np.log(_edge(m) * scale / edge)))
    notes = []
    if not made["fixed"]:
        notes.append(
            "fTetWild's random order could not be fixed here: a new fill may give a slightly other mesh."
        )
    if progress:
        progress(None, "fitting the boundary to the surface")
    tets = oriented(made["points"], made["tets"])
    reach = 1.5 * envelope * size
    fitted = conform(made["points"], tets, unit, triangles, reach, 2 * envelope * size)
    return fitted * scale + centre, tets, notes


def _edge(made: Mapping[str, AnyArray]) -> float:
    """The median edge of what fTetWild made."""
    edges = tet_edges(made["tets"])
    return float(np.median(np.linalg.norm(made["points"][edges[:, 0]] - made["points"][edges[:, 1]], axis=1)))


def oriented(points: Array, tets: IntArray) -> IntArray:
    """Tets with their last corners swapped where the volume is negative; shape (m, 4)."""
    tets = tets.astype(np.int64)
    return np.where((tet_volumes(points, tets) < 0)[:, None], tets[:, [0, 1, 3, 2]], tets)


TETGEN_HINT = (
    "TetGen needs a closed surface that does not cut itself: try mesher='tetwild' or other switches."
)
RATIO = 1.3  # largest radius-edge ratio of a tet
REFUSED = dict.fromkeys("rimwbkgovxI", "asks for files or forms that are not read here")


def tetgen_fill(
    points: Array,
    triangles: IntArray,
    edge: float,
    switches: str | None,
    timeout: float,
    progress: Progress | None,
) -> tuple[Array, IntArray, list[str]]:
    """Points (n, 3) and tets (m, 4) inside a closed surface by TetGen, an extra (AGPL); the boundary lies
    exactly on it.

    ``switches`` as TetGen's command line has them, such as ``pq1.2a0.01`` (volumes in m3); ``p`` is
    understood. Without them: radius-edge ratio below 1.3 and volumes up to sqrt(2)/8 edge^3, half as much
    again as that of a regular tet, which gives edges of about ``edge`` [m]. Cavities stay empty.

    Source: Si, TetGen, a Delaunay-based quality tetrahedral mesh generator (2015).
    """
    asked = checked_switches(switches) if switches else f"pq{RATIO}a{np.sqrt(2) / 8 * edge**3:.12g}"
    given = {"points": points, "triangles": triangles, "switches": asked + "Q"}
    made = run_child("pliant.mesh.mesher_child", "TetGen", given, timeout, progress, TETGEN_HINT)
    tets = oriented(made["points"], made["tets"])
    if "c" not in asked:
        tets = tets[Bvh(points, triangles).inside(made["points"][tets].mean(axis=1))]
    return made["points"], tets, []


def checked_switches(switches: str) -> str:
    """TetGen's switches with ``p`` in front; an error for what cannot be used here."""
    text = switches.strip().lstrip("-")
    if not re.fullmatch(r"[A-Za-z0-9./,+-]+", text):
        raise MeshError(f"TetGen has no switches '{switches}'.", hint="Write them as in pq1.2a0.01.")
    letters = set(re.sub(r"[0-9.]e[+-]?[0-9]+", "", text))
    for letter in letters & set(REFUSED):
        raise MeshError(f"TetGen's switch {letter} {REFUSED[letter]}.", hint="Leave it out.")
    return text if "p" in letters else "p" + text


SPACING = 1.08  # cube side over edge length: edges are one side, or sqrt(3)/2 of it, long
HALVINGS = 4
LARGEST = 4_000_000  # lattice points
TOLERANCE = 0.1  # of the volume, before the lattice is made finer
CRUMB = 0.01  # parts smaller than this share of the largest are dropped


def lattice(points: Array, triangles: IntArray, edge: float) -> tuple[Array, IntArray, list[str]]:
    """Points (n, 3) and tets (m, 4) of about ``edge`` [m] inside a surface, and notes about them.

    Inside is where the winding number is above one half, so the surface may have holes, cut itself or be a
    soup. Vertices of the boundary lie on the surface where that keeps the tets good. Where the surface is too
    thin for the lattice (the volume is 10 % off), the edge is halved, up to four times.
    """
    tree = Bvh(points, triangles)
    expected = _volume(points, triangles, tree)
    notes: list[str] = []
    for halving in range(HALVINGS + 1):
        fine = edge / 2**halving
        x, tets = _stuffed(points, tree, fine)
        found = float(tet_volumes(x, tets).sum()) if len(tets) else 0.0
        if len(tets) and abs(found - expected) <= TOLERANCE * expected:
            break
        following = SPACING * fine / 2
        if 2 * np.prod(np.ptp(points, axis=0) / following + 3) > LARGEST:
            break
    if not len(tets):
        raise MeshError(
            "The surface encloses no volume that a lattice could fill.",
            hint="Give an open sheet a thickness, or pass a smaller edge.",
        )
    if halving:
        notes.append(
            f"The body is too thin for a lattice of that edge; it has edges {2**halving} times finer."
        )
    if abs(found - expected) > TOLERANCE * expected:
        notes.append(f"The lattice's volume is about {found / expected:.0%} of the surface's.")
    tets, dropped = _main_parts(x, tets)
    if dropped:
        notes.append(
            f"Dropped {counted(dropped, 'loose crumb')} of less than {CRUMB:.0%} of the largest part."
        )
    x = conform(x, tets, points, triangles, 0.5 * fine, 0.6 * fine, exact=False)
    shown = triangles[~hidden(Surface(points, triangles))]
    lost = Bvh(x, boundary_triangles(tets)).nearest(points[shown].mean(axis=1))[1].max()
    if lost > fine:
        notes.append(
            f"Thin parts are missing, up to {lost / fine:.2g} edges from the tets. A smaller edge keeps them."
        )
    return x, tets, notes


def _stuffed(points: Array, tree: Bvh, edge: float) -> tuple[Array, IntArray]:
    """Lattice points and tets inside the surface."""
    low, high = points.min(axis=0), points.max(axis=0)
    a = SPACING * edge
    if 2 * np.prod((high - low) / a + 3) > LARGEST:
        raise MeshError(
            f"An edge of {edge:.4g} m is too small for this body: more than {LARGEST} lattice points.",
            hint="Pass a larger edge.",
        )

    def signed(x: Array) -> Array:
        return np.where(tree.inside(x), 1.0, -1.0) * np.maximum(tree.nearest(x)[1], 1e-9 * a)

    x, cubes = lattice_points(low, high, a)
    value = signed(x)
    return stuff(x, lattice_tets(cubes, value > 0), value, signed)


def _volume(points: Array, triangles: IntArray, tree: Bvh) -> float:
    """The volume inside [m3]: by the share of evenly spread points, or for thin bodies by the surface."""
    i = np.arange(1, 20_001)[:, None]
    spread = (i * np.array([0.8191725133961645, 0.6710436067037893, 0.5497004779019703]) + 0.5) % 1.0
    low, size = points.min(axis=0), np.ptp(points, axis=0)
    inside = int(np.count_nonzero(tree.inside(low + spread * size)))
    if inside > 1000:
        return float(inside / len(spread) * np.prod(size))
    return abs(surface_volume(points, triangles))


def _main_parts(points: Array, tets: IntArray) -> tuple[IntArray, int]:
    """The tets without loose crumbs, and how many crumbs there were."""
    count, part = components(len(points), np.concatenate([tets[:, [0, k]] for k in (1, 2, 3)]))
    volumes = np.bincount(part[tets[:, 0]], tet_volumes(points, tets), count)
    crumbs = (volumes > 0) & (volumes < CRUMB * volumes.max())
    return tets[~crumbs[part[tets[:, 0]]]], int(crumbs.sum())
