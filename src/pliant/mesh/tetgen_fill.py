"""Tets by TetGen (an extra, AGPL), in a child process: exact Delaunay meshes of closed surfaces."""

import re
from importlib.util import find_spec

import numpy as np

from pliant.core.errors import MeshError, MissingExtra
from pliant.core.typing import Array, IntArray
from pliant.mesh.bvh import Bvh
from pliant.mesh.mesher_process import Progress, run_child
from pliant.mesh.tetwild import oriented

HINT = "TetGen needs a closed surface that does not cut itself: try mesher='tetwild' or other switches."
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
    """Points (n, 3) and tets (m, 4) inside a closed surface; the boundary lies exactly on it.

    ``switches`` as TetGen's command line has them, such as ``pq1.2a0.01`` (volumes in m3); ``p`` is
    understood. Without them: radius-edge ratio below 1.3 and volumes up to sqrt(2)/8 edge^3, half as much
    again as that of a regular tet, which gives edges of about ``edge`` [m]. Cavities stay empty.

    Source: Si, TetGen, a Delaunay-based quality tetrahedral mesh generator (2015).
    """
    if find_spec("tetgen") is None:
        raise MissingExtra(
            "TetGen is not installed.", hint="Install it with: pip install 'pliant[tetgen]' (AGPL)."
        )
    asked = checked_switches(switches) if switches else f"pq{RATIO}a{np.sqrt(2) / 8 * edge**3:.12g}"
    given = {"points": points, "triangles": triangles, "switches": asked + "Q"}
    made = run_child("pliant.mesh.tetgen_process", "TetGen", given, timeout, progress, HINT)
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
