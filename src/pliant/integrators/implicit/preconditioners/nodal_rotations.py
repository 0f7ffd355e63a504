"""Nodal rotations: how the surroundings of each particle have turned since rest."""

# mypy: disable-error-code="no-untyped-def"

from typing import TYPE_CHECKING

import numpy as np

from pliant.core.typing import AnyArray, Array, IntArray
from pliant.kernels.jit import SERIAL_ROWS, jit, prange, twin

if TYPE_CHECKING:
    from scipy.sparse import csr_array


@jit
def _rotation(a00, a01, a02, a10, a11, a12, a20, a21, a22, out):
    """Polar rotation by Newton's iteration ``(s A + A^-T / s) / 2``; identity for an inverted matrix."""
    good = True
    for _ in range(10):
        c00 = a11 * a22 - a12 * a21
        c01 = a12 * a20 - a10 * a22
        c02 = a10 * a21 - a11 * a20
        det = a00 * c00 + a01 * c01 + a02 * c02
        size = a00 * a00 + a01 * a01 + a02 * a02 + a10 * a10 + a11 * a11 + a12 * a12
        size += a20 * a20 + a21 * a21 + a22 * a22
        if not det > 1e-3 * size * np.sqrt(size):
            good = False
            break
        c10 = a02 * a21 - a01 * a22
        c11 = a00 * a22 - a02 * a20
        c12 = a01 * a20 - a00 * a21
        c20 = a01 * a12 - a02 * a11
        c21 = a02 * a10 - a00 * a12
        c22 = a00 * a11 - a01 * a10
        other = c00 * c00 + c01 * c01 + c02 * c02 + c10 * c10 + c11 * c11 + c12 * c12
        other += c20 * c20 + c21 * c21 + c22 * c22
        s = 0.5 * np.sqrt(np.sqrt(other / size) / det)
        q = 0.25 / (s * det)
        a00 = s * a00 + q * c00
        a01 = s * a01 + q * c01
        a02 = s * a02 + q * c02
        a10 = s * a10 + q * c10
        a11 = s * a11 + q * c11
        a12 = s * a12 + q * c12
        a20 = s * a20 + q * c20
        a21 = s * a21 + q * c21
        a22 = s * a22 + q * c22
        size = a00 * a00 + a01 * a01 + a02 * a02 + a10 * a10 + a11 * a11 + a12 * a12
        size += a20 * a20 + a21 * a21 + a22 * a22
        if abs(size - 3.0) < 1e-4:
            break
    if good:
        out[0, 0] = a00
        out[0, 1] = a01
        out[0, 2] = a02
        out[1, 0] = a10
        out[1, 1] = a11
        out[1, 2] = a12
        out[2, 0] = a20
        out[2, 1] = a21
        out[2, 2] = a22
    else:
        out[:] = 0.0
        out[0, 0] = out[1, 1] = out[2, 2] = 1.0


@twin
def _rotations(starts, around, slopes, x, out):
    for i in prange(x.shape[0]):
        if starts[i] == starts[i + 1]:
            for a in range(3):
                for b in range(3):
                    out[i, a, b] = 1.0 if a == b else 0.0
            continue
        x0 = x[i, 0]
        x1 = x[i, 1]
        x2 = x[i, 2]
        a00 = a01 = a02 = a10 = a11 = a12 = a20 = a21 = a22 = 0.0
        for k in range(starts[i], starts[i + 1]):
            j = around[k]
            s0 = slopes[k, 0]
            s1 = slopes[k, 1]
            s2 = slopes[k, 2]
            d = x[j, 0] - x0
            a00 += d * s0
            a01 += d * s1
            a02 += d * s2
            d = x[j, 1] - x1
            a10 += d * s0
            a11 += d * s1
            a12 += d * s2
            d = x[j, 2] - x2
            a20 += d * s0
            a21 += d * s1
            a22 += d * s2
        _rotation(a00, a01, a02, a10, a11, a12, a20, a21, a22, out[i])


class NodalRotations:
    r"""Rotations (n, 3, 3) of least-squares deformation gradients,
    :math:`F_i = \sum_j (x_j - x_i) \otimes S_i^{-1} (X_j - X_i)` with
    :math:`S_i = \sum_j (X_j - X_i)(X_j - X_i)^T`.

    Particles without neighbours, or that are ``upright``, keep the identity, as do inverted ones.
    """

    def __init__(self, graph: "csr_array", rest: Array, upright: AnyArray) -> None:
        rows = np.repeat(np.arange(len(rest)), np.diff(graph.indptr))
        keep = ~upright[rows]
        rows, around = rows[keep], graph.indices[keep]
        d = rest[around] - rest[rows]
        spread = np.zeros((len(rest), 3, 3))
        np.add.at(spread, rows, d[:, :, None] * d[:, None, :])
        size = np.trace(spread, axis1=1, axis2=2) / 3.0
        size[size == 0.0] = 1.0
        flat = np.linalg.det(spread / size[:, None, None]) < 1e-6
        spread[flat] = size[flat, None, None] * np.eye(3)
        self.starts = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=len(rest)))])
        self.around = around.astype(np.int32)
        self.slopes = np.einsum("kij,kj->ki", np.linalg.inv(spread)[rows], d).astype(np.float32)
        self.values = np.tile(np.eye(3), (len(rest), 1, 1))

    def update(self, x: Array) -> None:
        """Take the rotations from positions ``x``."""
        self.write(x, self.values)

    def write(self, x: Array, out: Array) -> None:
        """The rotations at positions ``x``, into ``out`` (n, 3, 3)."""
        _rotations[len(x) >= SERIAL_ROWS](self.starts, self.around, self.slopes, x, out)


class SingleAxisRotations:
    """Particles (rows) that may turn about one axis (0, 1, 2) only."""

    def __init__(self, rows: IntArray, axes: IntArray) -> None:
        self.rows, self.axes = rows, axes
        self._next, self._last = (axes + 1) % 3, (axes + 2) % 3

    def straighten(self, turns: Array) -> None:
        """Replace the rotations of the rows in ``turns`` (n, 3, 3) by the nearest ones about their axes."""
        if not len(self.rows):
            return
        rows, a, i, j = self.rows, self.axes, self._next, self._last
        cosine = turns[rows, i, i] + turns[rows, j, j]
        sine = turns[rows, j, i] - turns[rows, i, j]
        size = np.hypot(cosine, sine)
        flat = size < 1e-9
        cosine, sine = np.where(flat, 1.0, cosine), np.where(flat, 0.0, sine)
        size[flat] = 1.0
        turns[rows] = 0.0
        turns[rows, a, a] = 1.0
        turns[rows, i, i] = turns[rows, j, j] = cosine / size
        turns[rows, j, i], turns[rows, i, j] = sine / size, -sine / size
