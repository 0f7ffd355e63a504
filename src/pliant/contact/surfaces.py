"""The surfaces that bodies touch with: vertices that are balls, and triangles and edges as thick."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from pliant.contact.smooth_surface import INSET, SmoothSurface, SmoothSurfaces
from pliant.core.typing import Array, BoolArray, IntArray
from pliant.interfaces import ChangingTopology
from pliant.kernels.csr import edge_incidence, incidence
from pliant.mesh.topology import components
from pliant.structure.samplers.rigid import INNER

if TYPE_CHECKING:
    from pliant.contact.parameters import Contact
    from pliant.state.world import BodyState, World

SHELL = 0.2  # thickness of bodies made of points, to either side [spacings]
BALL = 0.5  # radius of particles that have no surface [spacings]
THIN = 0.35  # largest radius of bodies whose edges collide [mean edge]: thicker ones cover their edges
NEIGHBOURS = 12  # particles that tell the rotation of a vertex, at most
APART = 1.5  # parts of a body nearer than this at rest do not collide [reach]


@dataclass(frozen=True)
class ContactSurfaces:
    """All bodies' surfaces, with vertices of their own: vertex i is ``sum weights x[rows]`` over the entries
    ``first[i]`` to ``first[i + 1]``, rows of the World.

    body, mass (v,); row (v,): the particle that a vertex is, or -1; rest (v, 3) [m]. points (p,): vertices
    that collide with triangles. triangles (t, 3) with the body of each (t,), sorted by it (``body_first``);
    across (t, 3): the triangle across the edge opposite to each corner, or -1; fan: corners ``3 t + k`` at
    each vertex, in rows ``fan_first``. edges (e, 2) of bodies whose edges collide, with ``edge_body`` and
    their triangles ``sides`` (e, 2).
    A body whose pieces alone collide with each other is as many bodies as it has pieces: ``source`` (b,) is
    the body of the World that each is, or is a piece of.
    Per body: radius (b,): half the thickness [m]; closed: triangles face outward everywhere; ball: a rigid
    sphere; points_only: has no triangles; whole: its own parts collide, beyond ``apart`` [m] at rest.
    link_first, linked: connected vertices of bodies that collide with themselves; piece (v,): the piece of
    the body. spin_first, spin_rows: particles around a vertex that tell its rotation. triangle_size,
    edge_size: mean extents [m].
    """

    source: IntArray
    first: IntArray
    rows: IntArray
    weights: Array
    row: IntArray
    body: IntArray
    mass: Array
    rest: Array
    points: IntArray
    triangles: IntArray
    triangle_body: IntArray
    body_first: IntArray
    across: IntArray
    fan_first: IntArray
    fan: IntArray
    edges: IntArray
    edge_body: IntArray
    sides: IntArray
    radius: Array
    closed: BoolArray
    ball: BoolArray
    points_only: BoolArray
    smooth: BoolArray
    whole: BoolArray
    apart: Array
    link_first: IntArray
    linked: IntArray
    piece: IntArray
    spin_first: IntArray
    spin_rows: IntArray
    triangle_size: float
    edge_size: float

    @property
    def count(self) -> int:
        return len(self.row)

    @property
    def siblings(self) -> BoolArray:
        """Which are different pieces of the same body (b, b)."""
        return np.asarray((self.source[:, None] == self.source) & ~np.eye(len(self.source), dtype=bool))


@dataclass(frozen=True)
class _BodySurface:
    """The surface of one body in its own numbering: vertices with ``rows`` and ``weights`` (v, k)."""

    triangles: IntArray
    rows: IntArray
    weights: Array
    mass: Array
    radius: float
    points_only: bool
    smooth: bool


def surfaces_of(world: "World", contact: "Contact", smooth: SmoothSurfaces) -> ContactSurfaces:
    """The present surfaces of all bodies."""
    bodies, parts, source = [], [], []
    for b, part in enumerate(world.bodies):
        own = _surface(part, None if contact.collides_with_itself(part) else smooth.of(part))
        pieces = _pieces(part, own) if contact.splits(part) else [own]
        bodies += pieces
        parts += [part] * len(pieces)
        source += [b] * len(pieces)
    counts = [len(one.rows) for one in bodies]
    offset = np.concatenate([[0], np.cumsum(counts)])
    triangles = np.concatenate([one.triangles + offset[b] for b, one in enumerate(bodies)])
    tri_counts = [len(one.triangles) for one in bodies]
    widths = np.concatenate([np.full(len(one.rows), one.rows.shape[1]) for one in bodies])
    rows = np.concatenate([(one.rows + p.rows.start).ravel() for one, p in zip(bodies, parts, strict=True)])
    first = np.concatenate([[0], np.cumsum(widths)])
    body = np.repeat(np.arange(len(bodies)), counts)
    row = np.where(widths == 1, rows[first[:-1]], -1)
    weights = np.concatenate([one.weights.ravel() for one in bodies])
    rest = np.zeros((len(row), 3))
    np.add.at(rest, np.repeat(np.arange(len(row)), widths), weights[:, None] * world.rest[rows])
    entries, starts = incidence(triangles, len(row))
    across, edges, sides, manifold = _adjacency(triangles, len(row))
    tri_body = np.repeat(np.arange(len(bodies)), tri_counts)
    closed = np.array([bool(n) and bool(manifold[tri_body == b].all()) for b, n in enumerate(tri_counts)])
    radius = np.array([one.radius for one in bodies])
    spacing = np.array([part.structure.spacing for part in parts])
    balls = radius > (1.0 - 1e-9) * BALL * spacing  # that touch each other cover their edges
    edges, sides = _colliding_edges(edges, sides, rest, body, radius, balls)
    alone = [_self_contact(part, contact, one) for part, one in zip(parts, bodies, strict=True)]
    piece = np.concatenate([each.piece for each in alone]) if alone else np.empty(0, np.int64)
    links = np.concatenate([each.links + offset[b] for b, each in enumerate(alone)])
    link_first, linked, _ = edge_incidence(links, len(row))
    spin_first, spin_rows = _spin_rows(parts, bodies)
    return ContactSurfaces(
        source=np.array(source, np.int64),
        first=first,
        rows=rows,
        weights=weights,
        row=row,
        body=body,
        mass=np.concatenate([one.mass for one in bodies]),
        rest=rest,
        points=np.unique(triangles),
        triangles=np.ascontiguousarray(triangles),
        triangle_body=tri_body,
        body_first=np.concatenate([[0], np.cumsum(tri_counts)]),
        across=across,
        fan_first=starts,
        fan=entries,
        edges=edges,
        edge_body=body[edges[:, 0]],
        sides=sides,
        radius=radius,
        closed=closed,
        ball=np.array([_is_ball(part) for part in parts]),
        points_only=np.array([one.points_only for one in bodies]),
        smooth=np.array([one.smooth for one in bodies]),
        whole=np.array([each.whole for each in alone]),
        apart=np.array([each.apart for each in alone]),
        link_first=link_first,
        linked=linked,
        piece=piece,
        spin_first=spin_first,
        spin_rows=spin_rows,
        triangle_size=_mean_extent(rest, triangles),
        edge_size=_mean_extent(rest, edges),
    )


def new_faces(now: ContactSurfaces, parents: IntArray, before: ContactSurfaces) -> IntArray:
    """Triangles (f, 3) of ``now`` that were none ``before``; parents (n,): the old row of each new one."""
    name = np.dtype((np.void, 24))
    old = before.row[before.triangles]
    new = now.row[now.triangles]
    new = np.where(new >= 0, parents[np.maximum(new, 0)], -1)
    plain = (new >= 0).all(axis=1)
    known = (now.row[now.triangles] < 0).any(axis=1)  # of smooth surfaces, which do not change
    was, seen = (np.ascontiguousarray(np.sort(t, axis=1)) for t in (old[(old >= 0).all(axis=1)], new))
    return now.triangles[~known & ~(plain & np.isin(seen.view(name).ravel(), was.view(name).ravel()))]


def _surface(part: "BodyState", smooth: SmoothSurface | None) -> _BodySurface:
    structure, contact = part.structure, part.mechanics.contact_surface()
    if smooth is not None:
        return _BodySurface(
            smooth.triangles, smooth.near, smooth.weights, smooth.mass, INSET * structure.spacing, False, True
        )
    triangles = structure.cells.get("triangle") if contact.triangles is None else contact.triangles
    bare = triangles is None or not len(triangles)
    radius = contact.radius
    if radius is None:
        radius = structure.spacing * (BALL if bare else SHELL)
    if triangles is None or bare:
        triangles = np.repeat(np.arange(part.count)[:, None], 3, axis=1)
    rows, corners = np.unique(triangles, return_inverse=True)
    mass = structure.mass if contact.mass is None else contact.mass
    return _BodySurface(
        np.asarray(corners.reshape(-1, 3), np.int64),
        rows[:, None].astype(np.int64),
        np.ones((len(rows), 1)),
        mass[rows],
        radius,
        bare,
        False,
    )


def _pieces(part: "BodyState", own: _BodySurface) -> list[_BodySurface]:
    """The surfaces of the pieces of a body of tets, in the order of their lowest particles."""
    piece = components(part.count, _edges(part))[1][own.rows[:, 0]]
    found = []
    for number in np.unique(piece):
        mine = piece == number
        name = np.cumsum(mine) - 1
        triangles = name[own.triangles[mine[own.triangles[:, 0]]]]
        found.append(
            replace(
                own, triangles=triangles, rows=own.rows[mine], weights=own.weights[mine], mass=own.mass[mine]
            )
        )
    return found


def _mean_extent(rest: Array, features: IntArray) -> float:
    """Mean of the largest extents of triangles or edges along an axis [m]."""
    return float(np.ptp(rest[features], axis=1).max(axis=1).mean()) if len(features) else 0.0


def _is_ball(part: "BodyState") -> bool:
    contact = part.mechanics.contact_surface()
    return contact.rigid and contact.triangles is not None and len(contact.triangles) == 1


def _adjacency(triangles: IntArray, count: int) -> tuple[IntArray, IntArray, IntArray, BoolArray]:
    """The triangle across the edge opposite to each corner (t, 3), or -1; the edges (e, 2) and their
    triangles (e, 2); and which triangles (t,) have one neighbour of the same orientation at each edge."""
    ends = np.stack([triangles[:, [1, 2]], triangles[:, [2, 0]], triangles[:, [0, 1]]], axis=1).reshape(-1, 2)
    key = ends.min(axis=1) * count + ends.max(axis=1)
    real = ends[:, 0] != ends[:, 1]
    order = np.argsort(key, kind="stable")
    order = order[real[order]]
    _, begin, times = np.unique(key[order], return_index=True, return_counts=True)
    one, two = order[begin], order[np.minimum(begin + 1, len(order) - 1)] if len(order) else order[begin]
    paired = (times == 2) & (ends[one, 0] == ends[two, 1]) if len(order) else np.zeros(0, bool)
    flat = np.full(3 * len(triangles), -1)
    flat[one[paired]], flat[two[paired]] = two[paired] // 3, one[paired] // 3
    sides: IntArray = np.column_stack([one // 3, np.where(times > 1, two // 3, -1)])
    across: IntArray = flat.reshape(-1, 3)
    return across, np.sort(ends[one], axis=1), sides, np.asarray((across >= 0).all(axis=1))


def _colliding_edges(
    edges: IntArray, sides: IntArray, rest: Array, body: IntArray, radius: Array, balls: BoolArray
) -> tuple[IntArray, IntArray]:
    """Those of bodies that are thin compared with their edges and not made of ``balls`` (b,), sorted by
    body."""
    owner = body[edges[:, 0]]
    length = np.linalg.norm(rest[edges[:, 1]] - rest[edges[:, 0]], axis=1)
    many = np.bincount(owner, minlength=len(radius))
    mean = np.bincount(owner, length, minlength=len(radius)) / np.maximum(many, 1)
    chosen = np.flatnonzero(((radius < THIN * mean) & ~balls)[owner])
    chosen = chosen[np.argsort(owner[chosen], kind="stable")]
    return np.ascontiguousarray(edges[chosen]), np.ascontiguousarray(sides[chosen])


@dataclass(frozen=True)
class _SelfContact:
    """Contact of a body with itself: pieces (v,) of its vertices, whether parts of a piece collide, beyond
    which distance at rest [m], and connected vertices (l, 2)."""

    piece: IntArray
    whole: bool
    apart: float
    links: IntArray


def _self_contact(part: "BodyState", contact: "Contact", own: _BodySurface) -> _SelfContact:
    count, none = len(own.rows), np.empty((0, 2), np.int64)
    if not contact.collides_with_itself(part) or contact.splits(part):
        return _SelfContact(np.zeros(count, np.int64), False, 0.0, none)
    pieces, row = part.mechanics.contact_surface().pieces, own.rows[:, 0]
    edges = _edges(part)
    if pieces is None:
        pieces = components(part.count, edges)[1] if len(edges) else np.zeros(part.count, np.int64)
    fragile = part.material.strength is not None
    topology = part.mechanics.offer(ChangingTopology)
    changed = fragile or (topology is not None and topology.topology_version > 0)
    whole = not contact.only_pieces(part) and not (changed and own.points_only)
    if own.smooth:
        t = own.triangles
        links = np.unique(np.sort(t[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1), axis=0)
    else:
        vertex = np.full(part.count, -1)
        vertex[row] = np.arange(count)
        links = vertex[edges]
        links = links[(links >= 0).all(axis=1)]
    apart = 0.0 if changed else APART * 2.0 * own.radius
    return _SelfContact(np.asarray(pieces, np.int64)[row], whole, apart, links)


def _edges(part: "BodyState") -> IntArray:
    """Connected particles of a body (e, 2)."""
    from pliant.mesh.mesh import tet_edges

    cells = part.structure.cells
    if "edge" in cells:
        return cells["edge"]
    if "tetra" in cells:
        return tet_edges(cells["tetra"])
    t = cells.get("triangle", np.empty((0, 3), np.int64))
    return np.concatenate([t[:, [0, 1]], t[:, [1, 2]], t[:, [2, 0]]])


def _spin_rows(parts: list["BodyState"], bodies: list[_BodySurface]) -> tuple[IntArray, IntArray]:
    """Particles that tell the rotation around each vertex, as rows of lists: the inner ones of a rigid body,
    the elements that carry a vertex of a smooth surface, the nearest connected ones, or the nearest."""
    counts, found = [], []
    for part, own in _whole_again(parts, bodies):
        if part.mechanics.contact_surface().rigid:
            inner = np.arange(part.count - INNER, part.count)
            own_counts, own_rows = np.full(len(own.rows), INNER), np.tile(inner, len(own.rows))
        elif own.smooth:
            own_counts, own_rows = np.full(len(own.rows), own.rows.shape[1]), own.rows.ravel()
        else:
            own_counts, own_rows = _nearest_connected(part, own.rows[:, 0])
        counts.append(own_counts)
        found.append(own_rows + part.rows.start)
    first = np.concatenate([[0], np.cumsum(np.concatenate(counts))])
    return first.astype(np.int64), np.concatenate(found).astype(np.int64)


def _whole_again(
    parts: list["BodyState"], bodies: list[_BodySurface]
) -> list[tuple["BodyState", _BodySurface]]:
    """Each body once, with the rows of all its pieces one after the other."""
    found: list[tuple[BodyState, _BodySurface]] = []
    for part, own in zip(parts, bodies, strict=True):
        if found and found[-1][0] is part:
            found[-1] = part, replace(own, rows=np.concatenate([found[-1][1].rows, own.rows]))
        else:
            found.append((part, own))
    return found


def _nearest_connected(part: "BodyState", rows: IntArray) -> tuple[IntArray, IntArray]:
    """At most ``NEIGHBOURS`` particles for each of ``rows``, the nearest first: connected ones, or any of the
    same piece where the body has no cells. Returns how many, and which."""
    from scipy.spatial import cKDTree

    rest, edges = part.structure.rest, _edges(part)
    if part.structure.cells:
        i, j = np.concatenate([edges, edges[:, ::-1]]).T
    else:
        many = min(NEIGHBOURS + 1, len(rest))
        near = np.asarray(cKDTree(rest).query(rest[rows], k=many)[1]).reshape(len(rows), -1)
        i, j = np.repeat(rows, near.shape[1]), near.ravel()
        pieces = part.mechanics.contact_surface().pieces
        same = (i != j) if pieces is None else (i != j) & (pieces[i] == pieces[j])
        i, j = i[same], j[same]
    vertex = np.full(part.count, -1)
    vertex[rows] = np.arange(len(rows))
    own = vertex[i] >= 0
    i, j = vertex[i[own]], j[own]
    length = np.linalg.norm(rest[j] - rest[rows[i]], axis=1)
    order = np.lexsort((j, length, i))
    i, j = i[order], j[order]
    begin = np.searchsorted(i, np.arange(len(rows)))
    near_enough = np.arange(len(i)) - begin[i] < NEIGHBOURS
    counts = np.bincount(i[near_enough], minlength=len(rows))
    return counts, j[near_enough]
