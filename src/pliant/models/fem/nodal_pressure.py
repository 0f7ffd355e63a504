r"""Averaged nodal pressure: a remedy for the locking of nearly incompressible linear tets.

The volumetric term :math:`\sum V_t \tfrac K2 \theta_t^2`, K = lambda + 2/3 mu, gives way to one per particle,

.. math:: W = \sum_a V_a \tfrac K2 \theta_a^2, \qquad \theta_a = \frac1{V_a} \sum_{t \ni a} \tfrac14 V_t
          \theta_t, \qquad V_a = \sum_{t \ni a} \tfrac14 V_t,

so that a tet feels the mean of its particles' pressures :math:`K \theta_a`: the exact gradient.

Source: [BonetBurton1998]_. Differs: theta is the volumetric strain of the law at hand (tr(R^T F) - 3, tr E or
J - 1); particles on an interface have one pressure for each material.
"""

# mypy: disable-error-code="no-untyped-def"

from functools import cache

import numpy as np

from pliant.core.typing import Array, Kernel
from pliant.kernels.csr import incidence
from pliant.kernels.element_blocks import WIDTH, ElementBlocks
from pliant.kernels.jit import prange, specialised, specialised_twin, twin
from pliant.materials.constitutive.law import Law
from pliant.models.fem.law_blocks import law_label, law_names
from pliant.models.tets.kernels import SCRATCH, gather_edges

prepare: Kernel = None  # the functions of the law, see ``law_names``
gradient: Kernel = None
stretches: Kernel = None
volumetric: Kernel = None
strain_blocks: Kernel = None


class NodalPressure:
    """Pressures per particle and material, and what they give each tet.

    blocks: the tets; volumes, bulk (m,): rest volumes [m3] and bulk moduli [Pa]; law: whose strain counts.
    extra (blocks, 16): V times the pressure of each tet [N m], as the laws take it.
    """

    def __init__(self, blocks: ElementBlocks, volumes: Array, bulk: Array, law: Law) -> None:
        self.blocks, self._strain = blocks, _strain_loops(law)
        self._volumes = blocks.rows(volumes)
        values, material = np.unique(bulk, return_inverse=True)
        slots = blocks.slots
        corner = np.zeros((len(blocks.index) * WIDTH, 4), np.int64)
        corner[slots] = blocks.index.reshape(-1, 4)[slots].astype(np.int64) * len(values)
        corner[slots] += material[blocks.order][:, None]
        owners, index = np.unique(corner[slots], return_inverse=True)
        corner[slots] = index.reshape(-1, 4)
        self._corner = corner
        order, self._first = incidence(corner[slots], len(owners))
        self._around = slots[order // 4]
        shares = np.add.reduceat(0.25 * self._volumes.ravel()[self._around], self._first[:-1])
        self._weight = values[owners % len(values)] / shares  # bulk / V_a
        self._theta = np.zeros((len(blocks.index), WIDTH))
        self._pressure = np.zeros(len(owners))
        self.extra = np.zeros((len(blocks.index), WIDTH))

    def update(self, x: Array, rest: Array) -> float:
        """Bring ``extra`` up to date with ``x``; returns the volumetric energy [J]."""
        b = self.blocks
        self._strain[b.parallel](b.starts, b.index, rest, x, self._theta)
        energy: float = _average[b.parallel](
            *(64 if b.parallel else 1, self._first, self._around, self._theta),
            *(self._volumes, self._weight, self._pressure),
        )
        _give[b.parallel](self._corner, self._volumes, self._pressure, self.extra)
        return energy


def _strain_blocks(first, last, index, rest, x, theta, w):
    for b in range(first, last):
        gather_edges(index[b], x, w, 0)
        row = rest[b]
        prepare(w, row)
        for i in range(16):
            f = gradient(w, row, i)
            s = stretches(w, i)
            theta[b, i] = volumetric(f, s)


def _strain_partitions(starts, index, rest, x, theta):
    for p in prange(starts.shape[0] - 1):
        strain_blocks(starts[p], starts[p + 1], index, rest, x, theta, np.empty(SCRATCH))


@cache
def _strain_loops(law: Law) -> tuple[Kernel, Kernel]:
    """The serial and the parallel loop of volumetric strains, compiled for a law."""
    label = law_label(law, False)
    names = {"strain_blocks": specialised(_strain_blocks, label, law_names(law), cache=law.cached)}
    return specialised_twin(_strain_partitions, label, names, cache=law.cached)


@twin
def _average(parts, first, around, theta, volumes, weight, pressure):
    """Pressures of the particles, and the volumetric energy [J], summed in ``parts``."""
    n = pressure.shape[0]
    sums = np.zeros(parts)
    for c in prange(parts):
        for a in range(c * n // parts, (c + 1) * n // parts):
            total = 0.0
            for k in range(first[a], first[a + 1]):
                block, lane = around[k] // 16, around[k] % 16
                total += 0.25 * volumes[block, lane] * theta[block, lane]
            pressure[a] = weight[a] * total
            sums[c] += 0.5 * total * pressure[a]
    total = 0.0
    for c in range(parts):
        total += sums[c]
    return total


@twin
def _give(corner, volumes, pressure, extra):
    """V times the mean pressure of each tet's corners."""
    for b in prange(extra.shape[0]):
        for i in range(16):
            k = 16 * b + i
            p, q, r, s = corner[k, 0], corner[k, 1], corner[k, 2], corner[k, 3]
            extra[b, i] = 0.25 * volumes[b, i] * (pressure[p] + pressure[q] + pressure[r] + pressure[s])
