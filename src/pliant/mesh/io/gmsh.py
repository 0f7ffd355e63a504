"""gmsh's files (.msh) of the versions 2 and 4.1, text and binary."""

from pathlib import Path

import numpy as np

from pliant.core.errors import MeshError
from pliant.core.typing import AnyArray, Array, IntArray
from pliant.mesh.io.cells import CellFile, Cursor, joined, uniform

KINDS = {
    1: (3, 2), 2: (5, 3), 3: (9, 4), 4: (10, 4), 5: (12, 8), 6: (13, 6), 7: (14, 5), 8: (21, 3),
    9: (22, 6), 10: (28, 9), 11: (24, 10), 12: (29, 27), 13: (32, 18), 14: (74, 14), 15: (1, 1),
    16: (23, 8), 17: (25, 20), 18: (26, 15), 19: (27, 13), 20: (69, 9), 21: (69, 10), 22: (69, 12),
    23: (69, 15), 24: (69, 15), 25: (69, 21), 26: (68, 4), 27: (68, 5), 28: (68, 6), 29: (71, 20),
    30: (71, 35), 31: (71, 56), 92: (72, 64), 93: (72, 125),
}  # fmt: skip
"""gmsh's kinds of elements: VTK's number and the number of points, corners first."""
VERSIONS = "In gmsh: File > Export, Gmsh MSH, version 4.1 or 2.2 (or -format msh41)."
Rows = list[tuple[IntArray, IntArray, IntArray]]


def read_gmsh(path: Path) -> CellFile:
    """All elements; their physical numbers are the cell data ``gmsh:physical``, 0 where there are none."""
    return _MshReader(Cursor(str(path), path.read_bytes())).read()


class _MshReader:
    def __init__(self, cursor: Cursor) -> None:
        self.cursor, self.version = cursor, ""
        self.tags: IntArray = np.zeros(0, np.int64)
        self.points: Array = np.zeros((0, 3))
        self.elements: Rows = []
        self.physical: list[IntArray] = []
        self.entities: dict[tuple[int, int], int] = {}
        self.names: dict[str, tuple[int, int]] = {}
        self.data: dict[str, tuple[IntArray, Array]] = {}

    def read(self) -> CellFile:
        sections = {
            "$MeshFormat": self.format, "$PhysicalNames": self.physical_names, "$NodeData": self.node_data,
            "$Nodes": lambda: self.nodes_2() if self.version == "2" else self.nodes_4(),
            "$Elements": lambda: self.elements_2() if self.version == "2" else self.elements_4(),
            "$Entities": self.read_entities,
        }  # fmt: skip
        while (line := self.cursor.line()) is not None:
            if not line.startswith("$"):
                raise ValueError(f"'{line[:40]}' where a section should begin")
            if not self.version and line != "$MeshFormat":
                raise ValueError("it does not begin with $MeshFormat")
            if line in sections:
                sections[line]()
            self.cursor.skip(b"$End" + line[1:].encode())
        if not len(self.points) or not self.elements:
            raise ValueError("no nodes or no elements")
        return self.mesh()

    def mesh(self) -> CellFile:
        order = np.argsort(self.tags, kind="stable")
        ordered = self.tags[order]

        def numbers(tags: IntArray) -> IntArray:
            """Of points with these tags, from 0."""
            place = np.minimum(np.searchsorted(ordered, tags), len(ordered) - 1)
            lost = tags[ordered[place] != tags]
            if len(lost):
                raise ValueError(f"an element or value refers to point {lost[0]}, which is not there")
            return np.asarray(order[place])

        kinds, corners, starts = joined(self.elements)
        found = {}
        for name, (tags, values) in self.data.items():
            found[name] = whole = np.zeros(len(self.points))
            whole[numbers(tags)] = values
        physical = {"gmsh:physical": np.concatenate(self.physical)}
        return CellFile(self.points, kinds, numbers(corners), starts, found, physical, self.names)

    # -------------------------------------------------------------------------------------- sections

    def format(self) -> None:
        version, binary, size = self.cursor.need("the version").split()
        self.version = version.split(".")[0] if version.startswith("2") else version
        if self.version not in ("2", "4.1") or size != "8":
            raise MeshError(f"{self.cursor.place}: gmsh's format {version} is not known.", hint=VERSIONS)
        self.cursor.binary = binary == "1"
        if self.cursor.binary and self.cursor.numbers("i4", 1, "the order of bytes")[0] != 1:
            self.cursor.order = ">"

    def physical_names(self) -> None:
        for _ in range(int(self.cursor.need("the number of names"))):
            dimension, number, name = self.cursor.need("a name").split(maxsplit=2)
            self.names[name.strip('"')] = int(number), int(dimension)

    def node_data(self) -> None:
        """Numbers of one value per node; others are left out."""
        text = [self.cursor.need("a text") for _ in range(int(self.cursor.need("the number of texts")))]
        for _ in range(int(self.cursor.need("the number of times"))):
            self.cursor.need("a time")
        head = [int(self.cursor.need("a number")) for _ in range(int(self.cursor.need("their number")))]
        if text and len(head) > 2 and head[1] == 1:
            tags, values = self.table(head[2], [("i4", 1), ("f8", 1)])
            self.data[text[0].strip('"')] = tags.astype(np.int64).ravel(), values.ravel()

    def table(self, count: int, columns: list[tuple[str, int]]) -> list[AnyArray]:
        """Rows of columns of several types, one array (count, width) per column."""
        width = sum(w for _, w in columns)
        if self.cursor.binary:
            row = [(f"c{k}", self.cursor.order + kind, w) for k, (kind, w) in enumerate(columns)]
            size = np.dtype(row).itemsize
            raw = self.cursor.numbers("u1", count * size, "rows").tobytes()
            values = np.frombuffer(raw, np.dtype(row))
            return [values[name].reshape(count, w) for (name, _, w) in row]
        flat = self.cursor.numbers("f8", count * width, "rows").reshape(count, width)
        edges = np.cumsum([w for _, w in columns])[:-1]
        return [
            part.astype(kind) for part, (kind, _) in zip(np.split(flat, edges, axis=1), columns, strict=True)
        ]

    def count(self, what: str) -> int:
        """A line with one number."""
        return int(self.cursor.need(what))

    def nodes_2(self) -> None:
        tags, places = self.table(self.count("the number of nodes"), [("i4", 1), ("f8", 3)])
        self.tags, self.points = tags.astype(np.int64).ravel(), places

    def elements_2(self) -> None:
        count = self.count("the number of elements")
        if self.cursor.binary:
            while count > 0:
                kind, several, tags = self.cursor.numbers("i4", 3, "elements").tolist()
                width = 1 + tags + self._points_of(kind)
                rows = self.cursor.numbers("i4", several * width, "elements").reshape(several, width)
                self._add(kind, rows[:, 1 + tags :], rows[:, 1] if tags else np.zeros(several))
                count -= max(several, 1)
            return
        rows_by: dict[tuple[int, int], list[list[int]]] = {}
        for _ in range(count):
            row = [int(token) for token in self.cursor.need("an element").split()]
            if len(row) < 3 or len(row) != 3 + row[2] + self._points_of(row[1]):
                raise ValueError(f"element {row[:1]} does not have as many numbers as its kind")
            rows_by.setdefault((row[1], row[2]), []).append(row)
        for (kind, tags), entries in rows_by.items():
            table = np.array(entries, np.int64)
            self._add(kind, table[:, 3 + tags :], table[:, 3] if tags else np.zeros(len(entries)))

    def read_entities(self) -> None:
        """The first physical number of each entity."""
        counts = self.cursor.numbers("u8", 4, "entities").astype(int).tolist()
        for dimension, count in enumerate(counts):
            for _ in range(count):
                tag = int(self.cursor.numbers("i4", 1, "entities")[0])
                self.cursor.numbers("f8", 3 if dimension == 0 else 6, "entities")
                numbers = self._list()
                if dimension:
                    self._list()  # what bounds it
                self.entities[dimension, tag] = abs(int(numbers[0])) if len(numbers) else 0

    def _list(self) -> AnyArray:
        return self.cursor.numbers("i4", int(self.cursor.numbers("u8", 1, "a list")[0]), "a list")

    def nodes_4(self) -> None:
        blocks = int(self.cursor.numbers("u8", 4, "nodes")[0])
        tags, places = [], []
        for _ in range(blocks):
            dimension, _, parametric = self.cursor.numbers("i4", 3, "nodes").tolist()
            count = int(self.cursor.numbers("u8", 1, "nodes")[0])
            tags.append(self.cursor.numbers("u8", count, "nodes").astype(np.int64))
            width = 3 + (dimension if parametric else 0)
            places.append(self.cursor.numbers("f8", count * width, "nodes").reshape(count, width)[:, :3])
        self.tags, self.points = np.concatenate(tags), np.concatenate(places)

    def elements_4(self) -> None:
        blocks = int(self.cursor.numbers("u8", 4, "elements")[0])
        for _ in range(blocks):
            dimension, tag, kind = self.cursor.numbers("i4", 3, "elements").tolist()
            count = int(self.cursor.numbers("u8", 1, "elements")[0])
            width = 1 + self._points_of(kind)
            rows = self.cursor.numbers("u8", count * width, "elements").reshape(count, width)
            self._add(kind, rows[:, 1:], np.full(count, self.entities.get((dimension, tag), 0)))

    @staticmethod
    def _points_of(kind: int) -> int:
        if kind not in KINDS:
            raise ValueError(f"elements of an unknown kind, {kind}")
        return KINDS[kind][1]

    def _add(self, kind: int, points: AnyArray, physical: AnyArray) -> None:
        self.elements.append(uniform(KINDS[kind][0], points))
        self.physical.append(physical.astype(np.int64))


def write_gmsh(path: Path, file: CellFile) -> None:
    """Tets in a binary file of version 2.2, with physical numbers and data of nodes."""
    tets = file.first(np.arange(len(file.kinds)), 4)
    physical = file.cell_data.get("gmsh:physical", np.zeros(len(tets)))
    numbers = np.arange(1, len(file.points) + 1)
    nodes = np.empty(len(numbers), [("tag", "<i4"), ("x", "<f8", 3)])
    nodes["tag"], nodes["x"] = numbers, file.points
    rows = np.column_stack([np.arange(1, len(tets) + 1), physical, physical, tets + 1]).astype("<i4")
    with path.open("wb") as out:
        out.write(b"$MeshFormat\n2.2 1 8\n" + np.array([1], "<i4").tobytes() + b"\n$EndMeshFormat\n")
        out.write(f"$Nodes\n{len(nodes)}\n".encode() + nodes.tobytes() + b"\n$EndNodes\n")
        head = np.array([4, len(tets), 2], "<i4").tobytes()
        out.write(f"$Elements\n{len(tets)}\n".encode() + head + rows.tobytes() + b"\n$EndElements\n")
        for name, values in file.point_data.items():
            data = np.empty(len(numbers), [("tag", "<i4"), ("value", "<f8")])
            data["tag"], data["value"] = numbers, values
            text = f'$NodeData\n1\n"{name}"\n1\n0.0\n3\n0\n1\n{len(data)}\n'
            out.write(text.encode() + data.tobytes() + b"\n$EndNodeData\n")
