"""What every exporter obeys."""

import sys
from pathlib import Path
from typing import BinaryIO

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "unit" / "recording"))

import sample_run as sample

from pliant.core.errors import InputError, RunError, StorageError
from pliant.exporters import EXPORTERS, export
from pliant.run.store import Run, load
from pliant.run.store.json_files import replace_file

NUMBERED = sorted(suffix for suffix, exporter in EXPORTERS.items() if "start" in exporter.takes)
SEQUENCES = [suffix for suffix in NUMBERED if suffix != ".pvd"]
PATTERNS = {suffix: f"f_%04d{suffix}" if suffix in SEQUENCES else f"f{suffix}" for suffix in EXPORTERS}


@pytest.fixture(autouse=True)
def extras(request: pytest.FixtureRequest) -> None:
    """Skip formats whose packages are not installed."""
    params = getattr(getattr(request.node, "callspec", None), "params", {})
    for module in EXPORTERS[params["suffix"]].needs if "suffix" in params else ():
        pytest.importorskip(module, reason=f"needs {module}: pip install 'pliant[all]'")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of two bodies and four frames, which exporters only read."""
    bodies = [sample.body("beam", 0, textured=True), sample.body("ball", 8, 3.0)]
    return sample.finished_run(tmp_path_factory.mktemp("exported") / "run.pliant", bodies, 4)


@pytest.fixture
def run(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    sample.stand_in(monkeypatch)
    return load(folder)


@pytest.mark.parametrize("suffix", EXPORTERS)
def test_files_are_those_returned_and_the_same_every_time(run: Run, tmp_path: Path, suffix: str) -> None:
    calls: list[tuple[int, int]] = []
    out = tmp_path / "new" / "folder" / PATTERNS[suffix]
    files = run.export(out, progress=lambda done, total: calls.append((done, total)))
    assert sorted(files) == sorted(out.parent.iterdir())
    total = 4 if EXPORTERS[suffix].whole else len(files)
    assert calls == [(number, total) for number in range(1, total + 1)]
    first = [path.read_bytes() for path in files]
    assert all(first)
    assert export(run, out, force=True) == files
    assert [path.read_bytes() for path in files] == first


@pytest.mark.parametrize("suffix", EXPORTERS)
def test_nothing_is_written_over_without_force(run: Run, tmp_path: Path, suffix: str) -> None:
    out = tmp_path / "out" / PATTERNS[suffix]
    files = export(run, out)
    last = files[-1]
    for path in files[:-1]:
        path.unlink()
    last.write_text("mine")
    with pytest.raises(InputError, match=f"{last.name} exist already.*--force"):
        export(run, out)
    assert [path.name for path in out.parent.iterdir()] == [last.name]
    assert last.read_text() == "mine"


@pytest.mark.parametrize("suffix", EXPORTERS)
def test_an_interrupted_export_leaves_no_half_file(
    run: Run, tmp_path: Path, suffix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = {path.name: path.read_bytes() for path in export(run, tmp_path / "a" / PATTERNS[suffix])}

    def interrupted(path: Path, write: object, sync: bool = False) -> None:
        def half(file: BinaryIO) -> None:
            if path.name == list(whole)[-1]:
                file.write(b"half")
                raise KeyboardInterrupt
            write(file)  # type: ignore[operator]

        replace_file(path, half, sync)

    monkeypatch.setattr("pliant.exporters.job.replace_file", interrupted)
    with pytest.raises(KeyboardInterrupt):
        export(run, tmp_path / "b" / PATTERNS[suffix])
    left = {path.name: path.read_bytes() for path in (tmp_path / "b").iterdir()}
    assert left == {name: data for name, data in whole.items() if name != list(whole)[-1]}


@pytest.mark.parametrize("suffix", NUMBERED)
def test_frames_are_chosen_by_number_slice_list_and_stride(run: Run, tmp_path: Path, suffix: str) -> None:
    def numbers(**options: object) -> list[int]:
        files = export(run, tmp_path / PATTERNS[suffix], force=True, **options)  # type: ignore[arg-type]
        return [int(path.stem[-4:]) for path in files if path.suffix != ".pvd"]

    assert numbers() == [0, 1, 2, 3]
    assert numbers(every=3) == [0, 3]
    assert numbers(frames=-1) == numbers(frames=np.int64(3)) == [3]
    assert numbers(frames=slice(1, None), every=2) == [1, 3]
    assert numbers(frames=np.array([2, 0, 2])) == [2, 0]
    assert numbers(start=1001, every=2) == [1001, 1002]
    for wrong, message in (
        ({"frames": 4}, "no frame 4: the run has frames 0 to 3"),
        ({"frames": []}, "No frames"),
    ):
        with pytest.raises(InputError, match=message):
            numbers(**wrong)
    with pytest.raises(InputError, match="every = 0"):
        numbers(every=0)
    with pytest.raises(InputError, match="no body 'bean'; did you mean 'beam'"):
        numbers(bodies=["bean"])


@pytest.mark.parametrize("suffix", SEQUENCES)
def test_a_sequence_needs_a_place_for_its_numbers(run: Run, tmp_path: Path, suffix: str) -> None:
    with pytest.raises(InputError, match=f"no place for the numbers of 4 frames.*'beam_%04d{suffix}'"):
        export(run, tmp_path / f"beam{suffix}")
    with pytest.raises(InputError, match="more than one place"):
        export(run, tmp_path / f"%d_%d{suffix}")
    assert export(run, tmp_path / f"beam{suffix}", frames=2) == [tmp_path / f"beam{suffix}"]


def test_unknown_suffixes_name_the_nearest(run: Run, tmp_path: Path) -> None:
    for name, message in (
        ("a.ob", "did you mean '.obj'"),
        ("a", "known: .csv, .glb"),
        ("a.xyz", "known: .csv"),
    ):
        with pytest.raises(InputError, match=f"Cannot export to '{name}'; {message}"):
            export(run, tmp_path / name)


@pytest.mark.parametrize("suffix", EXPORTERS)
def test_troubles_are_told(run: Run, tmp_path: Path, suffix: str) -> None:
    empty = sample.create(tmp_path / "empty.pliant", [])
    empty.finish("failed")
    with pytest.raises(RunError, match="holds no frames yet"):
        export(load(empty.path), tmp_path / PATTERNS[suffix])
    (tmp_path / "file").touch()
    with pytest.raises(StorageError, match="Cannot write"):
        export(run, tmp_path / "file" / PATTERNS[suffix])


def test_a_body_without_a_surface_is_told(run: Run, tmp_path: Path) -> None:
    from dataclasses import replace

    body = sample.body("cloud", 0)
    bare = [replace(body, structure=replace(body.structure, carrier=None))]
    other = load(sample.finished_run(tmp_path / "bare.pliant", bare))
    with pytest.raises(InputError, match="Body 'cloud' has no surface"):
        export(other, tmp_path / "f.obj", frames=0)
    assert not list(tmp_path.glob("*.obj*"))
