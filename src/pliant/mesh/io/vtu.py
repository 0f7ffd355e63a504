"""VTK XML files of unstructured grids (.vtu): arrays as text, in base64 or raw, compressed or not."""

import base64
import lzma
import re
import xml.etree.ElementTree as ET
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import BinaryIO
from xml.sax.saxutils import quoteattr

import numpy as np

from pliant.core.errors import MeshError
from pliant.core.typing import AnyArray, IntArray
from pliant.mesh.io.cells import CellFile

TYPES = {
    "Float64": "f8", "Float32": "f4", "Int64": "i8", "Int32": "i4", "Int16": "i2", "Int8": "i1",
    "UInt64": "u8", "UInt32": "u4", "UInt16": "u2", "UInt8": "u1",
}  # fmt: skip
SPARE_BYTES, DENSEST = 128 * 1024**2, 20  # a file may hold so many bytes, and so many for each of its own
_APPENDED = re.compile(rb"<AppendedData([^>]*)>\s*_")
_CHUNK = re.compile(rb"[A-Za-z0-9+/]+={0,2}")


def read_vtu(path: Path) -> CellFile:
    """All pieces of an unstructured grid."""
    return _XmlReader(path).read()


class _XmlReader:
    def __init__(self, path: Path) -> None:
        self.path, data = path, path.read_bytes()
        if b"<!DOCTYPE" in data[:4096]:
            raise ValueError("a document type, which no VTK file has")
        self.budget = SPARE_BYTES + DENSEST * len(data)  # bytes that decompression may still make
        self.appended, self.raw = b"", False
        found = _APPENDED.search(data)
        if found:
            self.raw = b"raw" in found[1]
            end = data.rfind(b"</AppendedData")
            self.appended = data[found.end() : len(data) if end < 0 else end]
            data = data[: found.start()] + b"</VTKFile>"
        self.root = ET.fromstring(data)
        if self.root.tag != "VTKFile" or self.root.get("type") != "UnstructuredGrid":
            raise ValueError("not a VTK file of an unstructured grid")
        self.order = ">" if self.root.get("byte_order") == "BigEndian" else "<"
        self.header = np.dtype(self.order + TYPES[self.root.get("header_type", "UInt32")])
        self.compressor = self.root.get("compressor", "")
        places = [int(array.get("offset", 0)) for array in self.root.iter("DataArray")]
        self.places = [*sorted({p for p in places if p}), len(self.appended)]

    def read(self) -> CellFile:
        points, parts, count = [], [], 0
        data: tuple[dict[str, list[AnyArray]], dict[str, list[AnyArray]]] = ({}, {})
        for piece in self.root.iter("Piece"):
            block = piece.find("Points/DataArray")
            if block is None:
                raise ValueError("a piece without points")
            points.append(self.array(block).reshape(-1, 3))
            cells = {a.get("Name"): self.array(a) for a in piece.findall("Cells/DataArray")}
            corners, ends, kinds = (cells[k].astype(np.int64) for k in ("connectivity", "offsets", "types"))
            parts.append((kinds, corners + count, np.diff(ends, prepend=0)))
            count += len(points[-1])
            for table, tag, size in zip(
                data, ("PointData", "CellData"), (len(points[-1]), len(kinds)), strict=True
            ):
                for array in piece.findall(f"{tag}/DataArray"):
                    table.setdefault(array.get("Name", ""), []).append(self.field(array, size))
        if not points:
            raise ValueError("no pieces")
        whole = [{k: np.concatenate(v) for k, v in table.items() if len(v) == len(points)} for table in data]
        kinds, corners, sizes = (np.concatenate([part[k] for part in parts]) for k in range(3))
        starts = np.concatenate([[0], np.cumsum(sizes)])
        return CellFile(np.concatenate(points), kinds, corners, starts, whole[0], whole[1])

    def field(self, array: ET.Element, size: int) -> AnyArray:
        values = self.array(array)
        if size and len(values) % size:
            raise ValueError(f"the data '{array.get('Name')}' do not fit the {size} items they belong to")
        return values if len(values) == size else values.reshape(size, -1)

    def array(self, array: ET.Element) -> AnyArray:
        """The numbers of an array, flat."""
        kind, form = TYPES.get(array.get("type", ""), ""), array.get("format", "ascii")
        if not kind:
            raise ValueError(f"numbers of the type {array.get('type')}")
        if form == "ascii":
            return np.array((array.text or "").split(), dtype=kind)
        if form == "binary":
            data = self.decoded((array.text or "").encode())
        elif self.raw:
            data = self.appended[int(array.get("offset", 0)) :]
        else:
            place = int(array.get("offset", 0))
            data = self.decoded(self.appended[place : min(p for p in self.places if p > place)])
        plain = self.decompressed(data) if self.compressor else self.plain(data)
        return np.frombuffer(plain, self.order + kind).astype(kind)

    @staticmethod
    def decoded(text: bytes) -> bytes:
        """Base64, in which the header may have been encoded apart from what follows it."""
        return b"".join(base64.b64decode(chunk) for chunk in _CHUNK.findall(text))

    def plain(self, data: bytes) -> bytes:
        width = self.header.itemsize
        if not data:
            return b""
        size = int(np.frombuffer(data, self.header, 1)[0])
        if size > len(data) - width:
            raise ValueError("the file ends within its data")
        return data[width : width + size]

    def decompressed(self, data: bytes) -> bytes:
        """Header: number of blocks, their size, that of the last one (0: a whole one), and the compressed
        size of each."""
        width = self.header.itemsize
        if not data:
            return b""
        blocks = int(np.frombuffer(data, self.header, 1)[0])
        if blocks > len(data):
            raise ValueError("the file ends within its data")
        at, found = (3 + blocks) * width, []
        for size in np.frombuffer(data, self.header, 3 + blocks).tolist()[3:] if blocks else []:
            found.append(self.inflated(data[at : at + size]))
            at += size
        return b"".join(found)

    def inflated(self, block: bytes) -> bytes:
        if self.compressor == "vtkZLibDataCompressor":
            found = zlib.decompressobj().decompress(block, self.budget + 1)
        elif self.compressor == "vtkLZMADataCompressor":
            found = lzma.LZMADecompressor().decompress(block, self.budget + 1)
        else:
            raise ValueError(f"compressed by {self.compressor}; ZLib and LZMA are known")
        if len(found) > self.budget:
            raise MeshError(
                f"{self.path}: the compressed data of the file is far larger than the file.",
                hint="Export the mesh again without compression.",
            )
        self.budget -= len(found)
        return found


def write_vtu(path: Path, file: CellFile) -> None:
    """A grid with its data."""
    with path.open("wb") as out:
        cells = (file.corners, file.starts[1:], file.kinds.astype(np.uint8))
        write_grid(out, file.points, cells, file.point_data, file.cell_data)


def write_grid(
    file: BinaryIO,
    points: AnyArray,
    cells: tuple[IntArray, IntArray, AnyArray],
    point_data: Mapping[str, AnyArray],
    cell_data: Mapping[str, AnyArray],
    time: float | None = None,
) -> None:
    """Points, cells as VTK has them (connectivity, offsets, types) and data; arrays follow the XML as raw
    bytes."""
    blocks: list[AnyArray] = []
    size = 0

    def array(name: str, values: AnyArray) -> str:
        nonlocal size
        kind = "u1" if values.dtype.kind == "b" else values.dtype.str[1:]
        values = np.ascontiguousarray(values, "<" + kind)
        width = f'NumberOfComponents="{values[0].size}" ' if values.ndim > 1 and len(values) else ""
        place, size = size, size + 8 + values.nbytes
        blocks.append(values)
        return (
            f'<DataArray type="{_NAMES[kind]}" Name={quoteattr(name)} {width}format="appended" '
            f'offset="{place}"/>\n'
        )

    def arrays(table: Mapping[str, AnyArray]) -> str:
        return "".join(array(name, values) for name, values in table.items())

    when = "" if time is None else (
        '<FieldData>\n<DataArray type="Float64" Name="TimeValue" NumberOfTuples="1" format="ascii">'
        f"{time!r}</DataArray>\n</FieldData>\n"
    )  # fmt: skip
    connectivity, offsets, types = cells
    header = (
        '<?xml version="1.0"?>\n'
        '<VTKFile type="UnstructuredGrid" version="1.0" byte_order="LittleEndian" header_type="UInt64">\n'
        f"<UnstructuredGrid>\n{when}"
        f'<Piece NumberOfPoints="{len(points)}" NumberOfCells="{len(types)}">\n'
        f"<Points>\n{array('Points', points)}</Points>\n"
        f"<Cells>\n{array('connectivity', connectivity)}{array('offsets', offsets)}"
        f"{array('types', types)}</Cells>\n"
        f"<PointData>\n{arrays(point_data)}</PointData>\n"
        f"<CellData>\n{arrays(cell_data)}</CellData>\n"
        '</Piece>\n</UnstructuredGrid>\n<AppendedData encoding="raw">\n_'
    )
    file.write(header.encode())
    for values in blocks:
        file.write(np.array(values.nbytes, "<u8").tobytes())
        file.write(values.tobytes())
    file.write(b"\n</AppendedData>\n</VTKFile>\n")


_NAMES = {kind: name for name, kind in TYPES.items()}
