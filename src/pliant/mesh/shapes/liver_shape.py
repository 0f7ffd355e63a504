"""A liver-like organ."""

import numpy as np

from pliant.core.parameters import parameters
from pliant.core.typing import Array
from pliant.mesh.mesh import Surface
from pliant.mesh.shapes.common import Positive, Unstructured
from pliant.mesh.shapes.implicit import blend, carve, ellipsoid, figure_edge, polygonise

LOW, HIGH = (-0.62, -0.42, -0.06), (0.62, 0.42, 0.48)  # a box around the organ, which is about 1 wide


@parameters
class Liver(Unstructured):
    """A soft organ of two lobes like a liver, ``width`` [m] along x, lying flat on z = 0."""

    width: Positive

    def surface(self, edge: float | None = None) -> Surface:
        """One smooth closed surface; ``edge`` defaults to 1/40 of the width and is 1/20 of it at most."""
        target = figure_edge(edge, self.width, 20, f"an organ {self.width:g} m wide")
        points, triangles = polygonise(organ, LOW, HIGH, target / self.width)
        low, high = points.min(axis=0), points.max(axis=0)
        points = (points - [0.5 * (low[0] + high[0]), 0.0, low[2]]) * (self.width / (high[0] - low[0]))
        points[points[:, 2] < 1e-6 * self.width, 2] = 0.0  # exactly flat below
        return Surface(points, np.asarray(triangles))


def organ(p: Array) -> Array:
    """The field of an organ of width about 1: negative inside; coordinates (3, n)."""
    right = ellipsoid(p, (-0.2, 0.02, 0.12), (0.31, 0.27, 0.24))
    right = blend(right, ellipsoid(p, (-0.27, -0.1, 0.08), (0.2, 0.2, 0.14)), 0.08)
    left = ellipsoid(p, (0.2, 0.05, 0.08), (0.31, 0.18, 0.13))
    whole = blend(right, left, 0.12)
    whole = carve(whole, ellipsoid(p, (0.08, -0.3, 0.05), (0.07, 0.2, 0.4)), 0.06)  # the notch between lobes
    return carve(whole, p[2], 0.03)
