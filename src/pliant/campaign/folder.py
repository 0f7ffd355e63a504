"""A sweep folder on disk: tables that are replaced as a whole or appended to, and one driver at a time."""

import csv
import io
import json
import math
import os
import uuid
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pliant.campaign.points import Point, read_title, si_value
from pliant.core.errors import RunError
from pliant.core.tables import Table
from pliant.run.store.json_files import replace_file, storing, write_json
from pliant.run.store.run_folder import LOCK, Lock
from pliant.scene.override import value_of
from pliant.scene.to_toml import toml_value

FORMAT, SCHEMA = "pliant-sweep", 1
FILE = "sweep.json"


@dataclass
class PointEntry:
    """A point of a sweep: its number from 1, the values of the varied keys and the run that they name; an
    invalid point has no run, and an ``error`` while it is planned."""

    number: int
    values: Point
    run: str
    error: str = ""


class SweepFolder:
    """The files of a sweep."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path).absolute()

    @property
    def exists(self) -> bool:
        return (self.path / FILE).is_file()

    def manifest(self) -> Table:
        """What sweep.json holds; RunError where there is no sweep."""
        if not self.path.exists():
            raise RunError(f"{self.path} does not exist.")
        try:
            table = json.loads((self.path / FILE).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            table = None
        if not isinstance(table, dict) or table.get("format") != FORMAT:
            raise RunError(f"{self.path} is not a sweep: it has no {FILE} of one.")
        if table.get("schema", 0) > SCHEMA:
            raise RunError(f"{self.path} was written by a newer pliant.", hint="Update pliant.")
        return table

    def create(self) -> None:
        """Make the folder; RunError where something else is there."""
        if self.path.exists() and not self.exists:
            inside = [entry.name for entry in self.path.iterdir()] if self.path.is_dir() else ["a file"]
            if inside and set(inside) - {LOCK}:
                raise RunError(
                    f"{self.path} exists and is not a sweep; it is not changed.",
                    hint="Choose another name with -o.",
                )
        with storing(self.path, "run the sweep again"):
            for name in ("runs", "scenes"):
                (self.path / name).mkdir(parents=True, exist_ok=True)

    def write_manifest(self, table: Table) -> None:
        with storing(self.path, "run the sweep again"):
            write_json(self.path / FILE, {"format": FORMAT, "schema": SCHEMA, **table})

    @contextmanager
    def driver(self) -> Iterator[Path]:
        """One sweep at a time in this folder; gives the file whose absence tells points to stop."""
        lock = Lock(self.path)
        for old in self.path.glob(".active-*"):
            old.unlink(missing_ok=True)
        active = self.path / f".active-{uuid.uuid4().hex[:12]}"
        active.touch()
        try:
            yield active
        finally:
            active.unlink(missing_ok=True)
            lock.release()

    def run_folder(self, run: str) -> Path:
        return self.path / "runs" / run

    def scene_file(self, run: str) -> Path:
        return self.path / "scenes" / f"{run}.toml"

    # ------------------------------------------------------------------------------------- tables

    def write_points(
        self, entries: Sequence[PointEntry], keys: Sequence[str], units: Mapping[str, str]
    ) -> None:
        rows = [[e.number, e.run, *(cell(e.values.get(key)) for key in keys)] for e in entries]
        self._replace("points.csv", [["point", "run", *(titled(k, units) for k in keys)], *rows])

    def points(self) -> list[PointEntry]:
        """The points that are written, in their order."""
        header, rows = self.table("points.csv")
        keys = [untitled(name) for name in header[2:]]
        lost = [key for key in self.manifest()["keys"] if key not in keys]
        if header[:2] != ["point", "run"] or lost or [row[0] for row in rows] != _counted(rows):
            raise RunError(
                f"{self.path} is damaged: points.csv is not as it was written.",
                hint="Put it back from a copy, or start another sweep with -o.",
            )
        found = []
        for number, run, *cells in rows:
            values = {k: read_cell(text) for k, text in zip(keys, cells, strict=True) if text != ""}
            found.append(PointEntry(int(number), values, run))
        return found

    def numbered(self, name: str, known: Container[int]) -> dict[int, list[str]]:
        """Rows of a table by the number of their point, those of ``known`` points; others do not count."""
        _, rows = self.table(name)
        found = {int(row[0]): row for row in rows if row[0].isdigit()}
        return {number: row for number, row in found.items() if number in known}

    def table(self, name: str) -> tuple[list[str], list[list[str]]]:
        """Header and complete rows of a table; empty where it is not there yet."""
        try:
            text = (self.path / name).read_text(encoding="utf-8")
        except FileNotFoundError:
            return [], []
        rows = list(csv.reader(io.StringIO(text)))
        if not rows:
            return [], []
        return rows[0], [row for row in rows[1:] if len(row) == len(rows[0])]

    def write_table(self, name: str, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
        """Replace a table."""
        self._replace(name, [header, *([cell(value) for value in row] for row in rows)])

    def append(self, name: str, row: Sequence[Any]) -> None:
        """Add a row to a table; a kill leaves at most a part of it, which is not read."""
        with (
            storing(self.path, "run the sweep again"),
            (self.path / name).open("a", encoding="utf-8", newline="") as file,
        ):
            file.write(_lines([[cell(value) for value in row]]))

    def _replace(self, name: str, rows: Sequence[Sequence[Any]]) -> None:
        with storing(self.path, "run the sweep again"):
            replace_file(self.path / name, lambda file: file.write(_lines(rows).encode()))

    def clear_scene(self, run: str) -> None:
        """Remove the scene of a point that is done: its run folder has it."""
        with suppress(OSError):
            self.scene_file(run).unlink(missing_ok=True)


def _counted(rows: Sequence[Sequence[str]]) -> list[str]:
    return [str(number) for number in range(1, len(rows) + 1)]


def _lines(rows: Sequence[Sequence[Any]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


def titled(key: str, units: Mapping[str, str]) -> str:
    """``bodies.beam.edge [m]``: the header of a column."""
    return f"{key} [{units[key]}]" if units.get(key) else key


def untitled(title: str) -> str:
    """The key in the header of a column."""
    return read_title(title)[0]


def unit_in(title: str) -> str:
    """The unit in the header of a column, "" for none."""
    return read_title(title)[1]


def cell(value: Any) -> str:
    """A value as a table has it; empty for none."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    return value if isinstance(value, str) else toml_value(value)


def read_cell(text: str) -> Any:
    """The value of a cell."""
    return si_value(value_of(text))
