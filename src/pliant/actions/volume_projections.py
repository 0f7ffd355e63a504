"""Compiled projections that keep volumes: of a body, of the shares of its particles, or of its tets."""

# mypy: disable-error-code="no-untyped-def"

from typing import TYPE_CHECKING

import numpy as np

from pliant.core.typing import AnyArray, Array
from pliant.interfaces import Structure
from pliant.kernels.jit import jit
from pliant.mesh.mesh import tet_volumes

if TYPE_CHECKING:
    from pliant.actions.volume_constraint import VolumeConstraint
    from pliant.materials import ResolvedMaterial as Material


class VolumeProjection:
    """Base of the projections of one body; ``state`` has what they keep from step to step."""

    def begin(self, x: Array) -> None:
        """Start from positions ``x`` (n, 3) [m]."""

    def add_forces(self, x: Array, out: Array) -> None:
        """Add the forces of the last step's multipliers [N]."""

    def potential_energy(self, x: Array) -> float:
        """Energy [J] that compliance stores; nothing where the constraint is exact."""
        return 0.0

    def project(self, x: Array, v: Array, w: Array, dt: float) -> None:
        """Correct positions and velocities; w: inverse masses (n, 3) [1/kg]."""
        raise NotImplementedError

    def state(self) -> dict[str, AnyArray]:
        return {}


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
def _move(particles, s, x, v, w, dt, direction):
    """Move particles by ``-s w direction`` in the time ``dt``."""
    for k in range(particles.shape[0]):
        i = particles[k]
        for c in range(3):
            move = -s * w[i, c] * direction[i, c]
            x[i, c] += move
            v[i, c] += move / dt


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
        _move(particles, s, x, v, w, dt, direction)
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
    _move(particles, s, x, v, w, dt, direction)
    return s


class BodyVolume(VolumeProjection):
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


@jit
def tet_gradients(tets, x, volumes, gradients):
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
def _project_tets(tets, rest, alpha, sweeps, x, v, w, dt, pressure):
    """Gauss-Seidel over tets, in order, on ``C + alpha p = 0``; adds to the pressures [Pa]."""
    g = np.empty((1, 4, 3))
    volume = np.empty(1)
    for _ in range(sweeps):
        for t in range(tets.shape[0]):
            tet_gradients(tets[t : t + 1], x, volume, g)
            slope = 0.0
            for k in range(4):
                for c in range(3):
                    slope += g[0, k, c] ** 2 * w[tets[t, k], c]
            change = -(volume[0] - rest[t] + alpha[t] * pressure[t]) / (slope * dt * dt + alpha[t])
            pressure[t] += change
            for k in range(4):
                i = tets[t, k]
                for c in range(3):
                    move = change * dt * dt * w[i, c] * g[0, k, c]
                    x[i, c] += move
                    v[i, c] += move / dt


class TetVolumes(VolumeProjection):
    """One compliant constraint per tet. A few sweeps leave it unconverged, so that its pressures are not
    carried over to the next step; its forces are in neither reactions nor the energy ledger."""

    def __init__(self, structure: Structure, material: "Material", options: "VolumeConstraint") -> None:
        self.tets = np.ascontiguousarray(structure.cells["tetra"], dtype=np.int64)
        self.rest = tet_volumes(structure.rest, self.tets)
        self.alpha = options.compliance * self.rest / material.bulk
        self.sweeps = options.sweeps

    def potential_energy(self, x: Array) -> float:
        """``sum C^2 / 2 alpha`` [J], with the change of volume C."""
        soft = self.alpha > 0.0
        change = tet_volumes(x, self.tets[soft]) - self.rest[soft]
        return 0.5 * float(np.sum(change**2 / self.alpha[soft]))

    def project(self, x: Array, v: Array, w: Array, dt: float) -> None:
        pressure = np.zeros(len(self.tets))
        _project_tets(self.tets, self.rest, self.alpha, self.sweeps, x, v, w, dt, pressure)


@jit
def _nodal(tets, per_tet, out):
    """A quarter of each tet's value to each of its particles."""
    out[:] = 0.0
    for t in range(tets.shape[0]):
        s = 0.25 * per_tet[t]
        for k in range(4):
            out[tets[t, k]] += s


@jit
def _pull(tets, gradients, multipliers, out):
    """``out = B^T multipliers`` for nodal volumes; (n, 3)."""
    out[:] = 0.0
    for t in range(tets.shape[0]):
        p, q, r, s = tets[t, 0], tets[t, 1], tets[t, 2], tets[t, 3]
        m = 0.25 * (multipliers[p] + multipliers[q] + multipliers[r] + multipliers[s])
        g = gradients[t]
        for c in range(3):
            out[p, c] += m * g[0, c]
            out[q, c] += m * g[1, c]
            out[r, c] += m * g[2, c]
            out[s, c] += m * g[3, c]


@jit
def _change(tets, gradients, move, out):
    """``out = B move`` for nodal volumes; (n,)."""
    out[:] = 0.0
    for t in range(tets.shape[0]):
        p, q, r, s = tets[t, 0], tets[t, 1], tets[t, 2], tets[t, 3]
        g = gradients[t]
        total = 0.0
        for c in range(3):
            total += g[0, c] * move[p, c] + g[1, c] * move[q, c] + g[2, c] * move[r, c] + g[3, c] * move[s, c]
        total *= 0.25
        out[p] += total
        out[q] += total
        out[r] += total
        out[s] += total


class NodeVolumes(VolumeProjection):
    """One constraint per particle, by Newton with preconditioned conjugate gradients.

    The preconditioner is the factorised ``B W B^T`` of the rest shape: turning the body leaves that matrix
    as it is, so it serves for large rotations too. Remembers a pressure per particle.
    """

    def __init__(self, structure: Structure, material: "Material", options: "VolumeConstraint") -> None:
        self.tets = np.ascontiguousarray(structure.cells["tetra"], dtype=np.int64)
        self.start = structure.rest
        n = len(structure.rest)
        self.volumes = tet_volumes(structure.rest, self.tets)
        self.rest = np.zeros(n)
        _nodal(self.tets, self.volumes, self.rest)
        self.gradients = np.zeros((len(self.tets), 4, 3))
        self.tolerance = options.tolerance or 1e-5
        self.pressure: Array = np.zeros(n)
        self._pulled, self._product, self._error = np.zeros((n, 3)), np.zeros(n), np.zeros(n)
        self._factored: AnyArray | None = None

    def _factor(self, w: AnyArray) -> None:
        """Factorise the rest shape's ``B W B^T`` (slightly shifted) for these inverse masses."""
        from scipy.sparse import csr_matrix, eye
        from scipy.sparse.linalg import splu

        n, tets = len(self.rest), self.tets
        tet_gradients(tets, self.start, self.volumes, self.gradients)
        nodes, others = np.repeat(tets, 4, axis=1), np.tile(tets, 4)
        axes = np.arange(3)
        columns = (3 * others[:, :, None] + axes).ravel()
        entries = 0.25 * np.tile(self.gradients, (1, 4, 1)).ravel()
        rows = np.repeat(nodes.ravel(), 3)
        B = csr_matrix((entries, (rows, columns)), shape=(n, 3 * n))
        A = B @ csr_matrix((w.ravel(), (np.arange(3 * n), np.arange(3 * n)))) @ B.T
        self._shift = 1e-9 * float(A.diagonal().max())
        self._solve = splu((A + 1e-6 * float(A.diagonal().max()) * eye(n)).tocsc()).solve
        self._factored = w.copy()

    def _times(self, y: Array, w: Array) -> Array:
        """``(B W B^T + shift) y``."""
        _pull(self.tets, self.gradients, y, self._pulled)
        _change(self.tets, self.gradients, self._pulled * w, self._product)
        return self._product + self._shift * y

    def add_forces(self, x: Array, out: Array) -> None:
        if self.pressure.any():
            tet_gradients(self.tets, x, self.volumes, self.gradients)
            _pull(self.tets, self.gradients, self.pressure, self._pulled)
            out += self._pulled

    def project(self, x: Array, v: Array, w: Array, dt: float) -> None:
        if self._factored is None or not np.array_equal(self._factored, w):
            self._factor(w)
        for _ in range(8):
            tet_gradients(self.tets, x, self.volumes, self.gradients)
            _nodal(self.tets, self.volumes, self._error)
            error = self._error - self.rest
            if np.abs(error / self.rest).max() <= self.tolerance:
                break
            y = self._solved(error, w)
            _pull(self.tets, self.gradients, y, self._pulled)
            move = self._pulled * w
            x -= move
            v -= move / dt
            self.pressure -= y / dt**2

    def state(self) -> dict[str, AnyArray]:
        return {"pressure": self.pressure}

    def _solved(self, error: Array, w: Array) -> Array:
        """Multipliers that undo ``error``, to a third of the tolerance."""
        y = np.zeros_like(error)
        residual = error
        z = self._solve(residual)
        p, rz = z, float(residual @ z)
        for _ in range(200):
            if np.abs(residual / self.rest).max() <= 0.3 * self.tolerance or rz <= 0.0:
                break
            product = self._times(p, w)
            alpha = rz / float(p @ product)
            y += alpha * p
            residual = residual - alpha * product
            z = self._solve(residual)
            new = float(residual @ z)
            p, rz = z + (new / rz) * p, new
        return y
