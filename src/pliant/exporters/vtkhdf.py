"""VTKHDF: volume meshes with fields over time in one HDF5 file, for ParaView and VTK (format 2.0).

What stays the same while the topology does (cells, numbers of bodies and regions) is written once per
topology version; steps point at it. The rows of points and fields lie in one piece each: HDF5 makes room for
them, and they are then written straight to their places, which takes half the time.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np

from pliant.core.typing import AnyArray
from pliant.exporters.job import VOLUMES, Exporter, Job, one_file
from pliant.exporters.prefetch import row_writer
from pliant.exporters.vtu import Grid, cells_of, data_of
from pliant.run.store import Frame

_CONSTANT = ("body", "region")


def _write(job: Job, file: BinaryIO) -> None:
    import h5py

    with h5py.File(file.name, "w", libver="latest", track_order=False) as root:
        top = root.create_group("VTKHDF")
        top.attrs["Version"] = np.array([2, 0], np.int64)
        top.attrs["Type"] = np.bytes_("UnstructuredGrid")
        writer = _VtkhdfWriter(job, top)
        writer.describe()
    with row_writer(file.name) as write:
        writer.fill(write)


@dataclass
class _Place:
    """Where the rows of a field go: kind 0 points, 1 cells; at: the next byte; width: numbers per row."""

    kind: int
    name: str
    width: int
    at: int


class _VtkhdfWriter:
    """Cells go once per topology version; points and fields follow frame by frame."""

    def __init__(self, job: Job, top: Any) -> None:
        self.job, self.top = job, top
        self.steps = top.create_group("Steps")
        self.steps.attrs["NSteps"] = np.int64(len(job.frames))
        self.starts: dict[str, AnyArray] = {}
        self.grids: dict[int, Grid] = {}
        self.names: dict[int, list[str]] = {}
        for version, numbers in job.versions().items():
            frame = job.frame(numbers[0])
            bodies = job.bodies_of(frame)
            self.grids[version], self.names[version] = cells_of(frame, bodies), bodies

    def describe(self) -> None:
        """All but the rows of points and fields."""
        job, grids = self.job, self.grids
        self.order = order = [job.run.version_of(number) for number in job.frames]
        versions = list(grids)
        self._cells()
        points = np.array([len(grids[v].points) for v in order])
        cells = np.array([len(grids[v].types) for v in order])
        for name, values in (
            ("Values", np.array([number / float(job.run.manifest["fps"]) for number in job.frames])),
            ("PartOffsets", np.array([versions.index(v) for v in order])),
            ("NumberOfParts", np.ones(len(order), np.int64)),
            ("PointOffsets", np.cumsum(points) - points),
        ):
            self.steps.create_dataset(name, data=values)
        for name, sizes in (
            ("CellOffsets", [len(grids[v].types) for v in versions]),
            ("ConnectivityIdOffsets", [len(grids[v].connectivity) for v in versions]),
        ):
            starts = np.cumsum(sizes) - sizes
            self.starts[name] = starts[[versions.index(v) for v in order]]
            self.steps.create_dataset(name, data=self.starts[name][:, None])
        self.counts = points, cells
        self.points = self._rows(self.top, "Points", int(points.sum()), (3,), 0)
        self.places = self._fields()

    def _cells(self) -> None:
        grids = list(self.grids.values())
        offsets = [np.concatenate([[0], grid.offsets]) for grid in grids]
        for name, values in (
            ("Connectivity", np.concatenate([grid.connectivity for grid in grids])),
            ("Offsets", np.concatenate(offsets).astype(np.int64)),
            ("Types", np.concatenate([grid.types for grid in grids]).astype(np.uint8)),
            ("NumberOfPoints", np.array([len(grid.points) for grid in grids])),
            ("NumberOfCells", np.array([len(grid.types) for grid in grids])),
            ("NumberOfConnectivityIds", np.array([len(grid.connectivity) for grid in grids])),
        ):
            self.top.create_dataset(name, data=values)

    def fill(self, write: Callable[[AnyArray, int], None]) -> None:
        """Points and fields, frame by frame; a field that a version does not have is NaN there."""
        for step, frame in enumerate(self.job.each()):
            grid = self._data(frame, self.order[step])
            self._put(write, self.points, grid.points)
            for place in self.places:
                data = (grid.cell_data if place.kind else grid.point_data).get(place.name)
                if data is None:
                    data = np.full((self.counts[place.kind][step], place.width), np.nan)
                self._put(write, place, data)

    @staticmethod
    def _put(write: Callable[[AnyArray, int], None], place: _Place, values: AnyArray) -> None:
        data = np.ascontiguousarray(values, np.float64)
        if data.size:
            write(data, place.at)
        place.at += data.nbytes

    def _data(self, frame: Frame, version: int) -> Grid:
        return data_of(frame, self.names[version], self.job.fields, self.grids[version])

    def _fields(self) -> list[_Place]:
        """Room for all fields that some version has, with their offsets per step."""
        groups = (self.top.create_group("PointData"), self.top.create_group("CellData"))
        offsets = (self.steps.create_group("PointDataOffsets"), self.steps.create_group("CellDataOffsets"))
        for name in _CONSTANT:
            whole = np.concatenate([grid.cell_data[name] for grid in self.grids.values()])
            groups[1].create_dataset(name, data=whole)
            offsets[1].create_dataset(name, data=self.starts["CellOffsets"])
        found: dict[tuple[int, str], _Place] = {}
        for version, numbers in self.job.versions().items():
            grid = self._data(self.job.frame(numbers[0]), version)
            for kind, table in enumerate((grid.point_data, grid.cell_data)):
                for name, values in table.items():
                    if (kind, name) in found or name in _CONSTANT:
                        continue
                    counts = self.counts[kind]
                    shape = values.shape[1:] if values.ndim < 3 else (values[0].size,)
                    found[kind, name] = self._rows(groups[kind], name, int(counts.sum()), shape, kind)
                    offsets[kind].create_dataset(name, data=np.cumsum(counts) - counts)
        return list(found.values())

    @staticmethod
    def _rows(group: Any, name: str, count: int, shape: tuple[int, ...], kind: int) -> _Place:
        """Room for ``count`` rows in one piece, taken now and filled later."""
        from h5py import h5d, h5p, h5s, h5t

        how = h5p.create(h5p.DATASET_CREATE)
        how.set_layout(h5d.CONTIGUOUS)
        how.set_alloc_time(h5d.ALLOC_TIME_EARLY)
        how.set_fill_time(h5d.FILL_TIME_NEVER)
        how.set_obj_track_times(False)  # the same bytes every time
        space = h5s.create_simple((count, *shape))
        store = h5d.create(group.id, name.encode(), h5t.NATIVE_DOUBLE, space, how)
        at = store.get_offset() if count else 0
        if at is None:
            raise AssertionError(f"HDF5 has made no room for {name}")
        return _Place(kind, name, int(np.prod(shape, dtype=int)), at)


VTKHDF = Exporter(
    ".vtkhdf", "volume meshes with fields over time", VOLUMES, one_file(_write), needs=("h5py",), whole=True
)
