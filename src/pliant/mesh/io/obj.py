"""Wavefront OBJ: surfaces with texture coordinates and groups."""

from itertools import chain
from pathlib import Path

import numpy as np

from pliant.core.errors import MeshError
from pliant.core.typing import Array, IntArray
from pliant.mesh.io.checks import checked_surface, fans
from pliant.mesh.io.text import parse_rows, parse_tokens, read_text
from pliant.mesh.mesh import Surface

ENDS = {"v": 4, "vt": 3, "f": None}  # of the tokens that are read


def read_obj(path: Path) -> Surface:
    """The polygons of an OBJ file as triangles; ``vt`` by their own indices; g, o and usemtl as groups.

    A face without texture coordinates, in a file where others have them, gets the point (0, 0).
    All other statements are skipped: normals, lines, points, free-form surfaces, and what programs add.
    """
    rows: dict[str, list[list[str]]] = {"v": [], "vt": [], "f": []}
    lines: dict[str, list[int]] = {"v": [], "vt": [], "f": []}
    seen: list[tuple[int, int]] = []
    changes: list[tuple[int, str, list[str]]] = []
    for number, line in enumerate(_logical_lines(read_text(path)), 1):
        row = line.split()
        if not row or row[0][0] == "#":
            continue
        keyword = row[0]
        if keyword in rows:
            if keyword == "f":
                seen.append((len(rows["v"]), len(rows["vt"])))
            elif keyword == "vt" and len(row) == 2:
                row.append("0")
            rows[keyword].append(row[1 : ENDS[keyword]])
            lines[keyword].append(number)
        elif keyword == "g":
            changes.append((len(rows["f"]), "g", row[1:]))
        elif keyword in ("o", "usemtl"):
            name = line.split(None, 1)[1].strip() if len(row) > 1 else ""
            changes.append((len(rows["f"]), keyword, [name] if name else []))
    x = _table(path, rows["v"], lines["v"], 3, "a vertex")
    uv = _table(path, rows["vt"], lines["vt"], 2, "a texture coordinate")
    faces = rows["f"]
    if not faces:
        raise MeshError(f"{path}: no faces.", hint="Export the model as polygons.")
    corners, uv_corners, sizes = _corners(path, faces, lines["f"], np.array(seen), len(x), len(uv))
    place, polygon = fans(x, corners, sizes)
    groups = _groups(changes, polygon, len(faces))
    if uv_corners.max() < 0:
        return checked_surface(str(path), x, corners[place], groups=groups)
    if uv_corners.min() < 0:
        uv_corners = np.where(uv_corners < 0, len(uv), uv_corners)
        uv = np.concatenate([uv, [[0.0, 0.0]]])
    return checked_surface(str(path), x, corners[place], uv, uv_corners[place], groups)


def write_obj(path: Path, surface: Surface) -> None:
    """All numbers with 17 digits, triangles in order, groups as ``g`` (blanks in names become ``_``)."""
    lines = [f"v {a:.17g} {b:.17g} {c:.17g}" for a, b, c in surface.points.tolist()]
    faces = (surface.triangles + 1).tolist()
    if surface.uv is not None and surface.uv_triangles is not None:
        lines += [f"vt {u:.17g} {v:.17g}" for u, v in surface.uv.tolist()]
        texture = (surface.uv_triangles + 1).tolist()
        pairs = zip(faces, texture, strict=True)
        rows = [f"f {a}/{d} {b}/{e} {c}/{f}" for (a, b, c), (d, e, f) in pairs]
    else:
        rows = [f"f {a} {b} {c}" for a, b, c in faces]
    members: list[tuple[str, ...]] = [()] * len(rows)
    for name, triangles in surface.groups.items():
        for t in triangles.tolist():
            members[t] = (*members[t], "_".join(name.split()))
    current: tuple[str, ...] = ()
    for row, names in zip(rows, members, strict=True):
        if names != current:
            lines.append(" ".join(("g", *names)))
            current = names
        lines.append(row)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _logical_lines(text: str) -> list[str]:
    """Lines, those ending in a backslash joined to the next (and left empty, so that numbers stay right)."""
    lines = text.split("\n")
    if "\\\n" in text:
        for k in range(len(lines) - 1):
            if lines[k].endswith("\\"):
                lines[k + 1], lines[k] = f"{lines[k][:-1]} {lines[k + 1]}", ""
    return lines


def _table(path: Path, rows: list[list[str]], lines: list[int], width: int, what: str) -> Array:
    for row, line in zip(rows, lines, strict=True):
        if len(row) != width:
            raise MeshError(f"{path}:{line}: {what} needs {width} numbers.", hint="Export the model again.")
    return np.asarray(parse_rows(path, rows, lines, float).reshape(-1, width))


def _corners(
    path: Path, faces: list[list[str]], lines: list[int], seen: IntArray, points: int, texture: int
) -> tuple[IntArray, IntArray, IntArray]:
    """Point and texture numbers of all corners from 0 (no texture: -1), and the corners per face."""
    sizes = np.array([len(face) for face in faces])
    if sizes.min() < 3:
        line = lines[int(np.argmin(sizes))]
        raise MeshError(f"{path}:{line}: a face needs three corners or more.", hint="Remove the face.")
    tokens = list(chain.from_iterable(faces))
    owner = np.repeat(np.arange(len(faces)), sizes)
    mapped = np.zeros(len(tokens), dtype=bool)
    uv = np.full(len(tokens), -1)
    plain = tokens
    if any("/" in token for token in tokens):
        parts = [token.split("/") for token in tokens]
        plain = [part[0] for part in parts]
        mapped = np.array([len(part) > 1 and part[1] != "" for part in parts])
        where = np.flatnonzero(mapped)
        texts = [parts[k][1] for k in where.tolist()]
        numbers = parse_tokens(path, texts, lambda k: lines[owner[where[k]]], int)
        uv[mapped] = np.where(numbers < 0, numbers + seen[owner[mapped], 1], numbers - 1)
    point = parse_tokens(path, plain, lambda k: lines[owner[k]], int)
    point = np.where(point < 0, point + seen[owner, 0], point - 1)
    wrong = (point < 0) | (point >= points) | (mapped & ((uv < 0) | (uv >= texture)))
    if wrong.any():
        first = int(np.argmax(wrong))
        raise MeshError(
            f"{path}:{lines[owner[first]]}: the face corner '{tokens[first][:40]}' refers to something "
            f"that is not in the file ({points} vertices, {texture} texture coordinates).",
            hint="It may be cut short or damaged; export it again.",
        )
    return point, uv, sizes


def _groups(changes: list[tuple[int, str, list[str]]], polygon: IntArray, count: int) -> dict[str, IntArray]:
    """Triangle numbers by group name; ``g``, ``o`` and ``usemtl`` each hold until their next statement."""
    spans: dict[str, list[tuple[int, int]]] = {}
    for keyword in ("g", "o", "usemtl"):
        own = [(start, names) for start, kind, names in changes if kind == keyword]
        ends = [*(start for start, _ in own[1:]), count]
        for (start, names), end in zip(own, ends, strict=False):
            for name in names:
                spans.setdefault(name, []).append((start, end))
    groups = {}
    for name, ranges in spans.items():
        member = np.zeros(count + 1, dtype=bool)
        for start, end in ranges:
            member[start:end] = True
        triangles = np.flatnonzero(member[polygon])
        if len(triangles):
            groups[name] = triangles
    return groups
