"""What takes part in barrier contact: the triangulated surfaces of bodies, and obstacles, as vertices."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pliant.contact.mesh_obstacle import MeshObstacle
from pliant.contact.obstacle_shape import BOX, CAPSULE, PLANE, SPHERE
from pliant.core.errors import IncompatibleError
from pliant.core.typing import Array, BoolArray, IntArray
from pliant.embedding.barycentric import EmbeddedSurface
from pliant.embedding.carriers import HiddenSurface
from pliant.mesh.topology import merge_points

if TYPE_CHECKING:
    from pliant.contact.obstacle import ObstacleRuntime
    from pliant.contact.parameters import Contact
    from pliant.state.world import BodyState, World

HALF = 0.05  # of the mean edge: half of the distance at which contact begins
RIGID_HALF = 0.015  # the same of rigid bodies, of their mean edge or spacing, whichever is smaller
PRESS = 10.0  # weights of a rigid body that its contacts bear at half of that distance, about
GRAVITY = 9.81  # [m/s2], for that
MARGIN = 0.1  # of the mean edge: how far vertices may leave the way that candidates were found for
STICK = 0.01  # of the mean edge: the longest stretch of friction that sticks
_BOX_CORNERS = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], float)
_BOX_TRIANGLES = np.array(
    [[0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1],
     [2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4], [1, 5, 7], [1, 7, 3]]
)  # fmt: skip


@dataclass(frozen=True)
class BodySurfaces:
    """Surfaces of all bodies: vertex i is ``sum weights x[rows]`` over the entries ``first[i]`` to
    ``first[i + 1]``. body (v,); rest (v, 3) [m]; triangles (t, 3); edges (e, 2); per body edge (b,): the mean
    edge [m], stiffness (b,) [N/m], and half (b,): half of the distance at which contact begins [m]."""

    first: IntArray
    rows: IntArray
    weights: Array
    body: IntArray
    rest: Array
    triangles: IntArray
    edges: IntArray
    edge: Array
    stiffness: Array
    half: Array


def body_surfaces(world: "World") -> BodySurfaces:
    """The surfaces of the bodies that are present; those that have none are refused."""
    first, rows, weights, body, rest = [np.zeros(1, np.int64)], [], [], [], []
    triangles, edges, lengths, stiffness, half = [], [], [], [], []
    count = entries = 0
    for number, part in enumerate(world.bodies):
        own = surface_of(part)
        ends, rigid = _edges(own.triangles), part.mechanics.contact_surface().rigid
        place = np.einsum("vk,vki->vi", own.weights, part.structure.rest[own.rows])
        length = float(np.linalg.norm(place[ends[:, 0]] - place[ends[:, 1]], axis=1).mean())
        length = min(length, part.structure.spacing) if rigid else length
        lengths.append(length)
        half.append((RIGID_HALF if rigid else HALF) * length)
        weight = PRESS * float(part.structure.mass.sum()) * GRAVITY
        stiffness.append(weight / (2.0 * half[-1]) if rigid else part.material.young * length)
        if not part.present:
            continue
        used = own.weights != 0.0
        first.append(entries + np.cumsum(used.sum(axis=1)))
        rows.append(own.rows[used] + part.rows.start)
        weights.append(own.weights[used])
        body.append(np.full(len(place), number))
        rest.append(place)
        triangles.append(own.triangles + count)
        edges.append(ends + count)
        count += len(place)
        entries += int(used.sum())
    return BodySurfaces(
        np.concatenate(first).astype(np.int64), np.concatenate(rows).astype(np.int64),
        np.concatenate(weights), np.concatenate(body), np.concatenate(rest), np.concatenate(triangles),
        np.concatenate(edges), np.array(lengths), np.array(stiffness), np.array(half),
    )  # fmt: skip


@dataclass(frozen=True)
class SurfaceOfBody:
    """Vertices ``sum weights x[rows]`` (v, k) of a body, in its own rows, and triangles (t, 3)."""

    rows: IntArray
    weights: Array
    triangles: IntArray


def surface_of(part: "BodyState") -> SurfaceOfBody:
    """The surface that a body touches with: the triangles of its particles, or the surface that they carry by
    fixed weights (also of lattices, whose own triangles go through the middle of their elements)."""
    cells, carrier = part.structure.cells.get("triangle"), part.structure.carrier
    if isinstance(carrier, HiddenSurface):
        carrier = carrier.inner
    if cells is not None and len(cells) and "hexahedron" not in part.structure.cells:
        used, corners = np.unique(cells, return_inverse=True)
        faces = np.asarray(corners.reshape(-1, 3), np.int64)
        return SurfaceOfBody(used[:, None].astype(np.int64), np.ones((len(used), 1)), faces)
    if not isinstance(carrier, EmbeddedSurface) or (
        carrier.offsets is not None and len(carrier.offsets.points)
    ):
        raise IncompatibleError(
            f"Barrier contact needs a surface that follows the particles; body '{part.name}' (model "
            f"'{part.model.kind}') has none.",
            hint='Use a finer edge, another model, or [contact] method = "penalty".',
        )
    merged, name = merge_points(carrier.surface.points)
    keep = np.zeros(len(merged), np.int64)
    keep[name[::-1]] = np.arange(len(name))[::-1]
    faces = name[carrier.surface.triangles]
    faces = faces[(faces[:, 0] != faces[:, 1]) & (faces[:, 1] != faces[:, 2]) & (faces[:, 2] != faces[:, 0])]
    used, corners = np.unique(faces, return_inverse=True)
    chosen = keep[used]
    return SurfaceOfBody(
        carrier.indices[chosen].astype(np.int64), carrier.weights[chosen].astype(float),
        np.asarray(corners.reshape(-1, 3), np.int64),
    )  # fmt: skip


def _edges(triangles: IntArray) -> IntArray:
    """The edges (e, 2) of triangles, each once."""
    return np.unique(np.sort(triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1), axis=0)


@dataclass(frozen=True)
class ObstacleVertices:
    """Obstacles as vertices that are not free: owner (o,), the number of the obstacle; local (o, 3) [m] from
    its place; radius (o,): how much thicker than the vertices it is; triangles (t, 3), a twice given corner
    making an edge of one; edges (e, 2); planes (k, 2): obstacle and vertex, with normals (k, 3)."""

    owner: IntArray
    local: Array
    radius: Array
    triangles: IntArray
    edges: IntArray
    planes: IntArray
    normals: Array
    points: IntArray  # vertices that collide with triangles

    def at(self, obstacles: Sequence["ObstacleRuntime"], time: float) -> Array:
        """Where the vertices (o, 3) of ``obstacles`` are at ``time`` [m]."""
        out = self.local.copy()
        for k, each in enumerate(obstacles):
            own = self.owner == k
            if isinstance(each, MeshObstacle):
                out[own] = each.motion.at(time)
            else:
                out[own] += each.path.at(time)
        return out


def obstacle_vertices(obstacles: Sequence["ObstacleRuntime"], insets: Array) -> ObstacleVertices:
    """The vertices of all obstacles; insets (k,) [m]: how much smaller each counts, because bodies touch it
    at the start."""
    owner, local, radius, triangles, edges, points, planes = [], [], [], [], [], [], []
    count = 0
    for number, (each, inset) in enumerate(zip(obstacles, insets, strict=True)):
        axes, thick = each.frame, 0.0
        places = np.zeros((1, 3))
        if isinstance(each, MeshObstacle):
            corners = each.motion.triangles
            places = each.motion.at(each.start) - each.path.at(each.start)
            triangles.append(corners + count)
            edges.append(_edges(corners) + count)
            points.append((np.unique(corners) + count).tolist())
        elif each.shape == PLANE:
            places = -inset * axes[:, 2][None]
            planes.append((number, count))
        elif each.shape == SPHERE:
            thick = each.size[0] - inset
            points.append([count])
        elif each.shape == CAPSULE:
            thick = each.size[0] - inset
            places = np.array([[0, 0, -each.size[1]], [0, 0, each.size[1]]]) @ axes.T
            triangles.append(np.array([[count, count + 1, count + 1]]))
            edges.append(np.array([[count, count + 1]]))
            points.append([count, count + 1])
        else:
            assert each.shape == BOX
            places = (_BOX_CORNERS * (each.size - inset)) @ axes.T
            triangles.append(_BOX_TRIANGLES + count)
            edges.append(_edges(_BOX_TRIANGLES) + count)
            points.append(list(range(count, count + 8)))
        owner += [number] * len(places)
        local.append(places)
        radius += [thick] * len(places)
        count += len(places)
    normals = [obstacles[number].frame[:, 2] for number, _ in planes]
    return ObstacleVertices(
        np.array(owner, np.int64),
        np.concatenate(local) if local else np.empty((0, 3)),
        np.array(radius, float),
        np.concatenate(triangles).astype(np.int64) if triangles else np.empty((0, 3), np.int64),
        np.concatenate(edges).astype(np.int64) if edges else np.empty((0, 2), np.int64),
        np.array(planes, np.int64).reshape(-1, 2),
        np.array(normals, float).reshape(-1, 3),
        np.array([vertex for some in points for vertex in some], np.int64),
    )


@dataclass(frozen=True)
class PairTables:
    """Coefficients of contact between bodies, then obstacles, (b + k, b + k): which collide, the distance at
    which contact begins [m], stiffness [N/m], friction, the longest stretch that sticks [m]."""

    collides: BoolArray
    reach: Array
    stiffness: Array
    friction: Array
    stretch: Array


def pair_tables(
    world: "World", contact: "Contact", s: BodySurfaces, obstacles: Sequence["ObstacleRuntime"]
) -> PairTables:
    """The coefficients of all pairs, before bodies that touch at the start are looked at."""
    many, every = len(world.bodies), len(world.bodies) + len(obstacles)
    collides = np.zeros((every, every), bool)
    collides[:many, :many] = contact.between
    collides[:many, many:] = collides[many:, :many] = True
    itself = True if contact.self_ is None else bool(contact.self_)
    np.fill_diagonal(collides[:many, :many], itself)
    rigid = [k for k, part in enumerate(world.bodies) if part.mechanics.contact_surface().rigid]
    collides[rigid, rigid] = False
    absent = [k for k, part in enumerate(world.bodies) if not part.present]
    collides[absent, :] = collides[:, absent] = False
    edge, stiff, half = np.zeros(every), np.full(every, np.inf), np.zeros(every)
    edge[:many], stiff[:many], half[:many] = s.edge, s.stiffness, s.half
    reach = half[:, None] + half[None, :]
    reach[many:] *= 2.0
    reach[:, many:] *= 2.0
    pair_edge = edge[:, None] + edge[None, :]
    pair_edge[many:] *= 2.0
    pair_edge[:, many:] *= 2.0
    rough = [
        p.material.friction if (own := p.mechanics.contact_surface().friction) is None else own
        for p in world.bodies
    ]
    friction = np.zeros((every, every))
    friction[:many, :many] = np.sqrt(np.outer(rough, rough))
    names = [part.name for part in world.bodies]
    for pair in contact.pairs:
        if pair.friction is not None:
            i, j = (names.index(name) for name in pair.bodies)
            friction[i, j] = friction[j, i] = pair.friction
    for k, each in enumerate(obstacles):
        friction[:many, many + k] = friction[many + k, :many] = each.friction
    return PairTables(
        collides,
        reach,
        contact.stiffness * np.minimum(stiff[:, None], stiff[None, :]),
        friction,
        0.5 * STICK * pair_edge,
    )
