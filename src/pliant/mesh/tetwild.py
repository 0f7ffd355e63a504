"""Tets by fTetWild, in a child process: for any triangle soup, within a thin envelope of the surface."""

from collections.abc import Mapping
from contextlib import suppress

import numpy as np

from pliant.core.errors import MeshError
from pliant.core.typing import AnyArray, Array, IntArray
from pliant.mesh.conform import conform
from pliant.mesh.mesh import tet_edges, tet_volumes
from pliant.mesh.mesher_process import Progress, run_child
from pliant.mesh.simplify import simplify

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
    made = run_child("pliant.mesh.tetwild_process", "fTetWild", given, timeout, progress, HINT)
    if len(made["tets"]) and _edge(made) < TOO_FINE * edge / scale:
        with suppress(MeshError):  # then the fine one is kept
            given["coarsen"] = True
            coarse = run_child("pliant.mesh.tetwild_process", "fTetWild", given, timeout, progress, HINT)
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
