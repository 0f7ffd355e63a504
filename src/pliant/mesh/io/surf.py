"""NetGen's ``.surf``: the word ``surfacemesh``, a count, points, a count, triangles numbered from 1."""

from pathlib import Path

from pliant.mesh.io.checks import checked_surface
from pliant.mesh.io.text import TextRows
from pliant.mesh.mesh import Surface


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
