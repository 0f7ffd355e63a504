"""VTK unstructured grids (.vtu) and collections of them over time (.pvd), for ParaView and its kin."""

from pathlib import Path
from typing import BinaryIO
from xml.sax.saxutils import quoteattr

import numpy as np

from pliant.core.typing import AnyArray
from pliant.exporters.job import VOLUMES, Exporter, Job, Piece, per_frame
from pliant.exporters.volumes import Grid, grid_of
from pliant.run.store import Frame

_TYPES = {
    "f8": "Float64", "f4": "Float32", "i8": "Int64", "i4": "Int32", "i1": "Int8",
    "u8": "UInt64", "u4": "UInt32", "u1": "UInt8",
}  # fmt: skip


def write_vtu(grid: Grid, time: float, file: BinaryIO) -> None:
    """Write a grid with its fields; arrays follow the XML as raw bytes."""
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
            f'<DataArray type="{_TYPES[kind]}" Name={quoteattr(name)} {width}format="appended" '
            f'offset="{place}"/>\n'
        )

    def arrays(table: dict[str, AnyArray]) -> str:
        return "".join(array(name, values) for name, values in table.items())

    header = (
        '<?xml version="1.0"?>\n'
        '<VTKFile type="UnstructuredGrid" version="1.0" byte_order="LittleEndian" header_type="UInt64">\n'
        "<UnstructuredGrid>\n"
        '<FieldData>\n<DataArray type="Float64" Name="TimeValue" NumberOfTuples="1" format="ascii">'
        f"{time!r}</DataArray>\n</FieldData>\n"
        f'<Piece NumberOfPoints="{len(grid.points)}" NumberOfCells="{len(grid.types)}">\n'
        f"<Points>\n{array('Points', grid.points)}</Points>\n"
        f"<Cells>\n{array('connectivity', grid.connectivity)}{array('offsets', grid.offsets)}"
        f"{array('types', grid.types)}</Cells>\n"
        f"<PointData>\n{arrays(grid.point_data)}</PointData>\n"
        f"<CellData>\n{arrays(grid.cell_data)}</CellData>\n"
        '</Piece>\n</UnstructuredGrid>\n<AppendedData encoding="raw">\n_'
    )
    file.write(header.encode())
    for values in blocks:
        file.write(np.array(values.nbytes, "<u8").tobytes())
        file.write(values.tobytes())
    file.write(b"\n</AppendedData>\n</VTKFile>\n")


def _frames(job: Job, out: Path) -> list[Piece]:
    def write(frame: Frame, file: BinaryIO) -> None:
        write_vtu(grid_of(frame, job.bodies_of(frame), job.fields), frame.time, file)

    return per_frame(job, write, out)


def _collection(job: Job) -> list[Piece]:
    """The frames as OUT_0000.vtu and so on, and then the list of them with their times."""
    pieces = _frames(job, job.out.with_name(f"{job.out.stem}_%04d.vtu"))
    entries = "".join(
        f"<DataSet timestep={quoteattr(repr(job.run.frames[index].time))} file={quoteattr(path.name)}/>\n"
        for index, (path, _) in zip(job.frames, pieces, strict=True)
    )
    text = (
        '<?xml version="1.0"?>\n<VTKFile type="Collection" version="0.1" byte_order="LittleEndian">\n'
        f"<Collection>\n{entries}</Collection>\n</VTKFile>\n"
    )
    return [*pieces, (job.out, lambda file: file.write(text.encode()))]


VTU = Exporter(
    ".vtu",
    "volume meshes with fields, a file per frame",
    VOLUMES | {"start"},
    lambda job: _frames(job, job.out),
)
PVD = Exporter(
    ".pvd",
    "volume meshes with fields, and a list of the frames with their times",
    VOLUMES | {"start"},
    _collection,
)
