"""TetGen's pair of text files: points in ``.node``, tetrahedra in ``.ele``."""

import re
from pathlib import Path

import numpy as np

from pliant.core.errors import MeshError
from pliant.core.typing import Array, IntArray
from pliant.mesh.io.atomic import replacing
from pliant.mesh.io.checks import checked_volume
from pliant.mesh.io.text import TextRows
from pliant.mesh.mesh import TetMesh

MARKER = re.compile(r"marker-(-?\d+)")


def read_tetgen(path: Path) -> TetMesh:
    """The tets of a ``.node``/``.ele`` pair (either name), numbered from 0 or 1.

    Boundary markers other than 0 become groups ``marker-N``, the first tet attribute the region; point
    attributes are left out, and of tets with ten nodes the corners count.
    """
    nodes, elements = path.with_suffix(".node"), path.with_suffix(".ele")
    for part in (nodes, elements):
        if not part.is_file():
            raise MeshError(
                f"{part}: not found.", hint=f"TetGen meshes need both {nodes.name} and {elements.name}."
            )
    points, markers, base = _nodes(TextRows(nodes, comment="#"))
    tets, regions = _elements(TextRows(elements, comment="#"), len(points), base)
    groups = {f"marker-{m}": np.flatnonzero(markers == m) for m in np.unique(markers[markers != 0])}
    return checked_volume(str(elements), points, tets, groups, regions)


def write_tetgen(path: Path, mesh: TetMesh) -> None:
    """Both files, numbered from 0: regions as attribute, ``marker-N`` groups as boundary markers."""
    markers = np.zeros(len(mesh.points), dtype=np.int64)
    found = [(match, i) for name, i in mesh.groups.items() if (match := MARKER.fullmatch(name))]
    for match, members in found:
        markers[members] = int(match[1])
    points = mesh.points.tolist()
    tail = [f" {m}" for m in markers.tolist()] if found else [""] * len(points)
    lines = [f"{len(points)} 3 0 {int(bool(found))}"]
    lines += [f"{k} {p[0]:.17g} {p[1]:.17g} {p[2]:.17g}{tail[k]}" for k, p in enumerate(points)]
    tail = [""] * len(mesh.tets) if mesh.regions is None else [f" {r}" for r in mesh.regions.tolist()]
    rows = [f"{len(mesh.tets)} 4 {int(mesh.regions is not None)}"]
    rows += [f"{k} {t[0]} {t[1]} {t[2]} {t[3]}{tail[k]}" for k, t in enumerate(mesh.tets.tolist())]
    with replacing(path.with_suffix(".node")) as nodes, replacing(path.with_suffix(".ele")) as elements:
        nodes.write_text("\n".join(lines) + "\n", encoding="utf-8")
        elements.write_text("\n".join(rows) + "\n", encoding="utf-8")


def _nodes(rows: TextRows) -> tuple[Array, IntArray, int]:
    """Points (n, 3), boundary markers (n,) and the number of the first point."""
    head = [rows.whole(token, "a whole number") for token in rows.row("the number of points")]
    dimension, attributes, marked = (head[1:] + [3, 0, 0][len(head) - 1 :])[:3]
    if dimension != 3:
        raise rows.fail(f"points of dimension {dimension}.", hint="pliant reads TetGen's 3-D meshes.")
    count = rows.count(str(head[0]), "points")
    width = 4 + attributes + marked
    table = rows.floats(count, width, "a point", more=True)
    base = _numbering(rows, table[:, 0], count)
    markers = table[:, -1].astype(np.int64) if marked else np.zeros(count, dtype=np.int64)
    return table[:, 1:4], markers, base


def _elements(rows: TextRows, points: int, base: int) -> tuple[IntArray, IntArray | None]:
    """Tets (m, 4) from 0 and their regions (m,), or None."""
    head = [rows.whole(token, "a whole number") for token in rows.row("the number of tetrahedra")]
    corners, attributes = (head[1:] + [4, 0][len(head) - 1 :])[:2]
    if corners not in (4, 10):
        raise rows.fail(f"tetrahedra of {corners} nodes; 4 or 10 are known.")
    count = rows.count(str(head[0]), "tetrahedra")
    first = rows.next
    table = rows.floats(count, 1 + corners + attributes, "a tetrahedron", more=True)
    rows.next = first
    numbers = rows.integers(count, 1 + corners, "a tetrahedron", more=True)
    _numbering(rows, numbers[:, 0], count)
    tets = numbers[:, 1:5] - base
    wrong = ((tets < 0) | (tets >= points)).any(axis=1)
    if wrong.any():
        rows.next += int(wrong.argmax()) - count + 1
        raise rows.fail(f"a tetrahedron refers to a point that is not there ({points} points from {base}).")
    return tets, np.rint(table[:, 1 + corners]).astype(np.int64) if attributes else None


def _numbering(rows: TextRows, numbers: Array | IntArray, count: int) -> int:
    """The first item's number, 0 or 1, where items are numbered in order."""
    base = int(numbers[0]) if count and numbers[0] in (0, 1) else 0
    wrong = numbers != base + np.arange(count)
    if wrong.any():
        rows.next += int(wrong.argmax()) - count + 1
        raise rows.fail("items must be numbered in order, from 0 or 1.")
    return base
