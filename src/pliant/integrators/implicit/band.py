"""Band Cholesky in float32: the rest-shape operator of small or slender bodies."""

# mypy: disable-error-code="no-untyped-def"

from typing import Any

import numpy as np

from pliant.compiled import jit
from pliant.typing import AnyArray, IntArray


@jit
def band_solve(down, up, inverse, y):
    """Solve ``L L^T z = y`` in place. y has ``width`` zeros before and after the vector.

    down[j, k] = L[j + 1 + k, j]; up[j, k] = L[j, j - width + k]; both loops add multiples of a row to a
    window of y, which compiles to packed arithmetic in a fixed order.
    """
    n, width = down.shape
    for j in range(n):
        t = y[width + j] * inverse[j]
        y[width + j] = t
        window = y[width + j + 1 : width + j + 1 + width]
        row = down[j]
        for k in range(width):
            window[k] -= t * row[k]
    for k in range(width):
        y[width + n + k] = 0.0
    for j in range(n - 1, -1, -1):
        t = y[width + j] * inverse[j]
        y[width + j] = t
        window = y[j : j + width]
        row = up[j]
        for k in range(width):
            window[k] -= t * row[k]


class BandFactor:
    """``A = L L^T`` of a sparse SPD matrix with half-band ``width``; solves in float32, or float64."""

    def __init__(self, matrix: Any, width: int, precise: bool = False) -> None:
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
        self.width, self.size = max(width, 1), n
        kind: Any = np.float64 if precise else np.float32
        self.inverse = (1.0 / factor[0]).astype(kind)
        self.down = np.zeros((n, self.width), kind)
        self.up = np.zeros((n, self.width), kind)
        for k in range(1, width + 1):
            self.down[: n - k, k - 1] = factor[k, : n - k]
            self.up[k:, self.width - k] = factor[k, : n - k]
        self.vector = np.zeros(n + 2 * self.width, kind)

    def solve(self) -> None:
        """Solve for what is in ``vector[width : width + size]``, in place."""
        band_solve(self.down, self.up, self.inverse, self.vector)


def band_width(graph: Any, order: IntArray) -> int:
    """Largest distance in ``order`` between neighbours of a node graph."""
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    entries = graph.tocoo()
    return int(np.abs(place[entries.row] - place[entries.col]).max()) if entries.nnz else 0


def best_order(graph: Any, tries: list[IntArray]) -> tuple[IntArray, int]:
    """Of reverse Cuthill-McKee and ``tries`` the order with the narrowest band, and its width in nodes."""
    from scipy.sparse.csgraph import reverse_cuthill_mckee

    mckee: AnyArray = reverse_cuthill_mckee(graph.tocsr(), symmetric_mode=True).astype(np.int64)
    found = [(band_width(graph, order), k, order) for k, order in enumerate([mckee, *tries])]
    width, _, order = min(found, key=lambda f: f[:2])
    return order, width
