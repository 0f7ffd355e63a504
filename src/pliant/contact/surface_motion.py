"""The surface of a mesh obstacle: where its vertices are at any time."""

from dataclasses import dataclass

import numpy as np

from pliant.core.curves import Curve
from pliant.core.typing import Array, BoolArray, IntArray
from pliant.mesh.io.sequences import SurfaceSequence
from pliant.mesh.topology import is_closed


@dataclass(frozen=True)
class SurfaceMotion:
    """Vertices ``x = p(t) + R(t) X(t)``: the path p, the turn R by ``angle`` [rad] about ``axis``, and X
    between the samples of a sequence, in straight lines, and where its first and last ones are before and
    after them."""

    sequence: SurfaceSequence  # turned and scaled
    path: Curve
    axis: Array
    angle: Curve

    @property
    def triangles(self) -> IntArray:
        return self.sequence.triangles

    @property
    def closed(self) -> bool:
        """Whether it has an inside."""
        return bool(is_closed(self.sequence.points[0], self.triangles))

    @property
    def only_shifts(self) -> bool:
        """Whether all vertices move alike."""
        return self.angle.is_constant and len(self.sequence.times) == 1

    @property
    def is_still(self) -> bool:
        return self.only_shifts and self.path.is_constant

    def at(self, time: float) -> Array:
        """All vertices (v, 3) [m] at ``time``."""
        own, angle = self._shape(time), float(self.angle.at(time))
        if angle:
            a, c, s = self.axis, np.cos(angle), np.sin(angle)
            own = c * own + s * np.cross(a, own) + (1.0 - c) * (own @ a)[:, None] * a
        return np.asarray(own + self.path.at(time))

    def _shape(self, time: float) -> Array:
        times, points = self.sequence.times, self.sequence.points
        if len(times) == 1 or time <= times[0]:
            return np.asarray(points[0])
        if time >= times[-1]:
            return np.asarray(points[-1])
        k = int(np.searchsorted(times, time, side="right")) - 1
        s = (time - times[k]) / (times[k + 1] - times[k])
        return np.asarray((1.0 - s) * points[k] + s * points[k + 1])

    def bounds(self, time: float) -> Array:
        """Corners (8, 3) [m] of a box around it at ``time``."""
        x = self.at(time)
        low, high = x.min(axis=0), x.max(axis=0)
        chosen: BoolArray = np.array(list(np.ndindex(2, 2, 2)), bool)
        return np.asarray(np.where(chosen, high, low))
