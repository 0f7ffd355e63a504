"""The torus."""

import math
from typing import Self

import numpy as np
from pydantic import model_validator

from pliant.core.parameters import parameters
from pliant.mesh.mesh import Surface
from pliant.mesh.shapes.blocks import steps
from pliant.mesh.shapes.common import Positive, Unstructured, target_edge


@parameters
class Torus(Unstructured):
    """A ring about z: a tube of radius ``minor`` around a circle of radius ``major`` [m] in z = 0."""

    major: Positive
    minor: Positive

    @model_validator(mode="after")
    def _has_a_hole(self) -> Self:
        if self.minor >= self.major:
            raise ValueError(f"minor ({self.minor:g} m) must be smaller than major ({self.major:g} m)")
        return self

    def surface(self, edge: float | None = None) -> Surface:
        """A grid around ring and tube, points on the torus; ``edge`` defaults to a third of ``minor``."""
        area = 4 * math.pi**2 * self.major * self.minor
        target = target_edge(edge, self.minor / 3, area, most=2 * math.pi * self.minor / 12)
        around = steps(2 * math.pi * self.major, target, 24)
        across = steps(2 * math.pi * self.minor, target, 12)
        u = 2 * math.pi * np.arange(around)[:, None] / around
        v = 2 * math.pi * np.arange(across)[None] / across
        reach = self.major + self.minor * np.cos(v)
        x, y, z = np.broadcast_arrays(reach * np.cos(u), reach * np.sin(u), self.minor * np.sin(v))
        a = np.arange(around * across).reshape(around, across)
        b, d = np.roll(a, -1, axis=0), np.roll(a, -1, axis=1)
        c = np.roll(b, -1, axis=1)
        triangles = np.stack([a, b, c, a, c, d], axis=-1).reshape(-1, 3)
        return Surface(np.stack([x, y, z], axis=-1).reshape(-1, 3), triangles)
