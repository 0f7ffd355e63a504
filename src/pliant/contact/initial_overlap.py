"""Pairs closer than contact keeps them when they first meet: they keep that distance until they part."""

from typing import TYPE_CHECKING

import numpy as np

from pliant.contact.contact_pairs import ContactPairs
from pliant.contact.pair_layout import ACTIVE, ALLOWED, DISTANCE, REACH, TOUCHED
from pliant.core.typing import Array, IntArray

if TYPE_CHECKING:
    from pliant.state.world import BodyState, World

SLIGHT = 1e-3  # overlaps at the start below this share of the reach are not worth a word


def allow_overlaps(table: ContactPairs, world: "World") -> list[str]:
    """Bodies that start closer than their thickness keep that distance; returns a note where it is large."""
    table.search(world.x)
    reach = table.laws[table.own, table.pairs[:, 1], REACH]
    depth = np.where(table.touched >= 0, reach - table.geometry[:, DISTANCE], 0.0)
    over = np.flatnonzero(depth > 1e-12 * reach)
    _keep_distance(table, over, depth[over])
    return _described(table, world.bodies, depth)


def allow_new_pieces(table: ContactPairs, world: "World", keys: IntArray, pressed: Array) -> None:
    """Particles beside a new crack are closer than their balls: they keep that until they part. No pair
    of pieces is pressed more than before, which is ``pressed`` (k,) for ``keys``, nothing for others."""
    pieces = np.array([part.mechanics.contact_surface().pieces is not None for part in world.bodies])
    mine = np.flatnonzero((table.own == table.pairs[:, 1]) & pieces[table.own])
    if not len(mine):
        return
    table.search(world.x)
    before = np.zeros(len(table.pairs))
    pairs, there = table.place(keys)
    before[pairs] = pressed[there]
    reach = table.laws[table.own[mine], table.pairs[mine, 1], REACH]
    depth = reach - table.geometry[mine, DISTANCE] - before[mine]
    over = (table.touched[mine] >= 0) & (depth > table.history[mine, ALLOWED])
    _keep_distance(table, mine[over], depth[over])


def allow_new_faces(table: ContactPairs, x: Array, faces: IntArray) -> None:
    """Faces of new cracks lie on each other: what does not touch yet keeps the distance that it has until
    it parts. Particles on ``faces`` (f, 3) are pushed back along the normal of these."""
    if not len(faces):
        return
    table.search(x)
    depth = np.where(table.touched >= 0, table.limit - table.geometry[:, DISTANCE], 0.0)
    over = np.flatnonzero((depth > 0.0) & (table.history[:, ACTIVE] == 0.0))
    own = np.zeros_like(x)
    a, b, c = (x[faces[:, k]] for k in range(3))
    for k in range(3):
        np.add.at(own, faces[:, k], np.cross(b - a, c - a))
    size = np.linalg.norm(own, axis=1)[table.pairs[over, 0]]
    inward = -own[table.pairs[over, 0]] / np.maximum(size, 1e-300)[:, None]
    unit = np.where((size > 0.0)[:, None], inward, table.geometry[over, 3:6])
    side = np.sign(np.einsum("ij,ij->i", unit, table.geometry[over, 3:6]))
    distance = np.where(side < 0.0, -1.0, 1.0) * table.geometry[over, DISTANCE]
    table.history[over, ALLOWED] = table.limit[over] - distance
    table.history[over, ACTIVE] = TOUCHED
    table.history[over, 3:6] = unit


def _keep_distance(table: ContactPairs, pairs: IntArray, depth: Array) -> None:
    table.history[pairs, ALLOWED] = depth
    table.history[pairs, ACTIVE] = TOUCHED
    table.history[pairs, 3:6] = table.geometry[pairs, 3:6]


def _described(table: ContactPairs, parts: list["BodyState"], depth: Array) -> list[str]:
    notes, many = [], len(parts)
    rows = np.flatnonzero(depth > SLIGHT * table.limit)
    own, other = table.own[rows], table.pairs[rows, 1]
    key = np.minimum(own, other) * many + np.maximum(own, other)
    for pair in np.unique(key):
        here = rows[key == pair]
        first, second = parts[pair // many], parts[pair % many]
        number = table.pairs[:, 0] - [parts[k].rows.start for k in table.own]  # in its body's own numbering
        ids = [f"{parts[table.own[p]].name} {number[p]}" for p in here[:5]]
        more = ", ..." if len(here) > 5 else ""
        notes.append(
            f"bodies '{first.name}' and '{second.name}' start closer than contact keeps them, by up to "
            f"{depth[here].max():.3g} m at {len(here)} particles ({', '.join(ids)}{more}): those keep "
            "their distance until they part"
        )
    return notes
