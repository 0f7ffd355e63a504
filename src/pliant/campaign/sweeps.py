"""``sweep``: run a scene at many points; ``Sweep``: what has become of them."""

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pliant import __version__
from pliant.campaign.child import run_point, state_of, task
from pliant.campaign.driver import SweepDriver
from pliant.campaign.executors import LIST, check_place, executor
from pliant.campaign.folder import PointEntry, SweepFolder, read_cell, unit_in, untitled
from pliant.campaign.plan import AnyScene, BaseScene, base_scene, keys_of, merge, units_of, wanted_points
from pliant.campaign.points import Point, Variation
from pliant.campaign.progress import SweepProgress, sweep_reporter
from pliant.campaign.reductions import Reduction, read_reductions
from pliant.core.errors import InputError, MissingExtra, RunError
from pliant.core.option_names import option
from pliant.core.registry import nearest
from pliant.core.tables import Table, TableView
from pliant.run.store import Run, load
from pliant.run.store.manifest import PACKAGES, installed_version
from pliant.scene.override import Override


def sweep(
    scene: AnyScene,
    vary: Sequence[Variation] | TableView = (),
    to: str | os.PathLike[str] | None = None,
    *,
    sample: str | None = None,
    points: str | os.PathLike[str] | Sequence[Point] | None = None,
    reduce: Sequence[str] | None = None,
    on: str = "local",
    threads: int | None = None,
    time_limit: float | None = None,
    memory_limit: float | None = None,
    retries: int = 2,
    retry: bool = False,
    changes: Sequence[Override] = (),
    progress: SweepProgress | bool | None = None,
) -> "Sweep":
    """Run ``scene`` at many points into the sweep folder ``to``; points that are done are not repeated.

    vary: values by scene key, a list or a range such as "1 MPa..4 MPa:5"; sample: "sobol:64" takes samples of
    ranges instead of all combinations; points: a CSV file or a list of tables of values. reduce: numbers to
    keep of each run ("tip.z:min", "stiffness=max(grip.x) / max(tip.x)"; default: last, min, max and mean of
    the scene's own series). on: the executor (see ``pliant sweep --help``). time_limit [s] and memory_limit
    [bytes] hold for each point; retry: points that failed are tried again. ``scene`` may be a sweep folder,
    which is continued.
    """
    check_place(on)
    kept = None if reduce is None else read_reductions(reduce)
    folder, base, wanted = _wanted(scene, to, vary, sample, points, changes)
    entries, scenes = merge(base, folder.points() if folder.exists else [], wanted)
    folder.create()
    with folder.driver() as active, sweep_reporter(progress) as show:
        entries, scenes = merge(base, folder.points() if folder.exists else [], wanted)  # alone with it now
        keys = keys_of(entries)
        units = units_of(base, entries)
        manifest = _manifest(folder, base, keys, units, on)
        if kept is not None:
            manifest["reductions"] = [[r.name, r.text] for r in kept]
        (folder.path / "scene.toml").write_text(base.text, encoding="utf-8")
        folder.write_points(entries, keys, units)
        folder.write_manifest(manifest)
        driver = SweepDriver(folder, entries, keys, units, manifest)
        driver.read_results([Reduction(*pair) for pair in manifest.get("reductions", ())])
        pending = driver.pending(retry)
        for entry in pending:
            text = scenes.get(entry.run) or base.at(entry.values)[0]
            folder.scene_file(entry.run).write_text(text, encoding="utf-8")
        settings = {"retries": retries, "time_limit": time_limit, "memory_limit": memory_limit}
        try:
            if pending and on != LIST:
                with executor(on, threads) as place:
                    driver.run(place, pending, active, settings, retry, show)
        finally:
            driver.close()
            for name, reason in driver.missing.items():
                show.note(f"warning: {name} is empty for points without it: {reason}")
    return Sweep(folder.path)


def _earlier(scene: AnyScene) -> SweepFolder | None:
    """The sweep that ``scene`` is, if it is one."""
    if isinstance(scene, (str, os.PathLike)) and Path(scene).is_dir():
        folder = SweepFolder(scene)
        folder.manifest()
        return folder
    return None


def _stored(folder: SweepFolder) -> tuple[str, str]:
    path = folder.path / "scene.toml"
    try:
        return path.read_text(encoding="utf-8"), str(path)
    except OSError as error:
        raise RunError(f"{folder.path} is damaged: scene.toml cannot be read: {error.strerror}.") from None


def default_folder(scene: AnyScene) -> Path:
    """Where a sweep goes that was not told: beside the present folder's files, after the scene."""
    name = Path(scene).stem if isinstance(scene, (str, os.PathLike)) else "study"
    return Path(f"{name}.sweep")


def planned(
    scene: AnyScene,
    to: str | os.PathLike[str] | None = None,
    vary: Sequence[Variation] | TableView = (),
    sample: str | None = None,
    points: str | os.PathLike[str] | Sequence[Point] | None = None,
    changes: Sequence[Override] = (),
) -> tuple[list[PointEntry], int, dict[str, str]]:
    """What ``sweep`` would do, without writing anything: all points, how many of them are new, and the scenes
    of those that are not done, by run."""
    folder, base, wanted = _wanted(scene, to, vary, sample, points, changes)
    entries, new = merge(base, folder.points() if folder.exists else [], wanted)
    waiting = [e for e in entries if e.run and state_of(folder.run_folder(e.run)) != "done"]
    return entries, len(new), {e.run: new.get(e.run) or base.at(e.values)[0] for e in waiting}


def _wanted(
    scene: AnyScene,
    to: str | os.PathLike[str] | None,
    vary: Sequence[Variation] | TableView,
    sample: str | None,
    points: str | os.PathLike[str] | Sequence[Point] | None,
    changes: Sequence[Override],
) -> tuple[SweepFolder, BaseScene, list[Point]]:
    """The folder of a sweep, its scene and the points that are asked for; InputError where that is wrong."""
    earlier = _earlier(scene)
    if earlier is not None and changes:
        raise InputError(
            f"{changes[0].origin}: {earlier.path} keeps the scene that it was made of.",
            hint=f"Vary the key with {option('vary')}, or start another sweep from the changed scene.",
        )
    if earlier is not None and to is None:
        to = earlier.path
    folder = SweepFolder(to if to is not None else default_folder(scene))
    base = BaseScene(*_stored(folder)) if earlier is not None else base_scene(scene, changes)
    base.origin = "vary" if points is None else "points"
    wanted = wanted_points(vary, sample, points)
    if not wanted and earlier is None:
        raise InputError(
            "Nothing varies.",
            hint=f"Add {option('vary', 'a,b,c', 'key')} or {option('points', 'points.csv')}",
        )
    _refuse_other_scene(folder, base)
    return folder, base, wanted


def _refuse_other_scene(folder: SweepFolder, base: BaseScene) -> None:
    """RunError where the folder holds a sweep of another scene."""
    if folder.exists and (known := folder.manifest().get("scene_hash")) != base.digest:
        before = folder.manifest().get("meshes", {})
        changed = [path for path, digest in base.meshes.items() if before.get(path, digest) != digest]
        why = f"{changed[0]} has changed" if changed else f"{known}, not {base.digest}"
        raise RunError(
            f"{folder.path} holds a sweep of another scene ({why}); it is not changed.",
            hint="Choose another name with -o, or put the scene back as it was.",
        )


def _manifest(
    folder: SweepFolder, base: BaseScene, keys: Sequence[str], units: Mapping[str, str], on: str
) -> Table:
    earlier = folder.manifest() if folder.exists else {}
    now = {
        "pliant": __version__,
        "versions": {name: installed_version(name) for name in PACKAGES},
        "scene": earlier.get("scene", base.name),
        "scene_hash": base.digest,
        "meshes": base.meshes,
        "keys": {key: {"unit": units.get(key, "")} for key in keys},
        "on": on,
    }
    return {**earlier, **now}


class Sweep:
    """A sweep folder: its points, the numbers of those that are done, and those that failed.

    ``points``, ``results`` and ``failures`` are lists of tables; ``table()`` and ``xarray()`` give
    them as a pandas DataFrame and an xarray Dataset.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._folder = SweepFolder(path)
        self.path = self._folder.path
        self.manifest = self._folder.manifest()
        self._runs: dict[int | str, str] = {}  # runs by the numbers and the runs of points

    @property
    def points(self) -> list[Table]:
        """Number, run and values of every point."""
        return [{"point": e.number, "run": e.run, **e.values} for e in self._folder.points()]

    @property
    def results(self) -> list[Table]:
        """Points that are done, with their reductions."""
        return self._rows("results.csv")

    @property
    def failures(self) -> list[Table]:
        """Points that failed: state, reason, last_good_frame."""
        return self._rows("failures.csv")

    @property
    def keys(self) -> list[str]:
        """The varied keys."""
        return list(self.manifest["keys"])

    @property
    def units(self) -> dict[str, str]:
        """Units of the columns of ``results``."""
        header, _ = self._folder.table("results.csv")
        return {untitled(name): unit_in(name) for name in header}

    def _rows(self, name: str) -> list[Table]:
        header, _ = self._folder.table(name)
        rows = self._folder.numbered(name, range(1, sys.maxsize))
        plain = {"run", "reason", "state"}
        names = [untitled(title) for title in header]
        return [
            {
                key: (text if key in plain else None if text == "" else read_cell(text))
                for key, text in zip(names, row, strict=True)
            }
            for row in rows.values()
        ]

    def run(self, point: int | str) -> Run:
        """The run of a point, by its number or by its hash."""
        if point not in self._runs:
            for entry in self._folder.points():
                if entry.run:
                    self._runs[entry.number] = self._runs[entry.run] = entry.run
        if point in self._runs:
            return load(self._folder.run_folder(self._runs[point]))
        known = [str(entry.number) for entry in self._folder.points()]
        raise InputError(f"{self.path} has no point '{point}'; {nearest(str(point), known)}")

    def status(self) -> Table:
        """Counts of points by state, and the failures."""
        failed = {row["point"] for row in self.failures}
        states: dict[str, int] = {"done": 0, "failed": 0, "running": 0, "interrupted": 0, "missing": 0}
        for entry in self._folder.points():
            if entry.number in failed:
                states["failed"] += 1
                continue
            state = state_of(self._folder.run_folder(entry.run)) if entry.run else None
            if state == "running":
                state = load(self._folder.run_folder(entry.run)).state
            states[state if state in states else "missing"] += 1
        return {"path": str(self.path), "points": sum(states.values()), **states}

    def shell_lines(self) -> list[str]:
        """A shell line for each point that is missing."""
        from shlex import quote

        failed = {row["point"] for row in self.failures}
        place = quote(str(self.path))
        return [
            f"pliant sweep {place} --point {entry.run}"
            for entry in self._folder.points()
            if entry.run
            and entry.number not in failed
            and state_of(self._folder.run_folder(entry.run)) != "done"
        ]

    def run_one(
        self,
        run: str,
        threads: int | None,
        time_limit: float | None,
        memory_limit: float | None,
        retries: int,
    ) -> Table:
        """Run one point, as the lines of ``--on list`` do; the next ``pliant sweep`` writes the tables."""
        if run not in {entry.run for entry in self._folder.points() if entry.run}:
            raise InputError(f"{self.path} has no point with the run '{run}'.")
        active = self.path / "scenes"  # always there: such points are stopped by whoever started them
        given = task(
            run, self._folder.scene_file(run), self._folder.run_folder(run), active,
            threads or 1, retries, time_limit, memory_limit,
        )  # fmt: skip
        return run_point(given)

    def table(self) -> Any:
        """The results as a pandas DataFrame; units of its columns in ``attrs``."""
        try:
            import pandas
        except ImportError:
            raise MissingExtra(
                "Tables of sweeps need pandas, not installed here.", hint="pip install pandas"
            ) from None
        frame = pandas.DataFrame(self.results)
        frame.attrs["units"] = self.units
        return frame

    def xarray(self) -> Any:
        """Series of a gridded sweep as an xarray Dataset: a dimension for each key, and time."""
        from pliant.campaign.grid_dataset import grid_dataset

        return grid_dataset(self)

    def report(self, path: str | os.PathLike[str] | None = None, pictures: bool = True) -> Path:
        """Write one HTML page that holds everything: graphs, thumbnails, tables; gives its path."""
        from pliant.campaign.report import write_report

        return write_report(self, Path(path) if path is not None else self.path / "report.html", pictures)

    def sheet(self, path: str | os.PathLike[str], **options: Any) -> Path:
        """Draw all points side by side, at the same times: a picture or a movie (options: ``render``'s)."""
        from pliant.campaign.report import write_sheet

        return write_sheet(self, Path(path), **options)

    def __repr__(self) -> str:
        counts = self.status()
        return f"Sweep({self.path.name!r}: {counts['done']} of {counts['points']} points done)"


def open_sweep(path: str | os.PathLike[str]) -> Sweep:
    """Open a sweep folder; RunError where it is none."""
    return Sweep(path)
