"""Runs of a comparison: each in a process of its own, several in parallel, and how far two are apart."""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from pliant.core.environment import environment
from pliant.core.errors import PliantError
from pliant.core.tables import Table
from pliant.core.typing import Array
from pliant.embedding.barycentric import embed
from pliant.interfaces import Structure
from pliant.mesh.mesh import Surface
from pliant.run.store import Run, load

PAUSE = 0.01  # s between two looks at a child


def ended(process: "subprocess.Popen[bytes]") -> tuple[int, float]:
    """Wait for a child: its exit code and the largest memory that it had [MB].

    What the system keeps for a child that has ended counts this process too, of which it began as a copy; so
    the child is looked at while it runs, where /proc tells.
    """
    memory = 0.0
    try:
        while True:
            found, status, used = os.wait4(process.pid, os.WNOHANG)
            if found:
                break
            memory = max(memory, _high_water(process.pid))
            time.sleep(PAUSE)
    except BaseException:
        process.kill()
        process.wait()
        raise
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, memory or used.ru_maxrss / 1e3


def _high_water(pid: int) -> float:
    """The most memory that a process has had so far [MB]; 0 where that cannot be told."""
    try:
        with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as file:
            line = next((line for line in file if line.startswith("VmHWM")), "")
    except OSError:
        return 0.0
    words = line.split()
    return float(words[1]) * 1024 / 1e6 if len(words) > 1 else 0.0


def error_against(run: Run, reference: Run) -> float:
    """Root mean square distance of the particles of ``run`` from where ``reference`` has them, over all
    frames that both have at the same times, and over the largest displacement of the reference.

    A particle's place in the reference is found at rest: in the tet that holds it, or, for a reference
    without tets, from its four nearest particles.
    """
    ratio = float(reference.manifest["fps"]) / float(run.manifest["fps"])
    squares, count, largest = 0.0, 0, 0.0
    first = reference.frames[0]
    names = [body.name for body in run.frames[0].bodies if body.name in {b.name for b in first.bodies}]
    maps = {name: _Map(run.topology(0), reference.topology(0), name) for name in names}
    for frame in run.frames:
        other = round(frame.index * ratio)
        if other >= len(reference) or abs(other - frame.index * ratio) > 1e-9:
            continue
        there = reference.frames[other]
        for name in names:
            before, after = there.record(name).structure.rest, there.body(name)
            if len(after) != maps[name].there or len(frame.body(name)) != maps[name].here:
                continue  # the topology has changed: places at rest no longer match
            largest = max(largest, float(np.linalg.norm(after - before, axis=1).max()))
            apart = frame.body(name) - maps[name].places(after)
            squares += float(np.sum(apart**2))
            count += len(apart)
    if not count or largest == 0.0:
        return float("nan")
    return float(np.sqrt(squares / count)) / largest


class _Map:
    """From the particles of one structure to those of another, by their places at rest."""

    def __init__(self, run: tuple, reference: tuple, name: str) -> None:  # type: ignore[type-arg]
        points: Structure = next(b.structure for b in run if b.name == name)
        target: Structure = next(b.structure for b in reference if b.name == name)
        self.here, self.there = len(points.rest), len(target.rest)
        tets = target.cells.get("tetra")
        if tets is not None and len(tets):
            carrier = embed(Surface(points.rest, np.empty((0, 3), np.int64)), target.rest, tets[:, :4])
            self.indices, self.weights = carrier.indices, carrier.weights
        else:
            from scipy.spatial import cKDTree

            away, near = cKDTree(target.rest).query(points.rest, k=min(4, len(target.rest)))
            share = 1.0 / (np.atleast_2d(away) + 1e-6 * target.spacing) ** 2
            self.indices, self.weights = (
                np.atleast_2d(near).astype(np.uint32),
                share / share.sum(axis=1, keepdims=True),
            )

    def places(self, x: Array) -> Array:
        found: Array = np.einsum("pk,pkc->pc", self.weights, x[self.indices])
        return found


@dataclass(frozen=True)
class ComparisonCase:
    """A scene as one model, integrator and resolution has it; None: as the scene says.

    edge: a factor on the resolution, 0.5 for half the edge length; keys: of the model, as ``--set`` has them.
    """

    model: str | None = None
    integrator: str | None = None
    edge: float | None = None
    keys: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        words = [self.model or "", self.integrator or "", f"edge x {self.edge:g}" if self.edge else ""]
        return ", ".join(word for word in words if word) or "as it is"


@dataclass
class RunResult:
    """What a variation came to: figures, or the words of the message it ended with.

    wall and cpu [s], real_time_factor (by wall time), cpu_factor (simulated seconds per CPU second), step and
    stable_step [s], memory [MB], energy_drift: largest change of the ledger's total over the energy that
    moved; volume_change: largest, relative; error: distance to the reference, root mean square over particles
    and frames, over the reference's largest displacement.
    """

    label: str
    message: str = ""
    wall: float | None = None
    cpu: float | None = None
    real_time_factor: float | None = None
    cpu_factor: float | None = None
    step: float | None = None
    stable_step: float | None = None
    memory: float | None = None
    energy_drift: float | None = None
    volume_change: float | None = None
    particles: int | None = None
    error: float | None = None
    state: str = "failed"
    run: Run | None = field(default=None, repr=False)

    def to_dict(self) -> Table:
        return {name: value for name, value in vars(self).items() if name != "run"}


Ended = tuple[int, str, str, float]
"""Exit code, output, errors and largest memory [MB] of a child process."""


def run_child(
    scene: Path, variation: ComparisonCase, folder: Path, changes: Sequence[str] = (), threads: int = 1
) -> Ended:
    """Run a scene file as ``variation`` into ``folder``, in a child process."""
    words = [sys.executable, "-m", "pliant", "run", str(scene), "-o", str(folder), "--json", "--force"]
    words += ["--threads", str(threads)]
    if variation.model is not None:
        words += ["--model", variation.model]
    if variation.integrator is not None:
        words += ["--integrator", variation.integrator]
    for change in (*(f"bodies.*.model.{key}" for key in variation.keys), *changes):
        words += ["--set", change]
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process = subprocess.Popen(words, stdout=out, stderr=err, env=environment())
        code, memory = ended(process)
        texts = []
        for file in (out, err):
            file.seek(0)
            texts.append(file.read().decode(errors="replace"))
    return code, texts[0], texts[1], memory


def described(variation: ComparisonCase, folder: Path, ended: Ended) -> RunResult:
    """What a child process that ran ``variation`` into ``folder`` came to."""
    code, out, err, memory = ended
    found = RunResult(variation.label, memory=memory)
    if code in (0, 3) and folder.is_dir():  # else it is not this run's, or not a run yet
        _describe(found, load(folder))
    if code != 0:
        found.message = _said(err) or f"exit code {code}"
        found.state = "diverged" if code == 3 else "refused" if code == 2 else "failed"
    else:
        info = json.loads(out)
        found.state, found.wall, found.cpu = "done", info["wall"], info["cpu"]
        found.real_time_factor = info["real_time_factor"]
        if info["cpu"]:
            found.cpu_factor = info["duration"] / info["cpu"]
    return found


def _said(err: str) -> str:
    lines = [line.removeprefix("error: ") for line in err.splitlines() if line.startswith("error: ")]
    return lines[-1] if lines else err.strip().splitlines()[-1] if err.strip() else ""


def _describe(found: RunResult, run: Run) -> None:
    """Figures from the run folder."""
    from pliant.scene.load import parse

    found.run = run if len(run) else None
    found.step = run.manifest.get("step")
    found.particles = sum(body.particles for body in run.bodies)
    try:
        from pliant.integrators import INTEGRATORS
        from pliant.simulation.time_step import stable_limit

        scene = parse(run.scene_text, run.path, "scene", meshes=False)
        simulation = scene.simulation([record.structure for record in run.topology(0)])
        if all(not body.model.own_step for body in scene.bodies):
            found.stable_step = stable_limit(simulation.system, INTEGRATORS.build("leapfrog"))[0]
    except (ValueError, LookupError, PliantError):
        found.stable_step = None
    series = run.series
    if len(run) > 1 and "energy.total" in series:
        total = series["energy.total"]
        moved = series["energy.kinetic"] + series["energy.elastic"]
        span = float(np.ptp(moved)) + float(np.abs(series["energy.work"]).max())
        found.energy_drift = float(np.abs(total - total[0]).max()) / span if span > 0 else None
    if len(run) > 1 and "volume" in series:
        volume = series["volume"]
        found.volume_change = float(np.abs(volume / volume[0] - 1.0).max()) if volume[0] > 0 else None


@dataclass(frozen=True)
class Task:
    """A scene file, how to run it, the folder it goes to, and changes as ``--set`` has them."""

    scene: Path
    variation: ComparisonCase
    folder: Path
    changes: Sequence[str] = ()

    @property
    def label(self) -> str:
        return f"{self.scene.stem}: {self.folder.stem}"


def shared_cores(tasks: int, jobs: int | None = None) -> tuple[int, int]:
    """How many tasks go at once, and the threads of each; None: as many as there are cores."""
    from pliant.kernels.jit import core_count

    cores = core_count()
    at_once = max(1, min(jobs or cores, tasks))
    return at_once, max(1, cores // at_once)


def attempt_all(
    tasks: Sequence[Task], at_once: int, threads: int, show: Callable[[str], object]
) -> list[RunResult]:
    """Run all tasks, ``at_once`` at the same time, each in a child process with ``threads`` threads.

    What a run came to is read here while the next ones go on.
    """
    found: dict[int, RunResult] = {}
    with ThreadPoolExecutor(at_once) as pool:
        waiting: dict[Future[Ended], int] = {
            pool.submit(run_child, task.scene, task.variation, task.folder, task.changes, threads): number
            for number, task in enumerate(tasks)
        }
        try:
            for done in as_completed(waiting):
                task = tasks[waiting[done]]
                entry = found[waiting[done]] = described(task.variation, task.folder, done.result())
                took = f", {entry.wall:.1f} s" if entry.wall is not None else ""
                show(f"{task.label}: {entry.state}{took} ({len(found)} of {len(tasks)})")
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return [found[number] for number in range(len(tasks))]
