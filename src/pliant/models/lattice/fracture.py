"""Fracture criteria: which connections break, by element stress or by the printed fracture distance."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from pliant.core.typing import AnyArray, Array, BoolArray, IntArray
from pliant.models.lattice import kernels

if TYPE_CHECKING:
    from pliant.models.lattice.body import LatticeBody

DISC = 0.9  # radius of a cut [spacings]
JOIN = 1.6  # how near broken connections draw a cut into their plane [spacings]
RAISED = 1.3  # strength away from a crack's front, for a while after a break
RAGS = 1.5  # strain of connections at a crack, as a multiple of strength / E, that tears what is left
PATIENCE = 5.0  # that while: so many times a compression wave crosses the body


class StressFracture:
    r"""The element whose largest principal stress exceeds the strength most is cut through, one a step.

    Stress :math:`\sigma = 2 \mu e + \lambda\,\mathrm{tr}\,e` of the least-squares strain. All connections
    through a disc of 0.9 a across the principal direction n, at :math:`X + n a/2` (or behind, where a crack
    runs there), break; an element is cut once, and what is left of it tears when a connection beside the
    crack is strained beyond 1.5 strength / E.
    After a break the stress wave of a crack must not start others: elements that have lost no
    connection bear 1.3 times the strength for as long as five wave crossings.
    """

    def __init__(self, body: "LatticeBody", strength: float) -> None:
        n, material = len(body.structure.rest), body.material
        self.body, self.initial, self.strength = body, strength, np.full(n, strength)
        self.cut, self.front = np.zeros(n, bool), np.zeros(n, bool)
        size = float(np.ptp(body.structure.rest, axis=0).max())
        self.patience = PATIENCE * size / np.sqrt(1.2 * material.young / material.density)
        self.last = -np.inf
        self._stress = np.empty(n)
        own = body.connections
        self._tear()
        self._over = np.zeros(len(own.edges), bool)

    def _tear(self) -> None:
        """The lengths at which connections at a crack tear."""
        own = self.body.connections
        strength = self.strength[own.edges].min(axis=1)
        self._limit = own.born * (1.0 + RAGS * strength / self.body.material.young)

    def set_strength(self, chosen: BoolArray, strength: float) -> None:
        """Give the ``chosen`` elements (n,) a strength [Pa]."""
        self.strength[chosen] = strength
        self._tear()

    def keep(self, elements: IntArray, connections: IntArray) -> None:
        """Go on with these elements and connections alone."""
        self.strength, self.cut = self.strength[elements], self.cut[elements]
        self.front, self._stress = self.front[elements], self._stress[elements]
        self._limit, self._over = self._limit[connections], self._over[connections]

    def grow(self, count: int, order: IntArray) -> None:
        """Take ``count`` more elements; the body has its new connections already."""
        self.strength = np.append(self.strength, np.full(count, self.initial))
        self.cut, self.front = (np.append(old, np.zeros(count, bool)) for old in (self.cut, self.front))
        self._stress = np.empty(len(self.strength))
        self._over = np.zeros(len(order), bool)
        self._tear()

    def step(self, time: float, x: Array) -> IntArray:
        """The connections that break now."""
        body = self.body
        strain = body.strains(x)
        kernels.element_largest_stress(strain, body.lam, body.mu, self._stress)
        limit = self.strength.copy()
        if time - self.last < self.patience:
            limit[~self.front] *= RAISED
        ratio = np.where(self.cut, 0.0, self._stress / limit)
        worst = int(np.argmax(ratio))
        torn = self._rags(x)
        if ratio[worst] <= 1.0:
            return torn
        self.cut[worst] = True
        broken = self._through(worst, strain[worst])
        if len(broken):
            self.last = time
            self.front[body.connections.edges[broken].ravel()] = True
        return np.union1d(broken, torn)

    def _rags(self, x: Array) -> IntArray:
        """Overstrained connections with both ends at the crack."""
        own = self.body.connections
        if not self.front.any() or not kernels.connection_overstretched(
            own.edges, own.intact, self._limit, x, self._over
        ):
            return np.empty(0, np.int64)
        return np.flatnonzero(self._over & self.front[own.edges].all(axis=1))

    def _through(self, element: int, strain: Array) -> IntArray:
        """Intact connections through the disc across the principal direction of ``strain`` (6,)."""
        body = self.body
        xx, yy, zz, yz, xz, xy = strain
        n = np.linalg.eigh(np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]))[1][:, 2]
        n = n * np.sign(n[int(np.argmax(np.abs(n)))])
        first, other, which = body.connections.table
        ring = np.array([element])
        for _ in range(2):
            rows = np.concatenate([np.arange(first[e], first[e + 1]) for e in ring])
            ring = np.unique(np.concatenate([ring, other[rows]]))
        near = np.unique(which[rows])
        whole = body.connections.intact[near]
        ahead, behind = (self._crossing(element, side * n, near) for side in (1.0, -1.0))
        # the side on which a crack already runs, so that it continues in its plane
        away = behind if (behind[~whole] < JOIN).sum() > (ahead[~whole] < JOIN).sum() else ahead
        through: IntArray = near[whole & (away <= DISC)]
        return through

    def _crossing(self, element: int, n: Array, which: IntArray) -> Array:
        """How far from ``X + n a / 2`` connections cross the plane across n there [spacings]; inf: they do
        not."""
        body, a = self.body, self.body.structure.spacing
        X = body.reference
        middle = X[element] + 0.5 * a * n
        i, j = body.connections.edges[which].T
        p, q = (X[i] - middle) @ n, (X[j] - middle) @ n
        crosses = (p > 0.0) != (q > 0.0)
        share = np.where(crosses, p / np.where(crosses, p - q, 1.0), 0.0)
        at = X[i] + share[:, None] * (X[j] - X[i]) - middle
        return np.asarray(np.where(crosses, np.linalg.norm(at, axis=1) / a, np.inf))

    def state(self) -> dict[str, AnyArray]:
        return {
            "cut": self.cut,
            "front": self.front,
            "last-break": np.array(self.last),
            "strength": self.strength,
        }

    def restore(self, state: Mapping[str, AnyArray]) -> None:
        self.cut, self.front = state["cut"].copy(), state["front"].copy()
        self.last = float(state["last-break"])
        self.strength = state["strength"].copy()
        self._tear()


class DistanceFracture:
    """A connection breaks beyond its fracture distance :math:`t = L (1 + strength / E)`.

    Source: [JanssonVergeest2000]_ 3.2.2.
    """

    def __init__(self, body: "LatticeBody", strength: float) -> None:
        self.body, self.initial = body, strength
        self.limit = body.connections.born * (1.0 + strength / body.material.young)
        self._over = np.zeros(len(self.limit), bool)

    def step(self, time: float, x: Array) -> IntArray:
        own = self.body.connections
        if not kernels.connection_overstretched(own.edges, own.intact, self.limit, x, self._over):
            return np.empty(0, np.int64)
        return np.flatnonzero(self._over)

    def keep(self, elements: IntArray, connections: IntArray) -> None:
        """Go on with these elements and connections alone."""
        self.limit, self._over = self.limit[connections], self._over[connections]

    def grow(self, count: int, order: IntArray) -> None:
        """Take more connections, which the body has already: its ones are old ones and new ones in
        ``order``."""
        limit = self.body.connections.born * (1.0 + self.initial / self.body.material.young)
        old = order < len(self.limit)
        limit[old] = self.limit[order[old]]
        self.limit, self._over = limit, np.zeros(len(order), bool)

    def state(self) -> dict[str, AnyArray]:
        return {"limit": self.limit}

    def restore(self, state: Mapping[str, AnyArray]) -> None:
        self.limit = state["limit"].copy()
