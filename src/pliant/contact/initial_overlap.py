"""Bodies that start closer than contact keeps them, or inside each other, and faces of new cracks."""

from typing import TYPE_CHECKING

import numpy as np

from pliant.contact.contact_pairs import ContactPairs
from pliant.contact.pair_layout import (
    ACTIVE,
    ALLOWED,
    DISTANCE,
    FRESH,
    HISTORY,
    KEPT,
    LAST,
    NORMAL,
    REACH,
    SIDED,
    TOUCHED,
    UNIT,
)
from pliant.core.errors import SceneError
from pliant.core.typing import Array, BoolArray, IntArray

if TYPE_CHECKING:
    from pliant.contact.parameters import Contact
    from pliant.state.world import BodyState, World

SLIGHT = 1e-3  # overlaps at the start below this fraction of the reach are not reported
SECONDS = 0.2  # in which an overlap of one reach is resolved; deeper ones take longer in proportion
SUDDEN = 0.5  # depth at first contact above which it is resolved like an overlap at the start [reach]


class OverlapSchedule:
    """Overlap that each pair of bodies is left with (b, b) [m]: what there was at the start, shrinking to
    nothing; pairs of vertices may be as close as that without a force."""

    def __init__(self, bodies: int) -> None:
        self.start: Array = np.zeros((bodies, bodies))
        self.since: Array = np.zeros((bodies, bodies))
        self.seconds: Array = np.full((bodies, bodies), SECONDS)

    def at(self, time: float) -> Array:
        """The overlaps at ``time`` [s]."""
        if not self.start.any():
            return self.start
        s = np.clip((time - self.since) / self.seconds, 0.0, 1.0)
        return np.asarray(self.start * (1.0 - s * s * (3.0 - 2.0 * s)))

    def allow(self, table: ContactPairs, pairs: IntArray, depth: Array, time: float) -> None:
        """Leave ``pairs`` of the table their overlaps ``depth`` [m] from ``time`` on."""
        if not len(pairs):
            return
        _set_allowed(table, pairs, depth)
        present = self.at(time).copy()
        vertices = pairs < table.vertex_pairs
        own, other = (source[pairs[vertices]] for source in table.sources)
        largest = np.zeros_like(present)
        np.maximum.at(largest, (own, other), depth[vertices])
        largest = np.maximum(largest, largest.T)
        more = largest > present
        first = np.searchsorted(table.surfaces.source, np.arange(len(present)))
        reach = table.laws[np.ix_(first, first)][:, :, REACH]
        self.start = np.where(more, largest, self.start)
        self.since = np.where(more, time, self.since)
        slow = SECONDS * np.maximum(1.0, largest / np.maximum(reach, 1e-300))
        self.seconds = np.where(more, slow, self.seconds)

    def entries(self) -> Array:
        return np.stack([self.start, self.since, self.seconds])

    def restore(self, entries: Array) -> None:
        self.start, self.since, self.seconds = (np.array(one) for one in entries)


def allow_overlaps(
    table: ContactPairs, world: "World", overlaps: OverlapSchedule, separate: bool
) -> list[str]:
    """Let bodies that start closer than contact keeps them separate slowly; returns a note for each pair.
    Those that are deeper in each other than contact reaches are refused unless ``separate``."""
    table.search(world.x)
    inner, depth = _inside(table, world.bodies)
    if len(inner) and not separate:
        _refuse(table, world.bodies, inner, depth)
    if len(inner):
        history = np.zeros((len(inner), HISTORY))
        history[:, ACTIVE], history[:, LAST] = TOUCHED, -depth
        table.add_inner(inner, history)
        table.search(world.x)
    depths = table.depths()
    over = np.flatnonzero(depths > 1e-12 * table.reach)
    overlaps.allow(table, over, depths[over], 0.0)
    return _described(table, world.bodies, depths, overlaps)


def allow_sudden(table: ContactPairs, overlaps: OverlapSchedule, time: float) -> None:
    """Let pairs that touch for the first time and are deep already (they passed a surface within one step,
    or a body was put there) separate slowly. Pieces of one body are left as they are until they part."""
    new = (table.touched >= 0) & (table.history[:, ACTIVE] == 0.0)
    if not new.any():
        return
    rows = np.flatnonzero(new)
    depth = table.reach[rows] - table.geometry[rows, DISTANCE]
    deep = depth > SUDDEN * table.reach[rows]
    siblings = table.surfaces.siblings[table.own[rows], table.pairs[rows, 1]]
    breaks = table.breaks[table.own[rows]] | table.breaks[table.pairs[rows, 1]]
    _set_allowed(table, rows[deep & siblings], depth[deep & siblings])
    table.history[rows[siblings | (breaks & ~deep)], KEPT] = FRESH
    deep &= ~siblings
    overlaps.allow(table, rows[deep], depth[deep], time)


def allow_new_pieces(table: ContactPairs, world: "World", keys: IntArray, pressed: Array) -> None:
    """Particles beside a new crack are closer than their balls: they keep that until they part. No pair
    of pieces is pressed more than before, which is ``pressed`` (k,) for ``keys``, nothing for others."""
    pieces = np.array([part.mechanics.contact_surface().pieces is not None for part in world.bodies])
    mine = np.flatnonzero((table.own == table.pairs[:, 1]) & pieces[table.sources[0]])
    if not len(mine):
        return
    table.search(world.x)
    before = np.zeros(len(table.pairs))
    pairs, there = table.place(keys)
    before[pairs] = pressed[there]
    depth = table.reach[mine] - table.geometry[mine, DISTANCE] - before[mine]
    over = (table.touched[mine] >= 0) & (depth > table.history[mine, ALLOWED])
    _set_allowed(table, mine[over], depth[over])
    table.history[mine[over], KEPT] = SIDED


def allow_broken(
    table: ContactPairs, world: "World", contact: "Contact", keys: IntArray, pressed: Array
) -> BoolArray:
    """Pairs of bodies that have broken, into balls or into closed pieces: none is pressed more than before,
    which is ``pressed`` (k,) for ``keys``, nothing for others; what it is closer than that shrinks as it
    opens. Returns which pairs these are (p,)."""
    thick = np.array([_breaks_into_balls(part) or contact.splits(part) for part in world.bodies])
    own, other = table.sources
    mine = np.flatnonzero(thick[own] | thick[other])
    known: BoolArray = np.zeros(len(table.pairs), bool)
    if not len(mine):
        return known
    table.search(world.x)
    before = np.zeros(len(table.pairs))
    pairs, there = table.place(keys)
    before[pairs] = pressed[there]
    depth = table.reach[mine] - table.geometry[mine, DISTANCE] - np.maximum(before[mine], 0.0)
    over = (table.touched[mine] >= 0) & (depth > table.history[mine, ALLOWED])
    _set_allowed(table, mine[over], depth[over])
    table.history[mine[over], KEPT] = FRESH
    known[mine] = True
    return known


def _breaks_into_balls(part: "BodyState") -> bool:
    fragile = part.material.strength is not None
    return (
        fragile
        and "hexahedron" in part.structure.cells
        and part.mechanics.contact_surface().radius is not None
    )


def allow_new_faces(
    table: ContactPairs, x: Array, faces: IntArray, known: BoolArray, overlaps: OverlapSchedule, time: float
) -> None:
    """Faces of new cracks lie on each other: what does not touch yet and is not ``known`` (p,) keeps the
    distance that it has until it parts. Vertices on ``faces`` (f, 3) are pushed back along the normal of
    these. What lies on other bodies separates slowly."""
    if not len(faces) or known.all():
        return
    table.search(x)
    depth = np.where(table.touched >= 0, table.limit - table.geometry[:, DISTANCE], 0.0)
    new = (depth > 0.0) & (table.history[:, ACTIVE] == 0.0) & ~known
    same = np.equal(*table.sources)
    others = np.flatnonzero(new & ~same)
    overlaps.allow(table, others, depth[others], time)
    over = np.flatnonzero(new & same & (np.arange(len(new)) < table.vertex_pairs))
    outward = np.zeros_like(table.x)
    a, b, c = (table.x[faces[:, k]] for k in range(3))
    for k in range(3):
        np.add.at(outward, faces[:, k], np.cross(b - a, c - a))
    own = outward[table.pairs[over, 0]]
    size = np.linalg.norm(own, axis=1)
    inward = -own / np.maximum(size, 1e-300)[:, None]
    there = table.geometry[over, UNIT : UNIT + 3]
    unit = np.where((size > 0.0)[:, None], inward, there)
    side = np.einsum("ij,ij->i", unit, there) * np.sign(table.geometry[over, DISTANCE])
    distance = np.where(side < 0.0, -1.0, 1.0) * np.abs(table.geometry[over, DISTANCE])
    table.history[over, ALLOWED] = table.limit[over] - distance
    table.history[over, ACTIVE] = TOUCHED
    table.history[over, KEPT] = SIDED
    table.history[over, LAST] = distance
    table.history[over, NORMAL : NORMAL + 3] = unit
    edges = np.flatnonzero(new & same & (np.arange(len(new)) >= table.vertex_pairs))
    _set_allowed(table, edges, depth[edges])
    table.history[edges, KEPT] = SIDED


def _set_allowed(table: ContactPairs, pairs: IntArray, depth: Array) -> None:
    table.history[pairs, ALLOWED] = depth
    table.history[pairs, ACTIVE] = TOUCHED
    table.history[pairs, LAST] = table.geometry[pairs, DISTANCE]
    table.history[pairs, NORMAL : NORMAL + 3] = table.geometry[pairs, UNIT : UNIT + 3]


def _inside(table: ContactPairs, parts: list["BodyState"]) -> tuple[IntArray, Array]:
    """Keys (vertex, body) of vertices inside other closed bodies and not within reach of their surface, and
    how deep they are [m]."""
    from pliant.mesh.bvh import Bvh

    s, keys, depths = table.surfaces, [np.empty((0, 2), np.int64)], [np.empty(0)]
    touching = table.touched[: table.vertex_pairs] >= 0
    known = {tuple(key) for key in table.pairs[: table.vertex_pairs][touching, :2].tolist()}
    for other in np.flatnonzero(s.closed):
        triangles = s.triangles[s.body_first[other] : s.body_first[other + 1]]
        own = np.flatnonzero(table.vertices_collide[s.body, other] & (s.source[s.body] != s.source[other]))
        if not len(own) or not table.collides[:, other].any():
            continue
        used = table.x[np.unique(triangles)]
        low, high = used.min(axis=0), used.max(axis=0)
        own = own[((table.x[own] > low) & (table.x[own] < high)).all(axis=1)]
        own = np.array([v for v in own.tolist() if (v, int(other)) not in known], np.int64)
        if not len(own):
            continue
        tree = Bvh(table.x, triangles)
        own = own[tree.inside(table.x[own])]
        if len(own):
            keys.append(np.column_stack([own, np.full(len(own), other)]))
            depths.append(tree.nearest(table.x[own])[1])
    return np.concatenate(keys), np.concatenate(depths)


def _refuse(table: ContactPairs, parts: list["BodyState"], inner: IntArray, depth: Array) -> None:
    deepest = int(np.argmax(depth))
    source = table.surfaces.source
    own, other = parts[source[table.surfaces.body[inner[deepest, 0]]]], parts[source[inner[deepest, 1]]]
    raise SceneError(
        f"Body '{own.name}' starts inside body '{other.name}': {len(inner)} points of its surface, "
        f"up to {depth[deepest]:.3g} m deep.",
        hint="Move one of them, set [contact] separate = true to have them pushed apart, "
        "or [contact] between = false.",
    )


def _described(
    table: ContactPairs, parts: list["BodyState"], depth: Array, overlaps: OverlapSchedule
) -> list[str]:
    notes, many, s = [], len(parts), table.surfaces
    rows = np.flatnonzero(depth[: table.vertex_pairs] > SLIGHT * table.reach[: table.vertex_pairs])
    own, other = (source[rows] for source in table.sources)
    key = np.minimum(own, other) * many + np.maximum(own, other)
    for pair in np.unique(key):
        here = rows[key == pair]
        first, second = int(pair) // many, int(pair) % many
        ids = []
        for p in here[:5]:
            part, vertex = parts[s.source[table.own[p]]], table.pairs[p, 0]
            number = s.row[vertex] - part.rows.start if s.row[vertex] >= 0 else f"surface {vertex}"
            ids.append(f"{part.name} {number}")
        more = ", ..." if len(here) > 5 else ""
        notes.append(
            f"bodies '{parts[first].name}' and '{parts[second].name}' start closer than contact keeps them, "
            f"by up to {depth[here].max():.3g} m at {len(here)} particles ({', '.join(ids)}{more}): they are "
            f"pushed apart within {overlaps.seconds[first, second]:.3g} s"
        )
    return notes
