"""``pliant bench``: speed against the reference texts and the machine's own limit."""

from typing import Annotated

import typer

from pliant.cli import options
from pliant.cli.output import say_json, say_table

EXAMPLES = ("pliant bench", "pliant bench mass-spring --json")


def command(
    case: Annotated[
        str | None,
        typer.Argument(metavar="[CASE]", help="A case or a family; none: all.", show_default=False),
    ] = None,
    json: options.Json = False,
) -> None:
    """Measure speed. ratio: against the reference text (above 1 is better); limit_ratio: share of what this
    machine's memory could do."""
    from pliant.evidence.bench import run_bench

    rows = run_bench(case)
    if json:
        say_json(rows)
    else:
        head = ("case", "value", "unit", "reference", "ratio", "limit_ratio")
        say_table(head, [[row.get(key) for key in head] for row in rows])
