"""The stiffness of the bodies in their rest shape, as one sparse matrix."""

# mypy: disable-error-code="no-untyped-def"

from typing import TYPE_CHECKING

import numpy as np

from pliant.core.typing import Array, IntArray
from pliant.interfaces import Tangent
from pliant.kernels.jit import jit

if TYPE_CHECKING:
    from scipy.sparse import bsr_array, csr_array

    from pliant.state.world import BodyState


def neighbour_graph(part: "BodyState") -> "csr_array":
    """Which particles act on each other, as a CSR matrix (n, n) without the diagonal: the model's own graph,
    or those that share a cell."""
    from scipy.sparse import coo_array

    own = part.mechanics.neighbour_graph()
    if own is not None:
        return own
    n, rows, columns = part.count, [], []
    for name, cells in part.structure.cells.items():
        if name == "triangle" and len(part.structure.cells) > 1:
            continue
        for a in range(cells.shape[1]):
            for b in range(cells.shape[1]):
                if a != b:
                    rows.append(cells[:, a])
                    columns.append(cells[:, b])
    if not rows:
        return coo_array((n, n)).tocsr()
    i, j = np.concatenate(rows), np.concatenate(columns)
    graph = coo_array((np.ones(len(i), np.int8), (i, j)), shape=(n, n)).tocsr()
    graph.data[:] = 1
    return graph


@jit
def _colours(starts, around, out):
    """Greedy colouring in which particles with a common neighbour differ; returns the number of colours."""
    n = out.shape[0]
    seen = np.full(n + 1, -1)
    most = 0
    for i in range(n):
        for a in range(starts[i], starts[i + 1]):
            j = around[a]
            if out[j] >= 0:
                seen[out[j]] = i
            for b in range(starts[j], starts[j + 1]):
                if out[around[b]] >= 0:
                    seen[out[around[b]]] = i
        colour = 0
        while seen[colour] == i:
            colour += 1
        out[i] = colour
        most = max(most, colour + 1)
    return most


def differenced_stiffness(part: "BodyState", graph: "csr_array", x: Array | None = None) -> "csr_array":
    """``-df/dx`` at ``x`` (n, 3) (default: at rest) by central differences of forces, for any model whose
    cells show which particles act on each other.

    Particles of one colour have no neighbour in common, so one pair of force evaluations per colour and
    axis gives all their columns [CurtisPowellReid1974]_.
    """
    from scipy.sparse import coo_array, eye_array

    rest, mechanics = part.structure.rest if x is None else x, part.mechanics
    n = part.count
    pattern = (graph + eye_array(n, format="csr", dtype=np.int8)).tocoo()
    colours = np.full(n, -1)
    count = _colours(graph.indptr, graph.indices, colours)
    eps = 1e-5 * part.structure.spacing
    still, ahead, behind = (np.zeros_like(rest) for _ in range(3))
    colour_of = colours[pattern.col]
    order = np.argsort(colour_of, kind="stable")
    edges = np.searchsorted(colour_of[order], np.arange(count + 1))
    rows, columns, data = [], [], []
    for colour in range(count):
        own = order[edges[colour] : edges[colour + 1]]
        i, j = pattern.row[own], pattern.col[own]
        for axis in range(3):
            step = np.zeros_like(rest)
            step[colours == colour, axis] = eps
            ahead.fill(0.0)
            behind.fill(0.0)
            mechanics.add_forces(rest + step, still, ahead)
            mechanics.add_forces(rest - step, still, behind)
            block = (behind[i] - ahead[i]) / (2.0 * eps)
            for c in range(3):
                rows.append(3 * i + c)
                columns.append(3 * j + axis)
                data.append(block[:, c])
    shape = (3 * n, 3 * n)
    matrix = coo_array(
        (np.concatenate(data), (np.concatenate(rows), np.concatenate(columns))), shape=shape
    ).tocsr()
    return 0.5 * (matrix + matrix.T)


def rest_stiffness(part: "BodyState", graph: "csr_array") -> "bsr_array | csr_array":
    """K0 [N/m], (3n, 3n) sparse: the model's own where it has one, otherwise by differences."""
    own = part.mechanics.offer(Tangent)
    return own.rest_stiffness() if own is not None else differenced_stiffness(part, graph)


def longest_axis_order(rest: Array) -> IntArray:
    """Particles sorted along the longest extent, then the next: a short band for slender bodies."""
    first, second, third = np.argsort(rest.max(axis=0) - rest.min(axis=0))[::-1]
    digits = np.round(rest / max(float(np.ptp(rest)), 1e-300), 6)
    return np.lexsort((digits[:, third], digits[:, second], digits[:, first]))
