"""Linear elasticity of phyxels about the rest shape, as sparse matrices: what implicit steps start from."""

from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.core.typing import Array
from pliant.models.efg import row_layout
from pliant.models.efg.support import MlsSupport

if TYPE_CHECKING:
    from scipy.sparse import bsr_array, csr_array


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


def rest_stiffness(support: MlsSupport, rest: Array, material_rows: Array) -> "bsr_array":
    r"""K0 (3n, 3n) [N/m] of :math:`\sum_i V_i (\mu |\epsilon|^2 + \tfrac\lambda2 tr^2 \epsilon)` and the
    hourglass term, in 3x3 blocks.

    With the sparse matrices :math:`G_c` (n, n) of derivatives along axis c, the block (a, b) is
    :math:`\lambda G_a^T V G_b + \mu G_b^T V G_a + \delta_{ab} (\mu \sum_c G_c^T V G_c + L)`.
    """
    from scipy.sparse import bsr_array, coo_array, csr_array, diags_array

    n, i, j = len(rest), support.rows, support.around
    w = support.weight.astype(float)
    d = rest[j] - rest[i]
    slopes = np.einsum("mab,mb->ma", support.inverse[i], w[:, None] * d)
    own = np.arange(n)

    def matrix(values: Array) -> Any:
        diagonal = -np.bincount(i, values, n)
        entries = (np.concatenate([values, diagonal]), (np.concatenate([i, own]), np.concatenate([j, own])))
        return csr_array(coo_array(entries, shape=(n, n)))

    G = [matrix(slopes[:, c]) for c in range(3)]
    mu, lam = (
        diags_array(material_rows[:, row_layout.V_MU]),
        diags_array(material_rows[:, row_layout.V_LAMBDA] + material_rows[:, row_layout.V_KV]),
    )
    k = material_rows[:, row_layout.K]
    pairs = w * (k[i] + k[j])
    same = csr_array(coo_array((-pairs, (i, j)), shape=(n, n))) + diags_array(np.bincount(i, pairs, n))
    for a in range(3):
        same = same + G[a].T @ mu @ G[a]
        for b in range(3):
            same = same - G[a].T @ diags_array(k * support.moments[:, a, b]) @ G[b]
    blocks = [[lam_part(G, lam, mu, a, b) for b in range(3)] for a in range(3)]
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


def lam_part(G: Any, lam: Any, mu: Any, a: int, b: int) -> Any:
    return G[a].T @ lam @ G[b] + G[b].T @ mu @ G[a]
