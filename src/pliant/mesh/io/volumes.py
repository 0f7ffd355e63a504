"""Volume meshes as text: ``.str`` structures, and TetGen's points in ``.node`` with tetrahedra in ``.ele``.

A structure file (Everts 2006, section 8.7) has blocks of a name, a count, and one item a line.
"""

import re
from difflib import get_close_matches
from pathlib import Path

import numpy as np

from pliant.core.errors import MeshError
from pliant.core.typing import AnyArray, Array, IntArray
from pliant.mesh.io.atomic import replacing
from pliant.mesh.io.checks import checked_volume
from pliant.mesh.io.text import TextRows
from pliant.mesh.mesh import TetMesh, boundary_triangles

FLOATS = {"particles": 3, "voronoivertices": 3}
INTEGERS = {"tetrahedra": 4, "neighbors": 4, "faces": 3, "dependencies": 4}
RAGGED = {"voronoiridges": 2, "voronoicells": 0}  # the place of the number that says how many follow
DUAL = ("voronoivertices", "dependencies", "voronoiridges", "voronoicells")


def read_str(path: Path) -> TetMesh:
    """The tets of a structure file; ``extra`` keeps the four Voronoi blocks under their names.

    ``voronoivertices`` (k, 3) and ``dependencies`` (k, 4) are arrays, ``voronoiridges`` and ``voronoicells``
    lists of rows with all their numbers. ``neighbors`` and ``faces`` follow from the tets: their numbers
    are checked to exist and not kept.
    """
    rows = TextRows(path)
    blocks: dict[str, AnyArray | list[list[int]]] = {}
    lines: dict[str, int] = {}
    while rows.left():
        name = " ".join(rows.row("a block"))
        if name not in FLOATS | INTEGERS | RAGGED:
            near = get_close_matches(name, FLOATS | INTEGERS | RAGGED, 1)
            names = ", ".join(FLOATS | INTEGERS | RAGGED)
            hint = f"Did you mean '{near[0]}'?" if near else f"Blocks are: {names}."
            raise rows.fail(f"unknown block '{name[:40]}'.", hint=hint)
        if name in blocks:
            raise rows.fail(f"a second block '{name}'.")
        lines[name] = rows.lines[rows.next - 1]
        count = rows.count(rows.row(f"the number of {name}")[0], name)
        if name in FLOATS:
            blocks[name] = rows.floats(count, FLOATS[name], name)
        elif name in INTEGERS:
            blocks[name] = rows.integers(count, INTEGERS[name], name)
        else:
            blocks[name] = rows.ragged(count, RAGGED[name], name)
    for name in ("particles", "tetrahedra"):
        if name not in blocks:
            raise MeshError(f"{path}: no block '{name}'.", hint="A structure needs particles and tetrahedra.")
    _check(path, blocks, lines)
    points, tets = np.asarray(blocks["particles"]), np.asarray(blocks["tetrahedra"])
    extra = {name: blocks[name] for name in DUAL if name in blocks}
    if extra and len(np.unique(tets)) < len(points):
        lost = int(np.setdiff1d(np.arange(len(points)), tets)[0])
        raise MeshError(
            f"{path}: particle {lost} belongs to no tetrahedron, but the blocks {', '.join(extra)} count it.",
            hint="Remove these blocks, or the particle.",
        )
    return checked_volume(str(path), points, tets, extra=extra)


def write_str(path: Path, mesh: TetMesh) -> None:
    """All blocks with 17 significant digits: neighbours and faces computed, Voronoi blocks from ``extra``.

    Neighbour k of a tet lies opposite its particle k, -1 where there is none; faces look outward.
    """
    blocks: dict[str, object] = {
        "particles": mesh.points,
        "tetrahedra": mesh.tets,
        "neighbors": neighbours(mesh.tets),
        "faces": boundary_triangles(mesh.tets),
    }
    blocks |= {name: mesh.extra[name] for name in DUAL if name in mesh.extra}
    lines: list[str] = []
    for name, block in blocks.items():
        items = block.tolist() if isinstance(block, np.ndarray) else list(block)  # type: ignore[call-overload]
        lines += [name, str(len(items))]
        form = "{:.17g}" if name in FLOATS else "{:d}"
        lines += [" ".join(form.format(number) for number in item) for item in items]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def neighbours(tets: IntArray) -> IntArray:
    """The tet across the face opposite each corner, -1 where there is none; shape (m, 4)."""
    faces = np.sort(tets[:, [[1, 2, 3], [0, 2, 3], [0, 1, 3], [0, 1, 2]]].reshape(-1, 3), axis=1)
    order = np.lexsort(faces.T)
    same = np.flatnonzero((faces[order[1:]] == faces[order[:-1]]).all(axis=1))
    a, b = order[same], order[same + 1]
    result = np.full(len(faces), -1, dtype=np.int64)
    result[a], result[b] = b // 4, a // 4
    return result.reshape(-1, 4)


def _check(path: Path, blocks: dict[str, AnyArray | list[list[int]]], lines: dict[str, int]) -> None:
    """All numbers in the blocks refer to items that exist."""

    def count(name: str) -> int:
        return len(blocks.get(name, ()))

    particles, vertices = count("particles"), count("voronoivertices")
    flat: list[tuple[str, AnyArray, int, int]] = [
        (name, np.asarray(blocks[name]).ravel(), low, high)
        for name, low, high in (
            ("tetrahedra", 0, particles),
            ("neighbors", -1, count("tetrahedra")),
            ("faces", 0, particles),
            ("dependencies", 0, particles),
        )
        if name in blocks
    ]
    ridges, cells = blocks.get("voronoiridges", ()), blocks.get("voronoicells", ())
    flat.append(("voronoiridges", _numbers([row[:2] for row in ridges]), 0, particles))
    flat.append(("voronoiridges", _numbers([row[3:] for row in ridges]), 0, vertices))
    flat.append(("voronoicells", _numbers([row[1:] for row in cells]), 0, count("voronoiridges")))
    for name, numbers, low, high in flat:
        bad = numbers[(numbers < low) | (numbers >= high)]
        if len(bad):
            raise MeshError(
                f"{path}:{lines[name]}: the block '{name}' refers to item {bad[0]}, but there are {high}.",
                hint="It may be cut short or damaged; generate it again.",
            )


def _numbers(rows: list[list[int]]) -> IntArray:
    return np.array([number for row in rows for number in row], dtype=np.int64)


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
