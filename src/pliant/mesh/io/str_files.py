"""The ``.str`` files of reference A, section 8.7: blocks of a name, a count, and one item a line."""

from difflib import get_close_matches
from pathlib import Path

import numpy as np

from pliant.core.errors import MeshError
from pliant.core.typing import AnyArray, IntArray
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
