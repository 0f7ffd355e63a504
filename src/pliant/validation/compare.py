"""The same scene over models, integrators and resolutions side by side: runs, table, pictures, graphs."""

import json
import math
import tempfile
from collections.abc import Callable, Mapping, Sequence
from itertools import product
from pathlib import Path

from pliant.core.errors import InputError, PliantError
from pliant.core.registry import nearest
from pliant.core.tables import Table, TableView
from pliant.mesh.shapes.boxes import Box
from pliant.models import MODELS, deforming
from pliant.run.store import Run, load
from pliant.scene import Scene
from pliant.scene.load import read
from pliant.validation.comparison_run import (
    ComparisonCase,
    RunResult,
    Task,
    attempt_all,
    error_against,
    shared_cores,
)
from pliant.validation.html import Page

HEAD = {
    "label": "variation",
    "error": "error",
    "wall": "wall [s]",
    "cpu": "CPU [s]",
    "real_time_factor": "x real time",
    "energy_drift": "energy drift",
    "volume_change": "volume change",
    "stable_step": "stable step [s]",
    "step": "step [s]",
    "memory": "memory [MB]",
    "particles": "particles",
    "message": "said",
}
LARGEST = 4_000_000  # bytes of a movie that the page takes in
ABOUT = (
    "error: root mean square distance from the reference, over particles and frames, over the reference's "
    "largest displacement. energy drift: change of the total energy over the energy exchanged. stable step: "
    "the longest of leapfrog. memory: of the whole process, at its largest. Rows in red did not come to "
    "their end."
)
Show = Callable[[str], object]


def write_page(
    path: Path, result: TableView, attempts: Sequence[RunResult], truth: Run | None, pictures: bool,
    show: Show,
) -> None:  # fmt: skip
    """One page that holds everything in itself; its pictures are left beside it too."""
    page = Page(f"{result['title']}: models side by side")
    threads, at_once = result["threads"], result["at_once"]
    plural = "s" if threads > 1 else ""
    page.text(
        f"Reference: {result['reference']}. Every run has {threads} thread{plural}; {at_once} at a time."
    )
    said = any(entry["message"] for entry in result["attempts"])
    head = {key: title for key, title in HEAD.items() if key != "message" or said}
    rows = [[entry[key] for key in head] for entry in result["attempts"]]
    page.table(list(head.values()), rows, ["" if e.state == "done" else "bad" for e in attempts])
    page.text(ABOUT, note=True)
    runs = [entry.run for entry in attempts if entry.run is not None and len(entry.run) > 1]
    if pictures and runs:
        shown = [*runs, truth] if truth is not None and truth not in runs else runs
        labels = [e.label for e in attempts if e.run in runs]
        show(f"{result['scene']}: pictures")
        try:
            _pictures(page, path.parent, shown, [*labels, *["reference"][: len(shown) - len(runs)]])
            with tempfile.TemporaryDirectory() as place:
                _graphs(page, Path(place), attempts, truth)
        except PliantError as error:
            page.text(f"No pictures: {error.message}", note=True)
    page.write(path)


def _pictures(page: Page, folder: Path, runs: Sequence[Run], labels: Sequence[str]) -> None:
    """A picture of the last moment and a movie of all, at the same times and in the same scale."""
    from pliant.render import render

    frames = min(len(run) for run in runs)
    size = "256x192"
    render(list(runs), folder / "end.png", frame=frames - 1, size=size, force=True)
    words = f"the last frame of every run, side by side; from the left: {', '.join(labels)}"
    page.picture(folder / "end.png", words)
    page.text(f"{words[0].upper()}{words[1:]}.", note=True)
    movie, whole = folder / "all.mp4", slice(0, frames)
    render(list(runs), movie, frames=whole, every=max(1, frames // 17), size=size, workers=None, force=True)
    if movie.stat().st_size <= LARGEST:
        page.picture(movie, "all runs side by side")


def _graphs(page: Page, folder: Path, attempts: Sequence[RunResult], truth: Run | None) -> None:
    """Series that all runs have: the scene's own first, then the volume and the ledger."""
    from pliant.render import plot

    named = [(e.label, e.run) for e in attempts if e.run is not None and len(e.run) > 1]
    if truth is not None and all(run is not truth for _, run in named):
        named.append(("reference", truth))
    common = [name for name in named[0][1].series if all(name in run.series for _, run in named)]
    whole = ("time", "volume", "energy", "momentum", "angular")
    own = [name for name in common if name.partition(".")[0] not in whole][:3]
    wanted = [*own, *(name for name in ("volume", "energy.total") if name in common)]
    for number, name in enumerate(wanted):
        file = folder / f"{number}.png"
        labels = [label for label, _ in named]
        plot([run for _, run in named], [name], file, labels=labels, title=name)
        page.picture(file, f"{name} over time", half=True)


FINER = 0.5  # edge length of the reference over the scene's
REFERENCE = "fem"


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
