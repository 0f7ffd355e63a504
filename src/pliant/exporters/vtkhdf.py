"""VTKHDF: volume meshes with fields over time in one HDF5 file, for ParaView and VTK (format 2.0).

What stays the same while the topology does (cells, numbers of bodies and regions) is written once per
topology version; steps point at it.
"""

from typing import Any, BinaryIO

import numpy as np

from pliant.exporters.job import VOLUMES, Exporter, Job, Piece
from pliant.exporters.volumes import Grid, cells_of, data_of
from pliant.recording import Frame
from pliant.typing import AnyArray

_CONSTANT = ("body", "region")


def _plan(job: Job) -> list[Piece]:
    return [(job.out, lambda file: _write(job, file))]


def _write(job: Job, file: BinaryIO) -> None:
    import h5py

    with h5py.File(file.name, "w", libver="latest", track_order=False) as root:
        top = root.create_group("VTKHDF")
        top.attrs["Version"] = np.array([2, 0], np.int64)
        top.attrs["Type"] = np.bytes_("UnstructuredGrid")
        _Writer(job, top).write()


class _Writer:
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

    def write(self) -> None:
        job, grids = self.job, self.grids
        order = [job.run.version_of(number) for number in job.frames]
        versions = list(grids)
        self._cells()
        points = np.array([len(grids[v].points) for v in order])
        cells = np.array([len(grids[v].types) for v in order])
        self._step("Values", np.array([number / float(job.run.manifest["fps"]) for number in job.frames]))
        self._step("PartOffsets", np.array([versions.index(v) for v in order]))
        self._step("NumberOfParts", np.ones(len(order), np.int64))
        self._step("PointOffsets", np.cumsum(points) - points)
        for name, sizes in (
            ("CellOffsets", [len(grids[v].types) for v in versions]),
            ("ConnectivityIdOffsets", [len(grids[v].connectivity) for v in versions]),
        ):
            starts = np.cumsum(sizes) - sizes
            self.starts[name] = starts[[versions.index(v) for v in order]]
            self._step(name, self.starts[name][:, None])
        self._frames(order, points, cells)

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

    def _step(self, name: str, values: AnyArray) -> None:
        self.steps.create_dataset(name, data=values)

    def _frames(self, order: list[int], points: AnyArray, cells: AnyArray) -> None:
        """Points and fields, row by row; a field that a version does not have is NaN there."""
        place = self.top.create_dataset("Points", (int(points.sum()), 3), np.float64)
        stores: dict[str, tuple[Any, int]] = {}
        at = np.zeros(2, np.int64)
        for step, frame in enumerate(self.job.each()):
            if step == 0:
                stores = self._stores(frame, order, points, cells)
            count = np.array([points[step], cells[step]])
            grid = self._data(frame, order[step])
            place[int(at[0]) : int(at[0] + count[0])] = grid.points
            for name, (store, kind) in stores.items():
                data = (grid.point_data if kind == 0 else grid.cell_data).get(name.partition("/")[2])
                rows = slice(int(at[kind]), int(at[kind] + count[kind]))
                store[rows] = np.nan if data is None else data.reshape(len(data), *store.shape[1:])
            at += count

    def _data(self, frame: Frame, version: int) -> Grid:
        return data_of(frame, self.names[version], self.job.fields, self.grids[version])

    def _stores(
        self, first: Frame, order: list[int], points: AnyArray, cells: AnyArray
    ) -> dict[str, tuple[Any, int]]:
        """Datasets of all fields that some version has, with their offsets per step."""
        groups = (self.top.create_group("PointData"), self.top.create_group("CellData"))
        offsets = (self.steps.create_group("PointDataOffsets"), self.steps.create_group("CellDataOffsets"))
        for name in _CONSTANT:
            whole = np.concatenate([grid.cell_data[name] for grid in self.grids.values()])
            groups[1].create_dataset(name, data=whole)
            offsets[1].create_dataset(name, data=self.starts["CellOffsets"])
        found: dict[str, tuple[Any, int]] = {}
        for version, numbers in self.job.versions().items():
            frame = first if numbers[0] == first.index else self.job.frame(numbers[0])
            grid = self._data(frame, version)
            for kind, (table, counts) in enumerate(((grid.point_data, points), (grid.cell_data, cells))):
                for name, values in table.items():
                    key = f"{kind}/{name}"
                    if key in found or name in _CONSTANT:
                        continue
                    shape = values.shape[1:] if values.ndim < 3 else (values[0].size,)
                    store = groups[kind].create_dataset(name, (int(counts.sum()), *shape), np.float64)
                    found[key] = store, kind
                    offsets[kind].create_dataset(name, data=np.cumsum(counts) - counts)
        return found


VTKHDF = Exporter(
    ".vtkhdf", "volume meshes with fields over time", VOLUMES, _plan, needs=("h5py",), whole=True
)
