"""Compiled loops of the fem model over linear tets: forces, energy, and stress around particles."""

# mypy: disable-error-code="no-untyped-def"

from functools import cache

import numpy as np

from pliant.core.typing import Kernel
from pliant.kernels.jit import prange, specialised, specialised_twin
from pliant.materials.constitutive.law import Law
from pliant.models.fem.law_blocks import ENERGY, law_block, law_label
from pliant.models.tets.kernels import SCRATCH, gather_edges, scatter_forces

apply_law: Kernel = None  # the block function of the law that the loops are compiled for
law_blocks: Kernel = None


def _law_blocks(first, last, index, rest, extra, share, k, x, buffer, shift, forces, energy, w):
    """Forces into ``buffer`` and the sum of energies [J] of some blocks, as asked for."""
    step = 1 if share == 0.0 else 0
    for i in range(16):
        w[ENERGY + i] = 0.0
    for b in range(first, last):
        gather_edges(index[b], x, w, 0)
        apply_law(w, rest[b], extra[b * step], share, k, forces, energy)
        if forces:
            scatter_forces(index[b], w, buffer, shift)
    total = 0.0
    for i in range(16):
        total += w[ENERGY + i]
    return total


def _law_partitions(starts, low, offset, index, rest, extra, share, k, x, buffer, forces, energy):
    """Forces into the buffers, and the energy [J], as asked for; the partitions' energies are summed in
    order, whatever the threads."""
    sums = np.empty(low.shape[0])
    for p in prange(low.shape[0]):
        w = np.empty(SCRATCH)
        a, b, shift = starts[p], starts[p + 1], offset[p] - low[p]
        sums[p] = law_blocks(a, b, index, rest, extra, share, k, x, buffer, shift, forces, energy, w)
    total = 0.0
    for p in range(low.shape[0]):
        total += sums[p]
    return total


def _nodal_stress(starts, index, rest, extra, share, k, volumes, x, out):
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
        apply_law(w, rest[b], extra[b * step], share, k, True, False)
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
            for corner in range(3):
                j = 48 * corner + i
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


@cache
def law_loops(law: Law, full: bool) -> tuple[Kernel, Kernel]:
    """The serial and the parallel loop of forces and energy, compiled for a law (see ``law_block``)."""
    label = law_label(law, full)
    names = {"apply_law": law_block(law, full)}
    names["law_blocks"] = specialised(_law_blocks, label, names, cache=law.cached)
    return specialised_twin(_law_partitions, label, names, cache=law.cached)


@cache
def nodal_stress(law: Law, full: bool) -> Kernel:
    """The stress around particles, compiled for a law: what cracks are decided by."""
    return specialised(
        _nodal_stress, law_label(law, full), {"apply_law": law_block(law, full)}, cache=law.cached
    )
