"""The same scene over models, integrators and resolutions: accuracy, speed, stability, side by side."""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from itertools import product
from pathlib import Path

from pliant.core.errors import InputError, PliantError
from pliant.core.registry import nearest
from pliant.core.tables import Table
from pliant.mesh.shapes.boxes import Box
from pliant.models import MODELS, deforming
from pliant.run.store import Run, load
from pliant.scene import Scene
from pliant.scene.load import read
from pliant.validation.comparison_page import write_page
from pliant.validation.comparison_run import ComparisonCase, RunResult, Task, attempt_all, shared_cores
from pliant.validation.run_error import error_against

FINER = 0.5  # edge length of the reference over the scene's
REFERENCE = "fem"

Show = Callable[[str], object]


def variations(
    models: Sequence[str] | None,
    integrators: Sequence[str],
    edges: Sequence[float],
    keys: Mapping[str, tuple[str, ...]] = {},
) -> list[ComparisonCase]:
    """All combinations; None means every model whose bodies deform."""
    names = deforming() if models is None else list(models)
    for name in names:
        if name not in MODELS:
            raise InputError(f"There is no model '{name}'; {nearest(name, list(MODELS))}")
    schemes: list[str | None] = [*integrators] or [None]
    sizes: list[float | None] = [*edges] or [None]
    return [ComparisonCase(n, i, e, keys.get(n, ())) for n, i, e in product(names, schemes, sizes)]


def refined(scene: Scene, factor: float) -> list[str]:
    """Changes that make all edges of a scene ``factor`` times as long, as ``--set`` has them."""
    changes = []
    for body in scene.bodies:
        if isinstance(body.shape, Box) and body.shape.divisions is not None:
            cells = [max(1, round(n / factor)) for n in body.shape.divisions]
            changes.append(f"bodies.{body.name}.shape.box.divisions={cells}")
        elif body.edge is not None:
            changes.append(f"bodies.{body.name}.edge={body.edge * factor:.6g}")
        else:
            changes.append(f"bodies.{body.name}.edge={body.structure().spacing * factor:.6g}")
    return changes


def compare(
    scene: Path,
    out: Path,
    models: Sequence[str] | None = None,
    integrators: Sequence[str] = (),
    edges: Sequence[float] = (),
    reference: Path | None = None,
    pictures: bool = True,
    show: Show = lambda text: None,
    jobs: int | None = None,
    keys: Mapping[str, tuple[str, ...]] | None = None,
) -> Table:
    """Run a scene file in all variations and write ``out``/index.html and compare.json; gives the latter.

    The reference is a run folder, or else a run of its own: finite elements at half the edge length.
    keys: of models, by their names, as ``--set`` has them.
    jobs: runs at the same time (None: one for each core); they share the cores evenly.
    """
    found = read(scene)
    given = None if reference is None else load(reference)
    chosen = variations(models, integrators, edges, keys or {})
    tasks = [Task(scene, v, out / _folder(v), refined(found, v.edge) if v.edge else []) for v in chosen]
    fine = RunResult("reference", message="")
    out.mkdir(parents=True, exist_ok=True)
    if reference is None:  # the longest, so the first
        try:
            changes = refined(found, FINER)
            tasks.insert(0, Task(scene, ComparisonCase(REFERENCE), out / "reference.pliant", changes))
        except PliantError as refusal:
            fine.message = refusal.message
    at_once, threads = shared_cores(len(tasks), jobs)
    attempts = attempt_all(tasks, at_once, threads, show)
    if len(attempts) > len(chosen):
        fine = attempts.pop(0)
    truth, words = _reference(given, fine, attempts)
    for entry in attempts:
        if truth is not None and entry.run is not None:
            error = error_against(entry.run, truth)
            entry.error = error if math.isfinite(error) else None
    result = {
        "scene": scene.stem,
        "title": found.title or scene.stem,
        "reference": words,
        "threads": threads,
        "at_once": at_once,
        "attempts": [entry.to_dict() for entry in attempts],
    }
    (out / "compare.json").write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    write_page(out / "index.html", result, attempts, truth, pictures, show)
    return result


def _folder(variation: ComparisonCase) -> str:
    words = [variation.model, variation.integrator, f"x{variation.edge:g}" if variation.edge else None]
    return "-".join(word for word in words if word).replace("/", "-") + ".pliant"


def _reference(given: Run | None, fine: RunResult, attempts: Sequence[RunResult]) -> tuple[Run | None, str]:
    """The run that counts as the truth, and what it is."""
    if given is not None:
        return given, f"{given.path.name}, as given"
    if fine.state == "done" and fine.run is not None:
        return fine.run, f"{REFERENCE} at half the edge length, {fine.particles} particles"
    best = max(
        (entry for entry in attempts if entry.state == "done" and entry.run is not None),
        key=lambda entry: entry.particles or 0,
        default=None,
    )
    if best is None:
        return None, f"none: {fine.message}"
    return best.run, f"{best.label}, the finest that ran to its end ({fine.message})"
