"""Supports of phyxels: neighbours, weights, the moment matrices of least squares, and the linear stiffness at
rest that follows from them."""

# mypy: disable-error-code="no-untyped-def"

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pliant.core.errors import IncompatibleError
from pliant.core.typing import AnyArray, Array, BoolArray, IntArray
from pliant.kernels.jit import jit
from pliant.models.efg import mls_kernels
from pliant.models.efg.mls_kernels import neighbour_moments

if TYPE_CHECKING:
    from scipy.sparse import bsr_array, csr_array

    from pliant.models.efg.model import Efg

FLAT = 0.05  # directions with less than this share of the largest moment count as not sampled
NONE = 1e-9  # and with less than this, as having no neighbours
WIDER, TRIES = 1.15, 16
MOST_CELLS = 4_000_000  # of the search for neighbours
SIX = ((0, 0), (1, 1), (2, 2), (1, 2), (0, 2), (0, 1))


@dataclass
class MlsSupport:
    r"""Pairs in CSR rows, their weights, and the inverse moment matrices.

    h (n,) [m]; starts (n + 1,), around (m,) uint32, weight (m,) float32;
    sums (n, 10): over the pairs of each row, the moments :math:`A_i = \sum_j w_{ij} X_{ij} X_{ij}^T` (six, as
    ``SIX``), :math:`w X` and w; inverse (n, 3, 3) of the moments, in which directions without any neighbours
    are left out;
    projector (n, 3, 3): onto the directions that the neighbours sample well, the identity nearly always;
    flat (n,): where it is not. Stresses act within these directions, the hourglass term everywhere: a fit
    that left any lever out would see a rotation as strain.
    """

    h: Array
    starts: IntArray
    around: AnyArray
    weight: AnyArray
    sums: Array
    inverse: Array
    projector: Array
    flat: BoolArray

    @property
    def rows(self) -> IntArray:
        """The phyxel i of each pair (i, j), (m,)."""
        return np.repeat(np.arange(len(self.h)), np.diff(self.starts))

    @property
    def moments(self) -> Array:
        """A (n, 3, 3)."""
        return full(self.sums)

    @property
    def mean_neighbours(self) -> float:
        return len(self.around) / len(self.h)


@jit
def _cells(x, low, size, dims, out):
    for i in range(x.shape[0]):
        key = 0
        for c in range(3):
            key = key * dims[c] + min(dims[c] - 1, max(0, int((x[i, c] - low[c]) / size)))
        out[i] = key


@jit
def _row(i, x, h, most, low, size, dims, first, order, out, at, write):
    """Neighbours of ``i``: j with ``|x_ij| < (h_i + h_j) / 2``; their number, written at ``out[at:]``."""
    reach = 0.5 * (h[i] + most)
    a0 = max(0, int((x[i, 0] - reach - low[0]) / size))
    b0 = min(dims[0] - 1, int((x[i, 0] + reach - low[0]) / size))
    a1 = max(0, int((x[i, 1] - reach - low[1]) / size))
    b1 = min(dims[1] - 1, int((x[i, 1] + reach - low[1]) / size))
    a2 = max(0, int((x[i, 2] - reach - low[2]) / size))
    b2 = min(dims[2] - 1, int((x[i, 2] + reach - low[2]) / size))
    count = 0
    for p in range(a0, b0 + 1):
        for q in range(a1, b1 + 1):
            line = (p * dims[1] + q) * dims[2]
            for k in range(first[line + a2], first[line + b2 + 1]):
                j = order[k]
                d0, d1, d2 = x[j, 0] - x[i, 0], x[j, 1] - x[i, 1], x[j, 2] - x[i, 2]
                pair = 0.5 * (h[i] + h[j])
                if j != i and d0 * d0 + d1 * d1 + d2 * d2 < pair * pair * (1.0 - 1e-9):
                    if write:
                        out[at + count] = j
                    count += 1
    return count


@jit
def _search(x, h, most, low, size, dims, first, order):
    n = x.shape[0]
    starts = np.zeros(n + 1, np.int64)
    none = np.zeros(1, np.uint32)
    for i in range(n):
        starts[i + 1] = starts[i] + _row(i, x, h, most, low, size, dims, first, order, none, 0, False)
    around = np.empty(starts[n], np.uint32)
    for i in range(n):
        _row(i, x, h, most, low, size, dims, first, order, around, starts[i], True)
        around[starts[i] : starts[i + 1]].sort()
    return starts, around


def neighbours(x: Array, h: Array) -> tuple[IntArray, AnyArray]:
    """CSR rows (starts, around) of the pairs with ``|x_ij| < (h_i + h_j) / 2``, both ways round, sorted.

    x (n, 3) [m], h (n,) [m]. Cells are half the largest support wide, or wider where that makes too many.
    """
    low, extent = x.min(axis=0), np.ptp(x, axis=0)
    size = 0.5 * float(h.max())
    while np.prod(np.floor(extent / size) + 1.0) > MOST_CELLS:
        size *= 1.5
    dims = (np.floor(extent / size) + 1.0).astype(np.int64)
    cell = np.empty(len(x), np.int64)
    _cells(x, low, size, dims, cell)
    order = np.argsort(cell, kind="stable")
    first = np.searchsorted(cell[order], np.arange(int(np.prod(dims)) + 1))
    starts, around = _search(x, h, float(h.max()), low, size, dims, first, order)
    return starts, around


def poly6(r2: Array, h: Array, unit: float) -> AnyArray:
    r"""The poly-6 kernel, [Stegmayr2008]_ eq. (3.15), in units of its peak for ``h = unit``.

    .. math:: w = (u/h)^3 (1 - r^2 / h^2)^3.

    Single precision is enough: any weights that are the same both ways round reproduce linear fields
    exactly, and a quarter fewer bytes a pair is a quarter faster.
    """
    weights: AnyArray = (unit / h) ** 3 * np.maximum(1.0 - r2 / (h * h), 0.0) ** 3
    return weights.astype(np.float32)


def supports(rest: Array, model: "Efg", spacing: float) -> Array:
    """Support radii h (n,) [m]: ``reach`` times the mean distance of the nearest phyxels, or fixed."""
    if model.support == "radius":
        return np.full(len(rest), model.radius if model.radius is not None else model.reach * 1.2 * spacing)
    from scipy.spatial import cKDTree

    count = min(model.nearest, len(rest) - 1)
    distance = np.asarray(cKDTree(rest).query(rest, k=count + 1)[0])[:, 1:]
    return np.asarray(model.reach * distance.mean(axis=1))


def make_support(rest: Array, h: Array, widen: bool) -> MlsSupport:
    """The support of phyxels at ``rest``; where neighbours do not span space, h grows until they do.

    Without ``widen`` such a place is an error.
    """
    for _ in range(TRIES):
        found = connect(rest, h)
        if not found.flat.any():
            return found
        if not widen:
            worst = int(np.argmax(found.flat))
            raise IncompatibleError(
                f"Particle {worst} has too few others within its support of {h[worst]:.3g} m.",
                hint="Give a larger radius, or support = 'nearest'.",
            )
        h = np.where(found.flat, WIDER * h, h)
    return found


def connect(rest: Array, h: Array, unit: float | None = None) -> MlsSupport:
    """Neighbours, weights and moments for radii ``h``; unit: see ``poly6``, their mean where not given."""
    starts, around = neighbours(rest, h)
    rows = np.repeat(np.arange(len(h)), np.diff(starts))
    d = rest[around] - rest[rows]
    weight = poly6(np.einsum("mi,mi->m", d, d), 0.5 * (h[rows] + h[around]), unit or float(h.mean()))
    return weighted(rest, h, starts, around, weight)


def weighted(
    rest: Array,
    h: Array,
    starts: IntArray,
    around: AnyArray,
    weight: AnyArray,
    known: MlsSupport | None = None,
) -> MlsSupport:
    """The support with given pairs and weights. ``known``: one with the same pairs, whose rows are taken over
    where they have the same moments."""
    n = len(h)
    sums = np.empty((n, 10))
    neighbour_moments(starts, around, weight, rest, sums)
    if known is not None:
        new = np.flatnonzero((sums != known.sums).any(axis=1))
        inverse, projector, flat = known.inverse.copy(), known.projector.copy(), known.flat.copy()
    else:
        new = np.arange(n)
        inverse, projector, flat = np.empty((n, 3, 3)), np.empty((n, 3, 3)), np.empty(n, bool)
    moments = full(sums[new])
    values, vectors = np.linalg.eigh(moments)
    sampled = values > FLAT * np.maximum(values[:, 2:], 1e-300)
    flat[new] = lost = ~sampled.all(axis=1)
    inverse[new] = np.linalg.inv(np.where(lost[:, None, None], np.eye(3), moments))
    projector[new] = np.eye(3)
    if lost.any():
        v, s = vectors[lost], sampled[lost]
        there = values[lost] > NONE * np.maximum(values[lost, 2:], 1e-300)
        over = np.where(there, 1.0 / np.where(there, values[lost], 1.0), 0.0)
        inverse[new[lost]] = np.einsum("nik,nk,njk->nij", v, over, v)
        projector[new[lost]] = np.einsum("nik,nk,njk->nij", v, s.astype(float), v)
    return MlsSupport(h, starts, around, weight, sums, inverse, projector, flat)


def full(six: Array) -> Array:
    """Symmetric matrices (n, 3, 3) from their entries in the order of ``SIX``, (n, 6 or more)."""
    out = np.empty((len(six), 3, 3))
    for c, (a, b) in enumerate(SIX):
        out[:, a, b] = out[:, b, a] = six[:, c]
    return out


def neighbour_graph(support: MlsSupport) -> "csr_array":
    """Pairs with a neighbour in common, or that are neighbours, as a CSR pattern (n, n)."""
    from scipy.sparse import csr_array, eye_array

    n = len(support.h)
    near = csr_array((np.ones(len(support.around), np.int32), support.around, support.starts), shape=(n, n))
    near = (near + eye_array(n, dtype=np.int32)).tocsr()
    graph: csr_array = (near @ near).tocsr()
    graph.setdiag(0)
    graph.eliminate_zeros()
    graph.data = np.ones(len(graph.data), np.int8)
    return graph


class FitMatrices(NamedTuple):
    """Sparse matrices (n, n) of the least-squares fits: ``slopes`` and ``sampled`` (within the directions
    that neighbours sample) turn a component of the displacement into its derivatives along the three axes;
    ``hourglass`` [N/m] is the stiffness of a component against what the fits leave out."""

    slopes: list[Any]
    sampled: list[Any]
    hourglass: Any


def fit_matrices(support: MlsSupport, rest: Array, k: Array) -> FitMatrices:
    """The matrices of ``support`` at ``rest`` with hourglass stiffnesses ``k`` (n,)."""
    from scipy.sparse import coo_array, csr_array, diags_array

    n, i, j = len(rest), support.rows, support.around
    w = support.weight.astype(float)
    d = rest[j] - rest[i]
    slopes = np.einsum("mab,mb->ma", support.inverse[i], w[:, None] * d)
    projected = np.einsum("mab,mb->ma", support.projector[i], slopes)
    own = np.arange(n)

    def matrix(values: Array) -> Any:
        diagonal = -np.bincount(i, values, n)
        entries = (np.concatenate([values, diagonal]), (np.concatenate([i, own]), np.concatenate([j, own])))
        return csr_array(coo_array(entries, shape=(n, n)))

    whole_fit, sampled = ([matrix(each[:, c]) for c in range(3)] for each in (slopes, projected))
    pairs = w * (k[i] + k[j])
    hourglass = csr_array(coo_array((-pairs, (i, j)), shape=(n, n))) + diags_array(np.bincount(i, pairs, n))
    for a in range(3):
        for b in range(3):
            share = diags_array(k * support.moments[:, a, b])
            hourglass = hourglass - whole_fit[a].T @ share @ whole_fit[b]
    return FitMatrices(whole_fit, sampled, hourglass)


def rest_stiffness(support: MlsSupport, rest: Array, material_rows: Array) -> "bsr_array":
    r"""K0 (3n, 3n) [N/m] of :math:`\sum_i V_i (\mu |\epsilon|^2 + \tfrac\lambda2 tr^2 \epsilon)` and the
    hourglass term, in 3x3 blocks.

    With the sparse matrices :math:`G_c` (n, n) of derivatives along axis c, the block (a, b) is
    :math:`\lambda G_a^T V G_b + \mu G_b^T V G_a + \delta_{ab} (\mu \sum_c G_c^T V G_c + L)`.
    """
    from scipy.sparse import bsr_array, coo_array, diags_array

    n = len(rest)
    mu, lam = (
        diags_array(material_rows[:, mls_kernels.V_MU]),
        diags_array(material_rows[:, mls_kernels.V_LAMBDA] + material_rows[:, mls_kernels.V_KV]),
    )
    _, G, same = fit_matrices(support, rest, material_rows[:, mls_kernels.K])
    for a in range(3):
        same = same + G[a].T @ mu @ G[a]
    blocks = [[G[a].T @ lam @ G[b] + G[b].T @ mu @ G[a] for b in range(3)] for a in range(3)]
    for a in range(3):
        blocks[a][a] = blocks[a][a] + same
    rows, across, data = [], [], []
    for a in range(3):
        for b in range(3):
            block = blocks[a][b].tocoo()
            rows.append(3 * block.row + a)
            across.append(3 * block.col + b)
            data.append(block.data)
    entries = (np.concatenate(data), (np.concatenate(rows), np.concatenate(across)))
    whole = coo_array(entries, shape=(3 * n, 3 * n)).tocsr()
    return bsr_array(0.5 * (whole + whole.T), blocksize=(3, 3))
