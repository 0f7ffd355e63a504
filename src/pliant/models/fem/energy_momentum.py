"""Compiled forces of energy-momentum steps: the laws between two states of the tets, linear and quadratic.

As ``law_blocks.py``, with the edges of both ends of a step (scratch ``w0`` and ``w1``): the stress of each
tet does exactly the work by which its energy changes and has no moment
(``constitutive/discrete_gradient.py``). ``extra``: V times the averaged pressures, the mean of both ends.
"""

# mypy: disable-error-code="no-untyped-def, untyped-decorator"

from functools import cache

import numpy as np

from pliant.core.typing import Kernel
from pliant.kernels.jit import prange, specialised, specialised_twin
from pliant.materials.constitutive.anisotropic import (
    elastic_strain,
    hooke,
    isotropic_hooke,
    trace,
    with_pressure,
)
from pliant.materials.constitutive.discrete_gradient import corrected_stress, mean, symmetric_mean
from pliant.materials.constitutive.law import Law
from pliant.models.fem.law_blocks import (
    MU,
    law_label,
    law_names,
    nine,
    own_bulk,
    plastic_of,
    put_nine,
    stiffness_of,
)
from pliant.models.fem.quadratic_blocks import ROOM, add_forces_at, edges_at, gather_nodes, scatter_nodes
from pliant.models.tets.kernels import SCRATCH, deform, gather_edges, scatter_forces, spread

invariants: Kernel = None  # the functions of the law that a loop is compiled for, see ``law_names``
energy_density: Kernel = None
stress: Kernel = None
volumetric: Kernel = None
frame: Kernel = None
stretch_at: Kernel = None
between: Kernel = None
mean_stress: Kernel = None
stress_between: Kernel = None
apply_between: Kernel = None


def _linear_stress(f0, f1, mu, bulk, pressure, k):
    """Of laws that are linear in a strain measure: Hooke's law on its mean."""
    _a, u0 = frame(f0, stretch_at(f0))
    _a, u1 = frame(f1, stretch_at(f1))
    u = symmetric_mean(u0, u1)
    strain = (u[0] - 1.0, u[1] - 1.0, u[2] - 1.0, u[3], u[4], u[5])
    t = with_pressure(isotropic_hooke(mu, bulk - 2.0 / 3.0 * mu, strain), pressure)
    return mean_stress(mean(f0, f1), u, t)


def _corrected_stress(f0, f1, mu, bulk, pressure, k):
    """Of laws without a closed form."""
    s0, s1 = stretch_at(f0), stretch_at(f1)
    gain = energy_density(invariants(f1, s1), mu, bulk, k) - energy_density(invariants(f0, s0), mu, bulk, k)
    gain += pressure * (volumetric(f1, s1) - volumetric(f0, s0))
    p0, p1 = stress(f0, s0, mu, bulk, pressure, k), stress(f1, s1, mu, bulk, pressure, k)
    return corrected_stress(f0, f1, p0, p1, gain)


def _law_between(w0, w1, row, extra, share, k):
    for i in range(16):
        f0, f1 = deform(w0, row, i), deform(w1, row, i)
        p = stress_between(f0, f1, row[MU + i], own_bulk(row, i, share), extra[i], k)
        spread(w1, row, i, p)


def _full_between(w0, w1, row, extra, share, k):
    for i in range(16):
        f0, f1 = deform(w0, row, i), deform(w1, row, i)
        _a, u0 = frame(f0, stretch_at(f0))
        _a, u1 = frame(f1, stretch_at(f1))
        u = symmetric_mean(u0, u1)
        e = elastic_strain(u, plastic_of(row, i))
        t = hooke(stiffness_of(row, i), e)
        t = with_pressure(t, extra[i] - own_bulk(row, i, 1.0 - share) * trace(e))
        spread(w1, row, i, mean_stress(mean(f0, f1), u, t))


def _linear_tets(starts, low, offset, index, rest, extra, share, k, x0, x1, buffer):
    """Forces of a step from ``x0`` to ``x1`` into the buffers, of linear tets."""
    step = 1 if share == 0.0 else 0
    for p in prange(low.shape[0]):
        w0, w1, shift = np.empty(SCRATCH), np.empty(SCRATCH), offset[p] - low[p]
        for b in range(starts[p], starts[p + 1]):
            gather_edges(index[b], x0, w0, 0)
            gather_edges(index[b], x1, w1, 0)
            apply_between(w0, w1, rest[b], extra[b * step], share, k)
            scatter_forces(index[b], w1, buffer, shift)


def _quadratic_tets(starts, low, offset, index, rest, extra, slopes, k, x0, x1, buffer):
    """As ``_linear_tets``, of quadratic ones; slopes (points, 10, 3)."""
    for p in prange(low.shape[0]):
        w0, w1, shift = np.empty(SCRATCH), np.empty(SCRATCH), offset[p] - low[p]
        u0, u1 = np.empty(ROOM), np.empty(ROOM)
        for b in range(starts[p], starts[p + 1]):
            gather_nodes(index[b], x0, u0)
            gather_nodes(index[b], x1, u1)
            for q in range(slopes.shape[0]):
                edges_at(u0, slopes[q], w0)
                edges_at(u1, slopes[q], w1)
                apply_between(w0, w1, rest[b], extra, 1.0, k)
                add_forces_at(w1, slopes[q], u1)
            scatter_nodes(index[b], u1, buffer, shift)


def _stresses_between(before, after, mu, bulk, pressure, k, out, energies):
    """First Piola-Kirchhoff stresses [Pa] between the rows of ``before`` and ``after`` (m, 9) into ``out``
    (m, 9), and the changes of the energy density [J/m3] into ``energies`` (m,)."""
    for i in range(before.shape[0]):
        f0, f1 = nine(before, i), nine(after, i)
        put_nine(out, i, stress_between(f0, f1, mu[i], bulk[i], pressure[i], k))
        s0, s1 = stretch_at(f0), stretch_at(f1)
        gain = energy_density(invariants(f1, s1), mu[i], bulk[i], k)
        gain -= energy_density(invariants(f0, s0), mu[i], bulk[i], k)
        energies[i] = gain + pressure[i] * (volumetric(f1, s1) - volumetric(f0, s0))


def _names(law: Law, full: bool) -> dict[str, Kernel]:
    """What the names of the law's functions stand for in the loops."""
    own, label = law.functions, law_label(law, full)
    names = law_names(law) | {"between": own.between, "mean_stress": own.mean_stress}
    if own.between is not None:
        names["stress_between"] = own.between
    else:
        plain = _corrected_stress if own.mean_stress is None else _linear_stress
        names["stress_between"] = specialised(plain, label, names, cache=law.cached)
    return names


@cache
def between_loops(law: Law, full: bool, quadratic: bool) -> tuple[Kernel, Kernel]:
    """The serial and the parallel loop, compiled for a law; full: with a stiffness matrix and a plastic
    strain of each tet."""
    names, label = _names(law, full), law_label(law, full)
    block = _full_between if full else _law_between
    names["apply_between"] = specialised(block, label, names, cache=law.cached)
    return specialised_twin(_quadratic_tets if quadratic else _linear_tets, label, names, cache=law.cached)


@cache
def stresses_between(law: Law) -> Kernel:
    """Stresses and changes of energy of a list of pairs of deformation gradients, compiled."""
    return specialised(_stresses_between, law_label(law, False), _names(law, False), cache=law.cached)
