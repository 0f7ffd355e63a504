"""The laws of the fem model on a block of tets: energy and forces from the deformation gradient.

Each function works on a block's scratch (``models/tet_kernels.py``). On entry columns 0 to 8 hold the edges;
on return, if ``forces``, the forces on corners 1 to 3; if ``energy``, the lanes' energies have been added to
the column at ``ENERGY``. Rest rows: ``D_m^-1`` (9), V mu, V lambda. ``share`` is the share of the bulk
modulus that acts here, 1, or 0 where averaged pressures (``pressure.py``) take its place: they come as
``extra``, V times the pressure.
"""

# mypy: disable-error-code="no-untyped-def, untyped-decorator"

import numpy as np

from pliant.kernels.jit import jit
from pliant.models.tets.kernels import (
    ROOT,
    combine,
    deform,
    deform_block,
    determinant,
    inlined,
    right_cauchy_green,
    rotation_weights,
    spread,
    stretch_block,
    take,
)

MU = 16 * 9  # columns of a rest row
LAMBDA = 16 * 10
ENERGY = 16 * 13  # columns of the scratch
TRACE = 16 * 14
VOLUME = 16 * 15


@inlined
def own_bulk(row, i, share):
    """V times the bulk modulus lambda + 2/3 mu that a tet resists with itself."""
    return share * (row[LAMBDA + i] + 2.0 / 3.0 * row[MU + i])


@jit
def corotational(w, row, extra, share, forces, energy):
    r"""Linear elasticity in the frame of the nearest rotation R.

    .. math:: W = \mu |F - R|^2 + \tfrac\lambda2 (tr(R^T F) - 3)^2, \qquad
              P = 2 \mu (F - R) + \lambda\,(tr(R^T F) - 3)\,R,

    and P is the exact gradient of W, because :math:`F - R` is orthogonal to changes of R.

    Source: [Cairns2012]_ eq. (3.11), [MuellerGross2004]_. Differs: those warp the stiffness, which is the
    same force; R is the exact polar rotation, with determinant +1 also where F is inverted.
    """
    deform_block(w, row)
    stretch_block(w)
    if energy:
        for i in range(16):
            f = take(w, i)
            c = right_cauchy_green(f)
            a, b, g = rotation_weights(w[ROOT + i], w[144 + i], w[160 + i])
            m00, m01, m02, m10, m11, m12, m20, m21, m22 = combine(f, c, 1.0 - a, -b, -g)
            shape = m00 * m00 + m01 * m01 + m02 * m02 + m10 * m10 + m11 * m11 + m12 * m12
            shape += m20 * m20 + m21 * m21 + m22 * m22
            theta = w[ROOT + i] - 3.0
            lam = own_bulk(row, i, share) - 2.0 / 3.0 * row[MU + i]
            w[ENERGY + i] += row[MU + i] * shape + 0.5 * lam * theta * theta
    if forces:
        for i in range(16):
            f = take(w, i)
            c = right_cauchy_green(f)
            mu2 = 2.0 * row[MU + i]
            a, b, g = rotation_weights(w[ROOT + i], w[144 + i], w[160 + i])
            lam = own_bulk(row, i, share) - mu2 / 3.0
            s = lam * (w[ROOT + i] - 3.0) + extra[i] - mu2
            p = combine(f, c, mu2 + s * a, s * b, s * g)
            spread(w, row, i, p)


@jit
def st_venant_kirchhoff(w, row, extra, share, forces, energy):
    r"""Hooke's law on Green's strain :math:`E = (F^T F - 1) / 2`.

    .. math:: W = \mu |E|^2 + \tfrac\lambda2 (tr E)^2, \qquad P = F (2 \mu E + \lambda\,tr E\,1).

    It softens in compression and does not resist inversion: for moderate strains.
    """
    if energy:
        for i in range(16):
            f = deform(w, row, i)
            c00, c11, c22, c12, c02, c01 = right_cauchy_green(f)
            e00, e11, e22 = 0.5 * (c00 - 1.0), 0.5 * (c11 - 1.0), 0.5 * (c22 - 1.0)
            square = e00 * e00 + e11 * e11 + e22 * e22 + 0.5 * (c12 * c12 + c02 * c02 + c01 * c01)
            trace = e00 + e11 + e22
            lam = own_bulk(row, i, share) - 2.0 / 3.0 * row[MU + i]
            w[ENERGY + i] += row[MU + i] * square + 0.5 * lam * trace * trace
    if forces:
        for i in range(16):
            f = deform(w, row, i)
            c = right_cauchy_green(f)
            c00, c11, c22, c12, c02, c01 = c
            mu = row[MU + i]
            trace = 0.5 * (c00 + c11 + c22 - 3.0)
            lam = own_bulk(row, i, share) - 2.0 / 3.0 * mu
            p = combine(f, c, lam * trace + extra[i] - mu, mu, 0.0)
            spread(w, row, i, p)


@jit
def neo_hookean(w, row, extra, share, forces, energy):
    r"""Stable neo-Hookean law: defined and smooth through inversion.

    .. math:: W = \tfrac\mu2 (I_1 - 3) + \tfrac\lambda2 (J - 1)^2 - \tfrac34 \mu (J - 1)
              - \tfrac\mu2 \log\tfrac{I_1 + 1}{4}, \qquad
              P = \mu \Bigl(1 - \tfrac1{I_1 + 1}\Bigr) F + (\lambda (J - 1) - \tfrac34 \mu)\,cof F.

    Here mu and lambda are 4/3 of Lame's mu, and Lame's lambda + 5/6 mu: that makes small strains right.

    Source: [SmithDeGoesKim2018]_, with their alpha multiplied out. Differs: a constant makes W
    zero at rest.
    """
    if energy:
        for i in range(16):
            f = deform(w, row, i)
            c00, c11, c22, c12, c02, c01 = right_cauchy_green(f)
            e00, e11, e22 = 0.5 * (c00 - 1.0), 0.5 * (c11 - 1.0), 0.5 * (c22 - 1.0)
            e12, e02, e01 = 0.5 * c12, 0.5 * c02, 0.5 * c01
            pairs = e00 * e11 + e11 * e22 + e22 * e00 - e12 * e12 - e02 * e02 - e01 * e01
            third = determinant((e00, e01, e02, e01, e11, e12, e02, e12, e22))
            w[TRACE + i] = e00 + e11 + e22
            w[VOLUME + i] = determinant(f)
            w[VOLUME + 16 + i] = 4.0 * pairs + 8.0 * third
        for i in range(16):
            t = w[TRACE + i]  # tr E, so that I1 - 3 = 2 t
            j = w[VOLUME + i]
            if j > 0.5:  # small differences of terms of first order, taken analytically
                shape = 0.75 * (t * (j - 1.0) - w[VOLUME + 16 + i]) / (j + 1.0) + 0.25 * t
            else:
                shape = t - 0.75 * (j - 1.0)
            shape -= 0.5 * np.log1p(0.5 * t)
            bulk = own_bulk(row, i, share) + row[MU + i] / 6.0
            w[ENERGY + i] += 4.0 / 3.0 * row[MU + i] * shape + 0.5 * bulk * (j - 1.0) * (j - 1.0)
    if forces:
        for i in range(16):
            f = deform(w, row, i)
            c = right_cauchy_green(f)
            c00, c11, c22, c12, c02, c01 = c
            mu = 4.0 / 3.0 * row[MU + i]
            bulk = own_bulk(row, i, share) + row[MU + i] / 6.0
            a = mu - mu / (c00 + c11 + c22 + 1.0)
            g = bulk * (determinant(f) - 1.0) - 0.75 * mu + extra[i]
            p = combine(f, c, a, 0.0, g)
            spread(w, row, i, p)
