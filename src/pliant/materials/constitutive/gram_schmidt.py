r"""Warped stiffness as printed: :math:`P = R\,C : (sym(R^T F) - 1 - \epsilon_p)`, R by Gram-Schmidt.

Source: [Cairns2012]_ section 4.2, eq. (4.1). It prefers the first axis, has no energy and leaves a torque.
Differs: the third axis by the right-hand rule, so that an inverted tet is turned back.
"""

# mypy: disable-error-code="no-untyped-def, untyped-decorator"

import numpy as np

from pliant.kernels.jit import inlined
from pliant.kernels.tensors import TINY, rotated, unrotated
from pliant.materials.constitutive.law import LawFunctions


@inlined
def orthonormal_columns(f):
    """Columns of F made orthonormal one after the other; the third by the right-hand rule."""
    f00, f01, _f02, f10, f11, _f12, f20, f21, _f22 = f
    s = 1.0 / np.sqrt(f00 * f00 + f10 * f10 + f20 * f20 + TINY)
    a0, a1, a2 = s * f00, s * f10, s * f20
    along = a0 * f01 + a1 * f11 + a2 * f21
    b0, b1, b2 = f01 - along * a0, f11 - along * a1, f21 - along * a2
    s = 1.0 / np.sqrt(b0 * b0 + b1 * b1 + b2 * b2 + TINY)
    b0, b1, b2 = s * b0, s * b1, s * b2
    return a0, b0, a1 * b2 - a2 * b1, a1, b1, a2 * b0 - a0 * b2, a2, b2, a0 * b1 - a1 * b0


@inlined
def volumetric(f, s):
    r = orthonormal_columns(f)
    u0, u1, u2, _u3, _u4, _u5 = unrotated(r, f)
    return u0 + u1 + u2 - 3.0


@inlined
def frame(f, s):
    r = orthonormal_columns(f)
    return r, unrotated(r, f)


@inlined
def first_piola(r, u, t):
    return rotated(r, t, 0.0, 0.0, 0.0)


FUNCTIONS = LawFunctions(volumetric=volumetric, frame=frame, first_piola=first_piola)
