"""What the matrix came to: figures in all, a compact table, an HTML page."""

from collections.abc import Sequence
from pathlib import Path

from pliant.core.tables import Table
from pliant.validation.html import ChartMark, Page
from pliant.validation.matrix.figures import FIGURES
from pliant.validation.matrix.motions import MOTIONS
from pliant.validation.matrix.verdict import CRITERIA, LIMITS

HEAD = {
    "body": "body", "motion": "motion", "model": "model", "integrator": "integrator", "state": "ended",
    "gain": "energy gained", "unexplained": "unexplained", "surplus": "surplus", "numerical": "numerical",
    "linear": "momentum", "angular": "angular momentum", "volume_end": "volume at the end",
    "volume_change": "volume", "inverted": "inverted", "depth": "depth", "depth_bodies": "depth, bodies",
    "cpu": "CPU [s]", "time_ratio": "time / estimate", "message": "message",
}  # fmt: skip
ABOUT = (
    "energy gained: largest rise of what the ledger does not explain "
    f"(at most {LIMITS.gain:g}); unexplained: how far the ledger is from closing (at most "
    f"{LIMITS.unexplained_smooth:g} where nothing collides, else {LIMITS.unexplained:g}); surplus: most that "
    "bodies held above what they had and what work was done on them; all over the largest energy that moved. "
    f"momentum: change in free motion. volume: change at the end (at most {LIMITS.volume_end:g}) and ever "
    f"({LIMITS.volume:g}). inverted: share of cells ever inside out ({LIMITS.inverted:g}; none at the end). "
    f"depth: in ground or ball ({LIMITS.depth:g}) and in another body ({LIMITS.depth_bodies:g}), over the "
    "spacing of the particles."
)


def summary(rows: Sequence[Table]) -> Table:
    """Counts over all runs."""
    run = [row for row in rows if row["state"] != "refused"]
    timed = [row["verdict"]["time"] for row in run if row["verdict"].get("time") is not None]
    return {
        "runs": len(run),
        "refused": len(rows) - len(run),
        "done": sum(row["state"] == "done" for row in run),
        "diverged": sum(row["state"] == "diverged" for row in run),
        "good": sum(row["ok"] for row in run),
        "energy_from_nothing": sum(
            row["state"] == "done"
            and not max(row.get("gain") or 0.0, row.get("surplus") or 0.0) <= LIMITS.gain
            for row in run
        ),
        "estimated": sum(timed),
        "timed": len(timed),
        **{key: sum(row["verdict"].get(key) is False for row in run) for key in CRITERIA},
    }


def letters(row: Table) -> str:
    """The criteria that a run fails."""
    return "".join(letter for key, letter in CRITERIA.items() if row["verdict"].get(key) is False)


def table_rows(rows: Sequence[Table]) -> tuple[list[str], list[list[str]]]:
    """Head and rows of the compact table: good runs of all runs per model, integrator and motion, and how
    many of the others fail which criterion."""
    used = [name for name in MOTIONS if any(row["motion"] == name for row in rows)]
    groups: dict[tuple[str, str], dict[str, list[Table]]] = {}
    for row in rows:
        here = groups.setdefault((row["model"], row["integrator"]), {name: [] for name in used})
        if row["state"] != "refused":
            here[row["motion"]].append(row)
    table = [[*kind, *(_counts(here[name]) for name in used)] for kind, here in groups.items()]
    return ["model", "integrator", *used], table


def _counts(rows: Sequence[Table]) -> str:
    if not rows:
        return "-"
    failed = "".join(letters(row) for row in rows if not row["ok"])
    counts = {letter: failed.count(letter) for letter in CRITERIA.values() if letter != "T"}
    marks = [f"{letter}{count}" for letter, count in counts.items() if count]
    return " ".join([f"{sum(row['ok'] for row in rows)}/{len(rows)}", *marks])


def written_table(rows: Sequence[Table]) -> str:
    """The compact table as Markdown."""
    head, body = table_rows(rows)
    lines = [head, ["---"] * len(head), *body]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


def write_page(path: Path, rows: Sequence[Table]) -> None:
    """One page: counts, the compact table, every run."""
    page, found = Page("The matrix"), summary(rows)
    page.text(
        f"{found['runs']} runs: {found['done']} came to their end, {found['diverged']} stopped as diverged, "
        f"{found['good']} are good. {found['refused']} combinations do not apply. Time within a factor of "
        f"{LIMITS.estimate:g} of the estimate: {found['estimated']} of {found['timed']}."
    )
    words = ", ".join(f"{letter} {key}" for key, letter in CRITERIA.items() if letter != "T")
    page.heading("Good runs by body and model")
    bodies = [name for name in FIGURES if any(row["body"] == name for row in rows)]
    models = list(dict.fromkeys(row["model"] for row in rows))
    grid = []
    for body in bodies:
        cells: list[object] = [body]
        for model in models:
            here = [r for r in rows if (r["body"], r["model"]) == (body, model) and r["state"] != "refused"]
            good = sum(row["ok"] for row in here)
            cells.append(ChartMark(f"{good}/{len(here)}", "good" if good == len(here) else "wrong"))
        grid.append(cells)
    page.table(["body", *models], grid)
    page.text(f"In the tables: {words}.", note=True)
    page.heading("All runs")
    page.text(ABOUT, note=True)
    shown = [[*(row.get(key) for key in HEAD), letters(row)] for row in rows]
    kinds = ["off" if row["state"] == "refused" else "" if row["ok"] else "bad" for row in rows]
    page.table([*HEAD.values(), "fails"], shown, kinds)
    page.write(path)
