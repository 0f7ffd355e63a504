"""The report of ``pliant validate`` as one HTML page."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pliant import __version__
from pliant.evidence.page import Link, Mark, Page, bars
from pliant.evidence.validate import Case

NEGLIGIBLE = 1e-4  # of the tolerance


def write_report(path: Path, rows: Sequence[Mapping[str, Any]], cases: Mapping[str, Case]) -> None:
    """All outcomes case by case: equation, source, numbers, tolerance and why; failures are shown."""
    applied = [row for row in rows if row["applies"]]
    good = sum(bool(row["ok"]) for row in applied)
    page = Page("pliant validate")
    names = list(dict.fromkeys(row["case"] for row in rows))
    page.text(
        f"pliant {__version__}: {good} of {len(applied)} pairs of model and case within tolerance, "
        f"{len(names)} cases. Each states its closed form or published number, our number, the error and the "
        "tolerance. What a method cannot do is shown, with the reason; a dash means that a case does not "
        "apply to a model, or that the model refuses it and says why below."
    )
    page.heading("Overview")
    page.table(
        ("case", *dict.fromkeys(row["model"] for row in rows)),
        _matrix(rows, names),
    )
    page.heading("Error as a share of the tolerance")
    shares = [(f"{row['case']} · {row['model']}", _share(row), bool(row["ok"])) for row in applied]
    seen = [entry for entry in shares if entry[1] > NEGLIGIBLE]
    page.text(
        f"{len(shares) - len(seen)} pairs are below {NEGLIGIBLE:g} of their tolerance and left out.", True
    )
    page.drawing(bars(seen, "error over tolerance of the pairs of model and case"))
    for name in names:
        _case(page, cases[name], [row for row in rows if row["case"] == name])
    page.write(path)


def _matrix(rows: Sequence[Mapping[str, Any]], names: Sequence[str]) -> list[list[Mark | Link]]:
    models = list(dict.fromkeys(row["model"] for row in rows))
    found = {(row["case"], row["model"]): row for row in rows}
    return [[Link(name), *(_mark(found.get((name, model))) for model in models)] for name in names]


def _mark(row: Mapping[str, Any] | None) -> Mark:
    if row is None or not row["applies"]:
        return Mark("–")
    return Mark("ok", "good") if row["ok"] else Mark("cannot" if row["expected_failure"] else "no", "wrong")


def _share(row: Mapping[str, Any]) -> float:
    if row["tolerance"] > 0:
        return float(row["error"] / row["tolerance"])
    return 0.0 if row["ok"] else 10.0


def _case(page: Page, entry: Case, rows: Sequence[Mapping[str, Any]]) -> None:
    page.heading(entry.name, 3)
    page.text(entry.equation)
    notes = [text for text in (entry.source and f"Source: {entry.source}.", entry.why) if text]
    if notes:
        page.text(" ".join(notes), note=True)
    table, kinds = [], []
    for row in rows:
        words = row["expected_failure"] if row["expected_failure"] and not row["ok"] else row["note"]
        numbers = [
            row[key] if row["applies"] else None for key in ("value", "expected", "error", "tolerance")
        ]
        table.append([row["model"], *numbers, row["ok"] if row["applies"] else "does not apply", words])
        kinds.append("off" if not row["applies"] else "" if row["ok"] else "bad")
    page.table(("model", "value", "expected", "error", "tolerance", "ok", "note"), table, kinds)
