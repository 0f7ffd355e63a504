"""Collect results of the matrix, and draw the tables of docs/matrix.md from them.

python docs/make_matrix.py [FOLDER ...]    folders of `pliant validate --matrix`; none: only the tables

docs/studies/matrix.csv has one line per run, with the state of the code that it was made with; runs are
judged by the present limits. A run that is there already is replaced by that of a folder if it is of the same
length or longer.
"""

import csv
import json
import sys
from pathlib import Path

from pliant.core.tables import Table
from pliant.models import MODELS
from pliant.validation.matrix.cells import judge
from pliant.validation.matrix.figures import FIGURES
from pliant.validation.matrix.report import letters, summary, written_table
from pliant.validation.matrix.verdict import CRITERIA

DOCS = Path(__file__).resolve().parent
PAGE, RESULTS = DOCS / "matrix.md", DOCS / "studies" / "matrix.csv"
KEY = ("body", "motion", "model", "integrator")
FIGURES_KEPT = (
    "gain", "surplus", "unexplained", "numerical_gain", "linear", "angular", "volume_end", "volume_change",
    "inverted", "inverted_end", "depth", "depth_bodies", "steps", "cpu", "time_ratio",
)  # fmt: skip
COLUMNS = (*KEY, "seconds", "code", "state", "fails", *FIGURES_KEPT, "message")
LONG = 10.0  # s of a whole run


def line(entry: Table) -> dict[str, str]:
    """The line of a result."""
    judge(entry)
    figures = {k: f"{entry[k]:.4g}" for k in FIGURES_KEPT if entry.get(k) is not None}
    named = {k: str(entry.get(k, "")) for k in (*KEY, "code", "state")}
    fails = letters(entry)
    return named | {"seconds": f"{entry['seconds']:g}", "fails": fails} | figures | {"message": short(entry)}


def short(entry: Table) -> str:
    """What a run that did not end said, without its folders."""
    return "" if entry["state"] == "done" else str(entry.get("message", "")).split("\n")[0][:160]


def collected(folders: list[Path]) -> list[dict[str, str]]:
    """All lines, those of ``folders`` in place of older ones."""
    found: dict[tuple[str, ...], dict[str, str]] = {}
    if RESULTS.is_file():
        with RESULTS.open(encoding="utf-8", newline="") as file:
            found = {tuple(row[k] for k in KEY): row for row in csv.DictReader(file)}
    for folder in folders:
        for path in sorted((folder / "results").glob("*.json")):
            entry = json.loads(path.read_text(encoding="utf-8"))
            if entry["state"] == "begun":
                continue
            row, key = line(entry), tuple(str(entry[k]) for k in KEY)
            if key not in found or float(row["seconds"]) >= float(found[key]["seconds"]):
                found[key] = row
    return [found[key] for key in sorted(found)]


def row_of(entry: dict[str, str]) -> Table:
    """A line as ``report`` wants it."""
    known = {"time": "T" not in entry["fails"] if entry.get("time_ratio") else None}
    verdict = known | {name: False for name, letter in CRITERIA.items() if letter in entry["fails"]}
    return {
        **entry,
        "verdict": verdict,
        "ok": not entry["fails"].strip("T"),
        "gain": float(entry.get("gain") or 0.0),
        "surplus": float(entry.get("surplus") or 0.0),
    }


def percent(value: str) -> str:
    return f"{100.0 * float(value):.2g} %"


def failing(rows: list[Table]) -> str:
    """One line for each run that is not good, with the figures that failed."""
    lines = ["| run | fails | figures |", "| --- | --- | --- |"]
    for row in rows:
        if row["ok"] or row["state"] == "refused":
            continue
        shown = {
            "E": ("gain", "surplus", "unexplained", "numerical_gain"),
            "M": ("linear", "angular"),
            "V": ("volume_end", "volume_change"),
            "I": ("inverted", "inverted_end"),
            "P": ("depth", "depth_bodies"),
        }
        words = [
            f"{name.replace('_', ' ')} {percent(row[name])}"
            for letter in row["fails"]
            for name in shown.get(letter, ())
            if row.get(name) and float(row[name]) > 0.0
        ]
        said = "; ".join([*words, *([str(row["message"])] if row["message"] else [])])
        named = f"{row['body']}-{row['motion']} of {row['model']}, {row['integrator']}"
        lines.append(f"| {named} | {row['fails'].replace('T', '')} | {said} |")
    return "\n".join(lines) if len(lines) > 2 else "None."


def counts(rows: list[Table]) -> str:
    """How many runs there are, and how many came to their end and are good."""
    found = summary(rows)
    codes = sorted({str(row["code"]) for row in rows if row["code"]})
    spans = " and ".join(sorted({str(row["seconds"]) for row in rows}, key=float))
    share = 100.0 * found["done"] / max(1, found["runs"])
    return (
        f"{found['runs']} runs of {spans} s that apply, code {', '.join(codes)}: {found['done']} ended with "
        f"exit code 0 ({share:.1f} %), {found['good']} are good; {found['estimated']} of {found['timed']} "
        "took within a factor of two of the estimated time."
    )


def main() -> None:
    entries = collected([Path(each) for each in sys.argv[1:]])
    with RESULTS.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows(entries)
    rows = [row_of(entry) for entry in entries]
    rows.sort(key=lambda row: list(MODELS).index(row["model"]))
    own = [row for row in rows if row["body"] in FIGURES]
    explicit = [row for row in own if row["integrator"] != "implicit"]
    parts = {
        "explicit": [row for row in explicit if float(row["seconds"]) >= LONG],
        "shorter": [row for row in explicit if float(row["seconds"]) < LONG],
        "implicit": [row for row in own if row["integrator"] == "implicit"],
        "meshes": [row for row in rows if row["body"] not in FIGURES],
    }
    text = PAGE.read_text(encoding="utf-8")
    for name, chosen in parts.items():
        inside = f"{counts(chosen)}\n\n{written_table(chosen)}\n{failing(chosen)}" if chosen else "Not run."
        before, _, rest = text.partition(f"<!-- {name} -->\n")
        _, mark, after = rest.partition("<!-- end -->")
        if not mark:
            raise SystemExit(f"{PAGE.name} should have a mark <!-- {name} --> and an end.")
        text = f"{before}<!-- {name} -->\n{inside}\n{mark}{after}"
    PAGE.write_text(text, encoding="utf-8")
    print(f"{len(entries)} runs in {RESULTS.name}")


if __name__ == "__main__":
    main()
