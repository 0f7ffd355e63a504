r"""Plastic flow: elastic strain beyond the yield limit relaxes into plastic strain.

The yield stress :math:`\sigma_y` (von Mises) is a limit on the norm of the deviatoric elastic strain,
:math:`y = \sigma_y / (\sqrt6 \mu)`; what exceeds it relaxes at the rate ``creep`` (at once where infinite):

.. math:: d\epsilon_p = (1 - e^{-creep\,dt}) (1 - y / |dev\,\epsilon_e|)\,dev\,\epsilon_e.

So volume is kept, the result depends neither on the step nor on the orientation, and under held strain the
excess decays exponentially. ``most`` limits the norm of the plastic strain. Functions called ``excess`` are
cheap: what they leave out of a loop need not be returned.

The flow of a step is also the minimiser of an incremental potential. With the trial strain e, its norm |e|,
s = 1 - exp(-creep dt) or its counterpart (``flow_share``), the growth :math:`\Delta` of the norm of plastic
strain and the slope h by which the limit rises with it,

.. math:: \phi(\Delta) = 2\mu \Delta (y + \tfrac12 q),\quad q = (1/s - 1 + h) \Delta,\quad
          \Delta = (|e| - y) / (1/s + h)

minimises :math:`\mu (|e| - \Delta)^2 + \phi(\Delta)`: so the stress after the flow is the gradient of the
minimum by the total strain, and implicit steps solve for both at once [OrtizStainier1999]_. The heat of the
step is :math:`2\mu \Delta (y + q)`, the work of that stress on the flow. Returns give ``losses``: what the
elastic energy falls by at held strain, :math:`\mu \Delta (2|e| - \Delta)`, then :math:`\phi`, then the heat.
"""

# mypy: disable-error-code="no-untyped-def, untyped-decorator"

import numpy as np

from pliant.kernels.jit import inlined, jit
from pliant.kernels.tensors import determinant, norm, right_cauchy_green, symmetric_eigen

ROOT_3_2 = float(np.sqrt(1.5))  # norm of a deviatoric strain over its equivalent (uniaxial) strain
NO_LOSSES = (0.0, 0.0, 0.0)


@inlined
def flow_losses(size, grown, mu, limit, over):
    """The ``losses`` of a flow by ``grown`` at a trial strain of norm ``size``; over: q over its growth."""
    twice = 2.0 * mu * grown
    return twice * (size - 0.5 * grown), twice * (limit + 0.5 * over * grown), twice * (limit + over * grown)


@inlined
def deviatoric_excess(e, limit):
    """The norm of the deviator of e (6), less the limit."""
    e0, e1, e2, e3, e4, e5 = e
    mean = (e0 + e1 + e2) / 3.0
    return norm((e0 - mean, e1 - mean, e2 - mean, e3, e4, e5)) - limit


@inlined
def printed_excess(e, limit):
    """The norm of the 6-vector of e with engineering shears, less the limit."""
    e0, e1, e2, e3, e4, e5 = e
    return np.sqrt(e0 * e0 + e1 * e1 + e2 * e2 + 4.0 * (e3 * e3 + e4 * e4 + e5 * e5)) - limit


@inlined
def logarithmic_excess(f, limit):
    """Positive wherever the norm of the deviatoric logarithmic strain of F may exceed the limit."""
    c00, c11, c22, c12, c02, c01 = right_cauchy_green(f)
    mean = (c00 + c11 + c22) / 3.0
    size = norm((c00 - mean, c11 - mean, c22 - mean, c12, c02, c01))
    least = mean - np.sqrt(2.0 / 3.0) * size  # no eigenvalue is smaller
    return 0.5 * size - limit * least  # not positive: no logarithm of the stretches can pass the limit


@inlined
def flow_share(creep, dt, solved):
    """The share s of what exceeds the limit that flows over ``dt``: 1 - exp(-creep dt), exact at held strain;
    ``solved`` for together with it, backward Euler's creep dt / (1 + creep dt), exact at a steady rate."""
    time = creep * dt
    if solved:
        return 1.0 / (1.0 + 1.0 / time) if time > 0.0 else 0.0
    return -np.expm1(-time)


@jit
def additive_return(e, old, mu, limit, creep, most, dt, solved):
    """The losses of flow over ``dt``, zero where there was none, and the new plastic strain (6) of the
    elastic strain e and the plastic strain ``old`` (6 each, tensor components)."""
    e0, e1, e2, e3, e4, e5 = e
    o0, o1, o2, o3, o4, o5 = old
    mean = (e0 + e1 + e2) / 3.0
    e0, e1, e2 = e0 - mean, e1 - mean, e2 - mean
    size = norm((e0, e1, e2, e3, e4, e5))
    rate = flow_share(creep, dt, solved)
    if not (size > limit and rate > 0.0):
        return NO_LOSSES, old
    share = rate * (1.0 - limit / size)
    p0, p1, p2 = o0 + share * e0, o1 + share * e1, o2 + share * e2
    p3, p4, p5 = o3 + share * e3, o4 + share * e4, o5 + share * e5
    keep = min(1.0, most / norm((p0, p1, p2, p3, p4, p5)))
    p0, p1, p2, p3, p4, p5 = keep * p0, keep * p1, keep * p2, keep * p3, keep * p4, keep * p5
    after = norm(
        (e0 - (p0 - o0), e1 - (p1 - o1), e2 - (p2 - o2), e3 - (p3 - o3), e4 - (p4 - o4), e5 - (p5 - o5))
    )
    losses = flow_losses(size, max(size - after, 0.0), mu, limit, 1.0 / rate - 1.0)
    return losses, (p0, p1, p2, p3, p4, p5)


@jit
def printed_return(e, old, mu, lam, limit, creep, most, dt):
    """As ``additive_return``, by algorithm 4.1 of [Cairns2012]_ as printed: the whole elastic strain flows as
    soon as the norm of its 6-vector with engineering shears passes the limit."""
    e0, e1, e2, e3, e4, e5 = e
    o0, o1, o2, o3, o4, o5 = old
    size = np.sqrt(e0 * e0 + e1 * e1 + e2 * e2 + 4.0 * (e3 * e3 + e4 * e4 + e5 * e5))
    if not size > limit:
        return NO_LOSSES, old
    share = min(1.0, dt * creep)
    p0, p1, p2 = o0 + share * e0, o1 + share * e1, o2 + share * e2
    p3, p4, p5 = o3 + share * e3, o4 + share * e4, o5 + share * e5
    square = p0 * p0 + p1 * p1 + p2 * p2 + 4.0 * (p3 * p3) + 4.0 * (p4 * p4) + 4.0 * (p5 * p5)
    keep = min(1.0, most / np.sqrt(square))
    left = (1.0 - share) * (1.0 - share)
    before, trace = norm(e), e0 + e1 + e2
    heat = (1.0 - left) * (mu * before * before + 0.5 * lam * trace * trace)
    return (heat, heat, heat), (keep * p0, keep * p1, keep * p2, keep * p3, keep * p4, keep * p5)


@jit
def multiplicative_return(f, mu, limit, slope, creep, room, dt, solved):
    r"""Return the logarithmic strains h of the elastic part F_e (9) of :math:`F = F_e F_p` to the limit,
    :math:`h_i \to h_i - \gamma\,dev h_i`; the plastic part takes over the difference,
    :math:`F_p^{-1} \to F_p^{-1} V e^{-\gamma\,dev h} V^T` with the eigenvectors V of :math:`F_e^T F_e`.

    room: by how much the accumulated norm of plastic strain may grow; slope: by how much the limit rises with
    it. Returns the losses, by how much that norm grew, the three exponentials and V (9). Inverted matrices do
    not flow.

    Source: [BargteilWojtanHodginsTurk2007]_, with the exponential return of [WeberAnand1990]_.
    """
    none = (NO_LOSSES, 0.0, (1.0, 1.0, 1.0), (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0))
    c = right_cauchy_green(f)
    if not determinant(f) > 0.0:
        return none
    values, vectors = symmetric_eigen(c)
    if not values[0] > 0.0:
        return none
    h0, h1, h2 = 0.5 * np.log(values[0]), 0.5 * np.log(values[1]), 0.5 * np.log(values[2])
    mean = (h0 + h1 + h2) / 3.0
    h0, h1, h2 = h0 - mean, h1 - mean, h2 - mean
    size = np.sqrt(h0 * h0 + h1 * h1 + h2 * h2)
    rate = flow_share(creep, dt, solved)
    if not (size > limit and rate > 0.0):
        return none
    share = min((1.0 - limit / size) / (1.0 / rate + slope), room / size)
    if not share > 0.0:
        return none
    losses = flow_losses(size, share * size, mu, limit, 1.0 / rate - 1.0 + slope)
    g = (np.exp(-share * h0), np.exp(-share * h1), np.exp(-share * h2))
    return losses, share * size, g, vectors


@inlined
def flowed_row(a, b, c, g, v):
    """The row (a, b, c) of a matrix times ``V diag(g) V^T``."""
    g0, g1, g2 = g
    v00, v01, v02, v10, v11, v12, v20, v21, v22 = v
    p = g0 * (a * v00 + b * v10 + c * v20)
    q = g1 * (a * v01 + b * v11 + c * v21)
    r = g2 * (a * v02 + b * v12 + c * v22)
    return p * v00 + q * v01 + r * v02, p * v10 + q * v11 + r * v12, p * v20 + q * v21 + r * v22
