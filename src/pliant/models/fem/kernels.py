"""Compiled loops of the fem model over its blocks: forces and energy, and products with the stiffness."""

# mypy: disable-error-code="no-untyped-def"

import numpy as np

from pliant.kernels.jit import jit, parallel_jit, prange
from pliant.models.fem.general import general_corotational, general_st_venant_kirchhoff, gram_schmidt
from pliant.models.fem.laws import ENERGY, corotational, neo_hookean, st_venant_kirchhoff
from pliant.models.tets.kernels import SCRATCH, gather_edges, scatter_forces

COROTATIONAL, ST_VENANT_KIRCHHOFF, NEO_HOOKEAN = 0, 1, 2
GENERAL_COROTATIONAL, GENERAL_ST_VENANT_KIRCHHOFF, GRAM_SCHMIDT = 3, 4, 5
LAWS = {  # by name, and whether the stiffness is a full matrix or there is a plastic strain
    ("corotational", False): COROTATIONAL,
    ("corotational", True): GENERAL_COROTATIONAL,
    ("st-venant-kirchhoff", False): ST_VENANT_KIRCHHOFF,
    ("st-venant-kirchhoff", True): GENERAL_ST_VENANT_KIRCHHOFF,
    ("neo-hookean", False): NEO_HOOKEAN,
}


@jit
def apply_law(law, w, row, extra, share, forces, energy):
    """One of LAWS on a block's scratch, as ``laws.py`` says."""
    if law == COROTATIONAL:
        corotational(w, row, extra, share, forces, energy)
    elif law == ST_VENANT_KIRCHHOFF:
        st_venant_kirchhoff(w, row, extra, share, forces, energy)
    elif law == NEO_HOOKEAN:
        neo_hookean(w, row, extra, share, forces, energy)
    elif law == GENERAL_COROTATIONAL:
        general_corotational(w, row, extra, share, forces, energy)
    elif law == GENERAL_ST_VENANT_KIRCHHOFF:
        general_st_venant_kirchhoff(w, row, extra, share, forces, energy)
    else:
        gram_schmidt(w, row, extra, share)


@jit
def _law_blocks(first, last, index, rest, extra, share, law, x, buffer, shift, forces, energy, w):
    """Forces into ``buffer`` and the sum of energies [J] of some blocks, as asked for."""
    step = 1 if share == 0.0 else 0
    for i in range(16):
        w[ENERGY + i] = 0.0
    for b in range(first, last):
        gather_edges(index[b], x, w, 0)
        apply_law(law, w, rest[b], extra[b * step], share, forces, energy)
        if forces:
            scatter_forces(index[b], w, buffer, shift)
    total = 0.0
    for i in range(16):
        total += w[ENERGY + i]
    return total


@jit
def law_serial(starts, low, offset, index, rest, extra, share, law, x, buffer, forces, energy):
    """Forces into the buffers, if asked for; returns the energy [J], if asked for."""
    w = np.empty(SCRATCH)
    total = 0.0
    for p in range(low.shape[0]):
        a, b, shift = starts[p], starts[p + 1], offset[p] - low[p]
        total += _law_blocks(a, b, index, rest, extra, share, law, x, buffer, shift, forces, energy, w)
    return total


@parallel_jit
def law_parallel(starts, low, offset, index, rest, extra, share, law, x, buffer, forces, energy):
    """As ``law_serial``; the partitions' energies are summed in order, whatever the threads."""
    sums = np.empty(low.shape[0])
    for p in prange(low.shape[0]):
        w = np.empty(SCRATCH)
        a, b, shift = starts[p], starts[p + 1], offset[p] - low[p]
        sums[p] = _law_blocks(a, b, index, rest, extra, share, law, x, buffer, shift, forces, energy, w)
    total = 0.0
    for p in range(low.shape[0]):
        total += sums[p]
    return total
