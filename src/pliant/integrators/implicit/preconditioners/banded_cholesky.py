"""Banded Cholesky factorisation: the factor of small or slender bodies' preconditioners."""

# mypy: disable-error-code="no-untyped-def"

from typing import TYPE_CHECKING

import numpy as np

from pliant.core.typing import AnyArray, IntArray
from pliant.kernels.jit import jit

if TYPE_CHECKING:
    from scipy.sparse import csr_array

PANEL = 8  # columns that are eliminated together


@jit
def band_solve(down, up, inverse, y):
    """Solve ``L L^T z = y`` in place, eight columns at a time; y has ``width`` zeros before and after.

    inverse (p, 8, 8): inverses of the diagonal blocks of L. down[p, c, k] = L[8p + 8 + k, 8p + c];
    up[p, c, k] = L[8p + c, 8p - width + k]. Both passes add eight rows to a window of y, which compiles
    to packed arithmetic in a fixed order (dot products would not, without leave to reorder their sums).
    """
    panels, _, width = down.shape
    t = np.empty(8, y.dtype)
    for p in range(panels):
        j = width + 8 * p
        block = inverse[p]
        for c in range(8):
            s = block[c, 0] * y[j]
            for d in range(1, c + 1):
                s += block[c, d] * y[j + d]
            t[c] = s
        for c in range(8):
            y[j + c] = t[c]
        _add(y[j + 8 : j + 8 + width], down[p], t)
    for k in range(width):
        y[width + 8 * panels + k] = 0.0
    for p in range(panels - 1, -1, -1):
        j = width + 8 * p
        block = inverse[p]
        for c in range(8):
            s = block[7, c] * y[j + 7]
            for d in range(6, c - 1, -1):
                s += block[d, c] * y[j + d]
            t[c] = s
        for c in range(8):
            y[j + c] = t[c]
        _add(y[j - width : j], up[p], t)


@jit
def _add(window, rows, t):
    a = rows[0]
    b = rows[1]
    c = rows[2]
    d = rows[3]
    e = rows[4]
    f = rows[5]
    g = rows[6]
    h = rows[7]
    t0 = t[0]
    t1 = t[1]
    t2 = t[2]
    t3 = t[3]
    t4 = t[4]
    t5 = t[5]
    t6 = t[6]
    t7 = t[7]
    for k in range(window.shape[0]):
        first = (t0 * a[k] + t1 * b[k]) + (t2 * c[k] + t3 * d[k])
        second = (t4 * e[k] + t5 * f[k]) + (t6 * g[k] + t7 * h[k])
        window[k] -= first + second


class BandedCholesky:
    """``A = L L^T`` of a sparse SPD matrix with half-band ``width``; solves in float32, or float64."""

    def __init__(self, matrix: "csr_array", width: int, precise: bool = False) -> None:
        from scipy.linalg import LinAlgError, cholesky_banded

        n = matrix.shape[0]
        lower = matrix.tocoo()
        keep = lower.row >= lower.col
        row, column, data = lower.row[keep], lower.col[keep], lower.data[keep]
        band = np.zeros((width + 1, n))
        np.add.at(band, (row - column, column), data)
        diagonal = band[0].copy()
        for shift in (0.0, 1e-7, 1e-5, 1e-3, 1e-1):
            try:
                band[0] = diagonal * (1.0 + shift)
                factor = cholesky_banded(band, lower=True, check_finite=False)
                break
            except LinAlgError:
                continue
        else:
            factor = np.zeros_like(band)
            factor[0] = np.sqrt(np.abs(diagonal))
        self._pack(factor, max(width, 1), np.float64 if precise else np.float32)

    def _pack(self, factor: AnyArray, width: int, kind: type[np.float32] | type[np.float64]) -> None:
        """Lay the factor (width + 1, n) out in panels; the last one is filled up with the identity."""
        n, panels = factor.shape[1], -(-factor.shape[1] // PANEL)
        self.width, self.size = width, n
        self.down = np.zeros((panels, PANEL, width), kind)
        self.up = np.zeros((panels, PANEL, width), kind)
        blocks = np.tile(np.eye(PANEL), (panels, 1, 1))
        for k in range(len(factor)):
            column = np.arange(n - k)
            row = column + k
            same = row // PANEL == column // PANEL
            c, r = column[same], row[same]
            blocks[r // PANEL, r % PANEL, c % PANEL] = factor[k, c]
            c, r = column[~same], row[~same]
            self.down[c // PANEL, c % PANEL, r - PANEL * (c // PANEL + 1)] = factor[k, c]
            self.up[r // PANEL, r % PANEL, c - PANEL * (r // PANEL) + width] = factor[k, c]
        self.inverse = np.linalg.inv(blocks).astype(kind)
        self.vector = np.zeros(PANEL * panels + 2 * width, kind)

    def solve(self) -> None:
        """Solve for what is in ``vector[width : width + size]``, in place."""
        self.vector[: self.width] = 0.0
        self.vector[self.width + self.size :] = 0.0
        band_solve(self.down, self.up, self.inverse, self.vector)


def band_width(graph: "csr_array", order: IntArray) -> int:
    """Largest distance in ``order`` between neighbours of a node graph."""
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    entries = graph.tocoo()
    return int(np.abs(place[entries.row] - place[entries.col]).max()) if entries.nnz else 0


def best_order(graph: "csr_array", tries: list[IntArray]) -> tuple[IntArray, int]:
    """Of reverse Cuthill-McKee and ``tries`` the order with the narrowest band, and its width in nodes."""
    from scipy.sparse.csgraph import reverse_cuthill_mckee

    mckee: AnyArray = reverse_cuthill_mckee(graph.tocsr(), symmetric_mode=True).astype(np.int64)
    found = [(band_width(graph, order), k, order) for k, order in enumerate([mckee, *tries])]
    width, _, order = min(found, key=lambda f: f[:2])
    return order, width
