"""MEDIT's text files (.mesh): keywords, each with a count and as many rows of numbers."""

from pathlib import Path

import numpy as np

from pliant.mesh.io.cells import CellFile, joined, uniform
from pliant.mesh.io.text import read_text

KINDS = {
    "edges": (3, 2), "triangles": (5, 3), "quadrilaterals": (9, 4), "tetrahedra": (10, 4),
    "hexahedra": (12, 8), "prisms": (13, 6), "pyramids": (14, 5), "trianglesp2": (22, 6),
    "tetrahedrap2": (24, 10),
}  # fmt: skip
"""VTK's number and the number of points of the elements of a keyword; a reference follows the points."""
WORDS = ("nan", "inf", "+inf", "-inf")


def read_medit(path: Path) -> CellFile:
    """All elements, with their references as the cell data ``medit:ref``; other keywords are left out."""
    tokens = [token for row in read_text(path).split("\n") for token in row.split("#", 1)[0].split()]
    keys = [k for k, token in enumerate(tokens) if token[0].isalpha() and token.lower() not in WORDS]
    if not tokens or tokens[0].lower() != "meshversionformatted":
        raise ValueError("it does not begin with MeshVersionFormatted")
    points, dimension = np.zeros((0, 3)), 3
    parts, references = [], []
    for key, end in zip(keys, [*keys[1:], len(tokens)], strict=True):
        word, values = tokens[key].lower(), tokens[key + 1 : end]
        if word == "dimension":
            dimension = int(values[0])
        elif word == "vertices" or word in KINDS:
            width = 1 + (dimension if word == "vertices" else KINDS[word][1])
            count = int(values[0]) if values else 0
            if count * width > len(values) - 1:
                raise ValueError(f"{count} {word} are announced, but only {len(values) - 1} numbers follow")
            rows = np.array(values[1 : 1 + count * width], np.float64).reshape(count, width)
            if word == "vertices":
                points = rows[:, :-1]
            else:
                parts.append(uniform(KINDS[word][0], rows[:, :-1].astype(np.int64) - 1))
                references.append(rows[:, -1].astype(np.int64))
    found = np.concatenate([np.zeros(0, np.int64), *references])
    return CellFile(points, *joined(parts), cell_data={"medit:ref": found})


def write_medit(path: Path, file: CellFile) -> None:
    """Tets with 17 significant digits, and their references."""
    references = file.cell_data.get("medit:ref", np.zeros(len(file.kinds), np.int64)).tolist()
    tets = (file.first(np.arange(len(file.kinds)), 4) + 1).tolist()
    lines = ["MeshVersionFormatted 2", "Dimension 3", "Vertices", str(len(file.points))]
    lines += [f"{x:.17g} {y:.17g} {z:.17g} 0" for x, y, z in file.points.tolist()]
    lines += ["Tetrahedra", str(len(tets))]
    lines += [f"{a} {b} {c} {d} {r}" for (a, b, c, d), r in zip(tets, references, strict=True)]
    path.write_text("\n".join([*lines, "End", ""]), encoding="utf-8")
