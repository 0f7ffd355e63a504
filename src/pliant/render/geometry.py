"""Bodies at a frame as triangles, lines or points with normals and numbers, in the style asked for."""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

from pliant.core.typing import AnyArray, Array, IntArray
from pliant.exporters.surfaces import surfels, vertex_normals
from pliant.mesh.mesh import Surface, tet_edges
from pliant.mesh.topology import Edges
from pliant.render.dual_cells import CellFaces, cell_faces
from pliant.render.render_options import (
    CRACK,
    CRACK_COLOUR,
    FORCE_COLOUR,
    LEVEL_COLOURS,
    RenderOptions,
    body_rgb,
    rgb,
)
from pliant.render.scalar_fields import on_particles, on_surface, scalar_field
from pliant.run.store import Frame

ARROW = 3.0  # spacings: the length of the largest contact force of a body
SIDES = 12  # of the polygon that stands for a disc


@dataclass(frozen=True)
class Drawn:
    """Something to draw: corners are triangles (m, 3), lines (m, 2) or single points (m, 1).

    values (n,): numbers to colour by, or None; tints (n, 3): colours 0..255 of their own, or None;
    volume: tets (m, 4) over the points where the inside is to be cut open.
    """

    points: Array
    corners: IntArray
    normals: Array | None = None
    values: Array | None = None
    tints: AnyArray | None = None
    volume: IntArray | None = None


def discs(surface: Surface) -> tuple[Array, Array, IntArray, IntArray]:
    """The surfels as triangles: points, normals, corners (m, 3), and the surfel of each point."""
    centre, normal, radius = surfels(surface)
    helper = np.where(np.abs(normal[:, [0]]) < 0.6, [[1.0, 0.0, 0.0]], [[0.0, 1.0, 0.0]])
    one = np.cross(normal, helper)
    one /= np.maximum(np.linalg.norm(one, axis=1, keepdims=True), 1e-300)
    two = np.cross(normal, one)
    angle = 2.0 * np.pi * np.arange(SIDES) / SIDES
    rim = np.cos(angle)[None, :, None] * one[:, None] + np.sin(angle)[None, :, None] * two[:, None]
    points = (centre[:, None] + radius[:, None, None] * rim).reshape(-1, 3)
    fan = np.array([[0, k, k + 1] for k in range(1, SIDES - 1)])
    corners = (SIDES * np.arange(len(centre))[:, None, None] + fan).reshape(-1, 3)
    origin = np.repeat(np.arange(len(centre)), SIDES)
    return points, normal[origin], corners, origin


def level_tints(frame: Frame, body: str) -> AnyArray:
    """A colour (n, 3) per particle by its level of detail, the field ``level``; coarse ones are grey."""
    level = on_particles(scalar_field(frame, "level", body), frame.record(body).structure)
    known = np.clip(np.nan_to_num(level).round().astype(int), 0, len(LEVEL_COLOURS) - 1)
    colours: AnyArray = np.array([rgb(colour) for colour in LEVEL_COLOURS], np.uint8)
    return np.asarray(colours[known])


def crack_tints(
    frame: Frame, body: str, number: int, split: tuple[IntArray, IntArray]
) -> tuple[Array, IntArray, Array, None, AnyArray]:
    """The surface in the body's colour, with what cracks have opened (its group "crack") in another;
    where the model has a field ``damage``, damaged places darken towards it. ``split``: the surface with
    points doubled along sharp edges. Points, corners, normals, no values, and tints."""
    surface, structure = frame.surface(body), frame.record(body).structure
    cracked = np.zeros(len(surface.triangles), bool)
    for name, triangles in surface.groups.items():
        if name == CRACK or name.startswith(CRACK + "."):
            cracked[triangles] = True
    damage = np.zeros(len(surface.points))
    if "damage" in frame.field_names(body):
        worst = on_surface(on_particles(scalar_field(frame, "damage", body), structure), structure)
        damage = np.clip(np.nan_to_num(worst), 0.0, 1.0)
    origin, triangles = split
    smooth = vertex_normals(surface.points[origin], triangles)[triangles.ravel()]
    flat = origin[triangles.ravel()]  # corners of their own: colours end at the edge of a crack
    corners = np.arange(len(flat)).reshape(-1, 3)
    points = surface.points[flat]
    normals = np.where(np.repeat(cracked, 3)[:, None], vertex_normals(points, corners), smooth)
    plain, dark = np.array(body_rgb(number)), np.array(rgb(CRACK_COLOUR))
    share = np.where(np.repeat(cracked, 3), 1.0, damage[flat])[:, None]
    return points, corners, normals, None, ((1.0 - share) * plain + share * dark).astype(np.uint8)


def contact_arrows(frame: Frame, body: str) -> Drawn:
    """Lines from the particles of a body that bear a contact force along that force: as long as three
    spacings for the largest of the body, in proportion for the others."""
    forces = np.asarray(frame.field("contact-force", body).values)
    size = np.linalg.norm(forces, axis=1)
    largest = float(size.max(initial=0.0))
    pressed = np.flatnonzero(size > 1e-3 * largest) if largest > 0.0 else np.empty(0, np.int64)
    start = frame.body(body)[pressed]
    length = ARROW * frame.record(body).structure.spacing / max(largest, 1e-300)
    points = np.concatenate([start, start + length * forces[pressed]])
    lines = np.column_stack([np.arange(len(start)), np.arange(len(start)) + len(start)])
    return Drawn(points, lines, tints=np.tile(np.array(rgb(FORCE_COLOUR), np.uint8), (len(points), 1)))


SHARP = 55.0  # degrees between triangles from which on an edge is drawn as an edge
SHRINK = 0.82


class Shaper:
    """Makes what is drawn of a body; what frames of a topology version share is worked out once."""

    def __init__(self, look: RenderOptions, sense: float = 1.0) -> None:
        self._look, self._sense = look, sense
        self._split: dict[tuple[int, str], tuple[IntArray, IntArray]] = {}
        self._faces: dict[tuple[int, str], CellFaces] = {}

    def shapes(self, frame: Frame, body: str) -> list[Drawn]:
        """What is drawn of a body; a body without a surface, or without tets, is drawn as it can be."""
        look, structure = self._look, frame.record(body).structure
        values = None
        if look.colour is not None:
            values = on_particles(scalar_field(frame, look.colour, body), structure)
        if look.style == "contacts":
            lines = self._outline(frame, body)
            return [*lines, contact_arrows(frame, body)]
        x, tets = frame.body(body), structure.cells.get("tetra")
        has_tets, has_surface = tets is not None and len(tets) > 0, structure.carrier is not None
        if look.style in ("particles", "levels") or not (has_surface or has_tets):
            keep = self._before(x)
            chosen = None if values is None else values[keep]
            tints = level_tints(frame, body)[keep] if look.style == "levels" else None
            return [Drawn(x[keep], np.arange(int(keep.sum()))[:, None], values=chosen, tints=tints)]
        if look.style == "tets" and tets is not None:
            return [self._shrunk(x, tets, values)]
        if look.style == "cells" and tets is not None:
            return [self._cells(frame, body, x, tets, values)]
        if look.style == "wireframe" and tets is not None:
            return [Drawn(x, tet_edges(tets), values=values)]
        if look.section is not None and tets is not None:
            return [Drawn(x, np.empty((0, 3), np.int64), values=values, volume=tets)]
        if not has_surface:
            return [Drawn(x, np.empty((0, 3), np.int64), values=values, volume=tets)]
        return self._surface(frame, body, values)

    @staticmethod
    def _outline(frame: Frame, body: str) -> list[Drawn]:
        """The edges of the shown surface, or the particles of a body without one."""
        if frame.record(body).structure.carrier is None:
            x = frame.body(body)
            return [Drawn(x, np.arange(len(x))[:, None])]
        surface = frame.surface(body)
        return [Drawn(surface.points, Edges(surface.triangles, len(surface.points)).pairs)]

    def _surface(self, frame: Frame, body: str, values: Array | None) -> list[Drawn]:
        record, surface = frame.record(body), frame.surface(body)
        carrier = record.structure.carrier
        assert carrier is not None
        if values is not None:
            values = on_surface(values, record.structure)
        if self._look.style == "surfels":
            points, normals, corners, origin = discs(surface)
            return [Drawn(points, corners, normals, None if values is None else values[origin])]
        key = (frame.version, body)
        if key not in self._split:
            self._split[key] = split_at_edges(carrier.surface)
        origin, corners = self._split[key]
        if self._look.style == "cracks":
            number = [other.name for other in frame.bodies].index(body)
            return [Drawn(*crack_tints(frame, body, number, self._split[key]))]
        points = surface.points[origin]
        normals = vertex_normals(points, corners)
        found = [Drawn(points, corners, normals, None if values is None else values[origin])]
        if self._look.style in ("edges", "wireframe"):
            lift = 0.004 * record.structure.spacing  # above the surface, or it would hide half of them
            lines = surface.points + lift * vertex_normals(surface.points, surface.triangles)
            found.append(Drawn(lines, Edges(surface.triangles, len(lines)).pairs))
        return found[1:] if self._look.style == "wireframe" else found

    def _shrunk(self, x: Array, tets: IntArray, values: Array | None) -> Drawn:
        tets = tets[self._before(x[tets].mean(axis=1))]
        p = x[tets]
        centre = p.mean(axis=1, keepdims=True)
        points = (centre + SHRINK * (p - centre)).reshape(-1, 3)
        # each corner of each side is a point of its own, so that sides look flat
        sides = np.array([[1, 2, 3], [0, 3, 2], [0, 1, 3], [0, 2, 1]])
        flat = (4 * np.arange(len(tets))[:, None, None] + sides).reshape(-1)
        corners = np.arange(len(flat)).reshape(-1, 3)
        points = points[flat]
        normals = vertex_normals(points, corners)
        if values is not None:
            mean = values[tets].mean(axis=1)
            return Drawn(points, corners, normals, np.repeat(mean, 12))
        return Drawn(points, corners, normals, tints=np.repeat(random_tints(len(tets)), 12, axis=0))

    def _cells(self, frame: Frame, body: str, x: Array, tets: IntArray, values: Array | None) -> Drawn:
        """The dual cell of each particle, in a colour of its own unless there are values."""
        key = (frame.version, body)
        if key not in self._faces:
            self._faces[key] = cell_faces(frame.record(body).structure.rest, tets)
        faces = self._faces[key]
        keep = self._before(x)[faces.owner]
        points = faces.points(x, SHRINK)[np.repeat(keep, 3)]
        owner = np.repeat(faces.owner[keep], 3)
        corners = np.arange(len(points)).reshape(-1, 3)
        normals = vertex_normals(points, corners)
        if values is not None:
            return Drawn(points, corners, normals, values[owner])
        return Drawn(points, corners, normals, tints=random_tints(len(x))[owner])

    def _before(self, places: Array) -> AnyArray:
        """Which places lie on the shown side of the section: below it, or with a sense of -1 above."""
        if self._look.section is None:
            return np.ones(len(places), bool)
        axis, at = self._look.section
        return np.asarray(self._sense * places[:, axis] <= self._sense * at)


def random_tints(count: int) -> AnyArray:
    """Friendly colours (n, 3), the same ones every time."""
    from matplotlib.colors import hsv_to_rgb

    number = np.arange(count)
    hue = (number * 0.61803398875) % 1.0  # the golden ratio keeps neighbours apart
    rest = np.random.default_rng(7).uniform(size=(count, 2))
    hsv = np.stack([hue, 0.38 + 0.25 * rest[:, 0], 0.80 + 0.18 * rest[:, 1]], axis=1)
    return np.asarray(255.0 * hsv_to_rgb(hsv)).astype(np.uint8)


def split_at_edges(surface: Surface) -> tuple[IntArray, IntArray]:
    """Points doubled along sharp edges, so that normals are smooth within and not across them.

    Gives the old number of each new point (k,), and the triangles over the new points (m, 3).
    """
    triangles = surface.triangles
    a, b, c = (surface.points[triangles[:, k]] for k in range(3))
    normal = np.cross(b - a, c - a)
    normal /= np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-300)
    count = 3 * len(triangles)
    ends = triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2)  # side s runs from corner s to the next
    after = np.arange(count).reshape(-1, 3)[:, [1, 2, 0]].ravel()
    turned = ends[:, 0] > ends[:, 1]
    low, high = np.where(turned, after, np.arange(count)), np.where(turned, np.arange(count), after)
    order = np.lexsort(np.sort(ends, axis=1).T)
    key = np.sort(ends, axis=1)[order]
    same = np.flatnonzero((key[1:] == key[:-1]).all(axis=1))
    one, two = order[same], order[same + 1]
    smooth = np.einsum("ij,ij->i", normal[one // 3], normal[two // 3]) > np.cos(np.radians(SHARP))
    one, two = one[smooth], two[smooth]
    links = np.concatenate([np.stack([low[one], low[two]]), np.stack([high[one], high[two]])], axis=1)
    graph = coo_matrix((np.ones(links.shape[1], bool), (links[0], links[1])), (count, count))
    number, label = connected_components(graph, directed=False)
    origin = np.zeros(number, np.int64)
    origin[label] = triangles.ravel()
    return origin, label.reshape(-1, 3).astype(np.int64)
