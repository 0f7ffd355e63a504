"""The report of ``pliant validate`` as one HTML page."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from pliant import __version__
from pliant.core.tables import TableView
from pliant.validation.cases import Case
from pliant.validation.html import LEAST, ChartBar, ChartMark, Page, PageLink, bars

HEAD = ("model", "value", "expected", "error", "tolerance", "error / tolerance", "ok", "CPU s", "note")


def write_report(path: Path, rows: Sequence[TableView], cases: Mapping[str, Case]) -> None:
    """All outcomes case by case: equation, source, numbers, tolerance and why; failures are shown."""
    applied = [row for row in rows if row["applies"]]
    good = sum(bool(row["ok"]) for row in applied)
    page = Page("pliant validate")
    names = list(dict.fromkeys(row["case"] for row in rows))
    page.text(
        f"pliant {__version__}: {good} of {len(applied)} pairs of model and case within tolerance, "
        f"{len(names)} cases, {sum(row['seconds'] for row in rows):.0f} CPU seconds. Each states its closed "
        "form or published number, our number, the error and the tolerance. What a method cannot do is "
        "shown, with the reason; a dash means that a case does not apply to a model, or that the model "
        "refuses it and says why below."
    )
    page.heading("Overview")
    page.table(("case", *_models(rows)), _matrix(rows, names))
    _outside(page, applied)
    page.heading("Error as a share of the tolerance")
    shares = [(f"{row['case']} · {row['model']}", _share(row), bool(row["ok"])) for row in applied]
    seen = [entry for entry in shares if entry[1] > LEAST]
    page.text(f"{len(shares) - len(seen)} pairs are below {LEAST:g} of their tolerance and left out.", True)
    page.drawing(bars(seen, "error over tolerance of the pairs of model and case"))
    page.heading("Case by case")
    for name in names:
        _case(page, cases[name], [row for row in rows if row["case"] == name])
    page.write(path)


def _matrix(rows: Sequence[TableView], names: Sequence[str]) -> list[list[ChartMark | PageLink]]:
    """Cases down, models across (their variants together); at the end, all cases of a model."""
    models = _models(rows)
    table: list[list[ChartMark | PageLink]] = []
    for name in names:
        own = [row for row in rows if row["case"] == name]
        table.append([PageLink(name), *(_mark([row for row in own if _model(row) == m]) for m in models)])
    sums = [_mark([row for row in rows if _model(row) == model]) for model in models]
    return [*table, [ChartMark("all cases"), *sums]]


def _model(row: TableView) -> str:
    """The model of a row without its variant: fem of "fem/quadratic"."""
    return str(row["model"]).partition("/")[0]


def _models(rows: Sequence[TableView]) -> list[str]:
    return list(dict.fromkeys(_model(row) for row in rows))


def _outside(page: Page, applied: Sequence[TableView]) -> None:
    """The pairs that are outside their tolerance, with the reason."""
    bad = [row for row in applied if not row["ok"]]
    if not bad:
        return
    page.heading("Outside the tolerance, and why")
    keys = ("model", "value", "expected", "error", "tolerance")
    page.table(
        ("case", *keys, "why"),
        [
            [PageLink(row["case"]), *(row[key] for key in keys), row["expected_failure"] or "It should hold."]
            for row in bad
        ],
    )


def _mark(rows: Sequence[TableView]) -> ChartMark:
    """One word for the pair of a model and a case; how many are within tolerance where there are several."""
    found = [row for row in rows if row["applies"]]
    if not found:
        return ChartMark("–")
    good = sum(bool(row["ok"]) for row in found)
    kind = "good" if good == len(found) else "wrong"
    if len(found) > 1:
        return ChartMark(f"{good} of {len(found)}", kind)
    return ChartMark("ok" if good else "cannot" if found[0]["expected_failure"] else "no", kind)


def _share(row: TableView) -> float:
    if row["tolerance"] > 0:
        return float(row["error"] / row["tolerance"])
    return 0.0 if row["ok"] else 10.0


def _case(page: Page, entry: Case, rows: Sequence[TableView]) -> None:
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
        share = ChartBar(_share(row), bool(row["ok"])) if row["applies"] else None
        state = row["ok"] if row["applies"] else "does not apply"
        table.append([row["model"], *numbers, share, state, round(row["seconds"], 1), words])
        kinds.append("off" if not row["applies"] else "" if row["ok"] else "bad")
    page.table(HEAD, table, kinds)
