"""Styles that show how a body is made: surfels, levels of detail, cracks."""

import numpy as np

from pliant.core.typing import AnyArray, Array, IntArray
from pliant.exporters.surfaces import surfels, vertex_normals
from pliant.mesh.mesh import Surface
from pliant.render.render_options import BODY_COLOURS, CRACK, CRACK_COLOUR, LEVEL_COLOURS
from pliant.render.scalar_fields import on_particles, on_surface, scalar_field
from pliant.run.store import Frame

SIDES = 12  # of the polygon that stands for a disc


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
    colours: AnyArray = np.array([_rgb(colour) for colour in LEVEL_COLOURS], np.uint8)
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
    plain, dark = np.array(_rgb(BODY_COLOURS[number % len(BODY_COLOURS)])), np.array(_rgb(CRACK_COLOUR))
    share = np.where(np.repeat(cracked, 3), 1.0, damage[flat])[:, None]
    return points, corners, normals, None, ((1.0 - share) * plain + share * dark).astype(np.uint8)


def _rgb(colour: str) -> tuple[int, int, int]:
    red, green, blue = (int(colour[k : k + 2], 16) for k in (1, 3, 5))
    return red, green, blue
