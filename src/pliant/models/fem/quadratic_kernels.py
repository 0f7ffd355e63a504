"""Compiled loops over quadratic tets: the laws and products of linear ones, at four points of each.

A tet has straight edges at rest, so ``D_m^-1`` is the same in all of it. At a point with local coordinates
xi the edge matrix is ``D_s = sum_a x_a grad N_a(xi)``; the laws (``law_blocks.py``) take it in place of the
edges of a linear tet, with a quarter of the volume, and hand back the derivative of the energy by it.
Scratch ``u`` holds the nine particles 1 to 9 relative to particle 0, then their forces: 27 columns each.
"""

# mypy: disable-error-code="no-untyped-def"

from functools import cache

import numpy as np

from pliant.core.typing import Kernel
from pliant.kernels.jit import jit, prange, specialised, specialised_twin, twin
from pliant.materials.constitutive.law import Law
from pliant.models.fem.law_blocks import ENERGY, STIFFNESS, law_block, law_label
from pliant.models.fem.stiffness_product import frame_block, general_block, isotropic_block
from pliant.models.tets.kernels import SCRATCH, deform_block

FORCES = 27 * 16  # where forces begin in the scratch u
ROOM = 2 * FORCES

apply_law: Kernel = None  # the block function of the law that the loops are compiled for
law_blocks: Kernel = None


@jit
def gather_nodes(nodes, x, u):
    """Particles 1 to 9 relative to particle 0; forces cleared."""
    for i in range(16):
        p = nodes[i, 0]
        for a in range(9):
            q = nodes[i, a + 1]
            for c in range(3):
                u[48 * a + 16 * c + i] = x[q, c] - x[p, c]
    for k in range(FORCES):
        u[FORCES + k] = 0.0


@jit
def edges_at(u, slopes, w):
    """The edge matrix where shape functions have the gradients ``slopes`` (10, 3), into columns 0 to 8."""
    for k in range(3):
        for j in range(48):
            w[48 * k + j] = slopes[1, k] * u[j]
        for a in range(1, 9):
            s = slopes[a + 1, k]
            for j in range(48):
                w[48 * k + j] += s * u[48 * a + j]


@jit
def add_forces_at(w, slopes, u):
    """Hand the derivatives by the edge matrix, columns 0 to 8, to the particles."""
    for a in range(9):
        for k in range(3):
            s = slopes[a + 1, k]
            for j in range(48):
                u[FORCES + 48 * a + j] += s * w[48 * k + j]


@jit
def scatter_nodes(nodes, u, buffer, shift):
    """Add the forces on particles 1 to 9, and minus their sum on particle 0."""
    for i in range(16):
        p = nodes[i, 0] + shift
        for c in range(3):
            total = 0.0
            for a in range(9):
                f = u[FORCES + 48 * a + 16 * c + i]
                buffer[nodes[i, a + 1] + shift, c] += f
                total += f
            buffer[p, c] -= total


def _law_blocks(first, last, index, rest, extra, slopes, k, x, buffer, shift, forces, energy, w, u):
    for i in range(16):
        w[ENERGY + i] = 0.0
    for b in range(first, last):
        gather_nodes(index[b], x, u)
        for q in range(slopes.shape[0]):
            edges_at(u, slopes[q], w)
            apply_law(w, rest[b], extra, 1.0, k, forces, energy)
            if forces:
                add_forces_at(w, slopes[q], u)
        if forces:
            scatter_nodes(index[b], u, buffer, shift)
    total = 0.0
    for i in range(16):
        total += w[ENERGY + i]
    return total


def _law_partitions(starts, low, offset, index, rest, extra, slopes, k, x, buffer, forces, energy):
    """Forces into the buffers, and the energy [J], as asked for. slopes (points, 10, 3)."""
    sums = np.empty(low.shape[0])
    for p in prange(low.shape[0]):
        w, u = np.empty(SCRATCH), np.empty(ROOM)
        a, b, shift = starts[p], starts[p + 1], offset[p] - low[p]
        sums[p] = law_blocks(a, b, index, rest, extra, slopes, k, x, buffer, shift, forces, energy, w, u)
    total = 0.0
    for p in range(low.shape[0]):
        total += sums[p]
    return total


@cache
def law_loops(law: Law, full: bool) -> tuple[Kernel, Kernel]:
    """The serial and the parallel loop of forces and energy, compiled for a law (see ``law_block``)."""
    label = law_label(law, full)
    names = {"apply_law": law_block(law, full)}
    names["law_blocks"] = specialised(_law_blocks, label, names, cache=law.cached)
    return specialised_twin(_law_partitions, label, names, cache=law.cached)


@jit
def _product_blocks(first, last, index, rest, slopes, frame, x, dx, buffer, shift, w, u, d):
    general = rest.shape[1] > STIFFNESS
    for b in range(first, last):
        row = rest[b]
        gather_nodes(index[b], x, u)
        gather_nodes(index[b], dx, d)
        for q in range(slopes.shape[0]):
            edges_at(u, slopes[q], w)
            deform_block(w, row)
            frame_block(w, frame)
            edges_at(d, slopes[q], w)
            if general:
                general_block(w, row)
            else:
                isotropic_block(w, row)
            add_forces_at(w, slopes[q], d)
        scatter_nodes(index[b], d, buffer, shift)


@twin
def stiffness_product(starts, low, offset, index, rest, slopes, frame, x, dx, buffer):
    """Minus the product with ``dx`` (n, 3), into the buffers; frames as in ``stiffness_product.py``."""
    for p in prange(low.shape[0]):
        w, u, d = np.empty(SCRATCH), np.empty(ROOM), np.empty(ROOM)
        shift = offset[p] - low[p]
        _product_blocks(starts[p], starts[p + 1], index, rest, slopes, frame, x, dx, buffer, shift, w, u, d)
