"""Constitutive laws on a block of tets: energy and forces from the deformation gradient.

A block function works on a block's scratch (``models/tets/kernels.py``). On entry columns 0 to 8 hold the
edges; on return, if ``forces``, the forces on corners 1 to 3; if ``energy``, the lanes' energies have been
added to the column at ``ENERGY``. Rest rows: ``D_m^-1`` (9), V mu, V lambda; those of ``full`` laws go on
with the 21 constants of V C and the plastic strain (6, tensor components), in rest coordinates. ``share`` is
the share of the bulk modulus that acts here, 1, or 0 where averaged pressures (``nodal_pressure.py``) take
its place: they come as ``extra``, V times the pressure. k: the law's constants.
"""

# mypy: disable-error-code="no-untyped-def, untyped-decorator"

from functools import cache

from pliant.core.typing import Kernel
from pliant.kernels.jit import inlined, jit, specialised
from pliant.kernels.tensors import right_cauchy_green, stretch
from pliant.materials.constitutive.anisotropic import (
    elastic_strain,
    half_product,
    hooke,
    trace,
    with_pressure,
)
from pliant.materials.constitutive.law import Law
from pliant.models.tets.kernels import ROOT, deform, deform_block, spread, stretch_block, take

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
