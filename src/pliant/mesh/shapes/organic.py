"""Figures of blended ellipsoids: the gummy bear and a liver-like organ."""

import numpy as np

from pliant.core.parameters import parameters
from pliant.core.typing import Array
from pliant.mesh.mesh import Surface
from pliant.mesh.shapes.common import Positive, Shape
from pliant.mesh.shapes.implicit import blend, capsule, carve, ellipsoid, figure_edge, polygonise

BEAR_BOX = (-0.42, -0.42, -0.06), (0.42, 0.36, 1.08)  # a box around the bear, which is about 1 tall


@parameters
class Gummy(Shape):
    """A gummy bear, ``height`` [m] tall, soles in z = 0, its middle on the z axis, facing -y."""

    height: Positive

    def surface(self, edge: float | None = None) -> Surface:
        """One smooth closed surface; ``edge`` defaults to 1/40 of the height and is 1/30 of it at most."""
        target = figure_edge(edge, self.height, 30, f"a gummy bear {self.height:g} m tall")
        points, triangles = polygonise(bear, *BEAR_BOX, target / self.height)
        bottom, top = points[:, 2].min(), points[:, 2].max()
        points = (points - [0.0, 0.0, bottom]) * (self.height / (top - bottom))
        points[:, 2] = np.minimum(points[:, 2], self.height)
        points[points[:, 2] < 1e-6 * self.height, 2] = 0.0  # the soles, exactly flat
        points[np.argmax(points[:, 2]), 2] = self.height
        return Surface(points, triangles)


def bear(p: Array) -> Array:
    """The field of a bear of height about 1: negative inside; coordinates (3, n)."""
    body = ellipsoid(p, (0, 0.0, 0.36), (0.22, 0.18, 0.27))
    body = blend(body, ellipsoid(p, (0, -0.06, 0.31), (0.2, 0.175, 0.19)), 0.08)
    body = blend(body, ellipsoid(p, (0, 0.175, 0.2), (0.055, 0.055, 0.055)), 0.05)
    for side in (-1, 1):
        leg = capsule(p, (0.115 * side, 0.0, 0.17), (0.125 * side, -0.03, 0.09), 0.1)
        foot = ellipsoid(p, (0.14 * side, -0.13, 0.085), (0.095, 0.135, 0.095))
        body = blend(body, blend(leg, foot, 0.06), 0.05)
        arm = capsule(p, (0.185 * side, -0.02, 0.49), (0.15 * side, -0.2, 0.42), 0.07)
        body = blend(body, arm, 0.06)
    head = ellipsoid(p, (0, -0.01, 0.76), (0.205, 0.175, 0.175))
    head = blend(head, ellipsoid(p, (0, -0.15, 0.71), (0.1, 0.095, 0.075)), 0.045)
    head = blend(head, ellipsoid(p, (0, -0.238, 0.742), (0.04, 0.03, 0.03)), 0.02)
    for side in (-1, 1):
        head = blend(head, ellipsoid(p, (0.155 * side, 0.0, 0.915), (0.08, 0.06, 0.08)), 0.04)
        head = carve(head, ellipsoid(p, (0.162 * side, -0.07, 0.922), (0.05, 0.04, 0.05)), 0.03)
        head = blend(head, ellipsoid(p, (0.078 * side, -0.158, 0.805), (0.028, 0.024, 0.03)), 0.015)
    whole = blend(body, head, 0.07)
    return carve(whole, p[2] - 0.03, 0.02)  # flat soles


ORGAN_BOX = (-0.62, -0.42, -0.06), (0.62, 0.42, 0.48)  # a box around the organ, which is about 1 wide


@parameters
class Liver(Shape):
    """A soft organ of two lobes like a liver, ``width`` [m] along x, lying flat on z = 0."""

    width: Positive

    def surface(self, edge: float | None = None) -> Surface:
        """One smooth closed surface; ``edge`` defaults to 1/40 of the width and is 1/20 of it at most."""
        target = figure_edge(edge, self.width, 20, f"an organ {self.width:g} m wide")
        points, triangles = polygonise(organ, *ORGAN_BOX, target / self.width)
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
