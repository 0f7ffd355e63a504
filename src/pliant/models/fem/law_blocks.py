"""Constitutive laws on blocks of tets: energy and forces from the deformation gradient, and the loops over
linear tets: forces, energy, stress around particles.

A block function works on a block's scratch (``models/tets/kernels.py``). On entry columns 0 to 8 hold the
edges; on return, if ``forces``, the forces on corners 1 to 3; if ``energy``, the lanes' energies have been
added to the column at ``ENERGY``. Rest rows: ``D_m^-1`` (9), V mu, V lambda; those of ``full`` laws go on
with the 21 constants of V C and the plastic strain (6, tensor components), in rest coordinates. ``share`` is
the share of the bulk modulus that acts here, 1, or 0 where averaged pressures (``nodal_pressure.py``) take
its place: they come as ``extra``, V times the pressure. k: the law's constants.
"""

# mypy: disable-error-code="no-untyped-def, untyped-decorator"

from functools import cache

import numpy as np

from pliant.core.typing import Kernel
from pliant.kernels.jit import inlined, jit, prange, specialised, specialised_twin
from pliant.kernels.tensors import right_cauchy_green, stretch
from pliant.materials.constitutive.anisotropic import (
    elastic_strain,
    half_product,
    hooke,
    trace,
    with_pressure,
)
from pliant.materials.constitutive.law import Law
from pliant.models.tets.kernels import (
    ROOT,
    SCRATCH,
    deform,
    deform_block,
    gather_edges,
    scatter_forces,
    spread,
    stretch_block,
    take,
)

MU = 16 * 9  # columns of a rest row
LAMBDA = 16 * 10
STIFFNESS = 16 * 11
PLASTIC = 16 * 32
ENERGY = 16 * 13  # columns of the scratch
INVARIANTS = 16 * 14

invariants: Kernel = None  # the functions of the law that a block is compiled for, see ``law_names``
energy_density: Kernel = None
stress: Kernel = None
frame: Kernel = None
first_piola: Kernel = None
prepare: Kernel = None
gradient: Kernel = None
stretches: Kernel = None
stretch_at: Kernel = None
PACKED = False


@inlined
def own_bulk(row, i, share):
    """V times the bulk modulus lambda + 2/3 mu that a tet resists with itself."""
    return share * (row[LAMBDA + i] + 2.0 / 3.0 * row[MU + i])


@inlined
def stiffness_of(row, i):
    """The 21 constants of V C."""
    k = STIFFNESS + i
    return (
        row[k], row[k + 16], row[k + 32], row[k + 48], row[k + 64], row[k + 80], row[k + 96],
        row[k + 112], row[k + 128], row[k + 144], row[k + 160], row[k + 176], row[k + 192], row[k + 208],
        row[k + 224], row[k + 240], row[k + 256], row[k + 272], row[k + 288], row[k + 304], row[k + 320],
    )  # fmt: skip


@inlined
def plastic_of(row, i):
    """The plastic strain (6)."""
    k = PLASTIC + i
    return row[k], row[k + 16], row[k + 32], row[k + 48], row[k + 64], row[k + 80]


def _law_block(w, row, extra, share, k, forces, energy):
    prepare(w, row)
    if energy and PACKED:
        for i in range(16):
            f = gradient(w, row, i)
            s = stretches(w, i)
            found = invariants(f, s)
            w[ENERGY + i] += energy_density(found, row[MU + i], own_bulk(row, i, share), k)
    elif energy:
        for i in range(16):
            f = gradient(w, row, i)
            s = stretches(w, i)
            a, b, c, d = invariants(f, s)
            w[INVARIANTS + i] = a
            w[INVARIANTS + 16 + i] = b
            w[INVARIANTS + 32 + i] = c
            w[INVARIANTS + 48 + i] = d
        for i in range(16):
            n = INVARIANTS + i
            found = (w[n], w[n + 16], w[n + 32], w[n + 48])
            w[ENERGY + i] += energy_density(found, row[MU + i], own_bulk(row, i, share), k)
    if forces:
        for i in range(16):
            f = gradient(w, row, i)
            s = stretches(w, i)
            p = stress(f, s, row[MU + i], own_bulk(row, i, share), extra[i], k)
            spread(w, row, i, p)


def _full_block(w, row, extra, share, k, forces, energy):
    prepare(w, row)
    if energy:
        for i in range(16):
            f = gradient(w, row, i)
            s = stretches(w, i)
            _a, u = frame(f, s)
            e = elastic_strain(u, plastic_of(row, i))
            t = hooke(stiffness_of(row, i), e)
            w[ENERGY + i] += half_product(e, t) - 0.5 * own_bulk(row, i, 1.0 - share) * trace(e) * trace(e)
    if forces:
        for i in range(16):
            f = gradient(w, row, i)
            s = stretches(w, i)
            a, u = frame(f, s)
            e = elastic_strain(u, plastic_of(row, i))
            t = hooke(stiffness_of(row, i), e)
            q = extra[i] - own_bulk(row, i, 1.0 - share) * trace(e)
            t = with_pressure(t, q)
            p = first_piola(a, u, t)
            spread(w, row, i, p)


def _law_stresses(gradients, mu, bulk, withheld, pressure, stiffness, plastic, k, out):
    """First Piola-Kirchhoff stresses [Pa] of the rows of ``gradients`` (m, 9) into ``out`` (m, 9)."""
    for i in range(gradients.shape[0]):
        f = nine(gradients, i)
        p = stress(f, stretch_at(f), mu[i], bulk[i], pressure[i], k)
        put_nine(out, i, p)


def _full_stresses(gradients, mu, bulk, withheld, pressure, stiffness, plastic, k, out):
    """As ``_law_stresses`` with stiffnesses (m, 21) [Pa] and plastic strains (m, 6); withheld (m,): the part
    of the bulk modulus that averaged pressures take over."""
    for i in range(gradients.shape[0]):
        f = nine(gradients, i)
        c, p = stiffness[i], plastic[i]
        a, u = frame(f, stretch_at(f))
        e = elastic_strain(u, (p[0], p[1], p[2], p[3], p[4], p[5]))
        t = hooke(
            (
                c[0], c[1], c[2], c[3], c[4], c[5], c[6], c[7], c[8], c[9], c[10], c[11], c[12], c[13],
                c[14], c[15], c[16], c[17], c[18], c[19], c[20],
            ),
            e,
        )  # fmt: skip
        t = with_pressure(t, pressure[i] - withheld[i] * trace(e))
        put_nine(out, i, first_piola(a, u, t))


@inlined
def nine(a, i):
    return a[i, 0], a[i, 1], a[i, 2], a[i, 3], a[i, 4], a[i, 5], a[i, 6], a[i, 7], a[i, 8]


@jit
def put_nine(a, i, m):
    for c in range(9):
        a[i, c] = m[c]


@inlined
def _stretched(w, row):
    deform_block(w, row)
    stretch_block(w)


@inlined
def _nothing(w, row):
    return None


@inlined
def _stored(w, row, i):
    return take(w, i)


@inlined
def _stored_stretches(w, i):
    return w[ROOT + i], w[144 + i], w[160 + i]


@inlined
def _no_stretches(w, i):
    return 0.0, 0.0, 0.0


@inlined
def _own_stretch(f):
    return stretch(f, right_cauchy_green(f))


@inlined
def _no_stretch(f):
    return 0.0, 0.0, 0.0


def law_names(law: Law) -> dict[str, Kernel]:
    """What the names of the law's functions, and those around them, stand for in loops over blocks.

    Laws that need rotations have F stored first, and tr(R^T F) found for all lanes at once; for the others F
    is made where it is needed.
    """
    own, turned = law.functions, law.rotation
    return {
        "PACKED": own.packed,
        "invariants": own.invariants,
        "energy_density": own.energy,
        "stress": own.stress,
        "volumetric": own.volumetric,
        "frame": own.frame,
        "first_piola": own.first_piola,
        "prepare": _stretched if turned else _nothing,
        "gradient": _stored if turned else deform,
        "stretches": _stored_stretches if turned else _no_stretches,
        "stretch_at": _own_stretch if turned else _no_stretch,
    }


def law_label(law: Law, full: bool) -> str:
    """What tells loops that are compiled for the law apart."""
    return f"{law.kind.replace('-', '_')}{'_full' * full}"


@cache
def law_block(law: Law, full: bool) -> Kernel:
    """The block function of a law; full: with a stiffness matrix and a plastic strain of each tet."""
    return specialised(
        _full_block if full else _law_block, law_label(law, full), law_names(law), cache=law.cached
    )


@cache
def law_stresses(law: Law, full: bool) -> Kernel:
    """First Piola-Kirchhoff stresses of a list of deformation gradients, compiled."""
    return specialised(
        _full_stresses if full else _law_stresses, law_label(law, full), law_names(law), cache=law.cached
    )


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
    order, whatever the threads. share: of linear tets; of quadratic ones, the shape functions' gradients."""
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
def law_loops(law: Law, full: bool, blocks: Kernel = _law_blocks) -> tuple[Kernel, Kernel]:
    """The serial and the parallel loop of forces and energy, compiled for a law (see ``law_block``).

    blocks: the loop over the blocks of a partition."""
    label = f"{blocks.__name__}_{law_label(law, full)}"
    names = {"apply_law": law_block(law, full)}
    names["law_blocks"] = specialised(blocks, label, names, cache=law.cached)
    return specialised_twin(_law_partitions, label, names, cache=law.cached)


@cache
def nodal_stress(law: Law, full: bool) -> Kernel:
    """The stress around particles, compiled for a law: what cracks are decided by."""
    return specialised(
        _nodal_stress, law_label(law, full), {"apply_law": law_block(law, full)}, cache=law.cached
    )
