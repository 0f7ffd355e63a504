"""Mass that particles lend to neighbours which would otherwise move too quickly for explicit steps."""

# mypy: disable-error-code="no-untyped-def"

import numpy as np
from scipy import sparse

from pliant.core.typing import Array, IntArray
from pliant.kernels.jit import jit

ROUNDS = 8
QUICK = 0.4  # of the period of half of all particles, moving alone: what evened ones have at least
MOST = 10.0  # times its own mass is what an evened particle has

Loans = tuple[IntArray, IntArray, Array]
NONE: Loans = (np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0))


def scale_tet_masses(points: Array, tets: IntArray, amounts: Array, mass: Array) -> Array:
    """Apply ``scale_masses`` to the vertices of tets. Their stiffness is the largest eigenvalue of the sum of
    ``V (g g^T + 1/2 |g|^2)`` over their tets, g the gradient of a shape function (``lam = mu``).

    amounts (m,): for V, the tets' volumes, or masses where densities differ, so that light regions do not
    borrow from heavy ones.
    """
    rows, columns = np.repeat(tets, 4, axis=1).ravel(), np.tile(tets, (1, 4)).ravel()
    around = sparse.csr_array((np.ones(len(rows)), (rows, columns)), shape=(len(points), len(points)))
    neighbours = around.indptr.astype(np.int64), around.indices.astype(np.int64)
    return scale_masses(mass, _stiffness(points, tets, amounts), *neighbours)


def scale_masses(mass: Array, stiffness: Array, first: IntArray, columns: IntArray) -> Array:
    """Masses (n,) with the same sum, of which corners of flat tets have more than their own.

    A particle that moves alone has ``omega^2 = stiffness / mass``. Meshers that cut tets along surfaces leave
    some flat ones there: a few particles in a thousand then ask for steps a fifth as long as all others do.
    stiffness (n,): up to a factor; first, columns: neighbours as sparse rows, each with its own particle.
    """
    needed = np.minimum(QUICK**2 * np.median(mass / stiffness) * stiffness, MOST * mass)
    if (mass >= needed).all():
        return mass
    found = mass.copy()[:, None]
    apply_transfers(transfers(needed, mass, first, columns), found)
    return np.asarray(found[:, 0])


def _stiffness(points: Array, tets: IntArray, amounts: Array) -> Array:
    """Largest stiffness (n,) of every particle where all others stay, up to a modulus."""
    corners = points[tets]
    inverse = np.linalg.inv(corners[:, 1:] - corners[:, :1]).transpose(0, 2, 1)
    g = np.concatenate([-inverse.sum(axis=1, keepdims=True), inverse], axis=1)
    blocks = g[..., :, None] * g[..., None, :]
    blocks += 0.5 * np.einsum("mqc,mqc->mq", g, g)[..., None, None] * np.eye(3)
    blocks *= amounts[:, None, None, None]
    total = np.zeros((len(points), 3, 3))
    for a, b in np.ndindex(3, 3):
        total[:, a, b] = np.bincount(tets.ravel(), blocks[..., a, b].ravel(), len(points))
    return np.asarray(np.linalg.eigvalsh(total)[:, -1])


def transfers(needed: Array, mass: Array, first: IntArray, columns: IntArray) -> Loans:
    """Moves of mass between neighbours, so that all have what is ``needed``, as far as it goes; neighbours
    are sparse rows, each with its own particle."""
    found: Loans = _lent(needed, mass.copy(), first, columns)
    return found


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
def apply_transfers(loans, values):
    """Make the moves of ``transfers`` with values (n, c) that go with the mass."""
    getting, giving, shares = loans
    for e in range(getting.shape[0]):
        for c in range(values.shape[1]):
            given = shares[e] * values[giving[e], c]
            values[giving[e], c] -= given
            values[getting[e], c] += given
