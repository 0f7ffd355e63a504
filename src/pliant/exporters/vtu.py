"""Volume meshes with fields: VTK unstructured grids (.vtu) and collections of them over time (.pvd)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO
from xml.sax.saxutils import quoteattr

import numpy as np

from pliant.core.errors import InputError
from pliant.core.typing import AnyArray, Array, IntArray
from pliant.exporters.job import VOLUMES, Exporter, Job, Piece, per_frame
from pliant.interfaces import FieldData, Structure
from pliant.mesh.io.vtu import write_grid
from pliant.run.store import Frame

_USUAL = ("displacement", "velocity", "stress", "contact-force", "pressure")
_CELLS = (  # VTK's numbers of the cells that fill a body, or else of its faces, or of its edges
    {"tetra": 10, "hexahedron": 12, "wedge": 13, "pyramid": 14},
    {"triangle": 5, "quad": 9},
    {"edge": 3, "line": 3},
)


@dataclass
class Grid:
    """Points (n, 3) [m]; cells as VTK has them: connectivity, offsets (m,), types (m,); data by name.

    sizes: the numbers of particles and cells of each body.
    """

    points: Array
    connectivity: IntArray
    offsets: IntArray
    types: AnyArray
    point_data: dict[str, AnyArray]
    cell_data: dict[str, AnyArray]
    sizes: list[tuple[int, int]]


def cells_of(frame: Frame, bodies: Sequence[str]) -> Grid:
    """The named bodies at a frame without fields; its cells hold for all frames of the topology version."""
    points, corners, counts, types, body, region = [], [], [], [], [], []
    start = 0
    for number, name in enumerate(bodies):
        structure = frame.record(name).structure
        points.append(frame.rows(name))
        blocks = _blocks(structure)
        cells = sum(len(block) for _, block in blocks)
        for kind, block in blocks:
            corners.append(block.astype(np.int64).ravel() + start)
            counts.append(np.full(len(block), block.shape[1]))
            types.append(np.full(len(block), kind, np.uint8))
        body.append(np.full(cells, number, np.int32))
        regions = structure.regions
        known = regions is not None and len(regions) == cells
        region.append(np.asarray(regions if known else np.zeros(cells), np.int32))
        start += len(points[-1])
    return Grid(
        np.concatenate(points),
        np.concatenate(corners),
        np.cumsum(np.concatenate(counts)),
        np.concatenate(types),
        {},
        {"body": np.concatenate(body), "region": np.concatenate(region)},
        [(len(own), len(numbers)) for own, numbers in zip(points, body, strict=True)],
    )


def data_of(frame: Frame, bodies: Sequence[str], fields: Sequence[str] | None, cells: Grid) -> Grid:
    """Points and ``fields`` (None: the usual ones that there are) of the named bodies at a frame, with the
    ``cells`` of its topology version.

    A field that only some bodies have is NaN for the others. Numbers of body and region go with the cells.
    """
    parts = [frame.rows(name) for name in bodies]
    points = parts[0] if len(parts) == 1 else np.concatenate(parts)
    grid = replace(cells, points=points, point_data={}, cell_data=dict(cells.cell_data))
    for field in _USUAL if fields is None else fields:
        _add_field(grid, frame, bodies, field, asked=fields is not None)
    return grid


def _blocks(structure: Structure) -> list[tuple[int, IntArray]]:
    """The cells that fill the body (or, in order, its faces, its edges, its particles) with VTK's numbers."""
    for kinds in _CELLS:
        found = [(kinds[name], structure.cells[name]) for name in kinds if len(structure.cells.get(name, ()))]
        if found:
            return found
    return [(1, np.arange(len(structure.rest))[:, None])]


def _has(frame: Frame, body: str, name: str) -> bool:
    if name == "velocity":
        return frame.velocities is not None
    return name == "displacement" or name in frame.field_names(body)


def _add_field(grid: Grid, frame: Frame, bodies: Sequence[str], name: str, asked: bool) -> None:
    found: dict[int, FieldData] = {}
    for number, body in enumerate(bodies):
        if asked or _has(frame, body, name):
            data = frame.field(name, body)
            if len(data.values) == grid.sizes[number][data.per == "cell"]:
                found[number] = data
            elif asked:
                raise InputError(f"Body '{body}' has '{name}' for other cells than those that fill it.")
    for per, data_of in (("particle", grid.point_data), ("cell", grid.cell_data)):
        parts = {number: np.asarray(data.values) for number, data in found.items() if data.per == per}
        widths = {values.shape[1:] for values in parts.values()}
        if len(widths) != 1:
            continue
        shape = next(iter(widths))
        whole = [
            parts[number] if number in parts else np.full((size[per == "cell"], *shape), np.nan)
            for number, size in enumerate(grid.sizes)
        ]
        data_of[name] = whole[0] if len(whole) == 1 else np.concatenate(whole)


def write_vtu(grid: Grid, time: float, file: BinaryIO) -> None:
    """Write a grid with its fields."""
    cells = (grid.connectivity, grid.offsets, grid.types)
    write_grid(file, grid.points, cells, grid.point_data, grid.cell_data, time)


def _frames(job: Job, out: Path) -> list[Piece]:
    def write(frame: Frame, file: BinaryIO) -> None:
        bodies = job.bodies_of(frame)
        write_vtu(data_of(frame, bodies, job.fields, cells_of(frame, bodies)), frame.time, file)

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


_TAKES = VOLUMES | {"start"}
VTU = Exporter(
    ".vtu", "volume meshes with fields, a file per frame", _TAKES, lambda job: _frames(job, job.out)
)
PVD = Exporter(
    ".pvd", "volume meshes with fields, and a list of the frames with their times", _TAKES, _collection
)
