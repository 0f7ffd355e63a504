"""Reading a run folder, finished or still being written."""

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from pliant.core.errors import RunError
from pliant.core.tables import Table
from pliant.core.typing import AnyArray, Array
from pliant.interfaces import Mechanics
from pliant.measures.totals import BodySummary
from pliant.run.store.frames import Frame, Frames
from pliant.run.store.manifest import Progress, read_manifest
from pliant.run.store.run_folder import held, target
from pliant.run.store.series import Series
from pliant.run.store.topology import BodyRecord, first_frames, read_topology
from pliant.run.store.zarr_store import ChunkReader, file_name, name_of

K = TypeVar("K")
V = TypeVar("V")


def load(path: str | os.PathLike[str]) -> "Run":
    """Open a run folder; RunError where it is none, damaged, or from a newer pliant."""
    return Run(path)


class Run:
    """A recorded run: what it is, its frames and its series.

    Counts are those at the time of opening; ``refresh()`` looks again at a run that is being written.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = target(path)
        self.manifest: Table = read_manifest(self.path)
        self._mechanics: dict[tuple[int, str], Mechanics] = {}
        self._topologies: dict[int, tuple[BodyRecord, ...]] = {}
        self._recorded: dict[tuple[int, str], bool] = {}
        self._opened: dict[tuple[int, str], ChunkReader] = {}
        self.refresh()

    def refresh(self) -> "Run":
        """Look again at how far the run is."""
        alive = held(self.path)  # asked first: a writer that ends in between has written its end
        self._progress = progress = Progress.read(self.path)
        if progress.frames_done > self.manifest["frames_total"]:
            raise RunError(
                f"{self.path} is damaged: it counts {progress.frames_done} frames, more than planned."
            )
        self.state, self.message = progress.state, progress.message
        if self.state == "running" and not alive:
            self.state = "interrupted"
            self.message = "The process that wrote it was killed; continue with `pliant resume`."
        firsts = {v: first for v, first in first_frames(self.path).items() if first < progress.frames_done}
        if progress.frames_done and min(firsts.values(), default=1) > 0:
            raise RunError(f"{self.path} is damaged: the topology of frame 0 is missing.")
        self._firsts = firsts
        self.series = Series(self.path, self.manifest, progress.frames_done)
        return self

    @property
    def frames(self) -> Frames:
        """The frames that count; ``run.frames[-1]``, slices, iteration."""
        return Frames(self, range(self._progress.frames_done))

    @property
    def times(self) -> Array:
        """Times of the frames [s]."""
        return np.arange(len(self)) / float(self.manifest["fps"])

    @property
    def scene_text(self) -> str:
        """The scene file as run."""
        try:
            return (self.path / "scene.toml").read_text(encoding="utf-8")
        except (OSError, ValueError) as error:
            raise RunError(f"{self.path} is damaged: scene.toml cannot be read: {error}.") from error

    @property
    def bodies(self) -> tuple[BodySummary, ...]:
        """The bodies of the run at its start."""
        try:
            return tuple(
                BodySummary(*(table.get(key) for key in BodySummary.__annotations__))
                for table in self.manifest["bodies"]
            )
        except AttributeError as error:
            raise RunError(f"{self.path} is damaged: bodies in manifest.json: {error}.") from error

    def info(self) -> Table:
        """What ``pliant info --json`` prints; real_time_factor: simulated seconds per second of work."""
        wall = self._progress.wall
        simulated = float(self.times[-1]) if len(self) else 0.0
        return {
            "frames": len(self),
            "duration": self.manifest.get("duration"),
            "step": self.manifest.get("step"),
            "step_reason": self.manifest.get("step_reason"),
            "wall": wall,
            "cpu": self._progress.cpu,
            "real_time_factor": simulated / wall if wall > 0 else None,
            "state": self.state,
            "bodies": [dict(vars(body)) for body in self.bodies],
            "series": list(self.series),
        }

    def export(self, path: str | os.PathLike[str], **options: Any) -> list[Path]:
        """Write frames or series to files, by suffix; see ``pliant.exporters.export``."""
        from pliant.exporters import export

        return export(self, path, **options)

    def render(self, path: str | os.PathLike[str], **options: Any) -> Path:
        """Draw a picture (.png) or a movie (.mp4, .gif); see ``pliant.render.render_run``."""
        from pliant.render import render

        return render(self, path, **options)

    def plot(
        self, series: str | Iterable[str], path: str | os.PathLike[str] | None = None, **options: Any
    ) -> Any:
        """Draw series as a graph (.png, .svg, .pdf), or give the Figure; see ``pliant.render.plot``."""
        from pliant.render import plot

        return plot(self, series, path, **options)

    def view(self, height: int = 480) -> Any:
        """The viewer, inline in a notebook; a picture where that cannot be."""
        from pliant.studio.notebook import view_run

        return view_run(self, height)

    def _repr_html_(self) -> str:
        from pliant.render.notebook import html

        return html(self)

    @property
    def versions(self) -> list[int]:
        """Topology versions that frames have, in order."""
        return sorted(self._firsts)

    def version_of(self, index: int) -> int:
        """Topology version of a frame."""
        return max(version for version, first in self._firsts.items() if first <= index)

    def topology(self, version: int) -> tuple[BodyRecord, ...]:
        """The bodies of a topology version."""
        return _once(self._topologies, version, lambda: read_topology(self.path, version))

    def mechanics(self, version: int, body: str) -> Mechanics:
        """A body's model set up again, once per topology version."""

        def prepare() -> Mechanics:
            from pliant.materials import resolve
            from pliant.models import MODELS

            record = next(b for b in self.topology(version) if b.name == body)
            try:
                model = MODELS.build(record.model)
                return model.prepare(record.structure, resolve(record.material))
            except ValueError as error:
                raise RunError(f"The model of body '{body}' cannot be set up again: {error}") from error

        return _once(self._mechanics, (version, body), prepare)

    def arrays(self, version: int) -> list[str]:
        """Names of what is recorded per frame in a topology version."""
        folder = self.path / "frames" / str(version)
        return sorted(name_of(entry.name) for entry in folder.iterdir() if (entry / "zarr.json").exists())

    def recorded(self, version: int, name: str) -> bool:
        """Whether each frame of a topology version has such an array."""
        place = self.path / "frames" / str(version) / file_name(name) / "zarr.json"
        return _once(self._recorded, (version, name), place.exists)

    def read(self, frame: Frame, name: str) -> AnyArray:
        """A recorded array of a frame; RunError where it is missing or damaged."""
        path = self.path / "frames" / str(frame.version) / file_name(name)
        return _once(self._opened, (frame.version, name), lambda: ChunkReader(path)).row(frame.index)

    def __len__(self) -> int:
        return self._progress.frames_done

    def __repr__(self) -> str:
        names = ", ".join(body.name for body in self.bodies)
        planned = self.manifest["frames_total"]
        return f"Run({self.path.name!r}: {self.state}, {len(self)} of {planned} frames, bodies: {names})"


def _once(table: dict[K, V], key: K, make: Callable[[], V]) -> V:
    if key not in table:
        table[key] = make()
    return table[key]
