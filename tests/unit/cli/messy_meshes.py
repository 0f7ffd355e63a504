"""Meshes as they come from the net, made by code: each has what meshers stumble over."""

from collections.abc import Callable
from pathlib import Path

import numpy as np

from pliant.core.typing import Array, IntArray
from pliant.mesh.mesh import Surface
from pliant.mesh.shapes import box, cylinder, icosphere, torus

Mesh = tuple[Array, list[list[int]]]


def _mesh(*surfaces: Surface) -> Mesh:
    points, faces, start = [], [], 0
    for surface in surfaces:
        points.append(surface.points)
        faces += (surface.triangles + start).tolist()
        start += len(surface.points)
    return np.concatenate(points), faces


def _moved(surface: Surface, *offset: float) -> Surface:
    return Surface(surface.points + np.array(offset), surface.triangles)


def _without(surface: Surface, keep: IntArray) -> Surface:
    return Surface(surface.points, surface.triangles[keep])


def open_shells() -> Mesh:
    """A pot without a lid and a spout without ends, as a teapot is modelled."""
    pot = icosphere(0.1, 3).surface()
    height = pot.points[pot.triangles].mean(axis=1)[:, 2]
    spout = cylinder(0.02, 0.1).surface(0.015)
    along = spout.points[spout.triangles][:, :, 2]
    tube = _without(spout, np.flatnonzero(np.ptp(along, axis=1) > 1e-9))
    return _mesh(_without(pot, np.flatnonzero(height < 0.06)), _moved(tube, 0.08, 0, -0.02))


def self_intersections() -> Mesh:
    return _mesh(
        box(0.2, 0.1, 0.1).surface(0.05), _moved(box(0.1, 0.1, 0.2).surface(0.05), 0.05, 0.03, -0.05)
    )


def many_shells() -> Mesh:
    """Forty balls that touch and overlap in a row."""
    places = [(0.03 * (k % 10), 0.03 * (k // 10), 0.0) for k in range(40)]
    return _mesh(*(_moved(icosphere(0.02, 1).surface(), *place) for place in places))


def flat_parts() -> Mesh:
    """A block with a sheet through it that has no thickness."""
    sheet = np.array([[-0.1, 0.05, 0.05], [0.3, 0.05, 0.05], [0.3, 0.05, 0.06], [-0.1, 0.05, 0.06]])
    points, faces = _mesh(box(0.2, 0.1, 0.1).surface(0.05))
    start = len(points)
    return np.concatenate([points, sheet]), [
        *faces,
        [start, start + 1, start + 2],
        [start, start + 2, start + 3],
    ]


def inverted_faces() -> Mesh:
    points, faces = _mesh(torus(0.1, 0.04).surface(0.02))
    return points, [face[::-1] if k % 3 == 0 else face for k, face in enumerate(faces)]


def millimetres() -> Mesh:
    points, faces = _mesh(cylinder(0.04, 0.15).surface(0.02))
    return 1000.0 * points, faces


def y_up() -> Mesh:
    """A column along y: it stands when Y is up."""
    points, faces = _mesh(box(0.08, 0.2, 0.08).surface(0.04))
    return points, faces


def many_triangles() -> Mesh:
    """A ball of 327 680 triangles with bumps."""
    ball = icosphere(0.1, 7).surface()
    bumps = 1.0 + 0.02 * np.sin(60 * ball.points).prod(axis=1)
    return ball.points * bumps[:, None], ball.triangles.tolist()


def degenerate_quads() -> Mesh:
    """A box of quads, of which some have two equal corners or all corners in a line."""
    x = np.array([[i, j, k] for i in (0, 1) for j in (0, 1) for k in (0, 1)]) * [0.2, 0.1, 0.1]
    quads = [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]]
    middle = 0.5 * (x[0] + x[4])
    return np.concatenate([x, [middle]]), [*quads, [0, 0, 1, 3], [0, 8, 4, 8], [5, 5, 5, 5], [2, 6, 6, 2]]


MESSY: dict[str, Callable[[], Mesh]] = {
    make.__name__: make
    for make in (
        open_shells, self_intersections, many_shells, flat_parts, inverted_faces, millimetres, y_up,
        many_triangles, degenerate_quads,
    )
}  # fmt: skip
BIG = {"many_triangles"}


def write_messy(path: Path, name: str) -> None:
    """The mesh as an OBJ file of a modelling program, with statements that no reader here needs."""
    points, faces = MESSY[name]()
    lines = ["mtllib scene.mtl", "o thing", "xform 1 0 0", "crease 0.5 1 2"]
    lines += [f"v {a:.9g} {b:.9g} {c:.9g}" for a, b, c in points.tolist()]
    lines += ["vn 0 0 1", "usemtl red", "s off", "tessellate on"]
    lines += ["f " + " ".join(str(k + 1) for k in face) for face in faces]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
