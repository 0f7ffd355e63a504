"""Repair of surfaces: holes are closed, bad triangles removed."""

from dataclasses import replace

import numpy as np

from pliant.core.errors import MeshError
from pliant.core.text import counted
from pliant.core.typing import Array, BoolArray, IntArray
from pliant.mesh.diagnostics import inside_out
from pliant.mesh.mesh import Surface
from pliant.mesh.topology import Edges, consistent_flips, merge_points, rim_loops
from pliant.mesh.triangles import check_arrays, degenerate, duplicates


def lids(points: Array, triangles: IntArray) -> list[IntArray]:
    """For every hole the triangles (k, 3) that close it, on the same points, wound like their neighbours."""
    loops = rim_loops(Edges(triangles, len(points)).open_half)
    return [lid(points, loop[::-1]) for loop in loops if len(loop) > 2]


def lid(points: Array, loop: IntArray) -> IntArray:
    """A closed loop of vertices (k,) as k - 2 triangles.

    Ears are clipped off in the loop's mean plane (the normal is the sum of the cross products of
    successive corners), the ear with the widest smallest angle first; a loop that crosses itself there
    still closes, with overlapping triangles.
    """
    x = points[loop] - points[loop].mean(axis=0)
    normal = np.cross(x, np.roll(x, -1, axis=0)).sum(axis=0)
    flat = _projected(x, normal)
    left = list(range(len(loop)))
    score = {k: _ear(flat, left, i) for i, k in enumerate(left)}
    out = []
    while len(left) > 3:
        i = max(range(len(left)), key=lambda i: score[left[i]])
        n = len(left)
        out.append([left[i - 1], left[i], left[(i + 1) % n]])
        neighbours = left[i - 1], left[(i + 1) % n]
        left.pop(i)
        for k in neighbours:
            score[k] = _ear(flat, left, left.index(k))
    out.append(left)
    return np.asarray(loop[np.array(out)])


def _projected(x: Array, normal: Array) -> Array:
    """Coordinates (k, 2) in the plane across ``normal``, counter-clockwise seen from its tip."""
    axis = np.zeros(3)
    axis[np.argmin(np.abs(normal))] = 1.0
    u = np.cross(normal, axis)
    v = np.cross(normal, u)
    basis = np.stack([u, v], axis=1)
    length = np.linalg.norm(basis, axis=0)
    return np.asarray(x @ (basis / np.where(length > 0, length, 1.0)))


def _ear(flat: Array, left: list[int], i: int) -> float:
    """Sine of the smallest angle of the ear at place i; below 0 when it is reflex or holds another corner."""
    n = len(left)
    a, b, c = flat[left[i - 1]], flat[left[i]], flat[left[(i + 1) % n]]
    u, v, w = b - a, c - b, a - c
    area = u[0] * v[1] - u[1] * v[0]
    sides = np.sort(np.linalg.norm([u, v, w], axis=1))
    if sides[1] == 0:
        return -1.0
    sine = float(area / (sides[1] * sides[2]))
    if area <= 0:
        return sine - 1.0
    others = flat[[k for k in left if k not in (left[i - 1], left[i], left[(i + 1) % n])]]
    return sine - 1.0 if _within(others, a, b, c).any() else sine


def _within(p: Array, a: Array, b: Array, c: Array) -> BoolArray:
    """Which of p (k, 2) lie in the counter-clockwise triangle abc, its edges included but not its corners."""
    inside = np.ones(len(p), dtype=bool)
    for s, t in ((a, b), (b, c), (c, a)):
        inside &= (t[0] - s[0]) * (p[:, 1] - s[1]) - (t[1] - s[1]) * (p[:, 0] - s[0]) >= 0
        inside &= ~(p == s).all(axis=1)
    return inside


MAX_DROPPED = 0.1  # of the triangles
MAX_HOLE = 0.3  # of the bounding box' diagonal


def repair(
    surface: Surface, max_dropped: float = MAX_DROPPED, max_hole: float = MAX_HOLE
) -> tuple[Surface, list[str]]:
    """The repaired surface, and one sentence for each thing that was done.

    Equal points become one, triangles without area and repeated ones go, winding is made consistent and
    outward, holes are closed. Texture coordinates and groups stay with their triangles.

    Refused, with an error: dropping more than ``max_dropped`` of the triangles, or closing a hole wider
    than ``max_hole`` times the diagonal of the bounding box. Pass ``float("inf")`` to allow anything.
    """
    check_arrays(surface)
    repaired, notes = surface, []
    for step in (_merge, _drop, _wind, lambda s: _close(s, max_hole), _turn_out):
        repaired, done = step(repaired)
        notes += done
    merged = _merge(surface)[0]
    gone = np.count_nonzero(degenerate(merged.points, merged.triangles) | duplicates(merged.triangles))
    if gone > max_dropped * len(surface.triangles):
        raise MeshError(
            f"{gone} of {len(surface.triangles)} triangles have no area or repeat another: too many to drop.",
            hint="Export the model again, or fill it as it is with mesher='lattice'.",
        )
    return repaired, notes


def _merge(surface: Surface) -> tuple[Surface, list[str]]:
    used = np.unique(surface.triangles)
    points, merged = merge_points(surface.points[used])
    number = np.zeros(len(surface.points), dtype=np.int64)
    number[used] = merged
    gone, loose = len(used) - len(points), len(surface.points) - len(used)
    notes = [f"Merged {counted(gone, 'point')} with others at the same place."] if gone else []
    notes += [f"Dropped {counted(loose, 'point')} without a triangle."] if loose else []
    return replace(surface, points=points, triangles=number[surface.triangles]), notes


def _drop(surface: Surface) -> tuple[Surface, list[str]]:
    flat = degenerate(surface.points, surface.triangles)
    again = duplicates(surface.triangles) & ~flat
    keep = ~flat & ~again
    if not keep.any():
        raise MeshError("No triangle of the surface has an area.", hint="Check the file; export it again.")
    if keep.all():
        return surface, []
    number = np.cumsum(keep) - 1
    groups = {name: number[i[keep[i]]] for name, i in surface.groups.items()}
    uv = None if surface.uv_triangles is None else surface.uv_triangles[keep]
    notes = [f"Dropped {counted(flat.sum(), 'triangle')} without area."] if flat.any() else []
    notes += [f"Dropped {counted(again.sum(), 'repeated triangle')}."] if again.any() else []
    kept = replace(surface, triangles=surface.triangles[keep], uv_triangles=uv, groups=groups)
    return _merge(kept)[0], notes


def _flip(surface: Surface, which: BoolArray) -> Surface:
    def turned(corners: IntArray) -> IntArray:
        return np.where(which[:, None], corners[:, [0, 2, 1]], corners)

    uv = None if surface.uv_triangles is None else turned(surface.uv_triangles)
    return replace(surface, triangles=turned(surface.triangles), uv_triangles=uv)


def _wind(surface: Surface) -> tuple[Surface, list[str]]:
    which = consistent_flips(Edges(surface.triangles, len(surface.points)))
    if not which.any():
        return surface, []
    return _flip(surface, which), [f"Turned {counted(which.sum(), 'triangle')} to wind like the neighbours."]


def _turn_out(surface: Surface) -> tuple[Surface, list[str]]:
    edges = Edges(surface.triangles, len(surface.points))
    inverted = inside_out(surface.points, edges)
    if not inverted.any():
        return surface, []
    which = inverted[edges.bodies()[1]]
    return _flip(surface, which), [f"Turned {counted(inverted.sum(), 'inside-out component')} outward."]


def _close(surface: Surface, max_hole: float) -> tuple[Surface, list[str]]:
    new = lids(surface.points, surface.triangles)
    if not new:
        return surface, []
    diagonal = float(np.linalg.norm(np.ptp(surface.points, axis=0)))
    widest = max(float(np.linalg.norm(np.ptp(surface.points[np.unique(k)], axis=0))) for k in new)
    if widest > max_hole * diagonal:
        raise MeshError(
            f"A hole is {widest / diagonal:.0%} of the model's size: closing it would guess the shape.",
            hint="Close it in a modelling tool, allow it with max_hole=inf, or give the sheet a thickness.",
        )
    extra = np.concatenate(new)
    uv = surface.uv_triangles
    if uv is not None:
        of_point = np.zeros(len(surface.points), dtype=np.int64)
        of_point[surface.triangles] = uv
        uv = np.concatenate([uv, of_point[extra]])
    triangles = np.concatenate([surface.triangles, extra])
    note = f"Closed {counted(len(new), 'hole')} with {counted(len(extra), 'triangle')}"
    if widest > MAX_HOLE * diagonal:
        note += f", the widest {widest / diagonal:.0%} of the model's size: the shape there is a guess"
    notes = [f"{note}."]
    return replace(surface, triangles=triangles, uv_triangles=uv), notes
