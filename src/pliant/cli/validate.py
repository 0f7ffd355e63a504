"""``pliant validate``: closed-form and published cases."""

from pathlib import Path
from typing import Annotated

import typer

from pliant.cli import options
from pliant.cli.output import note, say, say_json, say_table

EXAMPLES = ("pliant validate", "pliant validate --quick --json", "pliant validate --report validation.html")


def command(
    case: Annotated[
        str | None, typer.Argument(metavar="[CASE]", help="Which one; none: all.", show_default=False)
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="The cases that take less than a minute together.")
    ] = False,
    report: Annotated[
        Path | None, typer.Option(metavar="FILE", help="An HTML page with plots, sources and reasons.")
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Cases at the same time; one for each core if not given."),
    ] = None,
    force: options.Force = False,
    json: options.Json = False,
) -> None:
    """Compare with closed forms and published numbers. Exit code 1 where one is outside its tolerance though
    its method could do better."""
    from pliant.core.errors import InputError
    from pliant.validation.cases import CaseResult, load_cases, run_validation

    if report is not None and report.exists() and not force:
        raise InputError(f"{report} exists already.", hint="Use --force to write over it.")

    def show(outcome: CaseResult, number: int, count: int) -> None:
        if not json:
            state = "does not apply" if not outcome.applies else "ok" if outcome.ok else "outside"
            note(f"{number:3} of {count}  {outcome.case} / {outcome.model}: {state}, {outcome.seconds:.1f} s")

    rows = run_validation(case, quick, show, jobs)
    if report is not None:
        from pliant.validation.report import write_report

        write_report(report, rows, load_cases())
    applied = [row for row in rows if row["applies"]]
    bad = [row for row in applied if not row["ok"]]
    if json:
        say_json(rows)
    else:
        head = ("model", "case", "value", "expected", "error", "tolerance", "ok")
        say_table(head, [[row[key] for key in head] for row in applied])
        for row in bad:
            say(f"{row['model']}, {row['case']}: {row['expected_failure'] or 'this should hold'}")
        say(f"{len(applied) - len(bad)} of {len(applied)} within tolerance")
    if any(not row["expected_failure"] for row in bad):
        raise typer.Exit(1)
