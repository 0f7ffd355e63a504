"""Writing a run folder, so that a kill at any instant costs nothing that was reported."""

import os
import shutil
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np

from pliant.core.errors import Diverged, RunError
from pliant.core.tables import Table, TableView
from pliant.core.typing import AnyArray, Array
from pliant.run.store import checkpoints, topology
from pliant.run.store.json_files import storing, write_json
from pliant.run.store.manifest import FILE, FORMAT, SCHEMA, STATES, Progress, complete, read_manifest
from pliant.run.store.run_folder import Lock, making_place, put_in_place, target
from pliant.run.store.topology import BodyRecord
from pliant.run.store.ways import write_way
from pliant.run.store.zarr_store import Stack, file_name, open_root


class RunWriter:
    """The one process that writes a run folder; ``create`` or ``reopen`` it, and ``finish`` it."""

    def __init__(self, path: Path, lock: Lock, manifest: Table, progress: Progress) -> None:
        self.path, self.manifest = path, manifest
        self._lock, self._progress = lock, progress
        self._root = open_root(path)
        self._clock = (time.perf_counter() - progress.wall, time.process_time() - progress.cpu)
        self._versions = set(topology.first_frames(path))
        self._arrays: dict[str, Stack] = {}
        self._recorded: dict[int, set[str]] = {}

    @property
    def frames_done(self) -> int:
        """Frames that count; the next one to write."""
        return self._progress.frames_done

    @classmethod
    def create(
        cls,
        path: str | os.PathLike[str],
        *,
        manifest: TableView,
        scene: str,
        columns: Sequence[str],
        step_columns: Sequence[str] = (),
        frames_total: int,
        steps_per_frame: int,
        force: bool = False,
    ) -> Self:
        """A new run folder: it appears complete with its skeleton, or not at all.

        ``force`` replaces an older run of that name, and nothing but a run.
        """
        shared = set(columns) & set(step_columns) - {"time"}
        if shared:
            raise ValueError(f"columns both per frame and per step: {', '.join(sorted(shared))}")
        final = target(path)
        table = complete(
            dict(manifest)
            | {"columns": list(columns), "step_columns": list(step_columns)}
            | {"frames_total": frames_total, "steps_per_frame": steps_per_frame}
            | {"scene": sha256(scene.encode()).hexdigest()}
        )
        with storing(final), making_place(final, force) as draft:
            lock = Lock(draft)
            try:
                _skeleton(draft, table, scene)
                put_in_place(draft, final, force)
            except BaseException:
                lock.release()
                raise
        return cls(final, lock, table, Progress())

    @classmethod
    def reopen(cls, path: str | os.PathLike[str]) -> Self:
        """Go on with a run. Frames that count stay; ``latest_checkpoint`` is where the work starts again.

        RunError for a finished run, a damaged one, and one that another process writes.
        """
        folder = target(path)
        manifest = read_manifest(folder)
        with storing(folder):
            lock = Lock(folder)
            try:
                progress = Progress.read(folder)
                if progress.state == "done":
                    raise RunError(f"{folder} is complete: there is nothing to resume.")
                _unchanged(folder, manifest)
                before = progress.frames_done
                progress.state, progress.message = "running", ""
                progress.write(folder)
                _forget_after(folder, progress.frames_done)
                writer = cls(folder, lock, manifest, progress)
            except BaseException:
                lock.release()
                raise
        if before:
            writer.log(f"resumed: {before} frames were done, going on from frame {writer.frames_done}")
        return writer

    def write_scene(self, scene: str) -> None:
        """Say which scene makes these frames, where that became known while they were made (see takes)."""
        with storing(self.path):
            (self.path / "scene.toml").write_bytes(scene.encode())
            self.manifest["scene"] = sha256(scene.encode()).hexdigest()
            write_json(self.path / FILE, self.manifest)

    def write_topology(self, version: int, bodies: Sequence[BodyRecord], first_frame: int) -> None:
        """The bodies from ``first_frame`` on; call it before that frame is written."""
        if first_frame < self.frames_done:
            raise ValueError(f"topology {version} from frame {first_frame}: that frame is written already")
        with storing(self.path):
            topology.write_topology(self._root, self.path, version, bodies, first_frame)
        self._versions.add(version)

    def write_way(self, index: int, places: Array) -> None:
        """Write the ``places`` (w, n, 3) [m] between which particles went straight to frame ``index``, before
        that frame is written."""
        with storing(self.path):
            write_way(self.path, index, places)

    def write_frame(
        self,
        index: int,
        version: int,
        arrays: Mapping[str, AnyArray],
        row: Sequence[float],
        step_rows: AnyArray | None = None,
    ) -> None:
        """Write frame ``index`` and count it.

        ``arrays``: "positions" (n, 3), and "velocities", "contact-forces" and "memory.BODY.KEY" where
        recorded, the same ones in every frame of a topology version. ``step_rows``: the (steps_per_frame,
        step columns) of the steps that end with this frame; for frame 0 one row, the initial state, or None.
        """
        spf = self.manifest["steps_per_frame"]
        if index != self.frames_done or index >= self.manifest["frames_total"]:
            raise ValueError(f"frame {index} is not the next of {self.manifest['frames_total']} frames")
        if version not in self._versions:
            raise ValueError(f"topology {version} has not been written")
        if self._recorded.setdefault(version, set(arrays)) != set(arrays):
            raise ValueError(
                f"frame {index} records other arrays than the frames before it: {sorted(arrays)}"
            )
        if not np.isfinite(arrays["positions"]).all():
            raise Diverged(f"Frame {index} has positions that are not finite; it was not written.")
        with storing(self.path):
            try:
                for name, values in arrays.items():
                    self._frame_array(version, name, np.asarray(values)).write(index, values)
                if self.manifest["columns"]:
                    self._series("frame").write(index, np.asarray(row, np.float64))
                if self.manifest["step_columns"]:
                    self._write_steps(index, spf, step_rows)
                self._count(index + 1)
            except OSError:
                self._drop(index, version)
                raise

    def _write_steps(self, index: int, spf: int, step_rows: AnyArray | None) -> None:
        rows = (
            np.zeros((0, len(self.manifest["step_columns"]))) if step_rows is None else np.asarray(step_rows)
        )
        if len(rows) > spf or (index > 0 and len(rows) != spf):
            raise ValueError(f"frame {index} brings {len(rows)} rows of steps, expected {spf}")
        block = np.full((spf, rows.shape[1]), np.nan)
        block[spf - len(rows) :] = rows
        self._series("step").write(index, block)

    def write_checkpoint(self, frame: int, state: Mapping[str, AnyArray]) -> None:
        """Keep what a restart after ``frame`` (already written) needs; safe on disk when this returns."""
        if frame >= self.frames_done:
            raise ValueError(f"a checkpoint of frame {frame} comes after that frame is written")
        with storing(self.path):
            checkpoints.write_checkpoint(self.path, frame, state)

    def latest_checkpoint(self) -> tuple[int, dict[str, AnyArray]] | None:
        """The newest readable checkpoint: its frame and arrays."""
        return checkpoints.newest(self.path, below=self.frames_done)

    def log(self, line: str) -> None:
        """Add a line to log.txt; a full disk does not stop a run here."""
        with suppress(OSError), (self.path / "log.txt").open("a", encoding="utf-8") as file:
            file.write(line.rstrip("\n") + "\n")

    def finish(self, state: str, message: str = "") -> None:
        """State how the run ended ("done", "interrupted", "diverged", "failed") and let go of the folder."""
        if state not in STATES:
            raise ValueError(f"state is one of {', '.join(STATES)}, not {state!r}")
        try:
            with storing(self.path):
                self._progress.state, self._progress.message = state, message
                self._count(max(self.frames_done, Progress.read(self.path).frames_done))
        finally:
            self._lock.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._lock.release()

    def _count(self, frames_done: int) -> None:
        wall, cpu = time.perf_counter() - self._clock[0], time.process_time() - self._clock[1]
        new = Progress(frames_done, self._progress.state, self._progress.message, wall, cpu)
        new.write(self.path)
        self._progress = new

    def _frame_array(self, version: int, name: str, values: AnyArray) -> Stack:
        key = f"frames/{version}/{file_name(name)}"
        shape = (self.manifest["frames_total"], *values.shape)
        array = self._arrays.get(key)
        if array is None:
            array = self._existing(key, shape, values.dtype)
        if array is None:
            packed = name.startswith("memory.")
            array = Stack.create(self._root, self.path, key, shape, 1, values.dtype, packed, recorded=name)
        if array.shape != shape:
            raise ValueError(f"{name} changed its shape to {values.shape} without a new topology version")
        self._arrays[key] = array
        return array

    def _existing(self, key: str, shape: tuple[int, ...], dtype: Any) -> Stack | None:
        """An array that earlier frames are in, after ``reopen``; None where it must be made."""
        if not (self.path / key / "zarr.json").exists():
            return None
        array = Stack.open(self.path / key)
        return array if (array.shape, array.dtype) == (shape, dtype) else None

    def _series(self, name: str) -> Stack:
        if name not in self._arrays:
            self._arrays[name] = Stack.open(self.path / "series" / name)
        return self._arrays[name]

    def _drop(self, index: int, version: int) -> None:
        """Remove what was written of a frame that failed, to leave room for saying so."""
        for key, array in self._arrays.items():
            if key.startswith(f"frames/{version}/"):
                array.file(index).unlink(missing_ok=True)


def _skeleton(folder: Path, manifest: Table, scene: str) -> None:
    root = open_root(folder, {"format": FORMAT, "schema": SCHEMA})
    for name in ("topology", "frames", "series"):
        root.create_group(name)
    total, spf = manifest["frames_total"], manifest["steps_per_frame"]
    for name, columns, rows in (("frame", manifest["columns"], 1), ("step", manifest["step_columns"], spf)):
        if columns:
            shape = (total * rows, len(columns))
            Stack.create(root, folder, f"series/{name}", shape, rows, np.float64, columns=columns)
    (folder / checkpoints.FOLDER).mkdir()
    (folder / "scene.toml").write_bytes(scene.encode())
    (folder / "log.txt").touch()
    write_json(folder / FILE, manifest)
    Progress().write(folder)


def _unchanged(folder: Path, manifest: TableView) -> None:
    """RunError where scene.toml is no longer what the frames were made with."""
    begun = manifest.get("scene")  # runs of older versions do not say
    if begun is not None and sha256((folder / "scene.toml").read_bytes()).hexdigest() != begun:
        raise RunError(
            f"{folder / 'scene.toml'} was changed since the run began; its frames belong to another scene.",
            hint=f"Put it back, or run it again: pliant run {folder / 'scene.toml'} -o NEW.pliant",
        )


def _forget_after(folder: Path, frames_done: int) -> None:
    """Remove what lies beyond the frames that count: topologies, checkpoints, halves of files."""
    for version, first in topology.first_frames(folder).items():
        if first >= frames_done:
            shutil.rmtree(folder / "topology" / str(version))
            shutil.rmtree(folder / "frames" / str(version), ignore_errors=True)
    for frame in checkpoints.frames_of(folder):
        if frame >= frames_done:
            (folder / checkpoints.FOLDER / f"{frame}.npz").unlink()
    for pattern in ("**/*.partial", "**/.*.tmp-*", "topology/draft-*"):
        for left in folder.glob(pattern):
            shutil.rmtree(left) if left.is_dir() else left.unlink(missing_ok=True)
