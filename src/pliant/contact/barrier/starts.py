"""The beginning of barrier contact: overlaps are refused, what touches keeps the distance that it has."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from pliant.contact.barrier.candidates import ContactGeometry
from pliant.contact.barrier.geometry import BodySurfaces
from pliant.contact.barrier.stencil_kernels import distances, gather
from pliant.contact.mesh_obstacle import MeshObstacle
from pliant.core.errors import InputError
from pliant.core.typing import Array, BoolArray
from pliant.mesh.bvh import Bvh

if TYPE_CHECKING:
    from pliant.contact.obstacle import ObstacleRuntime
    from pliant.state.world import World

LEAST = 0.2  # of the distance at which contact begins: where it begins for what starts nearer, at least
ROUNDING = 1e-9  # of the size of the bodies: depths that are none
HINT = "Move them apart."


def insets(world: "World", obstacles: Sequence["ObstacleRuntime"], s: BodySurfaces, time: float) -> Array:
    """How much smaller obstacles count (k,) [m] so that bodies that touch them at ``time`` are a fifth of the
    contact distance away; bodies inside an obstacle are refused, with their depth."""
    points = surface_points(s, world.x)
    out, size = np.zeros(len(obstacles)), float(np.ptp(points, axis=0).max())
    for k, obstacle in enumerate(obstacles):
        for number, part in enumerate(world.bodies):
            if not part.present:
                continue
            lowest = float(obstacle.distances(time, points[s.body == number])[0].min())
            if lowest < -ROUNDING * size:
                raise InputError(
                    f"Body '{part.name}' starts {-lowest:.3g} m inside {_label(obstacle)}.",
                    hint="Barrier contact starts without overlap: move the body out of it.",
                )
            if not isinstance(obstacle, MeshObstacle):
                out[k] = max(out[k], LEAST * 2.0 * s.half[number] - lowest)
    return out


def refuse_mesh_overlaps(
    world: "World", geometry: ContactGeometry, obstacles: Sequence["ObstacleRuntime"], time: float
) -> None:
    """Raise an error that names a body whose surface cuts a mesh."""
    s, own = geometry.surfaces, geometry.surfaces.body[geometry.surfaces.triangles[:, 0]]
    points = surface_points(geometry.surfaces, world.x)
    for obstacle in obstacles:
        if not isinstance(obstacle, MeshObstacle):
            continue
        corners = obstacle.motion.at(time)
        alone = Bvh(corners, obstacle.motion.triangles).cutting_pairs()
        for number, part in enumerate(world.bodies):
            mine = s.triangles[own == number]
            if not len(mine) or not part.present:
                continue
            both = np.concatenate([mine, obstacle.motion.triangles + len(points)])
            tree = Bvh(np.concatenate([points, corners]), both)
            if tree.cutting_pairs() > alone + Bvh(points, mine).cutting_pairs():
                raise InputError(
                    f"The surface of body '{part.name}' cuts {_label(obstacle)} at t = {time:g} s.",
                    hint="Barrier contact starts without overlap: move the body away from it.",
                )


def surface_points(s: BodySurfaces, x: Array) -> Array:
    """The vertices of bodies (v, 3) for particles at ``x``."""
    out = np.empty((len(s.body), 3))
    gather(s.first, s.rows, s.weights, x, out)
    return out


def _label(obstacle: "ObstacleRuntime") -> str:
    return f"obstacle '{obstacle.name}'"


def refuse_overlaps(world: "World", geometry: ContactGeometry) -> None:
    """Raise an error that names the first pair of bodies that intersect, and their depth."""
    s, points = geometry.surfaces, surface_points(geometry.surfaces, world.x)
    tree = Bvh(points, s.triangles)
    if tree.cutting_pairs() == 0 and not _swallowed(world, geometry, points):
        return
    own = s.body[s.triangles[:, 0]]
    names = [part.name for part in world.bodies]
    for a in range(len(names)):
        for b in range(a, len(names)):
            if not geometry.tables.collides[a, b]:
                continue
            mine = s.triangles[(own == a) | (own == b)]
            alone = sum(Bvh(points, s.triangles[own == k]).cutting_pairs() for k in {a, b})
            every = Bvh(points, mine).cutting_pairs()
            if a == b and every:
                raise InputError(
                    f"The surface of body '{names[a]}' intersects itself at the start.", hint=HINT
                )
            if a == b:
                continue
            depth = _depth(points, geometry, a, b)
            if every > alone or depth > 0.0:
                raise InputError(
                    f"Bodies '{names[a]}' and '{names[b]}' overlap at the start, {depth:.3g} m deep.",
                    hint=HINT,
                )


def _swallowed(world: "World", geometry: ContactGeometry, points: Array) -> bool:
    many = len(world.bodies)
    pairs = [(a, b) for a in range(many) for b in range(a) if geometry.tables.collides[a, b]]
    return any(_depth(points, geometry, a, b) > 0.0 for a, b in pairs)


def _depth(points: Array, geometry: ContactGeometry, a: int, b: int) -> float:
    """How deep vertices of one body are inside of the other, at most [m]."""
    s, deepest = geometry.surfaces, 0.0
    for one, other in ((a, b), (b, a)):
        mine, faces = points[s.body == one], s.triangles[s.body[s.triangles[:, 0]] == other]
        if not len(mine) or not len(faces):
            continue
        low, high = points[s.body == other].min(axis=0), points[s.body == other].max(axis=0)
        mine = mine[((mine >= low) & (mine <= high)).all(axis=1)]
        if len(mine):
            tree = Bvh(points, faces)
            inside = mine[tree.inside(mine)]
            if len(inside):
                deepest = max(deepest, float(tree.nearest(inside)[1].max()))
    return deepest


def narrow_reaches(world: "World", geometry: ContactGeometry, x: Array, known: BoolArray) -> list[str]:
    """Let contact begin at the distance that bodies have where they start nearer than that, at a fifth of the
    usual distance at least: else what they stored would be released. Refuses what has no distance. known
    (b, b): pairs that are left alone."""
    s = geometry.find(x, np.zeros_like(x))
    d = distances(x, s.kinds, s.vertices, s.normals, s.offsets)
    near = np.flatnonzero(d < s.reach)
    body, told = geometry.body, set[tuple[int, int]]()
    names = [part.name for part in world.bodies]
    reach = geometry.tables.reach
    usual = reach.copy()
    for k in near[np.argsort(d[near], kind="stable")]:
        a, b = sorted((int(body[s.vertices[k, 0]]), int(body[s.vertices[k, 2]])))
        if (a, b) in told or known[a, b]:
            continue
        told.add((a, b))
        least = LEAST * float(min(usual[a, b], s.reach[k]))
        if d[k] < 0.01 * least:
            other = names[b] if b < len(names) else "an obstacle"
            raise InputError(
                f"Body '{names[a]}' touches {'itself' if a == b else f'{other!r}'} at the start "
                f"(distance {max(float(d[k]), 0.0):.3g} m).",
                hint=f"Barrier contact needs a gap; {least:.2g} m is enough. " + HINT,
            )
        reach[a, b] = reach[b, a] = max(float(d[k]), least)
    return [
        f"'{names[a]}' and {'obstacle' if b >= len(names) else repr(names[b])} touch at the start: "
        f"contact between them begins at {reach[a, b]:.3g} m"
        for a, b in sorted(told)
    ]
