"""Rotations of tets and of the neighbourhoods of particles, compiled."""

# mypy: disable-error-code="no-untyped-def"

import numpy as np

from pliant.core.typing import AnyArray, Array, IntArray
from pliant.kernels.element_blocks import WIDTH, ElementBlocks
from pliant.kernels.jit import jit, parallel_jit, prange
from pliant.models.tets.kernels import SCRATCH, deform_block, gather_edges, rotate_block, stretch_block


class TetRotations:
    """Nearest rotations (determinant +1) of tets, and their mean around each particle.

    blocks: the tets; inverse (m, 3, 3): ``D_m^-1`` [1/m]; volumes (m,) [m3].
    """

    def __init__(self, blocks: ElementBlocks, inverse: Array, volumes: Array) -> None:
        self.blocks = blocks
        self._rest = blocks.rows(*inverse.reshape(-1, 9).T, volumes)
        elements = blocks.index.reshape(-1, 4)[blocks.slots]
        self._around, self._first = slots_around(elements, blocks.slots, blocks.particle_count)
        self._turned = np.empty((len(blocks.index), 9 * WIDTH))

    def nodal(self, x: Array) -> Array:
        """The rotation nearest to the volume-weighted mean of the tets' rotations, per particle (n, 3, 3)."""
        b = self.blocks
        out = np.empty((b.particle_count, 3, 3))
        turn = _tets_parallel if b.parallel else _tets_serial
        turn(b.starts, b.index, self._rest, x, self._turned)
        mean = _means_parallel if b.parallel else _means_serial
        mean(self._first, self._around, self._turned, out)
        return out


def slots_around(elements: AnyArray, slots: IntArray, count: int) -> tuple[IntArray, IntArray]:
    """Slots of the elements (m, k) around each of ``count`` particles, and where each begins (n + 1,)."""
    particles = elements.ravel().astype(np.int64)
    order = np.argsort(particles, kind="stable")
    first = np.concatenate([[0], np.cumsum(np.bincount(particles, minlength=count))])
    return np.repeat(slots, elements.shape[1])[order], first


@jit
def _turn_blocks(first, last, index, rest, x, turned, w):
    for b in range(first, last):
        gather_edges(index[b], x, w, 0)
        deform_block(w, rest[b])
        stretch_block(w)
        rotate_block(w)
        for c in range(9):
            for i in range(16):
                turned[b, 16 * c + i] = rest[b, 144 + i] * w[16 * c + i]


@jit
def _tets_serial(starts, index, rest, x, turned):
    _turn_blocks(0, starts[-1], index, rest, x, turned, np.empty(SCRATCH))


@parallel_jit
def _tets_parallel(starts, index, rest, x, turned):
    for p in prange(starts.shape[0] - 1):
        _turn_blocks(starts[p], starts[p + 1], index, rest, x, turned, np.empty(SCRATCH))


@jit
def _mean_rows(begin, end, first, around, turned, out, w):
    """Nodes in groups of 16, so that their rotations are found a block at a time."""
    for node in range(begin, end, 16):
        count = min(16, end - node)
        for k in range(144):
            w[k] = 0.0
        for i in range(count):
            for k in range(first[node + i], first[node + i + 1]):
                block, lane = around[k] // 16, around[k] % 16
                for c in range(9):
                    w[16 * c + i] += turned[block, 16 * c + lane]
        stretch_block(w)
        rotate_block(w)
        for i in range(count):
            for c in range(9):
                out[node + i, c // 3, c % 3] = w[16 * c + i]


@jit
def _means_serial(first, around, turned, out):
    _mean_rows(0, out.shape[0], first, around, turned, out, np.empty(SCRATCH))


@parallel_jit
def _means_parallel(first, around, turned, out):
    n = out.shape[0]
    for part in prange(64):
        _mean_rows(part * n // 64, (part + 1) * n // 64, first, around, turned, out, np.empty(SCRATCH))
