"""A compiled projection that keeps the volumes of tets."""

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


class TetVolumes:
    """One compliant constraint per tet. A few sweeps leave it unconverged, so that its pressures are not
    carried over to the next step; its forces are not in reactions."""

    def __init__(self, structure: Structure, material: "Material", options: "VolumeConstraint") -> None:
        self.tets = np.ascontiguousarray(structure.cells["tetra"], dtype=np.int64)
        self.rest = tet_volumes(structure.rest, self.tets)
        self.alpha = options.compliance * self.rest / material.bulk
        self.sweeps = options.sweeps

    def begin(self, x: Array) -> None:
        return

    def add_forces(self, x: Array, out: Array) -> None:
        return

    def potential_energy(self, x: Array) -> float:
        """``sum C^2 / 2 alpha`` [J], with the change of volume C; nothing where alpha is zero."""
        change = tet_volumes(x, self.tets) - self.rest
        return 0.5 * float(np.sum(change[self.alpha > 0.0] ** 2 / self.alpha[self.alpha > 0.0]))

    def project(self, x: Array, v: Array, w: Array, dt: float) -> None:
        pressure = np.zeros(len(self.tets))
        _project_tets(self.tets, self.rest, self.alpha, self.sweeps, x, v, w, dt, pressure)

    def state(self) -> dict[str, AnyArray]:
        return {}
