"""One run of a comparison, in a process of its own: what it took, and what it came to."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from pliant.children import environment
from pliant.errors import PliantError
from pliant.recording import Run, load


@dataclass(frozen=True)
class Variation:
    """A scene as one model, integrator and resolution has it; None: as the scene says.

    edge: a factor on the resolution, 0.5 for half the edge length.
    """

    model: str | None = None
    integrator: str | None = None
    edge: float | None = None

    @property
    def label(self) -> str:
        words = [self.model or "", self.integrator or "", f"edge x {self.edge:g}" if self.edge else ""]
        return ", ".join(word for word in words if word) or "as it is"


@dataclass
class Attempt:
    """What a variation came to: figures, or the words of the message it ended with.

    wall [s], real_time_factor, step and stable_step [s], memory [MB], energy_drift: largest change of the
    ledger's total over the energy that moved; volume_change: largest, relative; error: distance to the
    reference, root mean square over particles and frames, over the reference's largest displacement.
    """

    label: str
    message: str = ""
    wall: float | None = None
    real_time_factor: float | None = None
    step: float | None = None
    stable_step: float | None = None
    memory: float | None = None
    energy_drift: float | None = None
    volume_change: float | None = None
    particles: int | None = None
    error: float | None = None
    state: str = "failed"
    run: Run | None = field(default=None, repr=False)

    def to_dict(self) -> dict[str, Any]:
        table = asdict(self) if self.run is None else asdict(Attempt(**{**vars(self), "run": None}))
        return {name: value for name, value in table.items() if name != "run"}


def attempt(scene: Path, variation: Variation, folder: Path, changes: Sequence[str] = ()) -> Attempt:
    """Run a scene file as ``variation`` into ``folder``, in a child process."""
    words = [sys.executable, "-m", "pliant", "run", str(scene), "-o", str(folder), "--json", "--force"]
    if variation.model is not None:
        words += ["--model", variation.model]
    if variation.integrator is not None:
        words += ["--integrator", variation.integrator]
    for change in changes:
        words += ["--set", change]
    code, out, err, memory = _child(words)
    found = Attempt(variation.label, memory=memory)
    if folder.is_dir():
        run = load(folder)
        _describe(found, run)
    if code != 0:
        found.message = _said(err) or f"exit code {code}"
        found.state = "diverged" if code == 3 else "refused" if code == 2 else "failed"
    else:
        info = json.loads(out)
        found.state, found.wall, found.real_time_factor = "done", info["wall"], info["real_time_factor"]
    return found


def _child(words: Sequence[str]) -> tuple[int, str, str, float]:
    """Exit code, output, errors and largest memory [MB] of a child process."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process = subprocess.Popen(words, stdout=out, stderr=err, env=environment())
        try:
            _, status, used = os.wait4(process.pid, 0)
        except BaseException:
            process.kill()
            process.wait()
            raise
        process.returncode = os.waitstatus_to_exitcode(status)
        texts = []
        for file in (out, err):
            file.seek(0)
            texts.append(file.read().decode(errors="replace"))
    return process.returncode, texts[0], texts[1], used.ru_maxrss / 1e3


def _said(err: str) -> str:
    lines = [line.removeprefix("error: ") for line in err.splitlines() if line.startswith("error: ")]
    return lines[-1] if lines else err.strip().splitlines()[-1] if err.strip() else ""


def _describe(found: Attempt, run: Run) -> None:
    """Figures from the run folder."""
    from pliant.scene.load import parse

    found.run = run if len(run) else None
    found.step = run.manifest.get("step")
    found.particles = sum(body.particles for body in run.bodies)
    try:
        from pliant.integrators import INTEGRATORS
        from pliant.simulation.step import stable_limit

        simulation = parse(run.scene_text, run.path, "scene", meshes=False).simulation(
            [record.structure for record in run.topology(0)]
        )
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
