"""Compiled projections that keep volumes: of a body, of nodes, of tets."""

# mypy: disable-error-code="no-untyped-def"

from typing import TYPE_CHECKING

import numpy as np

from pliant.compiled import jit
from pliant.mesh.types import tet_volumes
from pliant.protocols import Structure
from pliant.typing import AnyArray, Array

if TYPE_CHECKING:
    from pliant.actions.volume_constraint import VolumeConstraint


@jit
def _volume_and_gradient(triangles, x, ox, oy, oz, gradient):
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
    """Move particles along the gradient at ``before`` until the volume is right; returns its last error."""
    o = before[particles[0]].copy()
    _volume_and_gradient(triangles, before, o[0], o[1], o[2], direction)
    error = 0.0
    for _ in range(50):
        volume = _volume_and_gradient(triangles, x, o[0], o[1], o[2], gradient)
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
        for k in range(particles.shape[0]):
            i = particles[k]
            for c in range(3):
                move = -s * w[i, c] * direction[i, c]
                x[i, c] += move
                v[i, c] += move / dt
    return error


@jit
def _project_everts(triangles, particles, target, gain, x, v, w, dt, before, direction):
    """The printed correction, eq. (3.20): one step, gain times (B r - 3 V0), about the origin."""
    _volume_and_gradient(triangles, before, 0.0, 0.0, 0.0, direction)
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


class BodyVolume:
    """One constraint: the volume inside a body's surface. Remembers the positions of the last step."""

    def __init__(self, structure: Structure, options: "VolumeConstraint") -> None:
        self.triangles = np.ascontiguousarray(structure.cells["triangle"], dtype=np.int64)
        self.particles = np.unique(self.triangles)
        self.direction, self.gradient = np.zeros_like(structure.rest), np.zeros_like(structure.rest)
        o = structure.rest[self.particles[0]]
        self.target = float(_volume_and_gradient(self.triangles, structure.rest, o[0], o[1], o[2], self.gradient))
        self.tolerance = options.tolerance or 1e-11
        self.everts = options.feedback == "everts"
        self.gain = options.gain
        self.memory: AnyArray = structure.rest.copy()

    def project(self, x: Array, v: Array, w: Array, dt: float) -> None:
        before, d = self.memory, self.direction
        if self.everts:
            _project_everts(self.triangles, self.particles, self.target, self.gain, x, v, w, dt, before, d)
        else:
            _project_body(
                self.triangles, self.particles, self.target, self.tolerance, x, v, w, dt, before, d, self.gradient
            )
        self.memory[:] = x


@jit
def _tet_gradients(tets, x, volumes, gradients):
    """Volumes of tets and their gradients (m, 4, 3)."""
    for t in range(tets.shape[0]):
        p, q, r, s = tets[t, 0], tets[t, 1], tets[t, 2], tets[t, 3]
        ax, ay, az = x[q, 0] - x[p, 0], x[q, 1] - x[p, 1], x[q, 2] - x[p, 2]
        bx, by, bz = x[r, 0] - x[p, 0], x[r, 1] - x[p, 1], x[r, 2] - x[p, 2]
        cx, cy, cz = x[s, 0] - x[p, 0], x[s, 1] - x[p, 1], x[s, 2] - x[p, 2]
        g = gradients[t]
        g[1, 0] = (by * cz - bz * cy) / 6.0
        g[1, 1] = (bz * cx - bx * cz) / 6.0
        g[1, 2] = (bx * cy - by * cx) / 6.0
        g[2, 0] = (cy * az - cz * ay) / 6.0
        g[2, 1] = (cz * ax - cx * az) / 6.0
        g[2, 2] = (cx * ay - cy * ax) / 6.0
        g[3, 0] = (ay * bz - az * by) / 6.0
        g[3, 1] = (az * bx - ax * bz) / 6.0
        g[3, 2] = (ax * by - ay * bx) / 6.0
        for c in range(3):
            g[0, c] = -(g[1, c] + g[2, c] + g[3, c])
        volumes[t] = ax * g[1, 0] + ay * g[1, 1] + az * g[1, 2]


@jit
def _pull(tets, gradients, multipliers, w, move):
    """``move = W B^T multipliers`` for nodal volumes."""
    move[:] = 0.0
    for t in range(tets.shape[0]):
        s = 0.25 * (
            multipliers[tets[t, 0]] + multipliers[tets[t, 1]] + multipliers[tets[t, 2]] + multipliers[tets[t, 3]]
        )
        for k in range(4):
            for c in range(3):
                move[tets[t, k], c] += s * gradients[t, k, c]
    for i in range(move.shape[0]):
        for c in range(3):
            move[i, c] *= w[i, c]


@jit
def _change(tets, gradients, move, out):
    """``out = B move`` for nodal volumes."""
    out[:] = 0.0
    for t in range(tets.shape[0]):
        s = 0.0
        for k in range(4):
            for c in range(3):
                s += gradients[t, k, c] * move[tets[t, k], c]
        for k in range(4):
            out[tets[t, k]] += 0.25 * s


@jit
def _node_diagonal(tets, gradients, w, out):
    """A bound on the diagonal of ``B W B^T`` (own tets only), for preconditioning."""
    out[:] = 0.0
    for t in range(tets.shape[0]):
        s = 0.0
        for k in range(4):
            for c in range(3):
                s += gradients[t, k, c] ** 2 * w[tets[t, k], c]
        for k in range(4):
            out[tets[t, k]] += s / 16.0


@jit
def _project_nodes(tets, rest, tolerance, x, v, w, dt, volumes, gradients, guess):
    """Newton on all nodal volumes; conjugate gradients on ``(B W B^T + e D) y = C`` for each correction.

    ``guess`` holds the last step's multipliers on entry and the new ones on return; returns the largest
    relative error that is left.
    """
    n = x.shape[0]
    move = np.zeros((n, 3))
    total = np.zeros(n)
    worst = 0.0
    for newton in range(8):
        _tet_gradients(tets, x, volumes, gradients)
        error = -rest
        for t in range(tets.shape[0]):
            for k in range(4):
                error[tets[t, k]] += 0.25 * volumes[t]
        worst = 0.0
        for i in range(n):
            worst = max(worst, abs(error[i]) / rest[i])
        if worst <= tolerance:
            break
        diagonal = np.empty(n)
        _node_diagonal(tets, gradients, w, diagonal)
        top = diagonal.max()
        y = guess.copy() if newton == 0 else np.zeros(n)
        product = np.empty(n)
        _pull(tets, gradients, y, w, move)
        _change(tets, gradients, move, product)
        shift = 1e-9 * top
        residual = error - product - shift * y
        z = residual / (diagonal + 1e-6 * top)
        p = z.copy()
        rz = (residual * z).sum()
        for _ in range(400):
            left = 0.0
            for i in range(n):
                left = max(left, abs(residual[i]) / rest[i])
            if left <= 0.3 * tolerance:
                break
            _pull(tets, gradients, p, w, move)
            _change(tets, gradients, move, product)
            product += shift * p
            curvature = (p * product).sum()
            if curvature <= 0.0:
                break
            alpha = rz / curvature
            y += alpha * p
            residual -= alpha * product
            z = residual / (diagonal + 1e-6 * top)
            new = (residual * z).sum()
            p = z + (new / rz) * p
            rz = new
        _pull(tets, gradients, y, w, move)
        for i in range(n):
            for c in range(3):
                x[i, c] -= move[i, c]
                v[i, c] -= move[i, c] / dt
        total += y
    guess[:] = total
    return worst


class NodeVolumes:
    """One constraint per particle; remembers the multipliers of the last step."""

    def __init__(self, structure: Structure, options: "VolumeConstraint") -> None:
        self.tets = np.ascontiguousarray(structure.cells["tetra"], dtype=np.int64)
        self.volumes = tet_volumes(structure.rest, self.tets)
        self.rest = np.zeros(len(structure.rest))
        np.add.at(self.rest, self.tets.ravel(), np.repeat(0.25 * self.volumes, 4))
        self.gradients = np.zeros((len(self.tets), 4, 3))
        self.tolerance = options.tolerance or 1e-5
        self.memory: AnyArray = np.zeros(len(structure.rest))

    def project(self, x: Array, v: Array, w: Array, dt: float) -> None:
        _project_nodes(
            self.tets, self.rest, self.tolerance, x, v, w, dt, self.volumes, self.gradients, self.memory
        )


@jit
def _project_tets(tets, rest, keep, sweeps, x, v, w, dt):
    """Gauss-Seidel over tets, in order; each visit removes the share ``1 - keep`` of the tet's error."""
    g = np.empty((1, 4, 3))
    volume = np.empty(1)
    for _ in range(sweeps):
        for t in range(tets.shape[0]):
            _tet_gradients(tets[t : t + 1], x, volume, g)
            slope = 0.0
            for k in range(4):
                for c in range(3):
                    slope += g[0, k, c] ** 2 * w[tets[t, k], c]
            if slope <= 0.0:
                continue
            s = (1.0 - keep) * (volume[0] - rest[t]) / slope
            for k in range(4):
                i = tets[t, k]
                for c in range(3):
                    move = -s * w[i, c] * g[0, k, c]
                    x[i, c] += move
                    v[i, c] += move / dt


class TetVolumes:
    """One compliant constraint per tet; remembers nothing."""

    def __init__(self, structure: Structure, options: "VolumeConstraint") -> None:
        self.tets = np.ascontiguousarray(structure.cells["tetra"], dtype=np.int64)
        self.rest = tet_volumes(structure.rest, self.tets)
        self.keep, self.sweeps = options.compliance, options.sweeps
        self.memory: AnyArray = np.zeros(0)

    def project(self, x: Array, v: Array, w: Array, dt: float) -> None:
        _project_tets(self.tets, self.rest, self.keep, self.sweeps, x, v, w, dt)
