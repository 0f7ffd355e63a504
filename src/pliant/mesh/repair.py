"""Small repairs of a surface: what can be mended without guessing the shape."""

from dataclasses import replace

import numpy as np

from pliant.core.errors import MeshError
from pliant.core.text import counted
from pliant.core.typing import BoolArray, IntArray
from pliant.mesh.diagnostics import inside_out
from pliant.mesh.holes import lids
from pliant.mesh.mesh import Surface
from pliant.mesh.topology import Edges, consistent_flips, merge_points
from pliant.mesh.triangles import check_arrays, degenerate, duplicates

MAX_DROPPED = 0.1  # of the triangles
MAX_HOLE = 0.3  # of the bounding box' diagonal


def repair(
    surface: Surface, max_dropped: float = MAX_DROPPED, max_hole: float = MAX_HOLE
) -> tuple[Surface, list[str]]:
    """The mended surface, and one sentence for each thing that was done.

    Equal points become one, triangles without area and repeated ones go, winding is made consistent and
    outward, holes are closed. Texture coordinates and groups stay with their triangles.

    Refused, with an error: dropping more than ``max_dropped`` of the triangles, or closing a hole wider
    than ``max_hole`` times the diagonal of the bounding box. Pass ``float("inf")`` to allow anything.
    """
    check_arrays(surface)
    mended, notes = surface, []
    for step in (_merge, _drop, _wind, lambda s: _close(s, max_hole), _turn_out):
        mended, done = step(mended)
        notes += done
    gone = len(surface.triangles) - np.count_nonzero(_sound(_merge(surface)[0]))
    if gone > max_dropped * len(surface.triangles):
        raise MeshError(
            f"{gone} of {len(surface.triangles)} triangles have no area or repeat another: too many to drop.",
            hint="Export the model again, or fill it as it is with mesher='lattice'.",
        )
    return mended, notes


def _merge(surface: Surface) -> tuple[Surface, list[str]]:
    used = np.unique(surface.triangles)
    points, merged = merge_points(surface.points[used])
    number = np.zeros(len(surface.points), dtype=np.int64)
    number[used] = merged
    gone, loose = len(used) - len(points), len(surface.points) - len(used)
    notes = [f"Merged {counted(gone, 'point')} with others at the same place."] if gone else []
    notes += [f"Dropped {counted(loose, 'point')} without a triangle."] if loose else []
    return replace(surface, points=points, triangles=number[surface.triangles]), notes


def _sound(surface: Surface) -> BoolArray:
    return ~degenerate(surface.points, surface.triangles) & ~duplicates(surface.triangles)


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
    notes = [f"Closed {counted(len(new), 'hole')} with {counted(len(extra), 'triangle')}."]
    return replace(surface, triangles=triangles, uv_triangles=uv), notes
