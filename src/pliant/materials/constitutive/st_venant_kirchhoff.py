r"""St. Venant-Kirchhoff: Hooke's law on Green's strain :math:`E = (F^T F - 1) / 2`.

.. math:: W = \mu |E|^2 + \tfrac\lambda2 (tr E)^2, \qquad P = F (2 \mu E + \lambda\,tr E\,1),

and :math:`P = F\,C : (E - \epsilon_p)` with a full stiffness and a plastic strain: the exact gradient as it
stands. It softens in compression and does not resist inversion: for moderate strains.
"""

# mypy: disable-error-code="no-untyped-def, untyped-decorator"

from pliant.kernels.jit import inlined
from pliant.kernels.tensors import combine, right_cauchy_green, rotated
from pliant.materials.constitutive.law import LawFunctions


@inlined
def invariants(f, s):
    """``|E|^2`` and ``tr E``."""
    c00, c11, c22, c12, c02, c01 = right_cauchy_green(f)
    e00, e11, e22 = 0.5 * (c00 - 1.0), 0.5 * (c11 - 1.0), 0.5 * (c22 - 1.0)
    square = e00 * e00 + e11 * e11 + e22 * e22 + 0.5 * (c12 * c12 + c02 * c02 + c01 * c01)
    return square, e00 + e11 + e22, 0.0, 0.0


@inlined
def energy(i, mu, bulk, k):
    square, trace, _, _ = i
    return mu * square + 0.5 * (bulk - 2.0 / 3.0 * mu) * trace * trace


@inlined
def stress(f, s, mu, bulk, pressure, k):
    c = right_cauchy_green(f)
    c00, c11, c22, _, _, _ = c
    trace = 0.5 * (c00 + c11 + c22 - 3.0)
    lam = bulk - 2.0 / 3.0 * mu
    return combine(f, c, lam * trace + pressure - mu, mu, 0.0)


@inlined
def volumetric(f, s):
    c0, c1, c2, _, _, _ = right_cauchy_green(f)
    return 0.5 * (c0 + c1 + c2 - 3.0)


@inlined
def frame(f, s):
    """F and ``1 + E``."""
    c0, c1, c2, c3, c4, c5 = right_cauchy_green(f)
    return f, (0.5 * (c0 + 1.0), 0.5 * (c1 + 1.0), 0.5 * (c2 + 1.0), 0.5 * c3, 0.5 * c4, 0.5 * c5)


@inlined
def first_piola(f, u, t):
    return rotated(f, t, 0.0, 0.0, 0.0)


@inlined
def mean_stress(f, u, t):
    """``F S`` with S = t: Green's strain is a half of C."""
    return rotated(f, t, 0.0, 0.0, 0.0)


FUNCTIONS = LawFunctions(
    invariants, energy, stress, volumetric, frame, first_piola, mean_stress=mean_stress, packed=True
)
