"""Data sets: layout, splits, what is done again, rebuilding, and a model that learns."""

import importlib.util
import json
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "campaign"))

from beam_scene import SCENE

import pliant as pl
from pliant.cli.main import run as command
from pliant.core.errors import InputError, RunError, SceneError
from pliant.training_data import Dataset, Samples
from pliant.training_data.dataset import split_of

YOUNG = "bodies.beam.material.young"
STUDIES = Path(__file__).parents[3] / "docs" / "studies"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    folder = tmp_path_factory.mktemp("a folder")
    (folder / "beam.toml").write_text(SCENE)
    words = ["dataset", str(folder / "beam.toml"), "--vary", f"{YOUNG}=log:1..9MPa", "--sample", "sobol:5"]
    out = folder / "beam.dataset"
    assert command([*words, "-o", str(out), "--split", "50,25,25", "--licence", "CC0-1.0", "-q"]) == 0
    return Dataset(out)


def test_arrays_are_those_of_the_runs(made: Dataset) -> None:
    samples = made.samples("all")
    assert len(samples) == 5
    assert len({*made.train.names, *made.valid.names, *made.test.names}) == 5
    for name, sample in zip(samples.names, samples, strict=True):
        split, run = name.split("/")
        assert split_of(run, [50, 25, 25]) == split
        record = made.sweep.run(run)
        count = len(record.frames[0].positions)
        assert sample["cells"].shape == (30, 4)
        assert sample["node_type"].shape == (count, 1)
        assert sample["world_pos"].shape == sample["velocity"].shape == (6, count, 3)
        assert sample["stress"].shape == (6, count, 1)
        assert np.array_equal(sample["world_pos"][-1], record.frames[-1].positions.astype(np.float32))
        assert np.array_equal(sample["mesh_pos"], record.topology(0)[0].structure.rest.astype(np.float32))
        assert np.array_equal(sample["node_type"][:, 0] == 3, sample["mesh_pos"][:, 0] == 0)
        assert sample["stress"].max() > 0
        assert sample["contact_force"].shape == (6, count, 3)
        assert sample["cells"].max() == count - 1
    first = made.samples("all", arrays=["time"])[0]
    assert list(first) == ["time"]
    card = (made.path / "card.md").read_text()
    for word in ("CC0-1.0", YOUNG, "--rebuild", "numpy"):
        assert word in card


def test_a_sample_is_rebuilt_byte_for_byte(made: Dataset, capsys: pytest.CaptureFixture[str]) -> None:
    assert command(["dataset", str(made.path), "--rebuild", "1%", "--json"]) == 0
    (answer,) = json.loads(capsys.readouterr().out).values()
    assert answer == {"identical": True, "different": []}
    with pytest.raises(InputError, match="no sample"):
        made.rebuild("0" * 16)


def test_it_goes_on_where_it_was(made: Dataset) -> None:
    """A sample that is missing is written again from its run, and more samples leave the others alone."""
    import shutil

    name = made.samples("all").names[0]
    before = {
        n: s["world_pos"].tobytes()
        for n, s in zip(made.samples("all").names, made.samples("all"), strict=True)
    }
    shutil.rmtree(made.path / "data.zarr" / name)
    times = {run: (made.path / STUDY_RUNS / run / "progress.json").stat().st_mtime_ns for run in _runs(made)}
    again = pl.dataset(made.path, progress=False)
    assert {
        n: s["world_pos"].tobytes()
        for n, s in zip(again.samples("all").names, again.samples("all"), strict=True)
    } == before
    assert times == {
        run: (made.path / STUDY_RUNS / run / "progress.json").stat().st_mtime_ns for run in _runs(again)
    }


STUDY_RUNS = Path("study.sweep") / "runs"


def _runs(found: Dataset) -> list[str]:
    return [name.split("/")[1] for name in found.samples("all").names]


def test_hdf5_holds_the_same(made: Dataset, tmp_path: Path) -> None:
    pytest.importorskip("h5py")
    (tmp_path / "beam.toml").write_text(SCENE)
    points = [{YOUNG: row[YOUNG]} for row in made.sweep.points[:2]]
    other = pl.dataset(
        tmp_path / "beam.toml",
        points=points,
        to=tmp_path / "d",
        format="hdf5",
        split=[50, 25, 25],
        progress=False,
    )
    for name, sample in zip(other.samples("all").names, other.samples("all"), strict=True):
        whole = made.samples("all")
        twin = whole[whole.names.index(name)]
        assert {key: value.tobytes() for key, value in sample.items()} == {
            key: value.tobytes() for key, value in twin.items()
        }


def test_tensors(made: Dataset) -> None:
    torch = pytest.importorskip("torch")
    assert isinstance(made.samples("all", torch=True)[0]["world_pos"], torch.Tensor)


def test_a_small_model_learns(made: Dataset) -> None:
    spec = importlib.util.spec_from_file_location("train", STUDIES / "train.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    losses = module.train(str(made.path), epochs=200)
    assert losses[-1] < 0.5 * losses[0]
    assert np.isfinite(losses).all()


def test_wrong_input(made: Dataset, tmp_path: Path) -> None:
    (tmp_path / "beam.toml").write_text(SCENE)
    with pytest.raises(InputError, match="split='1,2'"):
        pl.dataset(tmp_path / "beam.toml", {YOUNG: [1e6]}, tmp_path / "d", split=(1, 2))
    with pytest.raises(InputError, match="format='csv'"):
        pl.dataset(tmp_path / "beam.toml", {YOUNG: [1e6]}, tmp_path / "d", format="csv")
    with pytest.raises(SceneError, match="jung"):
        pl.dataset(tmp_path / "beam.toml", {"bodies.beam.material.jung": [1e6]}, tmp_path / "d")
    assert not (tmp_path / "d").exists()
    with pytest.raises(RunError, match="not a data set"):
        pl.dataset(tmp_path / "beam.toml", {YOUNG: [1e6]}, tmp_path)
    with pytest.raises(KeyError, match="split"):
        Samples(made.path, "all-of-it")
    with pytest.raises(RunError, match="not a data set"):
        Samples(tmp_path)
    with pytest.raises(InputError, match="did you mean 'time'"):
        made.samples("all", arrays=["tyme"])[0]
    with pytest.raises(InputError, match="split='nan,1,1'"):
        pl.dataset(tmp_path / "beam.toml", {YOUNG: [1e6]}, tmp_path / "d", split=(float("nan"), 1, 1))
    with pytest.raises(RunError, match="not a data set"):
        pl.dataset(tmp_path / "none.dataset")
    index = (made.path / "index.json").read_bytes()
    for words in (
        ["--format", "hdf5"], ["--split", "1,1,1"], ["--every", "2"], ["--set", "time.fps=100"],
        ["--rebuild", "0%"], ["--rebuild", "500%"],
    ):  # fmt: skip
        assert command(["dataset", str(made.path), *words]) == 2
    assert (made.path / "index.json").read_bytes() == index


def test_lines_for_other_tools(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "beam.toml").write_text(SCENE)
    words = ["dataset", str(tmp_path / "beam.toml"), "-o", str(tmp_path / "d"), "--on", "list"]
    assert command([*words, "--vary", f"{YOUNG}=1MPa,2MPa"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 2
