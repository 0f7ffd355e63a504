"""All runs of the matrix: which, in parallel, resumable, and the files that tell of them."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path

from pliant.core.errors import InputError, PliantError
from pliant.core.registry import nearest
from pliant.core.tables import Table
from pliant.mesh.io import write_surface
from pliant.models import MODELS
from pliant.run.store.json_files import write_json
from pliant.validation.comparison_run import shared_cores
from pliant.validation.matrix.cells import (
    SCHEMES,
    MatrixCell,
    estimate_cell,
    expired,
    reused,
    run_cell,
    scheme,
)
from pliant.validation.matrix.figures import FIGURES, MeshFigure, enter_mesh, figure_surface
from pliant.validation.matrix.motions import MOTIONS
from pliant.validation.matrix.pairs import applying, covering
from pliant.validation.matrix.report import summary, write_page, written_table
from pliant.validation.matrix.workers import WorkerPool

QUICK = {
    "bodies": ("pretzel",),
    "motions": ("drop", "kick", "hang"),
    "models": ("mass-spring", "fem", "cpm1"),
    "integrators": ("explicit",),
}
QUICK_SECONDS, SECONDS = 0.3, 10.0
"""The part of the matrix that runs in continuous integration, and the simulated time of a run."""
LONGEST_ESTIMATE = 600.0  # s, that an estimate may take
SLACK, MOST_ATTEMPTS = 10.0, 3
"""Times the limit, in wall time, after which a process is ended; attempts at a run that ends its own."""
Show = Callable[[Table, int, int], object]


@dataclass(frozen=True)
class MatrixPlan:
    """What is run: None for all. limit: CPU seconds after which a run is ended. meshes: files whose surfaces
    are bodies too; with them, None for ``bodies`` is none of the others. pairs: of that, only runs in which
    each two of body, motion, model and integrator occur together."""

    bodies: Sequence[str] | None = None
    motions: Sequence[str] | None = None
    models: Sequence[str] | None = None
    integrators: Sequence[str] | None = None
    seconds: float = SECONDS
    limit: float = 900.0
    keep: bool = False
    meshes: Sequence[str] = ()
    pairs: bool = False

    def cells(self) -> list[MatrixCell]:
        """All runs, in an order in which an early end has seen something of everything."""
        shipped = [name for name, each in FIGURES.items() if not isinstance(each, MeshFigure)]
        bodies = [] if self.meshes and self.bodies is None else _chosen("body", self.bodies, shipped)
        files: dict[str, str | None] = dict.fromkeys(bodies)
        files |= {enter_mesh(path): path for path in self.meshes}
        motions = _chosen("motion", self.motions, list(MOTIONS))
        models = _chosen("model", self.models, list(MODELS))
        kinds = [kind for kind in SCHEMES if scheme(kind)] if self.integrators is None else self.integrators
        for kind in kinds:
            if scheme(kind) is None:
                raise InputError(f"There is no integrator '{kind}'; {nearest(kind, list(SCHEMES))}")
        return [
            MatrixCell(body, motion, model, kind, self.seconds, files[body])
            for kind, body, motion, model in product(kinds, files, motions, models)
        ]


def matrix_plan(
    names: Mapping[str, Sequence[str]],
    seconds: float | None = None,
    limit: float = 900.0,
    quick: bool = False,
    meshes: Sequence[str] = (),
    pairs: bool = False,
) -> MatrixPlan:
    """The plan for ``names`` of bodies, motions, models and integrators, and files of ``meshes``; what is not
    named is all there is, or for ``quick`` the part that runs in continuous integration. For ``pairs`` see
    ``MatrixPlan``."""
    chosen = {**(QUICK if quick else {}), **names}
    if meshes and "bodies" not in names:
        chosen.pop("bodies", None)
    files = [str(Path(path).resolve()) for path in meshes]
    for path in files:
        figure_surface(enter_mesh(path))  # a file that cannot be read is an error now, not in a run
    span = seconds or (QUICK_SECONDS if quick else SECONDS)
    return MatrixPlan(
        chosen.get("bodies"), chosen.get("motions"), chosen.get("models"), chosen.get("integrators"),
        span, limit, meshes=files, pairs=pairs,
    )  # fmt: skip


def _chosen(what: str, wanted: Sequence[str] | None, known: list[str]) -> list[str]:
    for name in wanted or ():
        if name not in known:
            raise InputError(f"The matrix has no {what} '{name}'; {nearest(name, known)}")
    return list(wanted or known)


def run_matrix(
    plan: MatrixPlan,
    folder: Path,
    jobs: int | None = None,
    show: Show | None = None,
    again: bool = False,
    tell: Callable[[str], object] | None = None,
) -> list[Table]:
    """Run the cells of ``plan`` that ``folder`` has no result of (all of them ``again``), ``jobs`` at a time;
    writes matrix.json, table.md and index.html. The results are in the order of the plan.

    ``show`` sees each result as it comes, ``tell`` a line about the time that all will take.
    """
    every = plan.cells()
    for name in ("results", "scenes", "runs", "meshes"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    for name in sorted({cell.body for cell in every}):
        write_surface(folder / "meshes" / f"{name}.obj", figure_surface(name))
    found: dict[str, Table] = {}
    cells = covering(every) if plan.pairs else every
    while cells:
        for cell in cells:
            known = None if again else cell.finished(folder)
            if known is not None:
                found[cell.name] = known
        _run_waiting(cells, found, folder, plan, jobs, show, tell)
        cells = _still_missing(every, found) if plan.pairs else []
    rows = [found[cell.name] for cell in every if cell.name in found]
    write_json(folder / "matrix.json", {"summary": summary(rows), "runs": rows})
    (folder / "table.md").write_text(written_table(rows), encoding="utf-8")
    write_page(folder / "index.html", rows)
    return rows


def _run_waiting(
    cells: Sequence[MatrixCell],
    found: dict[str, Table],
    folder: Path,
    plan: MatrixPlan,
    jobs: int | None,
    show: Show | None,
    tell: Callable[[str], object] | None,
) -> None:
    """Run those of ``cells`` that ``found`` has no result of."""
    waiting = [cell for cell in cells if cell.name not in found]
    if not waiting:
        return
    total = len(found) + len(waiting)
    at_once, threads = shared_cores(len(waiting), jobs)
    with WorkerPool(at_once, threads) as pool:
        order = _longest_first(waiting, folder, pool, tell)
        for entry in _run(order, found, folder, plan, pool):
            found[entry["name"]] = entry
            if show is not None:
                show(entry, len(found), total)


def _still_missing(every: Sequence[MatrixCell], found: Mapping[str, Table]) -> list[MatrixCell]:
    """Cells for the pairs that only refused runs have."""
    ran = [cell for cell in every if cell.name in found]
    refused = [cell for cell in ran if found[cell.name]["state"] == "refused"]
    known = set(refused)
    return covering(applying(every, refused), [cell for cell in ran if cell not in known])


def _longest_first(
    cells: Sequence[MatrixCell], folder: Path, pool: WorkerPool, tell: Callable[[str], object] | None
) -> list[MatrixCell]:
    """``cells`` in the order of their expected times, from ``check`` of one body for each motion, model and
    integrator; where that would be most of the cells, as they are."""
    groups: dict[tuple[str, str, str], list[MatrixCell]] = {}
    for cell in cells:
        groups.setdefault((cell.motion, cell.model, cell.integrator), []).append(cell)
    if len(cells) < 4 * len(groups):
        return list(cells)
    samples = [sorted(group, key=_size)[len(group) // 2] for group in groups.values()]
    todo = iter(samples)
    seconds: dict[tuple[str, str, str], float] = {}
    chosen: dict[tuple[str, str, str], str] = {}
    for outcome in pool.outcomes(
        lambda: next(todo, None), lambda cell: (estimate_cell, (cell, folder)), LONGEST_ESTIMATE
    ):
        cell, value = outcome.task, outcome.value or {"estimate": 0.0, "asking": 0.0}
        key = (cell.motion, cell.model, cell.integrator)
        seconds[key] = (value["estimate"] or 0.0) + value["asking"]
        chosen[key] = value.get("chosen", "")
    for key, (motion, model, kind) in zip(groups, groups, strict=True):
        if kind != "auto" and chosen.get((motion, model, "auto")) == scheme(kind):
            seconds[key] = 0.0
    total = sum(seconds[key] * len(group) for key, group in groups.items()) / len(pool.workers)
    if tell is not None:
        tell(
            f"{len(cells)} runs on {len(pool.workers)} processes: about {_span(total)}, from "
            f"{len(samples)} estimates of bodies of middle size"
        )
    return sorted(cells, key=lambda cell: -seconds[cell.motion, cell.model, cell.integrator])


def _span(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 120.0 else f"{seconds / 60.0:.0f} min"


def _size(cell: MatrixCell) -> int:
    return len(figure_surface(cell.body).triangles)


def _run(
    cells: Sequence[MatrixCell], known: Mapping[str, Table], folder: Path, plan: MatrixPlan, pool: WorkerPool
) -> Iterator[Table]:
    """Results as they come. A cell with an integrator by name waits for the one with an automatic integrator,
    whose result it has where that chose the same."""
    names = {cell.name for cell in cells}
    ready: list[MatrixCell] = []
    held: dict[str, list[MatrixCell]] = {}
    done: list[Table] = []
    for cell in cells:
        twin = replace(cell, integrator="auto").name
        if cell.integrator == "auto" or (twin not in names and twin not in known):
            ready.append(cell)
        elif twin in names:
            held.setdefault(twin, []).append(cell)
        elif (same := reused(cell, folder, known[twin])) is not None:
            done.append(same)
        else:
            ready.append(cell)
    yield from done
    place = {cell.name: number for number, cell in enumerate(cells)}
    ready.reverse()
    limit = SLACK * plan.limit
    attempts: Counter[str] = Counter()
    for outcome in pool.outcomes(
        lambda: ready.pop() if ready else None,
        lambda cell: (run_cell, (cell, folder, plan.limit, plan.keep)),
        limit,
    ):
        cell = outcome.task
        if outcome.lost == "crashed":
            attempts[cell.name] += 1
            if attempts[cell.name] > MOST_ATTEMPTS:
                raise PliantError(f"The processes of the matrix end by themselves, at last with {cell.name}.")
            ready.append(cell)  # ``run_cell`` counts how often that has happened
            continue
        entry = expired(cell, folder, plan.limit) if outcome.lost else outcome.value
        yield entry
        for other in held.pop(cell.name, ()):
            same = reused(other, folder, entry)
            if same is not None:
                yield same
            else:
                ready.append(other)
                ready.sort(key=lambda each: -place[each.name])
