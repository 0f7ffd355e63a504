"""A smooth contact surface for bodies of lattice elements, whose own surface is a staircase.

It is thinner than the elements. That is enough against other bodies, out of which vertices find their way
from any depth; bodies that collide with themselves keep the elements' own surface.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pliant.core.typing import Array, IntArray
from pliant.mesh.topology import is_closed
from pliant.structure.samplers.rigid import divided, inset, simplified

if TYPE_CHECKING:
    from pliant.state.world import BodyState

FINE = 0.5  # edge of its triangles [spacings]
INSET = 0.2  # how far it lies inside the embedded surface, and its radius [spacings]
NEAREST = 12  # elements that carry a vertex
FAR = 1.0  # distance from its nearest element that a vertex keeps at most [spacings]
LARGEST = 2.0  # weight


@dataclass(frozen=True)
class SmoothSurface:
    r"""Vertices that are affine combinations of elements: ``x_s = W x`` with the rows ``near`` (v, 12) of W.

    The weights are the smallest (in the sum of squares) that move a vertex with every affine motion of its
    elements. Forces go back by the transpose. A vertex stands for its share of the elements' mass,
    :math:`m_s = \sum_k m_k |w_{sk}| / \sum_t |w_{tk}|`.
    """

    triangles: IntArray
    near: IntArray
    weights: Array
    mass: Array


class SmoothSurfaces:
    """The smooth surfaces of bodies of elements, made once; bodies whose elements or connections have changed
    since have none."""

    def __init__(self) -> None:
        self._made: dict[str, tuple[tuple[int, int], SmoothSurface | None]] = {}

    def of(self, part: "BodyState") -> SmoothSurface | None:
        """That of a body; None for one that is not of elements, can break, has changed or is too thin."""
        cells = part.structure.cells
        if "hexahedron" not in cells or part.mechanics.contact_surface().radius is None:
            return None
        size = len(part.structure.rest), len(cells["edge"])
        if part.name not in self._made:
            unbroken = part.material.strength is None
            self._made[part.name] = size, smooth_surface(part) if unbroken else None
        before, found = self._made[part.name]
        return found if before == size else None


def smooth_surface(part: "BodyState") -> SmoothSurface | None:
    """The embedded surface of a body with triangles of half a spacing, ``INSET`` inside; None where it is not
    closed, or the elements do not span the space around it."""
    from scipy.spatial import cKDTree

    structure, rest, a = part.structure, part.structure.rest, part.structure.spacing
    if structure.carrier is None or len(rest) < NEAREST:
        return None
    surface = structure.carrier.surface
    used, corners = np.unique(surface.triangles, return_inverse=True)
    points, triangles = surface.points[used], corners.reshape(-1, 3)
    if not is_closed(points, triangles):
        return None
    points, triangles = divided(*simplified(points, triangles, FINE * a), FINE * a)
    points = inset(points, triangles, INSET * a)
    found = cKDTree(rest).query(points, k=NEAREST)
    away, near = np.asarray(found[0]), np.asarray(found[1])
    home = rest[near[:, 0]]
    points = home + (points - home) * np.minimum(1.0, FAR * a / np.maximum(away[:, :1], 1e-300))
    near = np.sort(near, axis=1)
    weights = affine_weights(points, rest[near], a)
    if weights is None:
        return None
    total = np.zeros(len(rest))
    np.add.at(total, near, np.abs(weights))
    share = (structure.mass / np.maximum(total, 1e-300))[near] * np.abs(weights)
    return SmoothSurface(triangles, near.astype(np.int64), weights, share.sum(axis=1))


def affine_weights(points: Array, near: Array, scale: float) -> Array | None:
    """Least-norm weights (p, k) with ``sum w = 1`` and ``sum w near = points``; None if there are none, or
    only large ones. near (p, k, 3)."""
    arms = np.swapaxes(near - points[:, None], 1, 2) / scale
    rows = np.concatenate([np.ones_like(arms[:, :1]), arms], axis=1)
    gram = rows @ np.swapaxes(rows, 1, 2)
    if np.linalg.cond(gram).max() > 1e8:
        return None
    one = np.zeros((len(points), 4, 1))
    one[:, 0] = 1.0
    weights: Array = (np.swapaxes(rows, 1, 2) @ np.linalg.solve(gram, one))[:, :, 0]
    return weights if np.abs(weights).max() <= LARGEST else None
