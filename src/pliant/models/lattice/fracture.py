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
STEEP = 0.2  # least cosine between a connection and the normal of its crack that counts
EARLY = 0.5  # of the strength: where a connection begins to soften at the latest
BRITTLE = 0.1  # least opening at which nothing holds any more [strength a / E]
PATIENCE = 5.0  # that while: so many times a compression wave crosses the body


class StressFracture:
    r"""The element whose largest principal stress exceeds the strength most is cut through, one a step.

    Stress :math:`\sigma = 2 \mu e + \lambda\,\mathrm{tr}\,e` of the least-squares strain. All connections
    through a disc of 0.9 a across the principal direction n, at :math:`X + n a/2` (or behind, where a crack
    runs there), begin to soften (``SofteningConnections``) and leave the strains of their elements; when
    nothing is left of their stiffness they break, at most once in the time a/c that a wave takes for a
    spacing: surfaces and contacts change then. An element is cut once; what is left of it softens when a
    connection beside the crack is strained beyond 1.5 strength / E.

    A connection at an angle of cosine c to n softens from its present stretch on, at least from
    :math:`\tfrac12 L\,\mathrm{strength}/E\,((1 + \nu) c^2 - \nu)`, and is open after :math:`c\,\delta_f`,
    :math:`\delta_f = 2 G_c/\mathrm{strength} - a\,\mathrm{strength}/E`, so that a crack takes the toughness
    :math:`G_c` for its area. Without a toughness it is :math:`\mathrm{strength}^2 a/E`.

    After a break the stress wave of a crack must not start others: elements that have lost no
    connection bear 1.3 times the strength for as long as five wave crossings.
    """

    def __init__(self, body: "LatticeBody", strength: float) -> None:
        n, material = len(body.structure.rest), body.material
        self.body, self.initial, self.strength = body, strength, np.full(n, strength)
        self.cut, self.front = np.zeros(n, bool), np.zeros(n, bool)
        size = float(np.ptp(body.structure.rest, axis=0).max())
        self.patience = PATIENCE * size / np.sqrt(1.2 * material.young / material.density)
        self.last = self.opened = -np.inf  # when a crack was seen to begin or run on, and to open
        wave = np.sqrt((body.lam + 2.0 * body.mu) / material.density)
        self.pause = body.structure.spacing / float(wave)
        self.diagnostic = ""
        self._stress = np.empty(n)
        self._tear()
        self._over = np.zeros(len(body.connections.edges), bool)
        self._warn(strength)

    def _warn(self, strength: float) -> None:
        """Report a toughness that elements of this size cannot have."""
        m, a = self.body.material, self.body.structure.spacing
        if (
            m.toughness is not None
            and 2.0 * m.toughness / strength < (1.0 + BRITTLE) * strength * a / m.young
        ):
            largest = 2.0 * m.toughness * m.young / strength**2 / (1.0 + BRITTLE)
            self.diagnostic = (
                f"elements of {a:.3g} m store more energy when they break than the toughness takes: "
                f"an edge below {largest:.3g} m would do"
            )

    def _tear(self) -> None:
        """The lengths at which connections at a crack tear."""
        own = self.body.connections
        strength = self.strength[own.edges].min(axis=1)
        self._limit = own.born * (1.0 + RAGS * strength / self.body.material.young)

    def set_strength(self, chosen: BoolArray, strength: float | Array) -> None:
        """Give the ``chosen`` elements (n,) a strength [Pa], one for all or one each."""
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

    def opening(self, strength: Array) -> Array:
        """Openings [m] at which nothing holds material of ``strength`` [Pa] together any more."""
        m, a = self.body.material, self.body.structure.spacing
        elastic = strength * a / m.young
        if m.toughness is None:
            return elastic
        return np.asarray(np.maximum(2.0 * m.toughness / strength - elastic, BRITTLE * elastic))

    def step(self, time: float, x: Array) -> IntArray:
        """Let connections begin to soften where the stress is too high; those that have opened now."""
        if (worst := self._worst(time, x)) is not None:
            element, strain = worst
            self.cut[element] = True
            if self._soften(*self._through(element, strain), x):
                self.last = time
        self._soften(*self._rags(x), x)
        if time - self.opened < (1.0 - 1e-9) * self.pause:
            return np.empty(0, np.int64)
        open_now = self.body.softening.opened()
        self.opened = time if len(open_now) else self.opened
        return open_now

    def _worst(self, time: float, x: Array) -> tuple[int, Array] | None:
        """The element that is to be cut now, and its strain (6,)."""
        body = self.body
        strain = body.strains(x)
        kernels.element_largest_stress(strain, body.lam, body.mu, self._stress)
        limit = self.strength.copy()
        if time - self.last < self.patience:
            limit[~self.front] *= RAISED
        ratio = np.where(self.cut, 0.0, self._stress / limit)
        worst = int(np.argmax(ratio))
        return (worst, strain[worst]) if ratio[worst] > 1.0 else None

    def _soften(self, which: IntArray, cosines: Array, x: Array) -> bool:
        """Let connections soften, which are at angles with these ``cosines`` to the crack; True if any."""
        if not len(which):
            return False
        body, own = self.body, self.body.connections
        i, j = own.edges[which].T
        lengths, strength = own.lengths_of(which), self.strength[own.edges[which]].min(axis=1)
        nu = 0.5 * body.lam / (body.lam + body.mu)
        strain = strength / body.material.young
        early = EARLY * strain * lengths * np.maximum((1.0 + nu) * cosines**2 - nu, STEEP**2)
        onset = np.maximum(np.linalg.norm(x[j] - x[i], axis=1) - lengths, early)
        body.softening.add(which, onset, self.opening(strength) * np.maximum(cosines, STEEP))
        body.leave_strain(which)
        self.front[own.edges[which].ravel()] = True
        return True

    def _rags(self, x: Array) -> tuple[IntArray, Array]:
        """Overstrained connections with both ends at the crack, which take their own direction for its."""
        own = self.body.connections
        none = np.empty(0, np.int64)
        if not self.front.any() or not kernels.connection_overstretched(
            own.edges, own.bearing, self._limit, x, self._over
        ):
            return none, np.empty(0)
        torn = np.flatnonzero(self._over & self.front[own.edges].all(axis=1))
        return torn, np.ones(len(torn))

    def _through(self, element: int, strain: Array) -> tuple[IntArray, Array]:
        """Whole connections through the disc across the principal direction n of ``strain`` (6,), and the
        cosines between them and n."""
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
        whole = body.connections.bearing[near]
        ahead, behind = (self._crossing(element, side * n, near) for side in (1.0, -1.0))
        # the side on which a crack already runs, so that it continues in its plane
        away = behind if (behind[~whole] < JOIN).sum() > (ahead[~whole] < JOIN).sum() else ahead
        through: IntArray = near[whole & (away <= DISC)]
        i, j = body.connections.edges[through].T
        d = body.reference[j] - body.reference[i]
        return through, np.abs(d @ n) / np.linalg.norm(d, axis=1)

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
            "last-break": np.array([self.last, self.opened]),
            "strength": self.strength,
        }

    def restore(self, state: Mapping[str, AnyArray]) -> None:
        self.cut, self.front = state["cut"].copy(), state["front"].copy()
        self.last, self.opened = (float(value) for value in state["last-break"])
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
