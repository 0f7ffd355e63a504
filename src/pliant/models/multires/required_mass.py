"""The masses that the tets of a level ask of its nodes, so that its step is stable."""

# mypy: disable-error-code="no-untyped-def"

import numpy as np

from pliant.core.typing import Array, IntArray
from pliant.kernels.jit import jit
from pliant.models.multires.levels import Level


def required_masses(level: Level, tets: IntArray, weight: Array) -> Array:
    """Masses (n,) with which no node, moving alone, is quicker than the quickest motion of the whole level:
    what the listed tets, which count by their ``weight``, ask of their corners."""
    counts, blocks = np.zeros(level.count), np.zeros((level.count, 3, 3))
    _add_counted(
        tets, level.tets, level.gradients, level.volumes, weight, level.lam, level.mu, counts, blocks
    )
    stiffest = np.where(counts > 0.0, level.firmness, 0.0)
    some = np.flatnonzero((counts > 0.0) & (counts < np.diff(level.around_first) - 1e-9))
    stiffest[some] = np.linalg.eigvalsh(blocks[some])[:, -1]
    return np.asarray(stiffest * (0.5 * level.critical) ** 2)


@jit
def _add_counted(tets, corners, gradients, volumes, weight, lam, mu, counts, blocks):
    """Add the weights of the listed tets to ``counts`` (n,) of their corners, and stiffnesses to the corners'
    own ``blocks`` (n, 3, 3)."""
    for k in range(tets.shape[0]):
        t = tets[k]
        part = weight[t] * volumes[t]
        for q in range(4):
            i = corners[t, q]
            g = gradients[t, q]
            counts[i] += weight[t]
            along = mu * (g[0] * g[0] + g[1] * g[1] + g[2] * g[2])
            for a in range(3):
                blocks[i, a, a] += part * along
                for b in range(3):
                    blocks[i, a, b] += part * (lam + mu) * g[a] * g[b]
