"""What was written is what is read."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest
import sample_run as sample

from pliant.core.errors import Diverged, InputError, RunError
from pliant.interfaces import Structure
from pliant.run.store import BodyRecord, RunWriter, load
from pliant.run.store.reader import Run


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    bodies = [sample.body("beam", 0, textured=True), sample.body("ball", 8, 3.0)]
    return sample.finished_run(tmp_path_factory.mktemp("read") / "two.pliant", bodies, 4)


@pytest.fixture
def run(folder: Path) -> Run:
    return load(folder)


def test_frames_come_back_exactly(run: Run) -> None:
    bodies = [sample.body("beam", 0), sample.body("ball", 8, 3.0)]
    assert len(run) == len(run.frames) == 4
    for index, frame in enumerate(run.frames):
        expected = sample.frame_arrays(bodies, index)
        assert (frame.index, frame.time, frame.version) == (index, index / 25.0, 0)
        np.testing.assert_array_equal(frame.positions, expected["positions"])
        np.testing.assert_array_equal(frame.velocities, expected["velocities"])
        np.testing.assert_array_equal(frame.body("ball"), expected["positions"][8:])
        for name in ("beam", "ball"):
            memory = frame.memory(name)
            assert set(memory) == {"plastic", "broken"}
            np.testing.assert_array_equal(memory["plastic"], expected[f"memory.{name}.plastic"])
            assert memory["broken"].dtype == bool
    np.testing.assert_array_equal(run.times, np.arange(4) / 25.0)


def test_frames_are_a_sequence(run: Run) -> None:
    assert run.frames[-1].index == 3
    assert [f.index for f in run.frames[1::2]] == [1, 3]
    assert [f.index for f in run.frames[::-1][:2]] == [3, 2]
    with pytest.raises(IndexError, match="4 frames"):
        run.frames[4]


def test_topology_comes_back(run: Run) -> None:
    written = sample.body("beam", 0, textured=True)
    read = run.frames[0].record("beam")
    assert (read.name, read.rows, read.model, read.material) == (
        "beam", (0, 8), {"type": "test"}, {"preset": "rubber"},
    )  # fmt: skip
    a, b = written.structure, read.structure
    assert b.spacing == a.spacing
    for mine, theirs in ((a.rest, b.rest), (a.mass, b.mass), (a.regions, b.regions)):
        np.testing.assert_array_equal(theirs, mine)
    np.testing.assert_array_equal(b.cells["tetra"], a.cells["tetra"])
    np.testing.assert_array_equal(b.groups["left"], a.groups["left"])
    with pytest.raises(InputError, match="no body 'bean'; did you mean 'beam'"):
        run.frames[0].record("bean")


def test_surfaces_follow_with_uv_and_groups(run: Run) -> None:
    rest = sample.textured_square()
    moved = run.frames[3].surface("beam")
    np.testing.assert_allclose(moved.points, sample.motion(rest.points, 3), rtol=0, atol=1e-14)
    np.testing.assert_array_equal(moved.uv, rest.uv)
    np.testing.assert_array_equal(moved.uv_triangles, rest.uv_triangles)
    assert set(moved.groups) == {"left half", "right"}


def test_series_per_frame_and_per_step(run: Run) -> None:
    assert list(run.series) == ["time", "volume", "probe.x", "energy.total", "flux.total"]
    np.testing.assert_array_equal(run.series["volume"], [1, 2, 3, 4])
    np.testing.assert_array_equal(run.series.time_of("volume"), run.times)
    np.testing.assert_array_equal(run.series["energy.total"], np.arange(13))
    np.testing.assert_array_equal(run.series["flux.total"], np.arange(13) ** 2)
    np.testing.assert_allclose(run.series.time_of("energy.total"), np.arange(13) / 100.0, rtol=1e-15)
    with pytest.raises(RunError, match="no series 'volumen'; did you mean 'volume'"):
        run.series["volumen"]
    assert "volumen" not in run.series


def test_steps_without_an_initial_row_start_at_the_first_step(tmp_path: Path) -> None:
    bodies = [sample.body("beam", 0)]
    writer = sample.create(tmp_path / "a.pliant", bodies)
    writer.write_topology(0, bodies, 0)
    writer.write_frame(0, 0, sample.frame_arrays(bodies, 0), [0, 0, 0], None)
    with pytest.raises(ValueError, match="0 rows of steps, expected 4"):
        writer.write_frame(1, 0, sample.frame_arrays(bodies, 1), [0, 0, 0], None)
    writer.write_frame(1, 0, sample.frame_arrays(bodies, 1), [0, np.nan, 0], sample.step_rows(1))
    writer.finish("interrupted", "by the user")
    run = load(writer.path)
    np.testing.assert_array_equal(run.series["energy.total"], [1, 2, 3, 4])
    np.testing.assert_allclose(run.series.time_of("energy.total"), [0.01, 0.02, 0.03, 0.04])
    np.testing.assert_array_equal(run.series["volume"], [0, np.nan])
    assert (run.state, run.message) == ("interrupted", "by the user")


def test_topology_versions_may_differ_in_size(tmp_path: Path) -> None:
    one, two = [sample.body("beam", 0)], [sample.body("beam", 0), sample.body("shard", 8, 2.0)]
    writer = sample.create(tmp_path / "crack.pliant", one, 6)
    writer.write_topology(0, one, 0)
    sample.write_frames(writer, one, 0, range(2))
    writer.write_topology(3, two, 2)
    sample.write_frames(writer, two, 3, range(2, 6))
    writer.finish("done")
    run = load(writer.path)
    assert [frame.version for frame in run.frames] == [0, 0, 3, 3, 3, 3]
    assert [len(frame.positions) for frame in run.frames] == [8, 8, 16, 16, 16, 16]
    assert [b.name for b in run.frames[5].bodies] == ["beam", "shard"]
    np.testing.assert_array_equal(run.frames[5].body("shard"), sample.frame_arrays(two, 5)["positions"][8:])
    with pytest.raises(InputError, match="no body 'shard'"):
        run.frames[0].body("shard")


def test_info_has_exactly_what_the_command_line_promises(run: Run) -> None:
    info = run.info()
    assert list(info) == [
        "frames", "duration", "step", "step_reason", "wall", "cpu",
        "real_time_factor", "state", "bodies", "series",
    ]  # fmt: skip
    assert info["bodies"][0] == {
        "name": "beam", "model": "test", "particles": 8, "cells": 6, "mass": 2.0, "volume": 1.0,
    }  # fmt: skip
    assert (info["frames"], info["state"], info["series"]) == (4, "done", list(run.series))
    assert info["real_time_factor"] == pytest.approx(0.12 / info["wall"])
    json.dumps(info)
    assert "two.pliant" in repr(run)
    assert "done, 4 of 4 frames, bodies: beam, ball" in repr(run)


def test_manifest_names_versions_and_scene_is_kept(run: Run) -> None:
    assert run.manifest["versions"]["numpy"] == np.__version__
    assert run.manifest["python"] == ".".join(map(str, sys.version_info[:3]))
    assert run.manifest["seed"] == 3
    assert run.scene_text == "schema = 1\n# äöü\n"


def test_any_name_and_any_memory_can_be_stored(tmp_path: Path) -> None:
    rest = np.zeros((2, 3))
    groups = {
        "a/b": np.array([0]),
        ".hidden": np.array([1]),
        "größe 1": np.zeros(0, np.int64),
        "__x": np.array([0]),
    }
    structure = Structure(rest, np.ones(2), {"edge": np.zeros((0, 2), np.int64)}, groups, 0.5)
    bodies = [
        BodyRecord(name, (k, k + 2), {}, {}, structure) for name, k in (("a", 0), ("a.b", 2), ("c/d", 4))
    ]
    memory = {
        "memory.a.k": np.array(2**63 + 5, np.uint64),
        "memory.a.b.k": np.zeros((0, 6)),
        "memory.c/d.k": np.array([1 + 2j]),
    }
    writer = sample.create(tmp_path / "odd.pliant", bodies)
    writer.write_topology(0, bodies, 0)
    writer.write_frame(0, 0, {"positions": np.zeros((6, 3)), **memory}, [0, 0, 0])
    writer.finish("done")
    frame = load(writer.path).frames[0]
    for name, key in (("a", "memory.a.k"), ("a.b", "memory.a.b.k"), ("c/d", "memory.c/d.k")):
        read = frame.memory(name)
        assert list(read) == ["k"]
        np.testing.assert_array_equal(read["k"], memory[key])
        assert read["k"].dtype == memory[key].dtype
    stored = frame.bodies[0].structure
    assert {name: ids.tolist() for name, ids in stored.groups.items()} == {
        "a/b": [0], ".hidden": [1], "größe 1": [], "__x": [0],
    }  # fmt: skip
    assert stored.cells["edge"].shape == (0, 2)
    assert frame.velocities is None


def test_the_writer_refuses_what_would_not_read_back(tmp_path: Path) -> None:
    bodies = [sample.body("beam", 0)]
    writer = sample.create(tmp_path / "a.pliant", bodies, 2)
    arrays = sample.frame_arrays(bodies, 0)
    with pytest.raises(ValueError, match="topology 0 has not been written"):
        writer.write_frame(0, 0, arrays, [0, 0, 0])
    writer.write_topology(0, bodies, 0)
    with pytest.raises(ValueError, match="frame 1 is not the next"):
        writer.write_frame(1, 0, arrays, [0, 0, 0])
    with pytest.raises(Diverged, match="not finite"):
        writer.write_frame(0, 0, arrays | {"positions": np.full((8, 3), np.inf)}, [0, 0, 0])
    writer.write_frame(0, 0, arrays, [0, 0, 0])
    with pytest.raises(ValueError, match="other arrays"):
        writer.write_frame(1, 0, {"positions": arrays["positions"]}, [0, 0, 0], sample.step_rows(1))
    with pytest.raises(ValueError, match="changed its shape"):
        writer.write_frame(1, 0, arrays | {"positions": np.zeros((9, 3))}, [0, 0, 0], sample.step_rows(1))
    with pytest.raises(ValueError, match="after that frame is written"):
        writer.write_checkpoint(1, {})
    with pytest.raises(ValueError, match="per frame and per step: volume"):
        sample.create(tmp_path / "b.pliant", bodies, step_columns=("volume",))
    assert not (tmp_path / "b.pliant").exists()
    writer.finish("failed")


def test_fields_come_from_the_model_set_up_once(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    prepared = sample.stand_in(monkeypatch)
    for index in (1, 3, 2):
        frame = run.frames[index]
        plastic = frame.field("plastic", "beam")
        assert plastic.per == "cell"
        np.testing.assert_array_equal(plastic.values, np.full((6, 3, 3), index))
        stress = frame.field("stress", "ball")
        np.testing.assert_array_equal(stress.values, frame.body("ball")[:, 0] + 0.5 * index)
    assert prepared == [6, 6]
    assert len(run.frames[1].field("stress").values) == 16
    assert run.frames[0].field_names("beam") == ("displacement", "velocity", "force", "stress", "plastic")
    with pytest.raises(InputError, match="no field 'stres'; did you mean 'stress'"):
        run.frames[0].field("stres")


def test_a_model_that_is_gone_is_told(run: Run) -> None:
    with pytest.raises(RunError, match="model of body 'beam' cannot be set up again: unknown model 'test'"):
        run.frames[0].field("stress", "beam")


def test_displacement_and_velocity_need_no_model(run: Run) -> None:
    frame = run.frames[2]
    rest = np.concatenate([body.structure.rest for body in frame.bodies])
    moved = frame.field("displacement")
    np.testing.assert_array_equal(moved.values, sample.motion(rest, 2) - rest)
    assert (moved.per, moved.unit) == ("particle", "m")
    velocity = frame.field("velocity", "ball")
    np.testing.assert_array_equal(velocity.values, np.full((8, 3), 1.0))
    assert velocity.unit == "m/s"


def test_other_zarr_readers_open_it(run: Run) -> None:
    import zarr

    group = zarr.open_group(str(run.path), mode="r")
    assert group.attrs["format"] == "pliant-run"
    positions = group["frames/0/positions"]
    assert (positions.shape, positions.chunks, positions.dtype) == ((4, 16, 3), (1, 16, 3), np.float64)
    np.testing.assert_array_equal(positions[2], run.frames[2].positions)
    assert list(group["series/step"].attrs["columns"]) == list(sample.STEP_COLUMNS)


def test_checkpoints_hold_any_plain_arrays(tmp_path: Path) -> None:
    bodies = [sample.body("beam", 0)]
    writer = sample.create(tmp_path / "a.pliant", bodies)
    writer.write_topology(0, bodies, 0)
    states = []
    for index in range(4):
        sample.write_frames(writer, bodies, 0, range(index, index + 1))
        rng = np.random.default_rng(index)
        states.append(
            {"file": rng.normal(size=(3, 2)), "a/b": np.array(index), "allow_pickle": np.zeros((0, 3), "f4")}
        )
        writer.write_checkpoint(index, states[-1])
        frame, state = writer.latest_checkpoint() or (-1, {})
        assert frame == index
        assert set(state) == set(states[-1])
        for name, values in states[-1].items():
            np.testing.assert_array_equal(state[name], values)
            assert state[name].dtype == values.dtype
    assert sorted(p.name for p in (writer.path / "checkpoints").iterdir()) == ["2.npz", "3.npz"]
    with pytest.raises(ValueError, match="plain arrays only, not bad"):
        writer.write_checkpoint(3, {"bad": np.array([None])})
    writer.finish("interrupted")


def test_log_lines_are_kept(tmp_path: Path) -> None:
    writer: RunWriter = sample.create(tmp_path / "a.pliant", [])
    writer.log("first")
    writer.log("second: ü\n")
    writer.finish("failed", "why")
    assert (writer.path / "log.txt").read_text(encoding="utf-8") == "first\nsecond: ü\n"
