"""The contact layer at work on the whole World."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from pliant.contact import kernels
from pliant.contact.grid import candidates
from pliant.contact.kernels import ACTIVE, ADHESION, ALLOWED, DAMPING, GEOMETRY, HISTORY, REACH, STIFFNESS
from pliant.contact.laws import check_names, laws_between, roughness
from pliant.contact.surfaces import new_faces, surfaces_of
from pliant.protocols import Acting, Pieces, RowChange, Solid, StableStep
from pliant.typing import AnyArray, Array, BoolArray, IntArray

if TYPE_CHECKING:
    from pliant.contact.contact import Contact
    from pliant.simulation.world import World

SKIN = 0.5  # how far particles may move before candidates are looked for again [smallest reach]
SLIGHT = 1e-3  # overlaps at the start below this share of the reach are not worth a word


class ContactLayer(Acting):
    r"""Surface particles against the swept surfaces of other bodies.

    Each surface particle of a body is a ball; the other body is its triangles, as thick. The ball takes
    the nearest point of them, and while it is closer than the sum of both radii a spring and a damper push it
    off along the line, never pulling, with the reaction spread over the triangle's corners; and so the
    other way round. Friction is a spring across the line, stretched by the slip, of at most
    :math:`\mu F_N`: it sticks at rest and slides beyond. Its stretch is the pair's history.

    Source: [JanssonVergeest2000]_ 3.2, eqs. (15) to (20). Differs: balls against swept surfaces instead of
    balls against balls, which interlock; friction with a history instead of against the slip alone.
    """

    velocity_dependent = True
    exact = True

    def __init__(self, world: "World", contact: "Contact") -> None:
        check_names(world, contact)
        self.world, self.contact = world, contact
        self.fresh = False
        self._restored: tuple[IntArray, Array] | None = None
        self._renew()
        self.notes = self._allow_overlaps()

    # ------------------------------------------------------------------------------ what can touch

    def _renew(self) -> None:
        """Take over the present surfaces of all bodies."""
        world, contact = self.world, self.contact
        alone = [contact.meets_itself(part) and _apart(part.mechanics) for part in world.parts]
        self.surfaces = surfaces_of(world, alone, [contact.only_pieces(part) for part in world.parts])
        self.laws = laws_between(world, self.surfaces.radius, contact)
        self.meets: BoolArray = np.full((len(alone), len(alone)), contact.between)
        np.fill_diagonal(self.meets, alone)
        absent = [not part.present for part in world.parts]
        self.meets[absent, :] = self.meets[:, absent] = False
        stretch = self.laws[:, :, ADHESION] / self.laws[:, :, STIFFNESS]  # before what sticks lets go
        reach = np.where(self.meets, self.laws[:, :, REACH] + stretch, 0.0)
        self.reach = reach.max(axis=0)  # around the triangles of each body
        self.skin = SKIN * float(reach[self.meets].min()) if self.meets.any() else 1.0
        self.rough = roughness(world)
        self.mass = world.mass.copy()
        for part in world.parts:
            if isinstance(part.mechanics, Solid):
                self.mass[part.rows] = part.mechanics.contact_mass
        self.body_of = np.repeat(np.arange(len(alone)), [part.count for part in world.parts])
        self._look(world.x, np.empty((0, 2), np.int64), np.empty((0, HISTORY)))

    def _look(self, x: Array, keys: IntArray, history: Array) -> None:
        """Find the candidates around ``x`` anew; ``history`` belongs to ``keys`` (particle, body)."""
        self.pairs, self.found = candidates(self.surfaces, self.meets, self.reach + self.skin, x)
        self.before = x[self.surfaces.points]
        n = len(self.pairs)
        self.own = self.body_of[self.pairs[:, 0]]
        law = self.laws[self.own, self.pairs[:, 1]]
        self.limit = law[:, REACH] + law[:, ADHESION] / law[:, STIFFNESS]
        self.history = np.zeros((n, HISTORY))
        self._attach(keys, history)
        self.touched, self.geometry = np.full(n, -1), np.zeros((n, GEOMETRY))
        self.forces = np.zeros((n, 3))
        self.slack = np.full(n, -1.0)
        self.fresh = False

    def _attach(self, keys: IntArray, history: Array) -> None:
        pairs, there = self._place(keys)
        self.history[pairs] = history[there]

    def _place(self, keys: IntArray) -> tuple[IntArray, IntArray]:
        """Pairs that are (particle, body) of ``keys``, and the places of these there."""
        if not (len(keys) and len(self.pairs)):
            return np.empty(0, np.int64), np.empty(0, np.int64)
        many = len(self.reach)
        mine = self.pairs[:, 0] * many + self.pairs[:, 1]
        wanted = keys[:, 0] * many + keys[:, 1]
        place = np.minimum(np.searchsorted(mine, wanted), len(mine) - 1)
        there = np.flatnonzero(mine[place] == wanted)
        return place[there], there

    def _kept(self) -> tuple[IntArray, Array]:
        """Keys (particle, body) and history of the pairs that touch."""
        if self._restored is not None:
            return self._restored
        active = self.history[:, ACTIVE] > 0.0
        return self.pairs[active, :2], self.history[active]

    def _search(self, x: Array) -> None:
        s, moved = self.surfaces, kernels.farthest_move(x, self.before, self.surfaces.points)
        if self._restored is not None or moved > (0.5 * self.skin) ** 2:
            kept, self._restored, moved = self._kept(), None, 0.0
            self._look(x, *kept)
        kernels.search(
            x, self.pairs, self.found, s.triangles, s.oriented, self.limit, self.history, self.touched,
            self.geometry, float(np.sqrt(moved)), self.slack,
        )  # fmt: skip

    # ------------------------------------------------------------------------- what the loop calls

    def project(self, time: float, dt: float, world: "World") -> None:
        """After each drift: look what touches, and bring the stick springs up to date."""
        self._search(world.x)
        kernels.advance(
            dt, world.v, self.mass, world.inverse_mass, self.rough, self.pairs, self.own,
            self.surfaces.triangles, self.touched, self.geometry, self.laws, self.history,
        )  # fmt: skip
        self.fresh = True

    def add_forces(self, time: float, x: Array, v: Array, out: Array) -> None:
        if not (self.fresh and x is self.world.x):
            self._search(x)
        self.fresh = False
        kernels.add_forces(
            x, v, self.mass, self.world.inverse_mass, self.rough, self.pairs, self.own,
            self.surfaces.triangles, self.touched,
            self.geometry, self.laws, self.history, self.forces, out,
        )  # fmt: skip

    def power(self, time: float, world: "World") -> tuple[float, float]:
        """What contacts take from the bodies counts as heat, the little that their springs hold included."""
        s = self.surfaces
        return 0.0, -float(
            kernels.power(world.v, self.pairs, s.triangles, self.touched, self.geometry, self.forces)
        )

    def stable_step(self) -> StableStep:
        """With ``w^2 = 8 k / m`` of a particle between two contacts, damped, on top of the body's own."""
        best, reason = float("inf"), "no bodies meet"
        for number, part in enumerate(self.world.parts):
            if not self.meets[number].any():
                continue
            law = self.laws[number][self.meets[number]]
            own = part.mechanics.stable_step().seconds
            mass = float(self.mass[part.rows].min())
            z = float(law[:, DAMPING].max())
            touch = (
                2.0 / np.sqrt(4.0 * float(law[:, STIFFNESS].max()) / mass) * (np.sqrt(1 + 4 * z * z) - 2 * z)
            )
            both = float(1.0 / np.sqrt(1.0 / own**2 + 1.0 / touch**2))
            if both < best:
                best, reason = both, f"contacts of body '{part.name}'"
        return StableStep(best, reason)

    # ------------------------------------------------------------------------------------- overlaps

    def _allow_overlaps(self) -> list[str]:
        """Bodies that start closer than their thickness keep that distance; says so where it is much."""
        self._search(self.world.x)
        reach = self.laws[self.own, self.pairs[:, 1], REACH]
        depth = np.where(self.touched >= 0, reach - self.geometry[:, kernels.DISTANCE], 0.0)
        over = np.flatnonzero(depth > 1e-12 * reach)
        self._keep_distance(over, depth[over])
        return self._described(depth)

    def _pressed(self) -> Array:
        """How far the pairs of ``_kept`` are pressed into each other (k,) [m]; infinite if not known."""
        if self._restored is not None:
            return np.full(len(self._restored[0]), np.inf)
        active = np.flatnonzero(self.history[:, ACTIVE] > 0.0)
        reach = self.laws[self.own[active], self.pairs[active, 1], REACH]
        depth = reach - self.history[active, ALLOWED] - self.geometry[active, kernels.DISTANCE]
        return np.where(self.touched[active] >= 0, np.maximum(depth, 0.0), 0.0)

    def _allow_new_pieces(self, keys: IntArray, pressed: Array) -> None:
        """Particles beside a new crack are closer than their balls: they keep that until they part. No pair
        of pieces is pressed more than before, which is ``pressed`` (k,) for ``keys``, nothing for others."""
        pieces = np.array([isinstance(part.mechanics, Pieces) for part in self.world.parts])
        mine = np.flatnonzero((self.own == self.pairs[:, 1]) & pieces[self.own])
        if not len(mine):
            return
        self._search(self.world.x)
        before = np.zeros(len(self.pairs))
        pairs, there = self._place(keys)
        before[pairs] = pressed[there]
        reach = self.laws[self.own[mine], self.pairs[mine, 1], REACH]
        depth = reach - self.geometry[mine, kernels.DISTANCE] - before[mine]
        over = (self.touched[mine] >= 0) & (depth > self.history[mine, ALLOWED])
        self._keep_distance(mine[over], depth[over])

    def _keep_distance(self, pairs: IntArray, depth: Array) -> None:
        self.history[pairs, ALLOWED] = depth
        self.history[pairs, ACTIVE] = 1.0
        self.history[pairs, 3:6] = self.geometry[pairs, 3:6]

    def _described(self, depth: Array) -> list[str]:
        notes, parts, many = [], self.world.parts, len(self.reach)
        rows = np.flatnonzero(depth > SLIGHT * self.limit)
        own, other = self.own[rows], self.pairs[rows, 1]
        key = np.minimum(own, other) * many + np.maximum(own, other)
        for pair in np.unique(key):
            here = rows[key == pair]
            first, second = parts[pair // many], parts[pair % many]
            ids = [f"{parts[self.own[p]].name} {self._number(p)}" for p in here[:5]]
            more = ", ..." if len(here) > 5 else ""
            notes.append(
                f"bodies '{first.name}' and '{second.name}' start closer than contact keeps them, by up to "
                f"{depth[here].max():.3g} m at {len(here)} particles ({', '.join(ids)}{more}): those keep "
                "their distance until they part"
            )
        return notes

    def _number(self, pair: int) -> int:
        """The particle of a pair, in its body's own numbering."""
        return int(self.pairs[pair, 0] - self.world.parts[self.own[pair]].rows.start)

    # -------------------------------------------------------------------------------------- restart

    def follow(self, change: RowChange, world: "World") -> None:
        (keys, history), pressed = self._kept(), self._pressed()
        parents = change.parents.reshape(len(change.parents), -1)[:, 0]
        new_row = np.full(int(max(parents.max(), keys[:, 0].max(initial=0))) + 1, -1)
        new_row[parents[::-1]] = np.arange(len(parents))[::-1]
        self._restored, before = None, self.surfaces.triangles
        self._renew()
        rows = new_row[keys[:, 0]]
        there = rows >= 0
        keys = np.column_stack([rows, keys[:, 1]])[there]
        self._attach(keys, history[there])
        parents = parents.copy()
        parents[change.fresh] = -1  # faces of newcomers are new, whatever is near
        self._allow_new_faces(new_faces(self.surfaces.triangles, parents, before))
        self._allow_new_pieces(keys, pressed[there])

    def _allow_new_faces(self, faces: IntArray) -> None:
        """Faces of new cracks lie on each other: what does not touch yet keeps the distance that it has until
        it parts. Particles on ``faces`` (f, 3) are pushed back along the normal of these."""
        if not len(faces):
            return
        x = self.world.x
        self._search(x)
        depth = np.where(self.touched >= 0, self.limit - self.geometry[:, kernels.DISTANCE], 0.0)
        over = np.flatnonzero((depth > 0.0) & (self.history[:, ACTIVE] == 0.0))
        own = np.zeros_like(x)
        a, b, c = (x[faces[:, k]] for k in range(3))
        for k in range(3):
            np.add.at(own, faces[:, k], np.cross(b - a, c - a))
        size = np.linalg.norm(own, axis=1)[self.pairs[over, 0]]
        inward = -own[self.pairs[over, 0]] / np.maximum(size, 1e-300)[:, None]
        unit = np.where((size > 0.0)[:, None], inward, self.geometry[over, 3:6])
        side = np.sign(np.einsum("ij,ij->i", unit, self.geometry[over, 3:6]))
        distance = np.where(side < 0.0, -1.0, 1.0) * self.geometry[over, kernels.DISTANCE]
        self.history[over, ALLOWED] = self.limit[over] - distance
        self.history[over, ACTIVE] = 1.0
        self.history[over, 3:6] = unit

    def state(self) -> dict[str, AnyArray]:
        keys, history = self._kept()
        return {"keys": keys, "history": history}

    def restore(self, state: Mapping[str, AnyArray]) -> None:
        self._renew()  # bodies are restored already, their friction with them
        self._restored = state["keys"].copy(), state["history"].copy()


def _apart(mechanics: object) -> bool:
    """Whether a body has parts that can meet."""
    return not isinstance(mechanics, Pieces) or bool(mechanics.piece.any())
