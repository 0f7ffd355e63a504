"""A compiled projection that keeps the volume of a body."""

# mypy: disable-error-code="no-untyped-def"

from typing import TYPE_CHECKING

import numpy as np

from pliant.core.typing import AnyArray, Array
from pliant.interfaces import Structure
from pliant.kernels.jit import jit

if TYPE_CHECKING:
    from pliant.actions.volume_constraint import VolumeConstraint
    from pliant.materials import ResolvedMaterial as Material


@jit
def volume_and_gradient(triangles, x, ox, oy, oz, gradient):
    """Volume inside ``triangles`` and its gradient ``(r2 x r3)/6 + ...`` per particle, about the point o."""
    gradient[:] = 0.0
    total = 0.0
    for t in range(triangles.shape[0]):
        i = triangles[t, 0]
        j = triangles[t, 1]
        k = triangles[t, 2]
        ax = x[i, 0] - ox
        ay = x[i, 1] - oy
        az = x[i, 2] - oz
        bx = x[j, 0] - ox
        by = x[j, 1] - oy
        bz = x[j, 2] - oz
        cx = x[k, 0] - ox
        cy = x[k, 1] - oy
        cz = x[k, 2] - oz
        px = by * cz - bz * cy
        py = bz * cx - bx * cz
        pz = bx * cy - by * cx
        total += ax * px + ay * py + az * pz
        gradient[i, 0] += px / 6.0
        gradient[i, 1] += py / 6.0
        gradient[i, 2] += pz / 6.0
        gradient[j, 0] += (cy * az - cz * ay) / 6.0
        gradient[j, 1] += (cz * ax - cx * az) / 6.0
        gradient[j, 2] += (cx * ay - cy * ax) / 6.0
        gradient[k, 0] += (ay * bz - az * by) / 6.0
        gradient[k, 1] += (az * bx - ax * bz) / 6.0
        gradient[k, 2] += (ax * by - ay * bx) / 6.0
    return total / 6.0


@jit
def _project_body(triangles, particles, target, tolerance, x, v, w, dt, before, direction, gradient):
    """Move particles along the gradient at ``before`` until the volume is right; returns the multiplier."""
    total = 0.0
    o = before[particles[0]].copy()
    volume_and_gradient(triangles, before, o[0], o[1], o[2], direction)
    for _ in range(50):
        volume = volume_and_gradient(triangles, x, o[0], o[1], o[2], gradient)
        error = volume - target
        if abs(error) <= tolerance * abs(target):
            break
        slope = 0.0
        for k in range(particles.shape[0]):
            i = particles[k]
            for c in range(3):
                slope += gradient[i, c] * w[i, c] * direction[i, c]
        if slope <= 0.0:
            break
        s = error / slope
        total += s
        for k in range(particles.shape[0]):
            i = particles[k]
            for c in range(3):
                move = -s * w[i, c] * direction[i, c]
                x[i, c] += move
                v[i, c] += move / dt
    return total


@jit
def _project_everts(triangles, particles, target, gain, x, v, w, dt, before, direction):
    """The printed correction, eq. (3.20): one step, gain times (B r - 3 V0), about the origin."""
    volume_and_gradient(triangles, before, 0.0, 0.0, 0.0, direction)
    slope = 0.0
    product = 0.0
    for k in range(particles.shape[0]):
        i = particles[k]
        for c in range(3):
            slope += direction[i, c] * w[i, c] * direction[i, c]
            product += direction[i, c] * x[i, c]
    s = gain * (product - 3.0 * target) / slope
    for k in range(particles.shape[0]):
        i = particles[k]
        for c in range(3):
            move = -s * w[i, c] * direction[i, c]
            x[i, c] += move
            v[i, c] += move / dt
    return s


class BodyVolume:
    """One constraint: the volume inside a body's surface.

    Remembers its pressure [Pa] and the positions of the last step, where the correction's direction is taken.
    """

    def __init__(self, structure: Structure, material: "Material", options: "VolumeConstraint") -> None:
        self.triangles = np.ascontiguousarray(structure.cells["triangle"], dtype=np.int64)
        self.particles = np.unique(self.triangles)
        self.direction, self.gradient = np.zeros_like(structure.rest), np.zeros_like(structure.rest)
        self.target = self._volume(structure.rest)
        self.tolerance = options.tolerance or 1e-11
        self.everts = options.feedback == "everts"
        self.gain = options.gain
        self.before: Array = structure.rest.copy()
        self.pressure: Array = np.zeros(1)

    def begin(self, x: Array) -> None:
        self.before[:] = x

    def _volume(self, x: Array) -> float:
        """Volume at ``x``; its gradient is left in ``self.gradient``."""
        o = x[self.particles[0]]
        return float(volume_and_gradient(self.triangles, x, o[0], o[1], o[2], self.gradient))

    def add_forces(self, x: Array, out: Array) -> None:
        if self.pressure[0]:
            self._volume(x)
            out += self.pressure[0] * self.gradient

    def potential_energy(self, x: Array) -> float:
        """Zero: the constraint is exact."""
        return 0.0

    def project(self, x: Array, v: Array, w: Array, dt: float) -> None:
        faces, particles, before, d = self.triangles, self.particles, self.before, self.direction
        if self.everts:
            _project_everts(faces, particles, self.target, self.gain, x, v, w, dt, before, d)
        else:
            g = self.gradient
            change = _project_body(faces, particles, self.target, self.tolerance, x, v, w, dt, before, d, g)
            self.pressure[0] -= change / dt**2
        self.before[:] = x

    def state(self) -> dict[str, AnyArray]:
        return {"before": self.before, "pressure": self.pressure}
