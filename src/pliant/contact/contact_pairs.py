"""The pairs of vertices or edges and other bodies that may touch, and the history of each of them."""

from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.contact import vertex_kernels
from pliant.contact.broad_phase import edge_candidates, triangle_candidates
from pliant.contact.narrow_phase import search_edges, search_vertices
from pliant.contact.pair_coefficients import laws_between, roughness
from pliant.contact.pair_layout import (
    ACTIVE,
    ADHESION,
    ALLOWED,
    DISTANCE,
    EDGE_REACH,
    FRICTION,
    GEOMETRY,
    HISTORY,
    KEPT,
    LAST,
    REACH,
    SIDED,
    STIFFNESS,
)
from pliant.contact.smooth_surface import SmoothSurfaces
from pliant.contact.surfaces import ContactSurfaces, surfaces_of
from pliant.core.typing import Array, BoolArray, IntArray

if TYPE_CHECKING:
    from pliant.contact.parameters import Contact
    from pliant.state.world import World

SKIN = 0.5  # how far vertices may move before candidates are looked for again [smallest reach]


class ContactPairs:
    """Present surfaces of all bodies, the laws between them, and the tables of pairs (``pair_layout``).

    pairs (p, 4): vertex, or number of vertices + edge; other body; range of its candidates in ``found``.
    Those of vertices come first, ``vertex_pairs`` of them. touched (p,): the triangle or edge, or -1;
    stencil (p, 4): the vertices; reach (p,): the distance below which they press [m].
    """

    def __init__(
        self, world: "World", contact: "Contact", sticky: tuple[bool, ...], smooth: SmoothSurfaces
    ) -> None:
        self.surfaces = s = surfaces_of(world, contact, smooth)
        self.laws = laws_between(world, s, contact, sticky)
        self.collides = _colliding(world, contact, s)
        self.breaks: BoolArray = np.array([contact.splits(part) for part in world.bodies])[s.source]
        self.stride = 0.0  # how far vertices may move against each other in a step [m]
        rigid = np.array([part.mechanics.contact_surface().rigid for part in world.bodies])[s.source]
        pointlike = s.points_only | s.ball
        one_way = np.outer(~pointlike, s.points_only) | np.outer(~pointlike & rigid, s.ball)
        self.vertices_collide: BoolArray = self.collides & ~one_way
        siblings = s.siblings
        self.edges_collide: BoolArray = self.collides & ~siblings  # cracks have no side for edges
        stretch = self.laws[:, :, ADHESION] / self.laws[:, :, STIFFNESS]  # before what sticks lets go
        reach = np.where(self.vertices_collide, self.laws[:, :, REACH] + stretch, 0.0)
        self.body_reach = reach.max(axis=0)  # around the triangles of each body
        edge_reach = np.where(self.edges_collide, EDGE_REACH * self.laws[:, :, REACH], 0.0)
        self.edge_reach = edge_reach.max(axis=0)
        colliding = self.laws[self.collides]
        self.skin = SKIN * float(colliding[:, REACH].min()) if len(colliding) else 1.0
        self.rubs = bool((colliding[:, FRICTION] > 0.0).any())
        rough = roughness(world)
        self.rough = np.add.reduceat(s.weights * rough[s.rows], s.first[:-1]) if s.count else np.empty(0)
        masses = np.array([world.mass[p.rows].sum() for p in world.bodies])
        self.body_mass = np.where(rigid, masses[s.source], 0.0)
        n = s.count
        self.x, self.velocity, self.spin, self.force, self.torque = (np.zeros((n, 3)) for _ in range(5))
        self.before, self.inverses, self.yielding = np.zeros((n, 3)), np.zeros((n, 6)), np.zeros(n)
        self.vertex_scale, self.body_scale = np.ones(n), np.ones(len(s.source))
        self._marks, self._active = np.zeros(n, bool), np.zeros(n, np.int64)
        self.active = self._active[:0]
        self._restored: tuple[IntArray, Array] | None = None
        self._place_vertices(world.x)
        self._look(np.empty((0, 2), np.int64), np.empty((0, HISTORY)))

    def _place_vertices(self, x: Array) -> float:
        """Bring the vertices to particles at ``x``; the square of the largest move since the last look."""
        s = self.surfaces
        return float(vertex_kernels.vertex_positions(s.first, s.rows, s.weights, x, self.before, self.x))

    def _look(self, keys: IntArray, history: Array) -> None:
        """Find the candidates around the vertices again; ``history`` belongs to ``keys`` (id, body)."""
        s = self.surfaces
        wide = np.where(self.body_reach > 0.0, self.body_reach + self.skin, 0.0)
        pairs, found = triangle_candidates(s, self.vertices_collide, wide, self.x)
        pairs = self._with_inner(pairs, keys, history)
        wide = np.where(self.edge_reach > 0.0, self.edge_reach + self.skin, 0.0)
        edge_pairs, edges_found = edge_candidates(s, self.edges_collide, wide, self.x)
        edge_pairs[:, 2:] += len(found)
        self.vertex_pairs = len(pairs)
        self.pairs, self.found = np.concatenate([pairs, edge_pairs]), np.concatenate([found, edges_found])
        self.before[:] = self.x
        n = len(self.pairs)
        edge = np.maximum(self.pairs[:, 0] - s.count, 0)
        vertex = np.minimum(self.pairs[:, 0], s.count - 1)
        of_edges = s.edge_body[edge] if len(s.edges) else np.zeros(n, np.int64)
        self.own = np.where(self.pairs[:, 0] >= s.count, of_edges, s.body[vertex])
        law = self.laws[self.own, self.pairs[:, 1]]
        factor = np.where(np.arange(n) < self.vertex_pairs, 1.0, EDGE_REACH)
        self.reach = factor * law[:, REACH]
        self.limit = self.reach + np.where(factor == 1.0, law[:, ADHESION] / law[:, STIFFNESS], 0.0)
        self.history = np.zeros((n, HISTORY))
        self.attach(keys, history)
        self.touched, self.geometry = np.full(n, -1), np.zeros((n, GEOMETRY))
        self.stencil = np.zeros((n, 4), np.int64)
        self.forces, self.stretched = np.zeros((n, 3)), np.zeros((n, HISTORY))
        self._slack, self._near = np.full(n, -1.0), np.full(len(self.found), -np.inf)

    def _with_inner(self, pairs: IntArray, keys: IntArray, history: Array) -> IntArray:
        """``pairs``, and those of vertices that are deep inside other bodies, away from all candidates."""
        many = len(self.body_reach)
        inner = (history[:, LAST] < 0.0) & (history[:, KEPT] != SIDED) & (keys[:, 0] < self.surfaces.count)
        inner &= history[:, ACTIVE] > 0.0
        wanted = keys[inner]
        if not len(wanted):
            return pairs
        there = np.isin(wanted[:, 0] * many + wanted[:, 1], pairs[:, 0] * many + pairs[:, 1])
        more = np.zeros((int((~there).sum()), 4), np.int64)
        more[:, :2] = wanted[~there]
        every = np.concatenate([pairs, more])
        return every[np.argsort(every[:, 0] * many + every[:, 1], kind="stable")]

    def search(self, x: Array) -> None:
        """Which pairs touch with particles at ``x``, and where: ``touched``, ``stencil`` and ``geometry``."""
        s, moved = self.surfaces, self._place_vertices(x)
        if self._restored is not None or moved > (0.5 * self.skin) ** 2:
            kept, self._restored, moved = self.kept(), None, 0.0
            self._look(*kept)
        moved = float(np.sqrt(moved))
        search_vertices(self.vertex_pairs, (
            self.x, self.pairs, self.own, self.found, s.triangles, s.across, s.fan_first, s.fan, s.body_first,
            s.closed, s.piece, s.radius, s.ball, self.limit, self.history, self.touched, self.stencil,
            self.geometry, moved, self._slack, self._near, self.stride,
        ))  # fmt: skip
        search_edges(self.vertex_pairs, len(self.pairs) - self.vertex_pairs, (
            self.x, self.pairs, self.own, self.found, s.edges, s.sides, s.triangles, s.closed, s.piece,
            s.radius, self.limit, self.history, self.touched, self.stencil, self.geometry, moved,
            self._slack, self._near, self.stride, s.count,
        ))  # fmt: skip
        n = vertex_kernels.touching_vertices(
            self.touched, self.stencil, self.geometry, self._marks, self._active
        )
        self.active = self._active[:n]
        if n and self.rubs:
            vertex_kernels.rotation_inverses(self.active, s.spin_first, s.spin_rows, x, self.x, self.inverses)
            vertex_kernels.contact_levers(self.touched, self.stencil, self.geometry, self.inverses)

    def move(self, x: Array, v: Array, inverse_mass: Array) -> None:
        """Take the velocities and rotations of the touching vertices from particles at ``x``."""
        s = self.surfaces
        vertex_kernels.vertex_motion(
            self.active, s.first, s.rows, s.weights, s.spin_first, s.spin_rows, x, v, inverse_mass, s.mass,
            self.inverses, self.x, self.velocity, self.spin, self.yielding,
        )  # fmt: skip

    def arrays(self, history: Array | None = None) -> tuple[Any, ...]:
        """What the loops over pairs share (``pair_kernels``)."""
        return (
            self.velocity, self.spin, self.yielding, self.surfaces.mass, self.rough, self.pairs, self.own,
            self.touched, self.stencil, self.geometry, self.laws, self.reach,
            self.history if history is None else history,
        )  # fmt: skip

    # ------------------------------------------------------------------------------ history of pairs

    def kept(self) -> tuple[IntArray, Array]:
        """Keys (id, body) and history of the pairs that touch."""
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
        """Pairs that are (id, body) of ``keys``, and the places of these there."""
        if not (len(keys) and len(self.pairs)):
            return np.empty(0, np.int64), np.empty(0, np.int64)
        many = len(self.body_reach)
        mine = self.pairs[:, 0] * many + self.pairs[:, 1]
        wanted = keys[:, 0] * many + keys[:, 1]
        place = np.minimum(np.searchsorted(mine, wanted), len(mine) - 1)
        there = np.flatnonzero(mine[place] == wanted)
        return place[there], there

    def add_inner(self, keys: IntArray, history: Array) -> None:
        """Add pairs of vertices that are inside other bodies, away from all candidates."""
        old_keys, old = self.kept()
        self._look(np.concatenate([old_keys, keys]), np.concatenate([old, history]))

    def depths(self) -> Array:
        """How far pairs are closer than they are kept (p,) [m], overlaps left alone included; 0: not."""
        return np.where(self.touched >= 0, np.maximum(self.reach - self.geometry[:, DISTANCE], 0.0), 0.0)

    @property
    def sources(self) -> tuple[IntArray, IntArray]:
        """The bodies of the World of either side of the pairs, (p,) each."""
        return self.surfaces.source[self.own], self.surfaces.source[self.pairs[:, 1]]

    def pressed(self) -> Array:
        """How far the pairs of ``kept`` are pressed into each other (k,) [m]; infinite if not known."""
        if self._restored is not None:
            return np.full(len(self._restored[0]), np.inf)
        active = np.flatnonzero(self.history[:, ACTIVE] > 0.0)
        depth = self.reach[active] - self.history[active, ALLOWED] - self.geometry[active, DISTANCE]
        return np.where(self.touched[active] >= 0, np.maximum(depth, 0.0), 0.0)


def _colliding(world: "World", contact: "Contact", s: ContactSurfaces) -> BoolArray:
    """Which bodies collide (b, b); those with themselves of which there is more than one part that can."""
    collides: BoolArray = np.where(s.source[:, None] == s.source, True, contact.between)
    for b, source in enumerate(s.source):
        pieces = s.piece[s.body == b]
        itself = contact.collides_with_itself(world.bodies[source]) and (
            bool(s.whole[b]) or (len(pieces) > 0 and bool((pieces != pieces[0]).any()))
        )
        collides[b, b] = itself
    absent = np.array([not part.present for part in world.bodies])[s.source]
    collides[absent, :] = collides[:, absent] = False
    return collides


def children(old: ContactSurfaces, new: ContactSurfaces, parents: IntArray) -> IntArray:
    """Which bodies of ``new`` continue which of ``old``, (k, 2), sorted; parents (n,): the old row of each
    new one, or -1."""
    vertex = np.full(max(int(old.row.max(initial=0)), int(parents.max(initial=0))) + 1, -1)
    vertex[old.row[old.row >= 0]] = np.flatnonzero(old.row >= 0)
    mine = np.flatnonzero(new.row >= 0)
    from_ = vertex[parents[new.row[mine]]]
    known = (from_ >= 0) & (parents[new.row[mine]] >= 0)
    found = [np.column_stack([old.body[from_[known]], new.body[mine[known]]])]
    for b in np.flatnonzero(old.smooth):
        heirs = np.flatnonzero(new.source == old.source[b])
        found.append(np.column_stack([np.full(len(heirs), b), heirs]))
    return np.unique(np.concatenate(found), axis=0)


def inherited(keys: IntArray, heirs: IntArray) -> tuple[IntArray, IntArray]:
    """``keys`` (k, 2) with the bodies that continue theirs (``children``), and which key each was."""
    begin, end = (np.searchsorted(heirs[:, 0], keys[:, 1], side=side) for side in ("left", "right"))
    of = np.repeat(np.arange(len(keys)), end - begin)
    place = np.arange(len(of)) - np.repeat(np.cumsum(end - begin) - (end - begin), end - begin)
    return np.column_stack([keys[of, 0], heirs[np.repeat(begin, end - begin) + place, 1]]), of


def renumbered(
    keys: IntArray, old: ContactSurfaces, new: ContactSurfaces, row_of: IntArray
) -> tuple[IntArray, BoolArray]:
    """``keys`` (k, 2) of the vertices and edges of ``old`` in those of ``new``, and which there still are;
    row_of (n,): the new row of each old one, or -1."""
    vertex = np.full(old.count, -1)
    name = np.full(int(row_of.max(initial=0)) + 1, -1)
    plain = new.row >= 0
    name[new.row[plain & (new.row < len(name))]] = np.flatnonzero(plain & (new.row < len(name)))
    single = np.flatnonzero(old.row >= 0)
    rows = row_of[old.row[single]]
    vertex[single] = np.where(rows >= 0, name[np.maximum(rows, 0)], -1)
    for b in range(len(old.smooth)):
        if old.smooth[b] and new.smooth[b]:
            vertex[old.body == b] = np.flatnonzero(new.body == b)
    ids = np.full(old.count + len(old.edges), -1)
    ids[: old.count] = vertex
    if len(old.edges) and len(new.edges):
        ends = np.sort(vertex[old.edges], axis=1)
        wanted, have = ends[:, 0] * new.count + ends[:, 1], new.edges[:, 0] * new.count + new.edges[:, 1]
        order = np.argsort(have)
        place = order[np.minimum(np.searchsorted(have, wanted, sorter=order), len(have) - 1)]
        ids[old.count :] = np.where((ends[:, 0] >= 0) & (have[place] == wanted), new.count + place, -1)
    found = ids[keys[:, 0]]
    return np.column_stack([found, keys[:, 1]]), found >= 0
