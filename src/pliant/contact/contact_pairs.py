"""The pairs of surface particles and other bodies that may touch, and what each of them remembers."""

from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.contact.broad_phase import candidates
from pliant.contact.narrow_phase import farthest_move, search
from pliant.contact.pair_coefficients import laws_between, roughness
from pliant.contact.pair_layout import (
    ACTIVE,
    ADHESION,
    ALLOWED,
    DISTANCE,
    GEOMETRY,
    HISTORY,
    REACH,
    STIFFNESS,
)
from pliant.contact.surfaces import surfaces_of
from pliant.core.typing import Array, BoolArray, IntArray
from pliant.interfaces import Mechanics

if TYPE_CHECKING:
    from pliant.contact.parameters import Contact
    from pliant.state.world import World

SKIN = 0.5  # how far particles may move before candidates are looked for again [smallest reach]


class ContactPairs:
    """Present surfaces of all bodies, the laws between them, and the tables of pairs (columns: columns.py).

    pairs (p, 4): particle, body, range of its candidates in ``found``; touched (p,): the triangle, or -1;
    limit (p,): the distance within which they meet [m].
    """

    def __init__(self, world: "World", contact: "Contact", sticky: tuple[bool, ...]) -> None:
        alone = [contact.meets_itself(part) and _apart(part.mechanics) for part in world.bodies]
        self.surfaces = surfaces_of(world, alone, [contact.only_pieces(part) for part in world.bodies])
        self.laws = laws_between(world, self.surfaces.radius, contact, sticky)
        self.meets: BoolArray = np.full((len(alone), len(alone)), contact.between)
        np.fill_diagonal(self.meets, alone)
        absent = [not part.present for part in world.bodies]
        self.meets[absent, :] = self.meets[:, absent] = False
        stretch = self.laws[:, :, ADHESION] / self.laws[:, :, STIFFNESS]  # before what sticks lets go
        reach = np.where(self.meets, self.laws[:, :, REACH] + stretch, 0.0)
        self.reach = reach.max(axis=0)  # around the triangles of each body
        self.skin = SKIN * float(reach[self.meets].min()) if self.meets.any() else 1.0
        self.rough = roughness(world)
        self.mass = world.mass.copy()
        for part in world.bodies:
            mass = part.mechanics.contact_surface().mass
            if mass is not None:
                self.mass[part.rows] = mass
        self.body_of = np.repeat(np.arange(len(alone)), [part.count for part in world.bodies])
        self._restored: tuple[IntArray, Array] | None = None
        self._look(world.x, np.empty((0, 2), np.int64), np.empty((0, HISTORY)))

    def _look(self, x: Array, keys: IntArray, history: Array) -> None:
        """Find the candidates around ``x`` again; ``history`` belongs to ``keys`` (particle, body)."""
        self.pairs, self.found = candidates(self.surfaces, self.meets, self.reach + self.skin, x)
        self.before = x[self.surfaces.points]
        n = len(self.pairs)
        self.own = self.body_of[self.pairs[:, 0]]
        law = self.laws[self.own, self.pairs[:, 1]]
        self.limit = law[:, REACH] + law[:, ADHESION] / law[:, STIFFNESS]
        self.history = np.zeros((n, HISTORY))
        self.attach(keys, history)
        self.touched, self.geometry = np.full(n, -1), np.zeros((n, GEOMETRY))
        self.forces = np.zeros((n, 3))
        self._slack, self._near = np.full(n, -1.0), np.full(len(self.found), -np.inf)

    def search(self, x: Array) -> None:
        """Which pairs touch at positions ``x``, and where: ``touched`` and ``geometry``."""
        s, moved = self.surfaces, farthest_move(x, self.before, self.surfaces.points)
        if self._restored is not None or moved > (0.5 * self.skin) ** 2:
            kept, self._restored, moved = self.kept(), None, 0.0
            self._look(x, *kept)
        arrays = (
            x, self.pairs, self.found, s.triangles, s.oriented, self.limit, self.history, self.touched,
            self.geometry, float(np.sqrt(moved)), self._slack, self._near,
        )  # fmt: skip
        search(len(self.pairs), arrays)

    def arrays(self, v: Array, inverse_mass: Array) -> tuple[Any, ...]:
        """What the loops over pairs share (kernels.py)."""
        return (
            v, self.mass, inverse_mass, self.rough, self.pairs, self.own, self.surfaces.triangles,
            self.touched, self.geometry, self.laws, self.history,
        )  # fmt: skip

    # -------------------------------------------------------------------------- what pairs remember

    def kept(self) -> tuple[IntArray, Array]:
        """Keys (particle, body) and history of the pairs that touch."""
        if self._restored is not None:
            return self._restored
        active = self.history[:, ACTIVE] > 0.0
        return self.pairs[active, :2], self.history[active]

    def attach(self, keys: IntArray, history: Array) -> None:
        """Give pairs that are there the ``history`` of their ``keys`` (k, 2)."""
        pairs, there = self.place(keys)
        self.history[pairs] = history[there]

    def restore(self, keys: IntArray, history: Array) -> None:
        """Give pairs the ``history`` of their ``keys`` when they are looked for next."""
        self._restored = keys.copy(), history.copy()

    def place(self, keys: IntArray) -> tuple[IntArray, IntArray]:
        """Pairs that are (particle, body) of ``keys``, and the places of these there."""
        if not (len(keys) and len(self.pairs)):
            return np.empty(0, np.int64), np.empty(0, np.int64)
        many = len(self.reach)
        mine = self.pairs[:, 0] * many + self.pairs[:, 1]
        wanted = keys[:, 0] * many + keys[:, 1]
        place = np.minimum(np.searchsorted(mine, wanted), len(mine) - 1)
        there = np.flatnonzero(mine[place] == wanted)
        return place[there], there

    def pressed(self) -> Array:
        """How far the pairs of ``kept`` are pressed into each other (k,) [m]; infinite if not known."""
        if self._restored is not None:
            return np.full(len(self._restored[0]), np.inf)
        active = np.flatnonzero(self.history[:, ACTIVE] > 0.0)
        reach = self.laws[self.own[active], self.pairs[active, 1], REACH]
        depth = reach - self.history[active, ALLOWED] - self.geometry[active, DISTANCE]
        return np.where(self.touched[active] >= 0, np.maximum(depth, 0.0), 0.0)


def _apart(mechanics: Mechanics) -> bool:
    """Whether a body has parts that can collide with each other."""
    pieces = mechanics.contact_surface().pieces
    return pieces is None or bool(pieces.any())
