"""``pliant validate``: closed-form and published cases."""

from typing import Annotated

import typer

from pliant.cli import options
from pliant.cli.output import say, say_json, say_table

EXAMPLES = ("pliant validate", "pliant validate --quick --json")


def command(
    case: Annotated[
        str | None, typer.Argument(metavar="[CASE]", help="Which one; none: all.", show_default=False)
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Coarser and shorter, in a minute or so.")] = False,
    json: options.Json = False,
) -> None:
    """Compare with closed forms and published numbers. Exit code 1 where one is outside its tolerance."""
    from pliant.evidence.validate import run_validation

    rows = run_validation(case, quick)
    if json:
        say_json(rows)
    else:
        head = ("model", "case", "value", "expected", "error", "tolerance", "ok")
        say_table(head, [[row[key] for key in head] for row in rows])
        good = sum(bool(row["ok"]) for row in rows)
        say(f"{good} of {len(rows)} within tolerance")
    if not all(row["ok"] for row in rows):
        raise typer.Exit(1)
