"""One run of the matrix: its scene file, the run, its verdict."""

import shutil
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from pliant.core.errors import Diverged, InputError, Interrupted, PliantError, RunError, StorageError
from pliant.core.tables import Table
from pliant.integrators import INTEGRATORS
from pliant.run.progress import RunProgress
from pliant.run.runner import run_scene
from pliant.run.store import load
from pliant.run.store.json_files import read_json, write_json
from pliant.scene import Scene
from pliant.scene.check import check
from pliant.scene.load import read
from pliant.scene.to_toml import scene_text
from pliant.validation.matrix.code_state import code_state
from pliant.validation.matrix.figures import enter_mesh
from pliant.validation.matrix.motions import MOTIONS
from pliant.validation.matrix.verdict import judged, measured

SCHEMES = {"auto": ("auto",), "explicit": ("leapfrog",), "implicit": ("tr-bdf2", "implicit-euler")}
"""Kinds of integrators, and what stands for each: the first that there is."""
EDGES = {"lattice": 0.4, "efg": 0.6}
"""Factors on the edge length: without tets that follow thin parts, cells have to be smaller."""


def scheme(kind: str) -> str | None:
    """The integrator that a kind stands for, or one called ``kind``; None where there is none."""
    return next((name for name in SCHEMES.get(kind, (kind,)) if name in INTEGRATORS), None)


@dataclass(frozen=True)
class MatrixCell:
    """A body in a motion with a model and an integrator."""

    body: str
    motion: str
    model: str
    integrator: str
    seconds: float
    mesh: str | None = None  # file of the body's surface, if it is not one of ``FIGURES``

    @property
    def name(self) -> str:
        return "-".join((self.body, self.motion, self.model, self.integrator))

    def scene_text(self) -> str:
        """The scene file."""
        if self.mesh is not None:
            enter_mesh(self.mesh)
        table = MOTIONS[self.motion].scene(self.body, self.seconds)
        table["time"]["integrator"] = scheme(self.integrator)
        for body in table["bodies"]:
            body["model"] = self.model
            body["edge"] = round(body["edge"] * EDGES.get(self.model, 1.0), 6)
        return scene_text(table)

    def result_path(self, folder: Path) -> Path:
        return folder / "results" / f"{self.name}.json"

    def scene_path(self, folder: Path) -> Path:
        return folder / "scenes" / f"{self.name}.toml"

    def run_path(self, folder: Path) -> Path:
        return folder / "runs" / f"{self.name}.pliant"

    def finished(self, folder: Path) -> Table | None:
        """The result of an earlier run of the same scene; None where there is none."""
        path = self.result_path(folder)
        if not path.exists():
            return None
        try:
            found = read_json(path)
        except PliantError:
            return None
        return found if found.get("scene") == self.scene_text() and found.get("state") != "begun" else None


class _TimeLimit(RunProgress):
    """Times the loop of a run, and ends it at a limit [CPU s]: other jobs do not change that."""

    def __init__(self, limit: float) -> None:
        self.limit, self.wall, self.cpu = limit, 0.0, 0.0
        self.notes: list[str] = []
        self._start = self._start_cpu = 0.0

    def note(self, text: str) -> None:
        self.notes.append(text)

    def started(self, frames: int, plan: object) -> None:
        self._start, self._start_cpu = time.perf_counter(), time.process_time()

    def frame(self, done: int, frames: int, simulated: float, wall: float) -> None:
        self.wall, self.cpu = time.perf_counter() - self._start, time.process_time() - self._start_cpu
        if self.cpu > self.limit:
            raise Interrupted(f"The limit of {self.limit:g} CPU seconds was reached.")


def estimate_cell(cell: MatrixCell, folder: Path) -> Table:
    """What ``check`` says of a cell, and the seconds that asking took."""
    start, path = time.perf_counter(), cell.scene_path(folder)
    path.write_text(cell.scene_text(), encoding="utf-8")
    try:
        found = _estimate(read(path))
    except Exception:  # whatever it is, the run itself will tell
        found = {"estimate": 0.0}
    return found | {"asking": time.perf_counter() - start}


def run_cell(cell: MatrixCell, folder: Path, limit: float, keep: bool) -> Table:
    """Run one cell into ``folder`` and write its result there; run folders of good runs are removed unless
    ``keep``."""
    text, path = cell.scene_text(), cell.scene_path(folder)
    crashes = _crashes(cell.result_path(folder), text)
    entry: Table = {**asdict(cell), "name": cell.name, "scene": text, "state": "begun", "message": ""}
    entry["code"] = code_state()
    if crashes >= 2:
        entry |= {"state": "crashed", "message": "The process was ended twice while it ran this."}
        return _finish(cell, folder, entry)
    write_json(cell.result_path(folder), entry | {"crashes": crashes + 1})
    path.write_text(text, encoding="utf-8")
    watch = _TimeLimit(limit)
    try:
        scene = read(path)
        entry |= _estimate(scene)
        watch.notes.clear()
        run_scene(scene, cell.run_path(folder), force=True, progress=watch, scene_text=text)
        entry["state"] = "done"
    except Diverged as error:
        entry |= {"state": "diverged", "message": error.message}
    except Interrupted as error:
        if watch.cpu <= limit:
            raise
        entry |= {"state": "timeout", "message": error.message}
    except (RunError, StorageError) as error:  # of the folder, not of the combination
        entry |= {"state": "failed", "message": error.message}
    except InputError as error:
        entry |= {"state": "refused", "message": error.message}
    except Exception as error:  # a verdict of its own: internal errors must not end the matrix
        entry |= {"state": "failed", "message": f"{type(error).__name__}: {error}"}
    entry |= {"wall": watch.wall, "cpu": watch.cpu, "notes": watch.notes[-20:]}
    if entry["state"] == "done" and entry.get("estimate"):
        entry["time_ratio"] = watch.cpu / entry["estimate"]
    return _finish(cell, folder, entry, keep)


def _finish(cell: MatrixCell, folder: Path, entry: Table, keep: bool = False) -> Table:
    run = cell.run_path(folder)
    if run.is_dir() and entry["state"] in ("done", "diverged", "timeout"):
        try:
            entry |= measured(load(run), MOTIONS[cell.motion], cell.body)
        except PliantError as error:
            entry["message"] += f" The run could not be read: {error.message}"
    judge(entry)
    write_json(cell.result_path(folder), entry)
    if entry["ok"] and not keep:
        shutil.rmtree(run, ignore_errors=True)
    return entry


def judge(entry: Table) -> None:
    """Enter the verdict on a result, and whether it is good."""
    name = entry.get("chosen") or scheme(entry["integrator"])
    implicit = name is not None and "implicit" in INTEGRATORS[name].__module__.split(".")
    refused, motion = entry["state"] == "refused", MOTIONS[entry["motion"]]
    entry["verdict"] = {} if refused else judged(entry, motion, implicit)
    entry["ok"] = all(good is not False for key, good in entry["verdict"].items() if key != "time")


def expired(cell: MatrixCell, folder: Path, limit: float) -> Table:
    """The result of a run whose process was ended, because it took far longer than the limit."""
    message = f"The process was ended: the run did not stop at its limit of {limit:g} s."
    entry = {**asdict(cell), "name": cell.name, "scene": cell.scene_text(), "message": message}
    return _finish(cell, folder, entry | {"state": "timeout"})


def reused(cell: MatrixCell, folder: Path, known: Table) -> Table | None:
    """The result of ``cell`` where the run ``known``, with an automatic integrator, used the one that this
    cell names; None where it did not."""
    if cell.integrator == "auto" or known.get("chosen") != scheme(cell.integrator):
        return None
    own = {"name": cell.name, "integrator": cell.integrator, "scene": cell.scene_text()}
    entry = known | own | {"same_as": known["name"]}
    write_json(cell.result_path(folder), entry)
    return entry


def _estimate(scene: Scene) -> Table:
    """What ``check`` says of the scene."""
    report = check(scene)
    particles = sum(body.particles for body in report.bodies)
    return {
        "estimate": report.cpu,
        "steps": report.steps,
        "step": report.step,
        "particles": particles,
        "chosen": report.integrator,
    }


def _crashes(path: Path, text: str) -> int:
    """How often a process was ended while it ran this cell."""
    try:
        found = read_json(path)
    except PliantError:
        return 0
    same = found.get("scene") == text and found.get("state") == "begun"
    return int(found.get("crashes", 0)) if same else 0
