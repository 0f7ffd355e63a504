"""Springs in pairs, and tets in pairs, laid out for the compiled loops."""

import numpy as np

from pliant.core.typing import Array, IntArray
from pliant.kernels.element_blocks import make_blocks, partitions_for, share_buffer
from pliant.kernels.jit import SERIAL_ROWS
from pliant.models.springs import kernels
from pliant.models.springs.pairs import pair_rows, pair_springs, pair_tets


class SpringForces:
    """Forces of springs on ``edges`` (m, 2) and, where there are ``tets``, of their volumetric terms.

    blocks: pairs of springs; members (pairs, 2): the springs of each. rest: a row per block, with the rest
    lengths [m] of the first springs and of the second ones, then their stiffnesses [N/m] likewise.
    """

    def __init__(self, edges: IntArray, count: int, lengths: Array, stiffness: Array) -> None:
        pairs, self.members = pair_springs(edges, count)
        self.blocks = make_blocks(pairs, count, partitions_for(len(edges)), columns=4)
        self.rest = pair_rows(self.blocks, self.members, lengths, stiffness)
        self.parallel = len(edges) >= SERIAL_ROWS
        self.drop_tets()
        self._near = np.empty_like(self.blocks.buffer)

    def add_tets(self, tets: IntArray, volumes: Array, bulk: Array) -> None:
        """Add ``bulk / 2 V (v / V - 1)^2`` of every tet to the energy that the forces come from."""
        corners, members = pair_tets(tets)
        cells = make_blocks(corners, self.blocks.particle_count, len(self.blocks.low))
        self.blocks, cells = share_buffer(self.blocks, cells)
        self._near = np.empty_like(self.blocks.buffer)
        self._cells = (cells.starts, cells.index)
        self._cell_rest = pair_rows(cells, members, 6.0 * volumes, bulk / volumes / 36.0)

    def drop_tets(self) -> None:
        """Leave the springs alone."""
        self._cells = (np.zeros_like(self.blocks.starts), np.zeros((1, 16, 5), np.uint32))
        self._cell_rest = np.zeros((1, 64))

    def add_forces(self, x: Array, out: Array) -> None:
        """Add the forces [N] at positions ``x`` (n, 3) to ``out``."""
        s = self.blocks
        kernels.forces[self.parallel](
            s.low, s.high, s.offset, (s.starts, s.index), self.rest, self._cells, self._cell_rest,
            x, self._near, s.buffer, out,
        )  # fmt: skip

    def add_damping(self, beta: float, x: Array, v: Array, out: Array, rest: Array | None = None) -> None:
        """Add the forces that resist changes of length, ``beta k`` times their rate, to ``out``; k from rows
        like those of ``rest``, where given."""
        s = self.blocks
        rows = self.rest if rest is None else rest
        kernels.spring_damping[self.parallel](s.starts, s.low, s.offset, s.index, rows, beta, x, v, s.buffer)
        s.add_to(out)
