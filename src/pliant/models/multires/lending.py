"""Mass that nodes lend to neighbours which would otherwise move too quickly for the step."""

# mypy: disable-error-code="no-untyped-def"

import numpy as np

from pliant.compiled import jit
from pliant.models.multires.levels import Level
from pliant.typing import Array, IntArray

ROUNDS = 8

Loans = tuple[IntArray, IntArray, Array]
NONE: Loans = (np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0))


def lent(level: Level, mass: Array, needed: Array) -> Loans:
    """Moves of mass between neighbours, so that all have at least what is ``needed``, as far as it goes."""
    found: Loans = _lent(needed, mass.copy(), level.first, level.columns)
    return found


def asked(level: Level, tets: IntArray, weight: Array) -> Array:
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


@jit
def _lent(needed, mass, first, columns):
    """Moves of mass to nodes with less than they need from neighbours with more: who gets, who gives, and the
    share of what it has then that each gives. Where a node and its neighbours have too little together,
    all get the same share of what they need; next time round, theirs may help."""
    getting, giving, shares = [0 for _ in range(0)], [0 for _ in range(0)], [0.0 for _ in range(0)]
    for _ in range(ROUNDS):
        all_have = True
        for i in range(mass.shape[0]):
            if mass[i] >= needed[i]:
                continue
            all_have = False
            there, wanted = 0.0, 0.0
            for e in range(first[i], first[i + 1]):
                there += mass[columns[e]]
                wanted += needed[columns[e]]
            level = min(max(there / wanted, 0.0), 1.0)
            spare = 0.0
            for e in range(first[i], first[i + 1]):
                spare += max(mass[columns[e]] - level * needed[columns[e]], 0.0)
            lacking = level * needed[i] - mass[i]
            if lacking <= 0.0 or spare <= 0.0:
                continue
            for e in range(first[i], first[i + 1]):
                j = columns[e]
                given = min(lacking / spare, 1.0) * (mass[j] - level * needed[j])
                if j != i and given > 0.0:
                    getting.append(i)
                    giving.append(j)
                    shares.append(given / mass[j])
                    mass[j] -= given
                    mass[i] += given
        if all_have:
            break
    return np.array(getting, np.int64), np.array(giving, np.int64), np.array(shares, np.float64)


@jit
def lend(loans, values):
    """Make the moves of ``lent`` with values (n, c) that go with the mass."""
    getting, giving, shares = loans
    for e in range(getting.shape[0]):
        for c in range(values.shape[1]):
            given = shares[e] * values[giving[e], c]
            values[giving[e], c] -= given
            values[getting[e], c] += given
