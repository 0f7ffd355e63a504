"""Kills, full disks, damaged folders, two writers, readers beside a writer."""

import json
import os
import random
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import crash_everywhere
import numpy as np
import pytest
import sample_run as sample

import pliant
from pliant.core.errors import RunError, StorageError
from pliant.run.store import RunWriter, load

FRAMES, PARTICLES = 500, 3000
SOURCE = str(Path(next(iter(pliant.__path__))).parent)


def spawn(path: Path, frames: int = FRAMES) -> "subprocess.Popen[str]":
    """A process that writes, or goes on with, the run."""
    return subprocess.Popen(
        [sys.executable, sample.__file__, str(path), str(frames), str(PARTICLES)],
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": SOURCE},
    )


def assert_intact(path: Path, at_least: int) -> None:
    """Every frame that was reported counts, and every frame that counts is what was written."""
    run = load(path)
    assert len(run) >= at_least
    for frame in run.frames:
        np.testing.assert_array_equal(frame.positions, sample.large_frame(PARTICLES, frame.index))
    np.testing.assert_array_equal(run.series["volume"], np.arange(len(run)))
    steps = np.arange(max(0, len(run) - 1) * sample.STEPS + 1 if len(run) else 0)
    np.testing.assert_array_equal(run.series["energy.total"], steps)


def test_a_run_killed_at_any_instant_keeps_what_it_reported_and_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "cloud.pliant"
    chance = random.Random(5)
    for attempt in range(6):
        child = spawn(path)
        assert child.stdout is not None
        if attempt:  # the first is killed somewhere in its start-up or its creation of the folder
            assert child.stdout.readline().startswith("start")
        time.sleep(chance.uniform(0.3, 0.7) if not attempt else chance.uniform(0.0, 0.06))
        child.kill()
        said = child.stdout.read().split("\n")
        child.wait()
        child.stdout.close()
        reported = [int(line.split()[1]) for line in said[:-1] if line.startswith("frame")]
        if path.exists():
            assert_intact(path, max(reported, default=-1) + 1)
            assert load(path).state == "interrupted"
        else:
            assert not reported
    child = spawn(path)
    out, _ = child.communicate(timeout=60)
    assert child.returncode == 0, out
    assert_intact(path, FRAMES)
    assert load(path).state == "done"
    assert not list(path.rglob("*.partial"))
    assert not list(tmp_path.glob(".cloud.pliant.tmp-*"))


def test_a_run_that_ends_at_any_touch_of_a_file_opens_and_goes_on(tmp_path: Path) -> None:
    one, two = crash_everywhere.bodies()
    subprocess.run(
        [sys.executable, crash_everywhere.__file__, str(tmp_path), "17"],
        check=True,
        env=os.environ | {"PYTHONPATH": SOURCE},
    )
    places = sorted(tmp_path.iterdir(), key=lambda place: int(place.name))
    assert len(places) > 20
    counts = set()
    for place in places:
        path = place / "cut.pliant"
        said = (place / "reported").read_text().split() if (place / "reported").exists() else []
        if not path.exists():
            assert not said
            continue
        run = load(path)
        assert len(run) >= sum(line.isdigit() for line in said)
        assert run.state == ("done" if "done" in said else run.state)
        counts.add(len(run))
        if run.state != "done":
            assert run.state == "interrupted"
            writer = RunWriter.reopen(path)
            done = writer.frames_done
            assert done == len(run)
            if done == 0:
                writer.write_topology(0, one, 0)
            sample.write_frames(writer, one, 0, range(done, 3))
            if done < 4:
                writer.write_topology(1, two, 3)
            sample.write_frames(writer, two, 1, range(max(done, 3), 5))
            writer.finish("done")
        for frame in run.refresh().frames:
            expected = sample.frame_arrays(one if frame.index < 3 else two, frame.index)
            np.testing.assert_array_equal(frame.positions, expected["positions"])
        assert (len(run), run.state) == (5, "done")
        assert not [p for p in path.rglob("*") if ".tmp-" in p.name or ".partial" in p.name]
    assert {0, 5} <= counts
    assert len(counts) >= 3


def test_a_run_can_be_read_while_it_is_written(tmp_path: Path) -> None:
    path = tmp_path / "cloud.pliant"
    child = spawn(path, 5000)
    assert child.stdout is not None
    try:
        assert child.stdout.readline() == "start 0\n"
        lengths: list[int] = []
        run = load(path)
        patience = time.monotonic() + 30.0
        while len(set(lengths)) < 20 and time.monotonic() < patience:
            lengths.append(len(run.refresh()))
            if len(run):
                last = run.frames[-1]
                np.testing.assert_array_equal(last.positions, sample.large_frame(PARTICLES, last.index))
                assert len(run.series["volume"]) == len(run)
                assert run.series["volume"][-1] == last.index
            assert run.state == "running"
        assert lengths == sorted(lengths)
        assert len(set(lengths)) == 20
        with pytest.raises(RunError, match="being written by another process"):
            RunWriter.reopen(path)
        with pytest.raises(RunError, match="being written by another process"):
            sample.create(path, [], force=True)
    finally:
        child.kill()
        child.wait()
        child.stdout.close()
    assert_intact(path, lengths[-1])


def one_body_run(path: Path, frames: int = 5, checkpoints: tuple[int, ...] = ()) -> RunWriter:
    bodies = [sample.body("beam", 0)]
    writer = sample.create(path, bodies, 10)
    writer.write_topology(0, bodies, 0)
    for index in range(frames):
        sample.write_frames(writer, bodies, 0, range(index, index + 1))
        if index in checkpoints:
            writer.write_checkpoint(index, {"index": np.array(index)})
    return writer


def test_resuming_goes_back_to_the_newest_readable_checkpoint(tmp_path: Path) -> None:
    writer = one_body_run(tmp_path / "a.pliant", 6, (1, 3))
    writer.finish("interrupted")
    damaged = writer.path / "checkpoints" / "3.npz"
    data = bytearray(damaged.read_bytes())
    good = bytes(data)
    data[-200] ^= 1
    for broken, expected in ((good, 4), (bytes(data), 2), (good[:50], 2), (b"", 2)):
        progress = json.loads((writer.path / "progress.json").read_text())
        (writer.path / "progress.json").write_text(json.dumps(progress | {"frames_done": 6}))
        damaged.write_bytes(broken)
        again = RunWriter.reopen(writer.path)
        assert again.frames_done == 6
        point = again.latest_checkpoint()
        assert point is not None
        assert point[0] + 1 == expected
        frame, state = again.latest_checkpoint() or (-1, {})
        assert (frame, int(state["index"])) == (expected - 1, expected - 1)
        again.finish("interrupted")


def test_resuming_without_a_checkpoint_starts_over(tmp_path: Path) -> None:
    one_body_run(tmp_path / "a.pliant", 3).finish("failed", "power cut")
    again = RunWriter.reopen(tmp_path / "a.pliant")
    assert again.frames_done == 3
    assert again.latest_checkpoint() is None
    again.finish("interrupted")


def test_resuming_keeps_what_counts_and_forgets_what_does_not(tmp_path: Path) -> None:
    one, two = [sample.body("beam", 0)], [sample.body("beam", 0), sample.body("shard", 8)]
    writer = one_body_run(tmp_path / "a.pliant", 3, (1,))
    writer.write_topology(1, two, 3)
    writer.finish("interrupted")
    again = RunWriter.reopen(writer.path)
    assert again.frames_done == 3
    assert not (writer.path / "topology" / "1").exists()
    sample.write_frames(again, one, 0, range(3, 10))  # this time without a crack, and with zeros in memory
    again.finish("done")
    run = load(writer.path)
    assert {frame.version for frame in run.frames} == {0}
    np.testing.assert_array_equal(run.frames[9].positions, sample.frame_arrays(one, 9)["positions"])
    assert run.info()["wall"] > 0
    with pytest.raises(RunError, match="complete: there is nothing to resume"):
        RunWriter.reopen(writer.path)


def test_an_existing_run_is_replaced_by_force_only(tmp_path: Path) -> None:
    path = sample.finished_run(tmp_path / "a.pliant", [sample.body("beam", 0)])
    with pytest.raises(RunError, match=r"exists\. --force replaces it\.$"):
        sample.create(path, [])
    assert len(load(path)) == 3
    sample.create(tmp_path / "a.pliant", [], force=True).finish("interrupted")
    with pytest.raises(RunError, match=r"exists\. --force replaces it; `pliant resume a.pliant`"):
        sample.create(path, [])
    left = tmp_path / ".a.pliant.tmp-killed"
    left.mkdir()
    (left / ".lock").touch()
    sample.create(path, [], force=True).finish("failed")
    assert len(load(path)) == 0
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.pliant"]


@pytest.mark.parametrize("force", [False, True])
def test_nothing_but_a_run_is_ever_replaced(tmp_path: Path, force: bool) -> None:
    folder, file, cut = (tmp_path / name for name in ("thesis", "notes", "cut"))
    for directory in (folder, cut):
        directory.mkdir()
    (folder / "manifest.json").write_text('{"format": "something else"}')
    (cut / "manifest.json").write_text('{"format": "pliant-r')
    file.write_text("mine")
    for path in (folder, file, cut):
        with pytest.raises(RunError, match="not changed"):
            sample.create(path, [], force=force)
    assert (folder / "manifest.json").exists()
    assert (cut / "manifest.json").exists()
    assert file.read_text() == "mine"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["cut", "notes", "thesis"]


def test_a_link_to_a_run_means_the_run(tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    path = sample.finished_run(tmp_path / "disk" / "a.pliant", [sample.body("beam", 0)])
    link = tmp_path / "a.pliant"
    link.symlink_to(path)
    sample.create(link, [], force=True).finish("failed", "new")
    assert link.is_symlink()
    assert load(path).message == load(link).message == "new"


def edit_json(name: str, **changes: object) -> Callable[[Path], None]:
    def edit(path: Path) -> None:
        (path / name).write_text(json.dumps(json.loads((path / name).read_text()) | changes))

    return edit


def keep(name: str, size: int) -> Callable[[Path], None]:
    return lambda path: os.truncate(path / name, size)


def cut(name: str) -> Callable[[Path], None]:
    return lambda path: os.truncate(path / name, (path / name).stat().st_size - 20)


def remove(name: str) -> Callable[[Path], None]:
    return lambda path: (path / name).unlink()


DAMAGES = {
    "no manifest": (remove("manifest.json"), "is not a pliant run: it has no manifest.json"),
    "cut manifest": (cut("manifest.json"), "manifest.json is damaged"),
    "foreign": (edit_json("manifest.json", format="x"), "belongs to something else"),
    "newer": (edit_json("manifest.json", schema=2), "newer pliant.*pip install -U pliant"),
    "no schema": (edit_json("manifest.json", schema=None), "schema is None"),
    "no fps": (edit_json("manifest.json", fps="fast"), "fps is 'fast'"),
    "no group": (remove("zarr.json"), "no zarr.json"),
    "no progress": (remove("progress.json"), "no progress.json"),
    "cut progress": (keep("progress.json", 40), "progress.json is damaged"),
    "odd progress": (edit_json("progress.json", state="?"), "progress.json is damaged"),
    "long progress": (edit_json("progress.json", frames_done=99), "counts 99 frames"),
    "no frame": (remove("frames/0/positions/c.1.0.0"), "c.1.0.0 is missing"),
    "cut frame": (cut("frames/0/positions/c.1.0.0"), "positions cannot be read at 1"),
    "cut memory": (cut("frames/0/memory.beam.plastic/c.1.0.0.0"), "plastic cannot be read at 1"),
    "no array": (remove("frames/0/positions/zarr.json"), "positions is missing or damaged"),
    "no series": (remove("series/frame/c.1.0"), "c.1.0 is missing"),
    "cut step series": (cut("series/step/c.2.0"), "step cannot be read"),
    "cut topology": (cut("topology/0/0/zarr.json"), "zarr.json is damaged"),
    "cut rest": (cut("topology/0/0/rest/c.0.0"), "rest cannot be read"),
    "no carrier": (remove("topology/0/0/carrier/weights/c.0.0"), "c.0.0 is missing"),
    "no topology": (
        lambda path: (path / "topology" / "0").rename(path / "x"),
        "topology of frame 0 is missing",
    ),
    "no scene": (remove("scene.toml"), "scene.toml cannot be read"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_damage_is_told(tmp_path: Path, damage: str) -> None:
    path = sample.finished_run(tmp_path / "a.pliant", [sample.body("beam", 0)])
    harm, message = DAMAGES[damage]
    harm(path)

    def read_all() -> None:
        run = load(path)
        assert run.scene_text
        for name in run.series:
            run.series[name]
        for frame in run.frames:
            frame.surface("beam")
            frame.memory("beam")

    with pytest.raises(RunError, match=message):
        read_all()


def test_what_is_not_a_folder_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(RunError, match="file is a file, not a run folder"):
        load(tmp_path / "file")
    with pytest.raises(RunError, match="nowhere does not exist"):
        load(tmp_path / "nowhere")
    with pytest.raises(RunError, match="nowhere does not exist"):
        RunWriter.reopen(tmp_path / "nowhere")


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 1 MB; skipped where it may not be mounted."""
    place = tmp_path / "disk"
    place.mkdir()
    options = ["-t", "tmpfs", "-o", "size=1m", "tmpfs"]
    try:
        done = subprocess.run(["mount", *options, str(place)], capture_output=True, check=False)
    except OSError:
        pytest.skip("no mount program")
    if done.returncode:
        pytest.skip("mounting is not permitted")
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True)


def test_a_full_disk_keeps_the_frames_before(small_disk: Path) -> None:
    path = small_disk / "big.pliant"
    bodies = [sample.body("beam", 0)]
    writer = sample.create(path, bodies, 100, step_columns=())
    writer.write_topology(0, bodies, 0)
    arrays = sample.frame_arrays(bodies, 0)

    def write_until_full(writer: RunWriter) -> None:
        for index in range(100):
            memory = {"memory.beam.noise": np.random.default_rng(index).normal(size=20_000)}
            writer.write_frame(index, 0, arrays | memory, [0, 0, 0])

    with pytest.raises(StorageError, match=r"Cannot write .*big.pliant: the disk is full.*pliant resume"):
        write_until_full(writer)
    written = writer.frames_done
    assert 1 <= written <= 6
    with pytest.raises(StorageError, match="disk is full"):
        writer.write_checkpoint(0, {"x": np.zeros(200_000)})
    writer.log("the disk is full")
    writer.finish("failed", "the disk is full")
    run = load(path)
    assert (len(run), run.state, run.message) == (written, "failed", "the disk is full")
    for frame in run.frames:
        noise = np.random.default_rng(frame.index).normal(size=20_000)
        np.testing.assert_array_equal(frame.memory("beam")["noise"], noise)
    with pytest.raises(StorageError, match="disk is full"):
        sample.create(small_disk / "other.pliant", bodies, scene="#" * 1_000_000)
    assert [p.name for p in small_disk.iterdir()] == ["big.pliant"]


def test_a_file_size_limit_is_told(tmp_path: Path) -> None:
    bodies = [sample.body("beam", 0)]
    writer = one_body_run(tmp_path / "a.pliant", 2)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    arrays = sample.frame_arrays(bodies, 2) | {
        "memory.beam.plastic": np.random.default_rng(0).normal(size=(6, 3, 3))
    }
    resource.setrlimit(resource.RLIMIT_FSIZE, (300, limits[1]))
    try:
        with pytest.raises(StorageError, match="allowed size"):
            writer.write_frame(2, 0, arrays, [0, 0, 0], sample.step_rows(2))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert not (writer.path / "frames/0/positions/c.2.0.0").exists()
    sample.write_frames(writer, bodies, 0, range(2, 3))
    writer.finish("interrupted")
    assert len(load(writer.path)) == 3


def test_a_place_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StorageError, match=r"Cannot write .*: File exists"):
        sample.create(tmp_path / "file" / "a.pliant", [])
