"""A network of springs between particles, with rest lengths, stiffnesses, and springs that are broken."""

import numpy as np

from pliant.core.typing import Array, BoolArray, IntArray
from pliant.kernels.csr import edge_incidence
from pliant.kernels.element_blocks import ElementBlocks
from pliant.models.springs.pairs import pair_rows
from pliant.models.springs.spring_forces import SpringForces


class SpringNetwork:
    """Connections laid out for the spring kernels; ``rest`` holds rest lengths and stiffnesses in blocks.

    edges (m, 2): pairs i < j in lexicographic order; born (m,): the rest lengths they were made with [m];
    own (m,): stiffnesses while whole [N/m]; intact (m,). damped: rows like ``rest`` whose stiffnesses are
    those of damping, where some connections are damped more than others.
    """

    def __init__(self, edges: IntArray, lengths: Array, stiffness: Array, count: int) -> None:
        self.edges, self.count = edges, count
        self.born, self.own = lengths.copy(), stiffness.copy()
        self.intact: BoolArray = np.ones(len(edges), bool)
        self.blocks: ElementBlocks | None = None
        self.damped: Array | None = None
        self._shares: Array | None = None
        if len(edges):
            self.loops = SpringForces(edges, count, lengths, stiffness)
            self.blocks, self.rest, self._members = self.loops.blocks, self.loops.rest, self.loops.members
            self.born_rows = pair_rows(self.blocks, self._members, lengths)
            self._find_places(self.blocks)
        self.table = edge_incidence(edges, count)

    def _find_places(self, blocks: ElementBlocks) -> None:
        """Row and lane of ``rest`` where each connection's rest length is; its stiffness is 32 lanes on."""
        self._row, self._lane = np.empty(len(self.edges), np.int64), np.empty(len(self.edges), np.int64)
        slot = np.empty(len(self._members), np.int64)
        slot[blocks.order] = blocks.slots
        for second in (0, 1):
            there = self._members[:, second] >= 0
            own = self._members[there, second]
            self._row[own], self._lane[own] = slot[there] // 16, slot[there] % 16 + 16 * second

    @property
    def lengths(self) -> Array:
        """Present rest lengths (m,) [m]."""
        return self.rest[self._row, self._lane] if len(self.edges) else np.zeros(0)

    def write(self, lengths: Array | None = None) -> None:
        """Take over rest lengths (m,), and stiffnesses as ``own`` and ``intact`` have them."""
        if len(self.edges):
            if lengths is not None:
                self.rest[self._row, self._lane] = lengths
            self.rest[self._row, 32 + self._lane] = np.where(self.intact, self.own, 0.0)
            self.damp(self._shares)

    def damp(self, shares: Array | None) -> None:
        """Damp connections by ``shares`` (m,) of the body's damping; None: all the same."""
        self._shares, self.damped = shares, None
        if shares is not None and len(self.edges):
            self.damped = self.rest.copy()
            self.damped[self._row, 32 + self._lane] *= shares

    def reset(self, lengths: Array, which: BoolArray) -> None:
        """Make ``lengths`` (m,) the rest lengths; ``which`` (m,) count as born with them."""
        self.born = np.where(which, lengths, self.born)
        self.write(lengths)
        if self.blocks is not None:
            self.born_rows = pair_rows(self.blocks, self._members, self.born)

    def break_(self, which: IntArray) -> None:
        """Break connections: they carry nothing any more."""
        self.intact[which] = False
        for rows in (self.rest, self.damped):
            if rows is not None:
                rows[self._row[which], 32 + self._lane[which]] = 0.0


def normal_inverses(
    table: tuple[IntArray, IntArray, IntArray], intact: BoolArray, reference: Array, elements: IntArray
) -> Array:
    """Inverse normal equations (k, 36) of ``elements`` for ``kernels.element_strains``; where connections are
    too few to tell all of the strain, the pseudo-inverse (the smallest strain that fits)."""
    first, other, which = table
    out = np.zeros((len(elements), 36))
    block = 4096
    for begin in range(0, len(elements), block):
        chosen = elements[begin : begin + block]
        counts = first[chosen + 1] - first[chosen]
        owner = np.repeat(np.arange(len(chosen)), counts)
        rows = np.repeat(first[chosen] - np.concatenate([[0], np.cumsum(counts)[:-1]]), counts)
        rows = rows + np.arange(int(counts.sum()))
        d = reference[other[rows]] - reference[chosen[owner]]
        n = d / np.maximum(np.linalg.norm(d, axis=1), 1e-300)[:, None]
        q = np.column_stack([n**2, 2.0 * n[:, [1, 0, 0]] * n[:, [2, 2, 1]]]) * intact[which[rows]][:, None]
        M = np.zeros((len(chosen), 36))
        np.add.at(M, owner, (q[:, :, None] * q[:, None, :]).reshape(-1, 36))
        inverse = np.linalg.pinv(M.reshape(-1, 6, 6), rcond=1e-6, hermitian=True)
        out[begin : begin + block] = inverse.reshape(-1, 36)
    return out
