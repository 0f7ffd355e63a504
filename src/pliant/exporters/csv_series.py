"""Series as comma-separated values: a header, then a row per frame or step; numbers read back exactly."""

import csv
import io
from collections.abc import Sequence
from typing import BinaryIO

from pliant.exporters.job import Exporter, Job, Piece
from pliant.run.store import Series


def _table(series: Series, names: Sequence[str], file: BinaryIO) -> None:
    """Columns ``names``, which share their times, after a column "time" [s]."""
    names = [name for name in names if name != "time"]
    time = series.time_of(names[0] if names else "time")
    columns = [time.tolist(), *(series[name].tolist() for name in names)]
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["time", *names])
    writer.writerows([repr(value) for value in row] for row in zip(*columns, strict=True))
    file.write(text.getvalue().encode())


def _plan(job: Job) -> list[Piece]:
    series = job.run.series
    pieces: list[Piece] = [(job.out, lambda file: _table(series, series.frame_columns, file))]
    if series.step_columns:
        out = job.out.with_name(f"{job.out.stem}.step{job.out.suffix}")
        pieces.append((out, lambda file: _table(series, series.step_columns, file)))
    return pieces


CSV = Exporter(".csv", "all series of the run", frozenset(), _plan)
