"""Surfaces as text: OFF, and NetGen's ``.surf``."""

import re
from pathlib import Path

import numpy as np

from pliant.mesh.io.checks import checked_surface
from pliant.mesh.io.polygons import fans
from pliant.mesh.io.text import TextRows
from pliant.mesh.mesh import Surface


def read_off(path: Path) -> Surface:
    """The polygons of an OFF file (also COFF, NOFF, STOFF) as triangles; colours and normals are left out."""
    rows = TextRows(path, comment="#")
    head = rows.row("'OFF'")
    if not re.fullmatch(r"(ST)?C?N?OFF", head[0]):
        raise rows.fail(f"expected 'OFF', got '{head[0][:40]}'.")
    counts = head[1:] or rows.row("the number of points and faces")
    if len(counts) < 2:
        raise rows.fail("expected the numbers of points, faces and edges.")
    point_count, face_count = rows.count(counts[0], "points"), rows.count(counts[1], "faces")
    points = rows.floats(point_count, 3, "a point", more=True)
    rows.count(str(face_count), "faces")
    sizes, corners = [], []
    for _ in range(face_count):
        row = rows.row("a face")
        size = rows.whole(row[0], "the number of corners")
        if size < 3 or len(row) < size + 1:
            raise rows.fail(f"a face of {size} corners with {len(row) - 1} numbers.")
        sizes.append(size)
        corners += [rows.whole(token, "a point number") for token in row[1 : size + 1]]
        if min(corners[-size:]) < 0 or max(corners[-size:]) >= point_count:
            raise rows.fail(f"a face refers to a point that is not there ({point_count} points).")
    flat = np.array(corners, dtype=np.int64)
    place, _ = fans(points, flat, np.array(sizes, dtype=np.int64))
    return checked_surface(str(path), points, flat[place])


def write_off(path: Path, surface: Surface) -> None:
    """Points with 17 digits, and triangles; no groups, no texture coordinates."""
    lines = ["OFF", f"{len(surface.points)} {len(surface.triangles)} 0"]
    lines += [f"{a:.17g} {b:.17g} {c:.17g}" for a, b, c in surface.points.tolist()]
    lines += [f"3 {a} {b} {c}" for a, b, c in surface.triangles.tolist()]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def read_surf(path: Path) -> Surface:
    """The triangles of a NetGen surface file."""
    rows = TextRows(path, comment="#")
    head = rows.row("'surfacemesh'")
    if head != ["surfacemesh"]:
        raise rows.fail(f"expected 'surfacemesh', got '{' '.join(head)[:40]}'.")
    points = rows.floats(rows.count(rows.row("the number of points")[0], "points"), 3, "a point")
    count = rows.count(rows.row("the number of triangles")[0], "triangles")
    triangles = rows.integers(count, 3, "a triangle", more=True)
    wrong = ((triangles < 1) | (triangles > len(points))).any(axis=1)
    if wrong.any():
        rows.next += int(wrong.argmax()) - count + 1
        raise rows.fail(f"a triangle refers to a point that is not there ({len(points)} points, from 1).")
    return checked_surface(str(path), points, triangles - 1)
