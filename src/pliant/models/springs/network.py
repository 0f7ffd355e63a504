"""Springs laid out for the compiled loops, and networks of them whose springs can break."""

from typing import TYPE_CHECKING

import numpy as np

from pliant.core.typing import Array, BoolArray, IntArray
from pliant.kernels.csr import edge_incidence, take_rows
from pliant.kernels.element_blocks import ElementBlocks, make_blocks, partitions_for, share_buffer
from pliant.kernels.jit import SERIAL_ROWS
from pliant.models.springs import kernels
from pliant.models.springs.pairs import pair_rows, pair_springs, pair_tets
from pliant.models.tets.stiffness import assemble

if TYPE_CHECKING:
    from scipy.sparse import bsr_array


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

    def energy(self, x: Array) -> float:
        """``sum k (l - L)^2 / 2`` [J]."""
        s = self.blocks
        return float(kernels.spring_energy[self.parallel](s.starts, s.index, self.rest, x, True))

    def add_product(self, x: Array, dx: Array, out: Array) -> None:
        """Add ``K dx`` of the springs at ``x`` (n, 3) to ``out``."""
        s = self.blocks
        kernels.spring_product[self.parallel](s.starts, s.low, s.offset, s.index, self.rest, x, dx, s.buffer)
        s.add_to(out)


def spring_stiffness(rest: Array, edges: IntArray, stiffness: Array) -> "bsr_array":
    """The stiffness matrix (3n, 3n) [N/m] of springs at their rest lengths."""
    d = rest[edges[:, 1]] - rest[edges[:, 0]]
    d /= np.linalg.norm(d, axis=1)[:, None]
    both = np.concatenate([-d, d], axis=1)
    return assemble(stiffness[:, None, None] * both[:, :, None] * both[:, None, :], edges, len(rest))


def spring_resultant(
    x: Array, edges: IntArray, lengths: Array, stiffness: Array, above: BoolArray
) -> tuple[Array, float]:
    """The force [N] of springs across a section on the particles ``above`` (n,), and the sum of the
    magnitudes of their forces."""
    i, j = edges[:, 0], edges[:, 1]
    cut = above[i] != above[j]
    d = x[j[cut]] - x[i[cut]]
    length = np.linalg.norm(d, axis=1)
    pull = (stiffness[cut] * (1.0 - lengths[cut] / length))[:, None] * d
    on_above = np.where(above[i[cut]][:, None], pull, -pull)
    return on_above.sum(axis=0), float(np.linalg.norm(pull, axis=1).sum())


class SpringNetwork:
    """Connections laid out for the spring kernels; ``rest`` holds rest lengths and stiffnesses in blocks.

    edges (m, 2): pairs i < j in lexicographic order; born (m,): the rest lengths they were made with [m];
    own (m,): stiffnesses while whole [N/m]; intact (m,); softened (m,): those whose forces somebody else has
    taken over. damped: rows like ``rest`` whose stiffnesses are
    those of damping, where some connections are damped more than others.
    """

    def __init__(self, edges: IntArray, lengths: Array, stiffness: Array, count: int) -> None:
        self.edges, self.count = edges, count
        self.born, self.own = lengths.copy(), stiffness.copy()
        self.intact: BoolArray = np.ones(len(edges), bool)
        self.softened: BoolArray = np.zeros(len(edges), bool)
        self.blocks: ElementBlocks | None = None
        self.damped: Array | None = None
        self._shares: Array | None = None
        self.rest = np.zeros((0, 64))
        if len(edges):
            self.loops = SpringForces(edges, count, lengths, stiffness)
            self.blocks, self.rest, self._members = self.loops.blocks, self.loops.rest, self.loops.members
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

    @property
    def slots(self) -> tuple[IntArray, IntArray]:
        """Row and lane of ``rest`` (m,) with each connection's rest length; its stiffness is 32 lanes on."""
        return self._row, self._lane

    @property
    def bearing(self) -> BoolArray:
        """Connections (m,) that are intact and do not soften."""
        return np.asarray(self.intact & ~self.softened)

    def write(self, lengths: Array | None = None) -> None:
        """Take over rest lengths (m,), and stiffnesses as ``own`` and ``intact`` have them."""
        if len(self.edges):
            if lengths is not None:
                self.rest[self._row, self._lane] = lengths
            self.rest[self._row, 32 + self._lane] = np.where(self.intact & ~self.softened, self.own, 0.0)
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

    def lengths_of(self, which: IntArray) -> Array:
        """Present rest lengths (k,) [m] of connections ``which`` (k,)."""
        return self.rest[self._row[which], self._lane[which]] if len(which) else np.zeros(0)

    def soften(self, which: IntArray) -> None:
        """Leave the forces of connections ``which``, and of no others, to somebody else."""
        now = np.zeros(len(self.edges), bool)
        now[which] = True
        changed = np.flatnonzero(now != self.softened)
        self.softened = now
        stiffness = np.where(self.intact & ~now, self.own, 0.0)[changed]
        for rows, shares in ((self.rest, None), (self.damped, self._shares)):
            if rows is not None and len(changed):
                own = stiffness if shares is None else stiffness * shares[changed]
                rows[self._row[changed], 32 + self._lane[changed]] = own

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
        ends, rows = take_rows(first, np.arange(len(other)), chosen)
        owner = np.repeat(np.arange(len(chosen)), np.diff(ends))
        d = reference[other[rows]] - reference[chosen[owner]]
        n = d / np.maximum(np.linalg.norm(d, axis=1), 1e-300)[:, None]
        q = np.column_stack([n**2, 2.0 * n[:, [1, 0, 0]] * n[:, [2, 2, 1]]]) * intact[which[rows]][:, None]
        M = np.zeros((len(chosen), 36))
        np.add.at(M, owner, (q[:, :, None] * q[:, None, :]).reshape(-1, 36))
        inverse = np.linalg.pinv(M.reshape(-1, 6, 6), rcond=1e-6, hermitian=True)
        out[begin : begin + block] = inverse.reshape(-1, 36)
    return out
