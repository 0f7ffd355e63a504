"""All runs of the matrix: which, in parallel, resumable, and the files that tell of them."""

import multiprocessing
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from pliant.core.errors import InputError, PliantError
from pliant.core.registry import nearest
from pliant.core.tables import Table
from pliant.mesh.io import write_surface
from pliant.models import MODELS
from pliant.run.store.json_files import write_json
from pliant.validation.comparison_run import shared_cores
from pliant.validation.matrix.cells import SCHEMES, MatrixCell, run_cell, scheme
from pliant.validation.matrix.figures import FIGURES, figure_surface
from pliant.validation.matrix.motions import MOTIONS
from pliant.validation.matrix.report import summary, write_page, written_table

QUICK = {
    "bodies": ("pretzel",),
    "motions": ("drop", "kick", "hang"),
    "models": ("mass-spring", "fem", "cpm1"),
    "integrators": ("explicit",),
}
QUICK_SECONDS, SECONDS = 0.3, 10.0
"""The part of the matrix that runs in continuous integration, and the simulated time of a run."""
Show = Callable[[Table, int, int], object]


@dataclass(frozen=True)
class MatrixPlan:
    """What is run: None for all. limit: seconds of computing after which a run is ended."""

    bodies: Sequence[str] | None = None
    motions: Sequence[str] | None = None
    models: Sequence[str] | None = None
    integrators: Sequence[str] | None = None
    seconds: float = SECONDS
    limit: float = 900.0
    keep: bool = False

    def cells(self) -> list[MatrixCell]:
        """All runs, in an order in which an early end has seen something of everything."""
        bodies = _chosen("body", self.bodies, list(FIGURES))
        motions = _chosen("motion", self.motions, list(MOTIONS))
        models = _chosen("model", self.models, list(MODELS))
        kinds = [kind for kind in SCHEMES if scheme(kind)] if self.integrators is None else self.integrators
        for kind in kinds:
            if scheme(kind) is None:
                raise InputError(f"There is no integrator '{kind}'; {nearest(kind, list(SCHEMES))}")
        return [
            MatrixCell(body, motion, model, kind, self.seconds)
            for kind, body, motion, model in product(kinds, bodies, motions, models)
        ]


def matrix_plan(
    names: Mapping[str, Sequence[str]],
    seconds: float | None = None,
    limit: float = 900.0,
    quick: bool = False,
) -> MatrixPlan:
    """The plan for ``names`` of bodies, motions, models and integrators; what is not named is all there is,
    or for ``quick`` the part that runs in continuous integration."""
    chosen = {**(QUICK if quick else {}), **names}
    span = seconds or (QUICK_SECONDS if quick else SECONDS)
    return MatrixPlan(
        chosen.get("bodies"), chosen.get("motions"), chosen.get("models"), chosen.get("integrators"),
        span, limit,
    )  # fmt: skip


def _chosen(what: str, wanted: Sequence[str] | None, known: list[str]) -> list[str]:
    for name in wanted or ():
        if name not in known:
            raise InputError(f"The matrix has no {what} '{name}'; {nearest(name, known)}")
    return list(wanted or known)


def run_matrix(
    plan: MatrixPlan, folder: Path, jobs: int | None = None, show: Show | None = None, again: bool = False
) -> list[Table]:
    """Run the cells of ``plan`` that ``folder`` has no result of (all of them ``again``), ``jobs`` at a time;
    writes matrix.json, table.md and index.html. The results are in the order of the plan."""
    cells = plan.cells()
    for name in ("results", "scenes", "runs", "meshes"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    for name in sorted({cell.body for cell in cells}):
        mesh = folder / "meshes" / f"{name}.obj"
        if not mesh.exists():
            write_surface(mesh, figure_surface(name))
    found: dict[str, Table] = {}
    for cell in cells:
        known = None if again else cell.finished(folder)
        if known is not None:
            found[cell.name] = known
    waiting = [cell for cell in cells if cell.name not in found]
    at_once, threads = shared_cores(len(waiting), jobs)
    for entry in _run(waiting, folder, plan, at_once, threads):
        found[entry["name"]] = entry
        if show is not None:
            show(entry, len(found), len(cells))
    rows = [found[cell.name] for cell in cells]
    write_json(folder / "matrix.json", {"summary": summary(rows), "runs": rows})
    (folder / "table.md").write_text(written_table(rows), encoding="utf-8")
    write_page(folder / "index.html", rows)
    return rows


def _run(
    cells: Sequence[MatrixCell], folder: Path, plan: MatrixPlan, at_once: int, threads: int
) -> Iterator[Table]:
    """Results as they come. Spawned, not forked: threads of compiled loops do not survive a fork."""
    if at_once == 1:
        yield from (run_cell(cell, folder, plan.limit, plan.keep) for cell in cells)
        return
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(at_once, context, _begin, (threads,)) as pool:
        waiting = [pool.submit(run_cell, cell, folder, plan.limit, plan.keep) for cell in cells]
        try:
            for done in as_completed(waiting):
                yield done.result()
        except BrokenProcessPool as error:
            raise PliantError(
                "A process of the matrix was ended, by a lack of memory or from outside.",
                hint="Give the same command again: it continues, and counts a run that ends its process twice"
                " as crashed.",
            ) from error
        except BaseException:
            for child in multiprocessing.active_children():
                child.terminate()
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _begin(threads: int) -> None:
    from pliant.kernels.jit import set_threads

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent tells when to stop
    set_threads(threads)
