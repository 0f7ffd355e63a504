"""Two-level smoothed aggregation: the factor of large bodies' rest-shape preconditioner."""

# mypy: disable-error-code="no-untyped-def"

from typing import TYPE_CHECKING

import numpy as np

from pliant.core.typing import Array, BoolArray, IntArray
from pliant.integrators.implicit.preconditioners.banded_cholesky import BandedCholesky, best_order
from pliant.kernels.jit import jit

if TYPE_CHECKING:
    from scipy.sparse import bsr_array, csr_array

SMOOTHING = 4.0 / 3.0  # of the prolongation, over the largest eigenvalue of D^-1 A
FEWEST = 4  # particles that can carry six rigid motions


@jit
def _aggregate(starts, around, out):
    """Greedy aggregates: whole free neighbourhoods first, then what is left joins a neighbour.

    Returns their number; out (n,) is the aggregate of each node, -1 where it has no neighbours at all.
    """
    n = out.shape[0]
    out[:] = -1
    count = 0
    for i in range(n):
        free = out[i] < 0
        for k in range(starts[i], starts[i + 1]):
            free = free and out[around[k]] < 0
        if free:
            out[i] = count
            for k in range(starts[i], starts[i + 1]):
                out[around[k]] = count
            count += 1
    joined = out.copy()
    for i in range(n):
        if out[i] < 0:
            for k in range(starts[i], starts[i + 1]):
                if out[around[k]] >= 0:
                    joined[i] = out[around[k]]
                    break
    for i in range(n):
        if joined[i] < 0:
            joined[i] = count
            for k in range(starts[i], starts[i + 1]):
                if joined[around[k]] < 0:
                    joined[around[k]] = count
            count += 1
    out[:] = joined
    return count


def rigid_modes(rest: Array, free: BoolArray) -> Array:
    """The six rigid motions at every degree of freedom, (3n, 6); zero at driven ones."""
    x = rest - rest.mean(axis=0)
    x = x / max(float(np.abs(x).max()), 1e-300)
    modes = np.zeros((len(x), 3, 6))
    modes[:, 0, 0] = modes[:, 1, 1] = modes[:, 2, 2] = 1.0
    modes[:, 1, 3], modes[:, 2, 3] = -x[:, 2], x[:, 1]
    modes[:, 0, 4], modes[:, 2, 4] = x[:, 2], -x[:, 0]
    modes[:, 0, 5], modes[:, 1, 5] = -x[:, 1], x[:, 0]
    return (modes * free[:, :, None]).reshape(-1, 6)


def _tentative(groups: IntArray, count: int, modes: Array) -> "csr_array":
    """Orthonormal rigid motions of each aggregate as a (3n, 6 count) matrix; what it cannot carry is zero."""
    from scipy.sparse import coo_array

    order = np.argsort(groups, kind="stable")
    edges = np.searchsorted(groups[order], np.arange(count + 1))
    values = np.zeros_like(modes)
    for k in range(count):
        rows = (3 * order[edges[k] : edges[k + 1], None] + np.arange(3)).ravel()
        left, sizes, _ = np.linalg.svd(modes[rows], full_matrices=False)
        rank = int(np.sum(sizes > 1e-3 * max(sizes[0], 1e-300))) if len(rows) >= 6 else 0
        values[rows, :rank] = left[:, :rank]
    rows = np.repeat(np.arange(len(modes)), 6)
    columns = (6 * np.repeat(groups, 3)[:, None] + np.arange(6)).ravel()
    return coo_array((values.ravel(), (rows, columns)), shape=(len(modes), 6 * count)).tocsr()


def _block_diagonal_inverse(matrix: "csr_array") -> Array:
    """Inverses of the 3x3 diagonal blocks, (n, 3, 3)."""
    n = matrix.shape[0] // 3
    blocks = np.zeros((n, 3, 3))
    entries = matrix.tocoo()
    own = entries.row // 3 == entries.col // 3
    blocks[entries.row[own] // 3, entries.row[own] % 3, entries.col[own] % 3] = entries.data[own]
    return np.asarray(np.linalg.inv(blocks))


def _largest_eigenvalue(matrix: "csr_array", scale: "bsr_array") -> float:
    """Of D^-1 A, by power iteration from a fixed vector."""
    z = np.random.default_rng(0).standard_normal(matrix.shape[0])
    size = 1.0
    for _ in range(15):
        z = scale @ (matrix @ z)
        size = float(np.linalg.norm(z))
        z /= size
    return 1.05 * size


# Kernels of the cycle, on 3x3 block rows in single precision. Each sweep writes its row out: a function
# called for a row made the sweeps take 1.2 to 1.4 times as long.


@jit
def forward_sweep(starts, columns, blocks, diagonal, inverse, b, x):
    """Gauss-Seidel from x = 0, first row to last: ``(L + D) x = b``."""
    for i in range(inverse.shape[0]):
        k3 = 3 * i
        r0 = b[k3]
        r1 = b[k3 + 1]
        r2 = b[k3 + 2]
        for k in range(starts[i], diagonal[i]):
            j = columns[k]
            a = blocks[k]
            x0 = x[j]
            x1 = x[j + 1]
            x2 = x[j + 2]
            r0 -= a[0] * x0 + a[1] * x1 + a[2] * x2
            r1 -= a[3] * x0 + a[4] * x1 + a[5] * x2
            r2 -= a[6] * x0 + a[7] * x1 + a[8] * x2
        d = inverse[i]
        x[k3] = d[0] * r0 + d[1] * r1 + d[2] * r2
        x[k3 + 1] = d[3] * r0 + d[4] * r1 + d[5] * r2
        x[k3 + 2] = d[6] * r0 + d[7] * r1 + d[8] * r2


@jit
def remainder(starts, columns, blocks, diagonal, x, r):
    """Residual after a forward sweep from zero, ``r = -U x``: only the part above the diagonal is left."""
    for i in range(diagonal.shape[0]):
        k3 = 3 * i
        r0 = x.dtype.type(0.0)
        r1 = r0
        r2 = r0
        for k in range(diagonal[i] + 1, starts[i + 1]):
            j = columns[k]
            a = blocks[k]
            x0 = x[j]
            x1 = x[j + 1]
            x2 = x[j + 2]
            r0 -= a[0] * x0 + a[1] * x1 + a[2] * x2
            r1 -= a[3] * x0 + a[4] * x1 + a[5] * x2
            r2 -= a[6] * x0 + a[7] * x1 + a[8] * x2
        r[k3] = r0
        r[k3 + 1] = r1
        r[k3 + 2] = r2


@jit
def backward_sweep(starts, columns, blocks, inverse, b, x):
    """Gauss-Seidel from last row to first, on the present x.

    The rows lie in the order of their use, without diagonal blocks; in each, what was just computed is last.
    """
    n = inverse.shape[0]
    for m in range(n):
        i = n - 1 - m
        k3 = 3 * i
        r0 = b[k3]
        r1 = b[k3 + 1]
        r2 = b[k3 + 2]
        for k in range(starts[m], starts[m + 1]):
            j = columns[k]
            a = blocks[k]
            x0 = x[j]
            x1 = x[j + 1]
            x2 = x[j + 2]
            r0 -= a[0] * x0 + a[1] * x1 + a[2] * x2
            r1 -= a[3] * x0 + a[4] * x1 + a[5] * x2
            r2 -= a[6] * x0 + a[7] * x1 + a[8] * x2
        d = inverse[i]
        x[k3] = d[0] * r0 + d[1] * r1 + d[2] * r2
        x[k3 + 1] = d[3] * r0 + d[4] * r1 + d[5] * r2
        x[k3 + 2] = d[6] * r0 + d[7] * r1 + d[8] * r2


@jit
def restrict(starts, columns, blocks, r, coarse):
    """``coarse += P^T r`` with 3x6 blocks; ``columns`` are places in the coarse vector."""
    for i in range(starts.shape[0] - 1):
        r0 = r[3 * i]
        r1 = r[3 * i + 1]
        r2 = r[3 * i + 2]
        for k in range(starts[i], starts[i + 1]):
            j = columns[k]
            a = blocks[k]
            for c in range(6):
                coarse[j + c] += a[c] * r0 + a[6 + c] * r1 + a[12 + c] * r2


@jit
def prolong(starts, columns, blocks, coarse, x):
    """``x += P coarse``."""
    for i in range(starts.shape[0] - 1):
        s0 = x[3 * i]
        s1 = x[3 * i + 1]
        s2 = x[3 * i + 2]
        for k in range(starts[i], starts[i + 1]):
            j = columns[k]
            a = blocks[k]
            for c in range(6):
                z = coarse[j + c]
                s0 += a[c] * z
                s1 += a[6 + c] * z
                s2 += a[12 + c] * z
        x[3 * i] = s0
        x[3 * i + 1] = s1
        x[3 * i + 2] = s2


class SmoothedAggregation:
    """A V-cycle with one forward and one backward Gauss-Seidel sweep, and a band Cholesky below.

    Aggregates of neighbouring particles move as rigid bodies, smoothed once [VanekMandelBrezina1996]_.
    Solves ``A z = b`` roughly, symmetric and positive definite; same bytes whatever the threads.
    """

    def __init__(
        self, matrix: "csr_array", graph: "csr_array", rest: Array, free: BoolArray, order: IntArray
    ) -> None:
        from scipy.sparse import bsr_array

        n = len(order)
        rows = (3 * order[:, None] + np.arange(3)).ravel()
        matrix = matrix[rows][:, rows].tocsr()
        graph = graph[order][:, order].tocsr()
        groups = np.empty(n, np.int64)
        count = int(_aggregate(graph.indptr, graph.indices, groups))
        inverse = _block_diagonal_inverse(matrix)
        scale = bsr_array((inverse, np.arange(n), np.arange(n + 1)), shape=matrix.shape)
        tentative = _tentative(groups, count, rigid_modes(rest[order], free[order]))
        omega = SMOOTHING / _largest_eigenvalue(matrix, scale)
        prolongation = (tentative - omega * (scale @ (matrix @ tentative))).tocsr()
        self._level(matrix, inverse)
        self._coarse(matrix, prolongation, count)
        self.vector = np.zeros(3 * n, np.float32)
        self.place = np.empty(n, np.int64)
        self.place[order] = 3 * np.arange(n)
        self._b, self._r = np.zeros(3 * n, np.float32), np.zeros(3 * n, np.float32)

    def _level(self, matrix: "csr_array", inverse: Array) -> None:
        blocks = matrix.tobsr((3, 3))
        blocks.sort_indices()
        rows = np.repeat(np.arange(len(inverse)), np.diff(blocks.indptr))
        self._starts = blocks.indptr.astype(np.int32)
        self._columns = (3 * blocks.indices).astype(np.int32)
        self._blocks = blocks.data.reshape(-1, 9).astype(np.float32)
        self._diagonal = np.flatnonzero(blocks.indices == rows).astype(np.int32)
        self._inverse = inverse.reshape(-1, 9).astype(np.float32)
        apart = np.where(blocks.indices > rows, -blocks.indices, blocks.indices)
        back = np.lexsort((apart, blocks.indices > rows, -rows))
        back = back[blocks.indices[back] != rows[back]]
        self._back_starts = np.concatenate([[0], np.cumsum(np.diff(blocks.indptr)[::-1] - 1)]).astype(
            np.int32
        )
        self._back_columns = self._columns[back]
        self._back_blocks = self._blocks[back]

    def _coarse(self, matrix: "csr_array", prolongation: "csr_array", count: int) -> None:
        from scipy.sparse import csr_array, diags_array

        coarse = (prolongation.T @ matrix @ prolongation).tocsr()
        empty = coarse.diagonal() <= 1e-12 * coarse.diagonal().max()
        coarse = coarse + diags_array(np.where(empty, 1.0, 0.0))
        links = coarse.tobsr((6, 6))
        graph = csr_array((np.ones(len(links.indices)), links.indices, links.indptr), shape=(count, count))
        order, width = best_order(graph, [np.arange(count)])
        rows = (6 * order[:, None] + np.arange(6)).ravel()
        self._factor = BandedCholesky(coarse[rows][:, rows], 6 * width + 5)
        place = np.empty(count, np.int64)
        place[order] = self._factor.width + 6 * np.arange(count)
        blocks = prolongation.tobsr((3, 6))
        self._p_starts = blocks.indptr.astype(np.int32)
        self._p_columns = place[blocks.indices].astype(np.int32)
        self._p_blocks = blocks.data.reshape(-1, 18).astype(np.float32)

    def solve(self) -> None:
        """One cycle for the right-hand side in ``vector``, in place."""
        level = self._starts, self._columns, self._blocks, self._diagonal
        transfer = self._p_starts, self._p_columns, self._p_blocks
        b, x, r = self._b, self.vector, self._r
        b[:] = x
        forward_sweep(*level, self._inverse, b, x)
        remainder(*level, x, r)
        coarse = self._factor.vector
        coarse.fill(0.0)
        restrict(*transfer, r, coarse)
        self._factor.solve()
        prolong(*transfer, coarse, x)
        backward_sweep(self._back_starts, self._back_columns, self._back_blocks, self._inverse, b, x)
