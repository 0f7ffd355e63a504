"""Series of a run: named columns, a value per frame or per step."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

from pliant.core.errors import RunError
from pliant.core.registry import nearest
from pliant.core.tables import TableView
from pliant.core.typing import Array, BoolArray, IntArray
from pliant.run.store.zarr_store import open_array, read_chunks


class Series(Mapping[str, Array]):
    """Columns by name: (frames,) arrays, or (steps + 1,) for those recorded every step; "time" always.

    A column is NaN where it was not written. ``run.series["probe.z"]`` goes with ``time_of("probe.z")``.
    """

    def __init__(self, path: Path, manifest: TableView, frames: int) -> None:
        self._path, self._frames = path, frames
        self._fps, self._spf = float(manifest["fps"]), int(manifest["steps_per_frame"])
        self.frame_columns: tuple[str, ...] = tuple(manifest["columns"])
        self.step_columns: tuple[str, ...] = tuple(manifest["step_columns"])
        self._tables: dict[str, Array] = {}

    def time_of(self, name: str) -> Array:
        """Times [s] at which the column ``name`` was taken."""
        if self._is_per_step(name):
            steps: IntArray = np.arange(self._spf * self._frames) - self._spf + 1
            return steps[self._kept] / (self._fps * self._spf)
        return np.arange(self._frames) / self._fps

    def __getitem__(self, name: str) -> Array:
        if self._is_per_step(name):
            values: Array = self._steps[self._kept, self.step_columns.index(name)]
            return values
        if name in self.frame_columns:
            column: Array = self._table("frame", 1)[:, self.frame_columns.index(name)].copy()
            return column
        return self.time_of("time")

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys(("time", *self.frame_columns, *self.step_columns)))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __repr__(self) -> str:
        return f"Series({', '.join(self)})"

    def _is_per_step(self, name: str) -> bool:
        if name not in self:
            raise RunError(f"The run has no series '{name}'; {nearest(name, list(self))}")
        return name in self.step_columns and name not in self.frame_columns and name != "time"

    def __contains__(self, name: object) -> bool:
        return name == "time" or name in self.frame_columns or name in self.step_columns

    @property
    def _steps(self) -> Array:
        return self._table("step", self._spf)

    @property
    def _kept(self) -> BoolArray:
        """Rows of steps that exist: the initial state is one row, where it was given."""
        rows = np.ones(len(self._steps), bool)
        rows[: self._spf] = ~np.isnan(self._steps[: self._spf]).all(axis=1)
        return rows

    def _table(self, name: str, rows: int) -> Array:
        """All rows of the frames that count, (frames * rows, columns)."""
        if name not in self._tables:
            path = self._path / "series" / name
            array = open_array(path)
            self._tables[name] = read_chunks(path, array, self._frames, rows)
        return self._tables[name]
