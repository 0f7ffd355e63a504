"""Stress around the particles of fem bodies, compiled: what cracks are decided by."""

# mypy: disable-error-code="no-untyped-def"

import numpy as np

from pliant.kernels.jit import jit
from pliant.models.fem.kernels import apply_law
from pliant.models.tets.kernels import SCRATCH, gather_edges


@jit
def nodal_stress(starts, index, rest, extra, share, law, volumes, x, out):
    r"""Volume-weighted mean of Cauchy stresses around each particle into ``out`` (n, 6) [Pa].

    From the forces of a tet on its corners 1 to 3 and its edges, :math:`\sigma = -\frac1v \sum f_k e_k^T`,
    which is exact where strain is constant. volumes (blocks, 16): rest volumes, zero in empty lanes.
    """
    w, e = np.empty(SCRATCH), np.empty(SCRATCH)
    around = np.zeros(out.shape[0])
    step = 1 if share == 0.0 else 0
    out[:] = 0.0
    for b in range(starts[-1]):
        gather_edges(index[b], x, w, 0)
        for i in range(144):
            e[i] = w[i]
        apply_law(law, w, rest[b], extra[b * step], share, True, False)
        for i in range(16):
            volume = volumes[b, i]
            if volume == 0.0:
                continue
            ax, ay, az = e[i], e[16 + i], e[32 + i]
            bx, by, bz = e[48 + i], e[64 + i], e[80 + i]
            cx, cy, cz = e[96 + i], e[112 + i], e[128 + i]
            six = ax * (by * cz - bz * cy) + ay * (bz * cx - bx * cz) + az * (bx * cy - by * cx)
            scale = -volume / max(abs(six) / 6.0, 1e-12 * volume)  # to the stress times the rest volume
            xx = yy = zz = yz = xz = xy = 0.0
            for k in range(3):
                j = 48 * k + i
                fx, fy, fz = w[j], w[16 + j], w[32 + j]
                gx, gy, gz = e[j], e[16 + j], e[32 + j]
                xx += fx * gx
                yy += fy * gy
                zz += fz * gz
                yz += 0.5 * (fy * gz + fz * gy)
                xz += 0.5 * (fx * gz + fz * gx)
                xy += 0.5 * (fx * gy + fy * gx)
            for c in range(4):
                n = index[b, i, c]
                around[n] += volume
                out[n, 0] += scale * xx
                out[n, 1] += scale * yy
                out[n, 2] += scale * zz
                out[n, 3] += scale * yz
                out[n, 4] += scale * xz
                out[n, 5] += scale * xy
    for n in range(out.shape[0]):
        for c in range(6):
            out[n, c] /= max(around[n], 1e-300)
