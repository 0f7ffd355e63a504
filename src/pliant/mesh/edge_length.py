"""How long the edges of a fill should be when nobody says."""

import numpy as np

from pliant.core.errors import MeshError
from pliant.core.typing import Array, IntArray
from pliant.mesh.topology import Edges
from pliant.mesh.triangles import double_areas, part_volumes

PARTICLES = 1200
MOST_PARTICLES = 5_000_000
THIN = 2.0  # an edge is at most this many thicknesses long ...
FINEST = 0.01  # ... but at least this share of the box diagonal


def enclosed(points: Array, triangles: IntArray) -> float:
    """Sum of the volumes of the surface's bodies, each without its sign [m3]."""
    count, part = Edges(triangles, len(points)).bodies()
    return float(np.abs(part_volumes(points, triangles, part, count)).sum())


def particles(volume: float, area: float, edge: float) -> float:
    """About how many vertices tets of edge h have: ``1.2 V / h^3`` inside, ``0.6 A / h^2`` on the skin.

    Measured on boxes and spheres; a surface with detail finer than the edge gets two to three times as many.
    """
    return 1.2 * volume / edge**3 + 0.6 * area / edge**2


def default_edge(volume: float, area: float, diagonal: float) -> float:
    """The edge length [m] that gives about 1200 particles, or 2000 to 3000 for a figure with fine detail.

    At most twice the mean thickness ``2 V / A``, so that a plate or a rod is not bridged by single tets, but
    at least a hundredth of the box ``diagonal`` [m].
    """
    low, high = 1e-6 * np.cbrt(volume), np.sqrt(area)
    for _ in range(60):
        middle = np.sqrt(low * high)
        low, high = (middle, high) if particles(volume, area, middle) > PARTICLES else (low, middle)
    return float(max(min(high, THIN * 2 * volume / area), FINEST * diagonal))


def checked_edge(points: Array, triangles: IntArray, edge: float | None) -> float:
    """The edge to use [m]; an error when the surface encloses nothing or the edge does not fit it."""
    diagonal = float(np.linalg.norm(np.ptp(points, axis=0)))
    volume, area = enclosed(points, triangles), float(double_areas(points, triangles).sum() / 2)
    if not volume > 1e-9 * diagonal**3:
        raise MeshError(
            "The surface encloses no volume.",
            hint="An open sheet cannot be filled: give it a thickness, or close it in a modelling tool.",
        )
    usual = default_edge(volume, area, diagonal)
    if edge is None:
        return usual
    if not (np.isfinite(edge) and edge > 0):
        raise MeshError(
            f"The edge length must be a positive number of metres, not {edge!r}.", hint="Try edge=0.05."
        )
    if edge > diagonal:
        raise MeshError(
            f"An edge of {edge:.4g} m is larger than the whole body ({diagonal:.4g} m).",
            hint=f"Leave edge out, or try {usual:.2g}. Is the file in another unit?",
        )
    count = particles(volume, area, edge)
    if count > MOST_PARTICLES:
        raise MeshError(
            f"An edge of {edge:.4g} m would give about {count:.2g} particles.",
            hint=f"Try {usual:.2g}. Is the file in another unit?",
        )
    return float(edge)
