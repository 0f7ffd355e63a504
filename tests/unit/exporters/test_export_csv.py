"""CSV files, read back by numpy."""

from pathlib import Path

import numpy as np
import pytest
from exported import two_bodies

from pliant.core.errors import InputError
from pliant.exporters import export
from pliant.run.store import Run


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    return two_bodies(tmp_path, monkeypatch)


def test_series_read_back_exactly(run: Run, tmp_path: Path) -> None:
    files = export(run, tmp_path / "beam.csv")
    assert [path.name for path in files] == ["beam.csv", "beam.step.csv"]
    assert files[0].read_text().splitlines()[0] == "time,volume,probe.x"
    assert files[1].read_text().splitlines()[0] == "time,energy.total,flux.total"
    per_frame = np.loadtxt(files[0], delimiter=",", skiprows=1)
    np.testing.assert_array_equal(per_frame[:, 0], run.times)
    np.testing.assert_array_equal(per_frame[:, 1], run.series["volume"])
    per_step = np.loadtxt(files[1], delimiter=",", skiprows=1)
    np.testing.assert_array_equal(per_step[:, 0], run.series.time_of("flux.total"))
    np.testing.assert_array_equal(per_step[:, 2], np.arange(9) ** 2)


def test_options_that_mean_nothing_are_refused(run: Run, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"'bodies' means nothing for .csv files: all series"):
        export(run, tmp_path / "beam.csv", bodies=["ball"])
