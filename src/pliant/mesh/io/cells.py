"""What a file of cells of several kinds holds, whatever its format: points, cells, and data of both."""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from pliant.core.errors import MeshError
from pliant.core.typing import AnyArray, Array, IntArray

CUT_SHORT = "It may be cut short or damaged; export it again."


class Kind(NamedTuple):
    """A kind of cell: its name, its dimension, and its points (0: any number), corners first."""

    name: str
    dimension: int
    points: int
    corners: int


KINDS = {
    1: Kind("vertex", 0, 1, 1), 2: Kind("vertices", 0, 0, 0), 3: Kind("line", 1, 2, 2),
    4: Kind("lines", 1, 0, 0), 5: Kind("triangle", 2, 3, 3), 6: Kind("triangle strip", 2, 0, 0),
    7: Kind("polygon", 2, 0, 0), 8: Kind("pixel", 2, 4, 4), 9: Kind("quad", 2, 4, 4),
    10: Kind("tetra", 3, 4, 4), 11: Kind("voxel", 3, 8, 8), 12: Kind("hexahedron", 3, 8, 8),
    13: Kind("wedge", 3, 6, 6), 14: Kind("pyramid", 3, 5, 5), 21: Kind("line3", 1, 3, 2),
    22: Kind("triangle6", 2, 6, 3), 23: Kind("quad8", 2, 8, 4), 24: Kind("tetra10", 3, 10, 4),
    25: Kind("hexahedron20", 3, 20, 8), 26: Kind("wedge15", 3, 15, 6), 27: Kind("pyramid13", 3, 13, 5),
    28: Kind("quad9", 2, 9, 4), 29: Kind("hexahedron27", 3, 27, 8), 32: Kind("wedge18", 3, 18, 6),
    34: Kind("triangle7", 2, 7, 3), 42: Kind("polyhedron", 3, 0, 0), 68: Kind("line of high order", 1, 0, 2),
    69: Kind("triangle of high order", 2, 0, 3), 70: Kind("quad of high order", 2, 0, 4),
    71: Kind("tetra of high order", 3, 0, 4), 72: Kind("hexahedron of high order", 3, 0, 8),
    73: Kind("wedge of high order", 3, 0, 6), 74: Kind("pyramid of high order", 3, 0, 5),
}  # fmt: skip
"""Kinds of cells by VTK's numbers, which all formats are translated to."""
TETS, TRIANGLES, QUADS, POLYGON = (10, 24), (5, 22, 34, 69), (9, 23, 28, 70), 7


@dataclass
class CellFile:
    """Points (n, 3) [m]; cells: kinds (m,), the points of all of them one after another, and where those of
    each cell begin (m + 1,); data per point and per cell by name; gmsh's names of groups of cells with their
    number and dimension."""

    points: Array
    kinds: IntArray
    corners: IntArray
    starts: IntArray
    point_data: dict[str, AnyArray] = field(default_factory=dict)
    cell_data: dict[str, AnyArray] = field(default_factory=dict)
    names: dict[str, tuple[int, int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.points = np.ascontiguousarray(self.points, dtype=np.float64)
        sizes = np.diff(self.starts)
        if len(self.kinds) != len(sizes) or np.any(sizes < 0) or self.starts[-1] != len(self.corners):
            raise ValueError("the cells do not have as many points as the file announces")
        for number in np.unique(self.kinds).tolist():
            kind = KINDS.get(number)
            if kind is None:
                raise ValueError(f"cells of an unknown kind, {number}")
            own = sizes[self.kinds == number]
            if np.any(own != kind.points) if kind.points else np.any(own < max(kind.corners, 1)):
                raise ValueError(f"a {kind.name} with another number of points than it should have")

    @property
    def dimensions(self) -> IntArray:
        """Of each cell (m,)."""
        table = np.zeros(max(KINDS) + 1, np.int64)
        table[list(KINDS)] = [kind.dimension for kind in KINDS.values()]
        return np.asarray(table[self.kinds])

    def of(self, *kinds: int) -> IntArray:
        """Numbers of the cells of one of these kinds."""
        return np.flatnonzero(np.isin(self.kinds, kinds))

    def first(self, cells: IntArray, count: int) -> IntArray:
        """The first ``count`` points of each of ``cells``: their corners."""
        return np.asarray(self.corners[self.starts[cells][:, None] + np.arange(count)])


def uniform(kind: int, cells: AnyArray) -> tuple[IntArray, IntArray, IntArray]:
    """Kinds, corners and sizes of ``cells`` (m, k) of one kind."""
    count, width = cells.shape
    return np.full(count, kind), cells.astype(np.int64).ravel(), np.full(count, width)


def joined(parts: list[tuple[IntArray, IntArray, IntArray]]) -> tuple[IntArray, IntArray, IntArray]:
    """Kinds, corners and starts of cells that come in ``parts`` of kinds, corners and sizes."""
    empty = np.zeros(0, np.int64)
    kinds, corners, sizes = (np.concatenate([empty, *(p[k] for p in parts)]) for k in range(3))
    return kinds, corners, np.concatenate([[0], np.cumsum(sizes)])


class Cursor:
    """A place in the bytes of a file in which lines of text and numbers, as text or binary, follow each
    other; ``place`` opens the messages of errors."""

    def __init__(self, place: str, data: bytes, binary: bool = False, order: str = "<") -> None:
        self.place, self.data, self.at = place, data, 0
        self.binary, self.order = binary, order

    def fail(self, message: str, hint: str = CUT_SHORT) -> MeshError:
        line = self.data.count(b"\n", 0, self.at) + 1
        where = f"byte {self.at}" if self.binary else f"line {line}"
        return MeshError(f"{self.place}: {message} ({where}).", hint=hint)

    def line(self) -> str | None:
        """The next line that is not empty, without blanks around it; None at the end."""
        while self.at < len(self.data):
            end = self.data.find(b"\n", self.at)
            end = len(self.data) if end < 0 else end
            text, self.at = self.data[self.at : end].decode("utf-8", "replace").strip(), end + 1
            if text:
                return text
        return None

    def need(self, what: str) -> str:
        """As ``line``, where there has to be one."""
        text = self.line()
        if text is None:
            raise self.fail(f"the file ends where {what} should be")
        return text

    def numbers(self, kind: str, count: int, what: str) -> AnyArray:
        """The next ``count`` numbers of the NumPy type ``kind`` (``f8``): binary, or text."""
        if count < 0 or count > len(self.data) - self.at + 1:
            raise self.fail(f"{count} numbers are announced for {what}, more than the file can hold")
        if self.binary:
            found = np.dtype(self.order + kind)
            end = self.at + count * found.itemsize
            if end > len(self.data):
                raise self.fail(f"the file ends within {what}")
            values = np.frombuffer(self.data, found, count, self.at)
            self.at = end
            return values.astype(kind)
        rest: list[bytes] = []
        window = 32 * count + 64
        while len(rest) <= count:  # what follows the last number shows that it is whole
            end = min(self.at + window, len(self.data))
            rest, window = self.data[self.at : end].split(None, count), 4 * window
            if end == len(self.data):
                break
        if len(rest) < count:
            raise self.fail(f"the file ends within {what}")
        self.at = end - len(rest[count]) if len(rest) > count else end
        try:
            return np.array(rest[:count]).astype(kind) if count else np.zeros(0, kind)
        except ValueError as error:
            raise self.fail(f"{what} are not all numbers") from error

    def skip(self, mark: bytes) -> None:
        """Go behind the next ``mark``."""
        found = self.data.find(mark, self.at)
        if found < 0:
            raise self.fail(f"no {mark.decode()}")
        self.at = found + len(mark)
