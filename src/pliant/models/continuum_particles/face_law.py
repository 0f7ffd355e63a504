"""The law of dual faces over whole arrays, for energies and fluxes."""

# mypy: disable-error-code="no-untyped-def"

import numpy as np

from pliant.core.typing import Array
from pliant.kernels.jit import jit
from pliant.models.continuum_particles.face_kernels import FLAT, face_gradient, printed_force


def face_energy(m: Array, n: Array, stretch: Array, shear: Array, floor: Array) -> float:
    """``sum stretch/2 (|m| - 1)^2 + shear/2 gamma^2`` [J] over faces; m, n (e, 3), the rest (e,)."""
    size, area = np.linalg.norm(m, axis=1), np.linalg.norm(n, axis=1)
    sm = size + np.maximum(FLAT - size, 0.0) ** 2 / (2.0 * FLAT)
    sn = area + np.maximum(floor - area, 0.0) ** 2 / (2.0 * floor)
    c = np.einsum("ij,ij->i", m, n) / (sm * sn)
    gamma = np.arccos(np.clip(c, -1.0, 1.0))
    return 0.5 * float(np.sum(stretch * (size - 1.0) ** 2 + shear * gamma**2))


@jit
def _gradients(m, n, stretch, shear, floor, out):
    for e in range(m.shape[0]):
        g = face_gradient(
            m[e, 0], m[e, 1], m[e, 2], n[e, 0], n[e, 1], n[e, 2], stretch[e], shear[e], floor[e]
        )
        for c in range(6):
            out[e, c] = g[c]


@jit
def _printed(m, n, stretch, shear, floor, along, out):
    for e in range(m.shape[0]):
        f = printed_force(
            m[e, 0], m[e, 1], m[e, 2], n[e, 0], n[e, 1], n[e, 2], stretch[e], shear[e], floor[e], along
        )
        for c in range(3):
            out[e, c] = f[c]


def face_gradients(m: Array, n: Array, stretch: Array, shear: Array, floor: Array) -> tuple[Array, Array]:
    """Gradients of the faces' energy with respect to m and N; (e, 3) each."""
    out = np.empty((len(m), 6))
    _gradients(m, n, stretch, shear, floor, out)
    return out[:, :3], out[:, 3:]


def printed_forces(m: Array, n: Array, stretch: Array, shear: Array, floor: Array, along: float) -> Array:
    """The printed law's forces on particles i (e, 3) [N]."""
    out = np.empty((len(m), 3))
    _printed(m, n, stretch, shear, floor, along, out)
    return out
