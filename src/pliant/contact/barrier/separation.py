"""Bodies that overlap at the start, moved apart as a whole on request."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from pliant.contact.barrier.geometry import BodySurfaces, PairTables
from pliant.contact.barrier.starts import surface_points
from pliant.core.errors import InputError
from pliant.core.typing import Array, BoolArray, IntArray
from pliant.mesh.bvh import Bvh

if TYPE_CHECKING:
    from pliant.contact.obstacle import ObstacleRuntime
    from pliant.state.world import World

ROUNDS = 40
SHARE = 0.6  # of the depth that a round moves
FARTHEST = 3.0  # times the first depth that a pair may be moved in all
HINT = "Move them apart."


def separate(
    world: "World",
    s: BodySurfaces,
    tables: PairTables,
    obstacles: Sequence["ObstacleRuntime"],
    time: float,
    held: BoolArray,
) -> list[str]:
    """Translate bodies in ``world.x`` until none overlaps another or an obstacle; returns what was moved.

    In a round each overlapping pair moves by 0.6 of its depth, and half a contact distance, along the sum of
    the vectors that take the vertices inside to the surface; by inverse mass, and ``held`` bodies (b,) and
    obstacles not at all. InputError, and all bodies where they were, for bodies that may be linked (both
    have holes), that are wholly inside another, whose edges cross without a vertex inside, and where 40
    rounds, or a way of three depths, do not do.
    """
    start, points = world.x.copy(), surface_points(s, world.x)
    mobile = np.where(held, 0.0, [1.0 / world.mass[part.rows].sum() for part in world.bodies])
    shift, first = np.zeros((len(world.bodies), 3)), dict[tuple[int, int], float]()
    try:
        for _ in range(ROUNDS):
            moves = np.zeros_like(shift)
            for a, b, push, depth in _overlaps(world, s, tables, obstacles, points, time):
                most = first.setdefault((a, b), depth)
                size = SHARE * depth + 0.5 * float(tables.reach[a, b])
                other = 0.0 if b >= len(mobile) else mobile[b]
                if mobile[a] + other == 0.0:
                    raise InputError(
                        f"{_pair(world, a, b)} overlap at the start, and both are held.", hint=HINT
                    )
                moves[a] += size * mobile[a] / (mobile[a] + other) * push
                if b < len(mobile):
                    moves[b] -= size * other / (mobile[a] + other) * push
                limit = FARTHEST * most + float(tables.reach[a, b])
                apart = shift[a] - (shift[b] if b < len(mobile) else 0.0)
                if np.linalg.norm(apart) > limit:
                    raise _stuck(world, a, b, most)
            if not moves.any():
                return _described(world, shift)
            shift += moves
            points += moves[s.body]
            for part, move in zip(world.bodies, moves, strict=True):
                world.x[part.rows] += move
        a, b = next(iter(first))
        raise _stuck(world, a, b, first[a, b])
    except InputError:
        world.x[:] = start
        raise


def _overlaps(
    world: "World",
    s: BodySurfaces,
    tables: PairTables,
    obstacles: Sequence["ObstacleRuntime"],
    points: Array,
    time: float,
) -> list[tuple[int, int, Array, float]]:
    """Pairs of bodies, and of bodies and obstacles (numbered after them), that overlap: the unit vector that
    the first is pushed along, and the depth."""
    many, found = len(world.bodies), list[tuple[int, int, Array, float]]()
    faces = [s.triangles[s.body[s.triangles[:, 0]] == k] for k in range(many)]
    present = [part.present and len(face) > 0 for part, face in zip(world.bodies, faces, strict=True)]
    trees = {k: Bvh(points, faces[k]) for k in range(many) if present[k]}
    for a, own_tree in trees.items():
        mine = points[s.body == a]
        for k, obstacle in enumerate(obstacles):
            heights, normal = obstacle.distances(time, mine)
            inside = heights < 0.0
            if inside.any():
                push = (-heights[inside, None] * normal[inside]).sum(axis=0)
                found.append((a, many + k, _unit(push, world, a, many + k), float(-heights.min())))
        for b, other_tree in trees.items():
            if b <= a or not tables.collides[a, b] or not _boxes_meet(mine, points[s.body == b]):
                continue
            push, depth, swallowed = np.zeros(3), 0.0, False
            for one, other, sign in ((a, b, 1.0), (b, a, -1.0)):
                own = points[s.body == one]
                inside = trees[other].inside(own)
                swallowed |= bool(inside.all())
                if inside.any():
                    place, distance, _ = trees[other].nearest(own[inside])
                    push += sign * (place - own[inside]).sum(axis=0)
                    depth = max(depth, float(distance.max()))
            crossing = _cross(points, faces[a], faces[b], own_tree, other_tree)
            if swallowed and not crossing:
                raise InputError(f"{_pair(world, a, b)}: one is inside the other at the start.", hint=HINT)
            if not depth and not crossing:
                continue
            if _holed(faces[a]) and _holed(faces[b]):
                raise InputError(
                    f"{_pair(world, a, b)} overlap at the start and both have holes: they may be linked.",
                    hint=HINT,
                )
            if not depth:
                raise InputError(
                    f"{_pair(world, a, b)} cross at the start without a vertex inside either.", hint=HINT
                )
            found.append((a, b, _unit(push, world, a, b), depth))
    return found


def _cross(points: Array, one: IntArray, two: IntArray, first: Bvh, second: Bvh) -> bool:
    both = Bvh(points, np.concatenate([one, two])).cutting_pairs()
    return bool(both > first.cutting_pairs() + second.cutting_pairs())


def _boxes_meet(one: Array, two: Array) -> bool:
    return bool((one.min(axis=0) <= two.max(axis=0)).all() and (two.min(axis=0) <= one.max(axis=0)).all())


def _holed(triangles: IntArray) -> bool:
    """Whether a closed surface has a handle: ``V - E + F < 2``."""
    edges = np.unique(np.sort(triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1), axis=0)
    return len(np.unique(triangles)) - len(edges) + len(triangles) < 2


def _unit(push: Array, world: "World", a: int, b: int) -> Array:
    size = float(np.linalg.norm(push))
    if not size > 0.0:
        raise InputError(f"{_pair(world, a, b)} overlap at the start, in no direction.", hint=HINT)
    return push / size


def _stuck(world: "World", a: int, b: int, depth: float) -> InputError:
    return InputError(
        f"{_pair(world, a, b)} overlap at the start, {depth:.3g} m deep, and were not separated by moving "
        f"them as far as {FARTHEST:g} times that.",
        hint=HINT,
    )


def _pair(world: "World", a: int, b: int) -> str:
    names = [part.name for part in world.bodies]
    if b >= len(names):
        return f"Body '{names[a]}' and an obstacle"
    return f"Bodies '{names[a]}' and '{names[b]}'"


def _described(world: "World", shift: Array) -> list[str]:
    return [
        f"body '{part.name}' overlaps at the start: it was moved by {np.linalg.norm(move):.3g} m, "
        f"({', '.join(f'{value:.3g}' for value in move)})"
        for part, move in zip(world.bodies, shift, strict=True)
        if move.any()
    ]
