"""The page of a comparison: table, pictures and movie side by side, graphs."""

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from pliant.core.errors import PliantError
from pliant.core.tables import Table, TableView
from pliant.run.store import Run
from pliant.validation.comparison_run import RunResult
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
    "largest displacement. energy drift: change of the whole ledger over the energy that moved. stable step: "
    "the longest of leapfrog. memory: of the whole process, at its largest. Rows in red did not come to "
    "their end."
)
Show = Callable[[str], object]


def write_page(
    path: Path, result: TableView, attempts: Sequence[RunResult], truth: Run | None, pictures: bool,
    show: Show,
) -> None:  # fmt: skip
    """One page that holds everything in itself."""
    page = Page(f"{result['title']}: models side by side")
    threads, at_once = result["threads"], result["at_once"]
    plural = "s" if threads > 1 else ""
    page.text(
        f"Reference: {result['reference']}. Every run has {threads} thread{plural}; {at_once} at a time."
    )
    fill(page, path.parent, result, attempts, truth, pictures, show)
    page.write(path)


def fill(
    page: Page, folder: Path, result: TableView, attempts: Sequence[RunResult], truth: Run | None,
    pictures: bool, show: Show,
) -> None:  # fmt: skip
    """A comparison's part of a page; its pictures are left in ``folder`` too."""
    said = any(entry["message"] for entry in result["attempts"])
    head = {key: title for key, title in HEAD.items() if key != "message" or said}
    rows = [[entry[key] for key in head] for entry in result["attempts"]]
    page.table(list(head.values()), rows, ["" if e.state == "done" else "bad" for e in attempts])
    page.text(ABOUT, note=True)
    runs = [entry.run for entry in attempts if entry.run is not None and len(entry.run) > 1]
    if not pictures or not runs:
        return
    shown = [*runs, truth] if truth is not None and truth not in runs else runs
    labels = [e.label for e in attempts if e.run in runs]
    show(f"{result['scene']}: pictures")
    try:
        _pictures(page, folder, shown, [*labels, *["reference"][: len(shown) - len(runs)]])
        with tempfile.TemporaryDirectory() as place:
            _graphs(page, Path(place), attempts, truth)
    except PliantError as error:
        page.text(f"No pictures: {error.message}", note=True)


def _pictures(page: Page, folder: Path, runs: Sequence[Run], labels: Sequence[str]) -> None:
    """A picture of the last moment and a movie of all, at the same times and in the same scale."""
    from pliant.render import render

    frames = min(len(run) for run in runs)
    size = "256x192"
    render(list(runs), folder / "end.png", frame=frames - 1, size=size, force=True)
    words = f"the last frame of every run, side by side; from the left: {', '.join(labels)}"
    page.picture(folder / "end.png", words)
    page.text(f"{words[0].upper()}{words[1:]}.", note=True)
    every = max(1, frames // 17)
    whole: Table = {
        "frames": slice(0, frames),
        "every": every,
        "size": size,
        "workers": None,
        "force": True,
    }
    render(list(runs), folder / "all.mp4", **whole)
    movie = folder / "all.mp4"
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
