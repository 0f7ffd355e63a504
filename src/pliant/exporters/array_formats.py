"""Series as comma-separated values, and everything for NumPy; numbers read back exactly."""

import csv
import io
import zipfile
from collections.abc import Sequence
from typing import BinaryIO

import numpy as np

from pliant.core.typing import AnyArray
from pliant.exporters.job import SURFACES, Exporter, Job, Piece, one_file
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


def _series(job: Job) -> list[Piece]:
    series = job.run.series
    pieces: list[Piece] = [(job.out, lambda file: _table(series, series.frame_columns, file))]
    if series.step_columns:
        out = job.out.with_name(f"{job.out.stem}.step{job.out.suffix}")
        pieces.append((out, lambda file: _table(series, series.step_columns, file)))
    return pieces


CSV = Exporter(".csv", "all series of the run", frozenset(), _series)


_DATE = (1980, 1, 1, 0, 0, 0)  # the same bytes every time


def _write(job: Job, file: BinaryIO) -> None:
    """times (f,), frames (f,), version (f,); per topology version V: positions.V (frames, n, 3),
    V.BODY.rows, V.BODY.rest, V.BODY.mass, V.BODY.KIND for its cells, V.BODY.surface (triangles) with
    V.BODY.indices and V.BODY.weights, from which its points come; series.NAME and series.NAME.time."""
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        _array(archive, "times", np.array(job.frames) / float(job.run.manifest["fps"]))
        _array(archive, "frames", np.array(job.frames))
        _array(archive, "version", np.array([job.run.version_of(number) for number in job.frames]))
        for version, numbers in job.versions().items():
            rows = _structures(archive, job, version, numbers[0])
            _positions(archive, job, version, numbers, rows)
        for name in job.run.series:
            _array(archive, f"series.{name}", job.run.series[name])
            _array(archive, f"series.{name}.time", job.run.series.time_of(name))


def _structures(archive: zipfile.ZipFile, job: Job, version: int, number: int) -> list[slice]:
    """Writes what the bodies are made of; gives their rows in the run's frames."""
    frame, found, start = job.frame(number), [], 0
    for name in job.bodies_of(frame):
        record = frame.record(name)
        structure, key = record.structure, f"{version}.{name}"
        found.append(slice(*record.rows))
        count = record.rows[1] - record.rows[0]
        _array(archive, f"{key}.rows", np.array([start, start + count]))
        _array(archive, f"{key}.rest", job.place.points(structure.rest))
        _array(archive, f"{key}.mass", structure.mass)
        for kind, cells in structure.cells.items():
            _array(archive, f"{key}.{kind}", cells)
        if structure.carrier is not None:
            arrays = structure.carrier.arrays()
            _array(archive, f"{key}.surface", structure.carrier.surface.triangles)
            for part in ("indices", "weights"):
                if part in arrays:
                    _array(archive, f"{key}.{part}", arrays[part])
        start += count
    return found


def _positions(
    archive: zipfile.ZipFile, job: Job, version: int, numbers: list[int], rows: list[slice]
) -> None:
    """Frame by frame, so that no more than one is in memory."""
    count = sum(part.stop - part.start for part in rows)
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        header, {"descr": "<f8", "fortran_order": False, "shape": (len(numbers), count, 3)}
    )
    entry = zipfile.ZipInfo(f"positions.{version}.npy", _DATE)
    with archive.open(entry, "w", force_zip64=True) as out:
        out.write(header.getvalue())
        for number in numbers:
            positions = job.frame(number).positions
            out.write(np.concatenate([positions[part] for part in rows]).astype("<f8").tobytes())
            job.tell()


def _array(archive: zipfile.ZipFile, name: str, values: AnyArray) -> None:
    with archive.open(zipfile.ZipInfo(f"{name}.npy", _DATE), "w", force_zip64=True) as out:
        np.lib.format.write_array(out, np.asarray(values), allow_pickle=False)


NPZ = Exporter(".npz", "positions, structures and series for NumPy", SURFACES, one_file(_write), whole=True)
