"""Legacy VTK files (.vtk) of unstructured grids, text and binary, with cells as of version 1 and of 5.1."""

from pathlib import Path

import numpy as np

from pliant.core.typing import AnyArray, IntArray
from pliant.mesh.io.cells import CellFile, Cursor

TYPES = {
    "bit": "u1", "unsigned_char": "u1", "char": "i1", "signed_char": "i1", "unsigned_short": "u2",
    "short": "i2", "unsigned_int": "u4", "int": "i4", "unsigned_long": "u8", "long": "i8", "float": "f4",
    "double": "f8", "vtktypeint64": "i8", "vtkIdType": "i8", "vtktypeint32": "i4", "vtktypeuint8": "u1",
}  # fmt: skip
WIDTHS = {"VECTORS": 3, "NORMALS": 3, "TENSORS": 9, "TENSORS6": 6, "GLOBAL_IDS": 1, "PEDIGREE_IDS": 1}
"""Values of each item where the keyword tells it."""


def read_vtk(path: Path) -> CellFile:
    """The unstructured grid of a legacy file; binary numbers have the highest byte first."""
    cursor = Cursor(str(path), path.read_bytes(), order=">")
    if not cursor.need("a header").startswith("# vtk DataFile"):
        raise ValueError("it does not begin with '# vtk DataFile'")
    title = cursor.data.find(b"\n", cursor.at)  # which may be empty
    cursor.at = title + 1
    cursor.binary = cursor.need("ASCII or BINARY").upper() == "BINARY"
    return _LegacyReader(cursor).read()


class _LegacyReader:
    def __init__(self, cursor: Cursor) -> None:
        self.cursor = cursor
        self.points: AnyArray | None = None
        self.kinds: IntArray | None = None
        self.cells: tuple[IntArray, IntArray] | None = None
        self.data: dict[str, dict[str, AnyArray]] = {"POINT_DATA": {}, "CELL_DATA": {}, "": {}}
        self.table, self.items = self.data[""], 0

    def read(self) -> CellFile:
        while (line := self.cursor.line()) is not None:
            keyword, *rest = line.split()
            self.section(keyword.upper(), rest)
        if self.points is None or self.kinds is None or self.cells is None:
            raise ValueError("no points or no cells")
        corners, starts = self.cells
        return CellFile(
            self.points, self.kinds, corners, starts, self.data["POINT_DATA"], self.data["CELL_DATA"]
        )

    def section(self, keyword: str, rest: list[str]) -> None:
        match keyword:
            case "DATASET":
                if rest != ["UNSTRUCTURED_GRID"]:
                    raise ValueError(f"a data set {' '.join(rest)}; save it as UNSTRUCTURED_GRID")
            case "POINTS":
                self.points = self.array(rest[1], 3 * int(rest[0])).reshape(-1, 3)
            case "CELLS":
                self.cells = self.connectivity(int(rest[0]), int(rest[1]))
            case "CELL_TYPES":
                self.kinds = self.array("int", int(rest[0])).astype(np.int64)
            case "POINT_DATA" | "CELL_DATA":
                self.table, self.items = self.data[keyword], int(rest[0])
            case "SCALARS":
                width = int(rest[2]) if len(rest) > 2 else 1
                at = self.cursor.at
                if not self.cursor.need("a lookup table").startswith("LOOKUP_TABLE"):
                    self.cursor.at = at
                self.keep(rest[0], rest[1], width)
            case "LOOKUP_TABLE":
                self.array("unsigned_char" if self.cursor.binary else "float", 4 * int(rest[1]))
            case "COLOR_SCALARS":
                self.keep(rest[0], "unsigned_char" if self.cursor.binary else "float", int(rest[1]))
            case "TEXTURE_COORDINATES":
                self.keep(rest[0], rest[2], int(rest[1]))
            case "FIELD":
                for _ in range(int(rest[1])):
                    while (line := self.cursor.need("an array")) == "METADATA":  # of the array before
                        self.section("METADATA", [])
                    name, components, items, kind = line.split()
                    self.keep(name, kind, int(components), int(items))
            case "METADATA":
                while self._plain_line():
                    pass
            case _ if keyword in WIDTHS:
                self.keep(rest[0], rest[1], WIDTHS[keyword])
            case _:
                raise ValueError(f"an unknown section '{keyword[:40]}'")

    def _plain_line(self) -> bytes:
        """The next line, which may be empty: it ends metadata."""
        data, at = self.cursor.data, self.cursor.at
        end = data.find(b"\n", at)
        end = len(data) if end < 0 else end
        self.cursor.at = end + 1
        return data[at:end].strip()

    def array(self, kind: str, count: int) -> AnyArray:
        if kind.lower() not in TYPES and kind not in TYPES:
            raise ValueError(f"numbers of the type '{kind[:40]}'")
        return self.cursor.numbers(TYPES.get(kind, "") or TYPES[kind.lower()], count, "an array")

    def keep(self, name: str, kind: str, width: int, items: int | None = None) -> None:
        items = self.items if items is None else items
        values = self.array(kind, width * items)
        if items == self.items:
            self.table[name] = values if width == 1 else values.reshape(items, width)

    def connectivity(self, count: int, size: int) -> tuple[IntArray, IntArray]:
        """Corners, and where those of each cell begin: ``CELLS cells numbers``, or since version 5.1
        ``CELLS offsets corners`` with two arrays of these lengths."""
        at = self.cursor.at
        following = self._plain_line().split()
        if following[:1] == [b"OFFSETS"]:
            starts = self.array(following[1].decode(), count).astype(np.int64)
            word, kind = self.cursor.need("CONNECTIVITY").split()
            if word != "CONNECTIVITY":
                raise ValueError("no CONNECTIVITY after OFFSETS")
            return self.array(kind, size).astype(np.int64), starts
        self.cursor.at = at
        flat = self.array("int", size).astype(np.int64)
        starts, place = np.zeros(count + 1, np.int64), 0
        for k in range(count):  # each cell tells where the next one is
            starts[k] = place
            place += 1 + int(flat[place]) if place < size else 0
        if place != size:
            raise ValueError("the cells do not have as many points as they announce")
        heads = starts[:-1]
        starts = np.append(heads - np.arange(count), size - count)
        return np.delete(flat, heads), starts


def write_vtk(path: Path, file: CellFile) -> None:
    """A binary file of version 3.0."""
    sizes = np.diff(file.starts)
    flat = np.insert(file.corners, file.starts[:-1], sizes)
    with path.open("wb") as out:
        out.write(b"# vtk DataFile Version 3.0\npliant\nBINARY\nDATASET UNSTRUCTURED_GRID\n")
        for head, values, kind in (
            (f"POINTS {len(file.points)} double", file.points, ">f8"),
            (f"CELLS {len(sizes)} {len(flat)}", flat, ">i4"),
            (f"CELL_TYPES {len(sizes)}", file.kinds, ">i4"),
        ):
            out.write(head.encode() + b"\n" + values.astype(kind).tobytes() + b"\n")
        for name, table, count in (
            ("POINT_DATA", file.point_data, len(file.points)),
            ("CELL_DATA", file.cell_data, len(sizes)),
        ):
            if table:
                out.write(f"{name} {count}\nFIELD FieldData {len(table)}\n".encode())
                for key, values in table.items():
                    out.write(f"{key} 1 {count} int\n".encode() + values.astype(">i4").tobytes() + b"\n")
