"""A check of the surface that a broken body shows: each of its pieces is that of one piece of the body."""

from typing import NamedTuple

import numpy as np

from pliant.core.typing import Array, IntArray
from pliant.mesh.mesh import Surface, surface_volume
from pliant.mesh.topology import Edges, merge_points

TOLERANCE = 0.01  # share of the volume by which a piece of the surface may differ from that of the body


class BodyPieces(NamedTuple):
    """The pieces of a body: volume (k,) [m3] of each, and the corners (k, 3) [m] of the boxes around them."""

    volumes: Array
    low: Array
    high: Array


def surface_fault(surface: Surface, points: Array, piece: IntArray, body: BodyPieces, reach: float) -> str:
    """What is wrong with a shown ``surface`` at ``points`` (p, 3) [m] whose triangles belong to the pieces
    ``piece`` (t,) of a ``body``; empty where nothing is.

    Each piece has to be closed, to have the volume of the body's piece within ``TOLERANCE`` (and what the
    whole surface differs from the whole body by, as a surface that is finer than the body does), and to lie
    within its box, widened by ``reach`` [m].
    """
    whole = float(body.volumes.sum())
    apart = abs(surface_volume(points, surface.triangles) - whole)
    for k, volume in enumerate(body.volumes.tolist()):
        own = surface.triangles[piece == k]
        if not len(own):
            return f"piece {k} is not shown"
        merged, of = merge_points(surface.points[np.unique(own)])
        local = of[np.searchsorted(np.unique(own), own)]
        if (Edges(local, len(merged)).uses % 2).any():
            return f"piece {k} is not closed"
        shown = surface_volume(points, own)
        if abs(shown - volume) > TOLERANCE * volume + min(apart, 0.5 * volume):
            return f"piece {k} is shown with {shown:.4g} m3 of its {volume:.4g} m3"
        at = points[own].reshape(-1, 3)
        if (at < body.low[k] - reach).any() or (at > body.high[k] + reach).any():
            return f"piece {k} is shown outside of its box"
    return ""


def pieces_of_particles(
    x: Array, piece: IntArray, volumes: Array, of_volume: IntArray | None = None
) -> BodyPieces:
    """The pieces of a body with particles at ``x`` (n, 3), in pieces ``piece`` (n,); ``volumes`` (m,) [m3] of
    its cells, which are in pieces ``of_volume`` (m,), or of its particles."""
    count = int(piece.max()) + 1
    low, high = np.full((count, 3), np.inf), np.full((count, 3), -np.inf)
    np.minimum.at(low, piece, x)
    np.maximum.at(high, piece, x)
    total = np.bincount(piece if of_volume is None else of_volume, volumes, count)
    return BodyPieces(np.asarray(total, np.float64), low, high)
