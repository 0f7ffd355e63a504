"""Sweeps on this machine: what is on disk, what is done again, and what goes wrong."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pliant as pl
from pliant.campaign import Sweep, sweep
from pliant.campaign.child import run_point, task
from pliant.campaign.reductions import without_effect
from pliant.cli.main import run as command
from pliant.core.errors import InputError, RunError, SceneError
from pliant_benchmarks.many_runs.under_fire import data_of

YOUNG = "bodies.beam.material.young"
POISSON = "bodies.beam.material.poisson"


def times_of(study: Sweep) -> dict[str, float]:
    """When the last frame of each run was written."""
    return {
        p["run"]: (study.path / "runs" / p["run"] / "progress.json").stat().st_mtime
        for p in study.points
        if p["run"]
    }


def test_a_sweep_runs_what_is_missing(beam: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = beam.parent / "my study.sweep"
    words = ["sweep", str(beam), "-o", str(place), "--on", "local:2", "--reduce", "tip.z:min", "--quiet"]
    assert command([*words, "--vary", f"{YOUNG}=1MPa,2MPa", "--vary", f"{POISSON}=0.3,0.6"]) == 0
    study = pl.open_sweep(place)
    assert [p[YOUNG] for p in study.points] == [1e6, 1e6, 2e6, 2e6]
    assert [row["point"] for row in study.results] == [1, 3]
    assert [(row["point"], row["state"]) for row in study.failures] == [(2, "invalid"), (4, "invalid")]
    assert "poisson" in study.failures[0]["reason"]
    assert study.units[YOUNG] == "Pa"
    assert study.units["tip.z.min"] == "m"
    for row in study.results:
        assert row["tip.z.min"] == study.run(row["point"]).series["tip.z"].min()
    soft, stiff = (row["tip.z.min"] for row in study.results)
    assert soft < stiff < 0
    before, names = times_of(study), os.listdir(place / "runs")
    assert command([*words, "--vary", f"{YOUNG}=4MPa,1MPa"]) == 0  # one more point; the others stay
    study = pl.open_sweep(place)
    assert [p[YOUNG] for p in study.points] == [1e6, 1e6, 2e6, 2e6, 4e6]
    assert {run: when for run, when in times_of(study).items() if run in before} == before
    assert len(os.listdir(place / "runs")) == len(names) + 1
    assert not list((place / "scenes").iterdir())
    assert command([*words[:1], str(place), "--status", "--json"]) == 0
    status = json.loads(capsys.readouterr().out)
    assert (status["points"], status["done"], status["failed"]) == (5, 3, 2)
    # every point is what ``pliant run`` makes of it
    alone = beam.parent / "alone.pliant"
    assert command(["run", str(beam), "-o", str(alone), "--set", f"{YOUNG}=2 MPa", "-q"]) == 0
    assert data_of(alone) == data_of(study.run(3).path)


def test_python_gives_the_same(beam: Path) -> None:
    scene = pl.read(beam)
    study = pl.sweep(scene, {YOUNG: [1e6, 2e6]}, beam.parent / "s.sweep", on="local:1", progress=False)
    assert [row["tip.z.last"] for row in study.results] == [study.run(k).series["tip.z"][-1] for k in (1, 2)]
    frame = study.table()
    assert list(frame[YOUNG]) == [1e6, 2e6]
    assert frame.attrs["units"]["tip.z.last"] == "m"
    grid = study.xarray()
    assert grid["tip.z"].dims == (YOUNG, "time")
    assert grid["tip.z"].attrs["units"] == "m"
    assert np.array_equal(grid["tip.z"].sel({YOUNG: 2e6}).values, study.run(2).series["tip.z"])
    assert "2 of 2" in repr(study)
    with pytest.raises(InputError, match="no point"):
        study.run(7)


def test_tables_for_other_tools(beam: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow.parquet")
    xarray = pytest.importorskip("xarray")
    study = sweep(beam, {YOUNG: "1 MPa..3 MPa:2", POISSON: [0.2, 0.4]}, beam.parent / "s.sweep", on="local:2")
    place = str(study.path)
    for name, option in (
        ("r.parquet", "--table"),
        ("r.csv", "--table"),
        ("g.zarr", "--xarray"),
        ("g.nc", "--xarray"),
    ):
        assert command(["sweep", place, option, str(beam.parent / name)]) == 0
    before = (beam.parent / "r.csv").stat().st_mtime_ns
    assert command(["sweep", place, "--table", str(beam.parent / "r.csv")]) == 2  # it is there
    assert (beam.parent / "r.csv").stat().st_mtime_ns == before
    assert command(["sweep", place, "--table", str(beam.parent / "r.csv"), "--force"]) == 0
    table = pyarrow.read_table(beam.parent / "r.parquet")
    assert table.column(YOUNG).to_pylist() == [1e6, 1e6, 3e6, 3e6]
    assert table.schema.field("tip.z.last").metadata == {b"unit": b"m"}
    for grid in (
        xarray.open_zarr(beam.parent / "g.zarr", consolidated=False),
        xarray.open_dataset(beam.parent / "g.nc", engine="h5netcdf"),
    ):
        assert grid["tip.z"].shape == (2, 2, 6)
        assert grid[YOUNG].attrs["units"] == "Pa"
        assert float(grid["tip.z"][1, 0, -1]) == study.results[2]["tip.z.last"]
        grid.close()
    assert command(["sweep", place, "--table", str(beam.parent / "r.txt")]) == 2


def test_a_dry_run_writes_nothing(beam: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = [
        "sweep",
        str(beam),
        "--vary",
        f"{YOUNG}=1..3 MPa:3",
        "-o",
        str(beam.parent / "s.sweep"),
        "--dry-run",
    ]
    assert command([*words, "--json"]) == 0
    plan = json.loads(capsys.readouterr().out)
    assert [p[YOUNG] for p in plan["points"]] == [1e6, 2e6, 3e6]
    assert plan["cost"]["wall"] > 0
    assert os.listdir(beam.parent) == ["beam.toml"]


def test_points_that_diverge_and_grow_are_rows(beam: Path) -> None:
    """A step far above the stable one diverges; a memory limit below what Python needs ends the others."""
    study = sweep(
        beam, {"time.step": [0.001, 0.02]}, beam.parent / "s.sweep", changes=_no_refine(), progress=False
    )
    (row,) = study.failures
    assert (row["point"], row["state"]) == (2, "diverged")
    assert row["last_good_frame"] is not None
    assert row["reason"]
    small = sweep(
        beam, {"time.duration": [0.1, 0.2]}, beam.parent / "m.sweep", memory_limit=5e7, progress=False
    )
    assert [row["state"] for row in small.failures] == ["memory limit"] * 2
    assert small.results == []
    again = sweep(small.path, retry=True, progress=False)
    assert (again.failures, len(again.results)) == ([], 2)


def _no_refine() -> list[Any]:
    from pliant.scene.override import Override

    return [Override("time.refine", False, "--set"), Override("time.duration", 2.0, "--set")]


def test_a_time_limit_keeps_the_frames(beam: Path) -> None:
    study = sweep(
        beam,
        {"time.duration": [2000.0]},
        beam.parent / "s.sweep",
        time_limit=15.0,
        progress=False,
        on="local:1",
    )
    (row,) = study.failures
    assert row["state"] == "time limit"
    assert row["last_good_frame"] > 0
    assert study.run(1).state == "interrupted"


def test_wrong_input(beam: Path, tmp_path: Path) -> None:
    place = beam.parent / "s.sweep"
    with pytest.raises(SceneError, match=r"vary=\{'bodies.beam.colour': 1"):
        sweep(beam, {"bodies.beam.colour": [1, 2]}, place)
    with pytest.raises(InputError, match="Nothing varies"):
        sweep(beam, {}, place)
    for on in ("moon", "local:0", "dask:nowhere.json", "slurm:nowhere.toml"):
        with pytest.raises(InputError, match=f"on='{on.partition(':')[0]}"):
            sweep(beam, {YOUNG: [1e6]}, place, on=on)
    with pytest.raises(InputError, match="two columns"):
        sweep(beam, {YOUNG: [1e6]}, place, reduce=["tip.z:min", "tip.z:min"])
    with pytest.raises(SceneError, match="not a quantity in Pa"):
        sweep(beam, {YOUNG: "1 m..2 m:2"}, place)
    with pytest.raises(SceneError, match=r"points=\{"):
        sweep(beam, points=[{YOUNG: "soft"}], to=place)
    with pytest.raises(InputError, match="more than"):
        sweep(beam, {YOUNG: "1..2 MPa:100000000"}, place)
    assert not place.exists()
    sweep(beam, {"time.duration": [0.04]}, place, progress=False)
    with pytest.raises(RunError, match="another scene"):
        sweep(_other(beam), {YOUNG: [1e6]}, place)
    other = tmp_path / "other"
    other.mkdir()
    (other / "precious").touch()
    with pytest.raises(RunError, match="not changed"):
        sweep(beam, {YOUNG: [1e6]}, other)
    for words in (
        ["--memory-limit", "much"],
        ["--time-limit", "0"],
        ["--vary", "a"],
        ["--sample", "sobol:4"],
    ):
        assert command(["sweep", str(beam), *words, "-o", str(tmp_path / "n.sweep")]) == 2
    assert command(["sweep", str(tmp_path / "nothing.sweep"), "--status"]) == 2
    with pytest.raises(InputError, match="keeps the scene"):
        sweep(place, changes=_no_refine())
    for words in (
        [str(place), "--set", "time.duration=2"],
        [str(place), "--force"],
        [str(place), "--status", "--vary", f"{YOUNG}=1MPa"],
        [str(beam), "--vary", f"{YOUNG}=1MPa", "--report", str(tmp_path / "r.html")],
    ):
        assert command(["sweep", *words]) == 2
    assert len(pl.open_sweep(place).points) == 1


def _other(beam: Path) -> Path:
    path = beam.with_name("other.toml")
    path.write_text(beam.read_text().replace("1000", "1100"))
    return path


def test_lines_for_other_tools(beam: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = beam.parent / "s.sweep"
    assert (
        command(["sweep", str(beam), "--vary", f"{YOUNG}=1MPa,2MPa", "-o", str(place), "--on", "list"]) == 0
    )
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2
    assert command(["sweep", str(place), "--dry-run", "--json"]) == 0  # they are known, and not done
    plan = json.loads(capsys.readouterr().out)
    assert (plan["new"], plan["missing"], plan["cost"]["looked_at"]) == (0, 2, 2)
    words = lines[0].replace("pliant ", f"{sys.executable} -m pliant ", 1)
    subprocess.run(words, shell=True, check=True)
    assert pl.open_sweep(place).status()["done"] == 1
    assert command(["sweep", str(place), "-q"]) == 0
    study = pl.open_sweep(place)
    assert [row["point"] for row in study.results] == [1, 2]


def test_a_key_that_changes_nothing_is_named(beam: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["sweep", str(beam), "-o", str(beam.parent / "s.sweep"), "--vary", f"{YOUNG}=1MPa,2MPa"]
    assert command([*words, "--vary", "title=a,b"]) == 0
    assert "warning: no result depends on title\n" in capsys.readouterr().out
    rows = [
        {"point": 1, "run": "a", YOUNG: 1.0, "tip": 2.0},
        {"point": 2, "run": "b", YOUNG: 2.0, "tip": 2.5},
    ]
    assert without_effect(rows, [YOUNG]) == []


def test_a_series_that_a_run_lacks_is_an_empty_cell(beam: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = beam.parent / "s.sweep"
    words = ["sweep", str(beam), "-o", str(place), "--vary", "time.duration=0.04", "--reduce", "tip.z:last"]
    assert command([*words, "--reduce", "top.z:last"]) == 0
    assert "warning: top.z.last is empty" in capsys.readouterr().err
    study = pl.open_sweep(place)
    assert study.failures == []
    assert study.results[0]["top.z.last"] is None
    assert study.results[0]["tip.z.last"] < 0
    assert command(["sweep", str(place), "--table", "/proc/nowhere.csv"]) == 2
    points = (place / "points.csv").read_text()
    for damaged in ("rubbish\n1\n", points.replace("\n1,", "\nx,"), points[:20], ""):
        (place / "points.csv").write_text(damaged)
        assert command(["sweep", str(place), "--status"]) == 2
    (place / "points.csv").write_text(points)
    results = (place / "results.csv").read_text()
    (place / "results.csv").write_text(results.replace("\n1,", "\nx,"))
    assert command(["sweep", str(place), "-q"]) == 0  # a row that is lost is made again from its run
    assert (place / "results.csv").read_text() == results
    assert pl.open_sweep(place).manifest["scene"] == str(beam)


def test_one_sweep_at_a_time(beam: Path) -> None:
    from pliant.run.store.run_folder import Lock

    place = beam.parent / "s.sweep"
    sweep(beam, {"time.duration": [0.04]}, place, progress=False)
    lock = Lock(place)
    with pytest.raises(RunError, match="another process"):
        sweep(beam, {"time.duration": [0.04, 0.08]}, place, progress=False)
    lock.release()
    assert len(sweep(beam, {"time.duration": [0.04, 0.08]}, place, progress=False).results) == 2


@pytest.mark.parametrize(
    ("on", "blow"),
    [
        ("local:2", signal.SIGINT),
        ("local:2", signal.SIGTERM),
        ("local:2", signal.SIGKILL),
        ("dask:2", signal.SIGINT),
    ],
)
def test_a_sweep_that_is_stopped_goes_on(beam: Path, on: str, blow: signal.Signals) -> None:
    """Ctrl-C, which a terminal sends to the whole process group, and SIGTERM end children cleanly with exit
    code 130; a killed driver's children end too."""
    place = beam.parent / "s.sweep"
    words = ["sweep", str(beam), "-o", str(place), "--on", on, "--vary", "time.duration=150.0,151.0"]
    signal.signal(signal.SIGINT, signal.default_int_handler)  # what tests in the background ignore
    with (beam.parent / "log").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "pliant", *words], stderr=log, start_new_session=True
        )
    end = time.monotonic() + 600
    while not all(_frames(place, number) > 5 for number in (1, 2)):
        assert time.monotonic() < end
        assert process.poll() is None
        time.sleep(0.1)
    (os.killpg if blow is signal.SIGINT else os.kill)(process.pid, blow)
    assert process.wait(300) == (-signal.SIGKILL if blow is signal.SIGKILL else 130)
    while any(pl.load(path).state == "running" for path in (place / "runs").iterdir()):
        assert time.monotonic() < end
        time.sleep(0.1)
    study = pl.open_sweep(place)
    assert study.failures == []
    kept = [_frames(place, number) for number in (1, 2)]
    assert min(kept) > 5
    assert study.status()["interrupted"] == 2
    assert "Traceback" not in (beam.parent / "log").read_text()


def _frames(place: Path, number: int) -> int:
    try:
        return len(pl.open_sweep(place).run(number))
    except (RunError, InputError):
        return 0


def test_a_damaged_run_is_run_again(beam: Path) -> None:
    study = sweep(beam, {YOUNG: [1e6]}, beam.parent / "s.sweep", progress=False)
    folder = study.run(1).path
    before = data_of(folder)
    (folder / "progress.json").write_text("rubbish")
    shutil.rmtree(folder / "checkpoints")
    again = sweep(study.path, progress=False)
    assert data_of(folder) == before
    assert again.status()["done"] == 1


def test_points_without_a_value_form_no_grid(beam: Path) -> None:
    sweep(beam, {"time.fps": [50], YOUNG: [1e6]}, beam.parent / "s.sweep", progress=False)
    study = sweep(beam, {YOUNG: [2e6]}, beam.parent / "s.sweep", progress=False)
    with pytest.raises(InputError, match=r"no value of time\.fps"):
        study.xarray()


def test_a_place_that_cannot_be_written_is_no_fault_of_the_point(beam: Path) -> None:
    """Such points have failed; ``--retry`` takes them up where there is room again."""
    given = task("x", beam, beam / "run.pliant", beam, 1, 2, None, None)
    outcome = run_point(given)
    assert (outcome["state"], outcome["attempts"]) == ("failed", 1)
    assert "Cannot write" in outcome["reason"]


def test_a_point_ends_with_its_sweep(beam: Path) -> None:
    """A worker whose driver is gone stops its child."""
    given = task("x", beam, beam.parent / "run.pliant", beam.parent / "gone", 1, 0, None, None)
    assert run_point(given)["state"] == "interrupted"
    given["active"] = str(beam.parent / "elsewhere" / "active")  # a worker on a machine without these files
    outcome = run_point(given)
    assert outcome["state"] == "failed"
    assert "does not see" in outcome["reason"]
