"""``pliant bench``: speed against published figures and the machine's own limit."""

from pathlib import Path
from typing import Annotated

import typer

from pliant.cli import options
from pliant.cli.output import note, say, say_json, say_table
from pliant.core.errors import MissingExtra

EXAMPLES = ("pliant bench", "pliant bench mass-spring --json", "pliant bench files --history bench.json")


def command(
    case: Annotated[
        str | None,
        typer.Argument(metavar="[CASE]", help="A case or a family; none: all.", show_default=False),
    ] = None,
    history: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Earlier runs (default: in the user's cache).")
    ] = None,
    repeat: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Measure each case N times (3, or fewer where it takes long)."),
    ] = None,
    json: options.Json = False,
) -> None:
    """Measure speed. ratio: against the reference text (above 1 is better); limit_ratio: share of what this
    machine could do; goal, met: what the figure is meant to be, and whether it is; spread: largest less least
    measurement over their median, which is the value; last: against the last time on this machine (below 1
    is slower)."""
    try:
        import pliant_benchmarks  # noqa: F401
    except ImportError as error:
        raise MissingExtra(
            "The package pliant_benchmarks is not installed here.",
            hint="It is in pliant's wheel, and in the folder benchmarks of a clone: pip install -e .",
        ) from error
    from pliant_benchmarks import history as past
    from pliant_benchmarks.bench import run_bench
    from pliant_benchmarks.roofline import measure_machine
    from pliant_benchmarks.targets import judged

    path = history or past.default_path()
    found = run_bench(case, repeat=repeat, skip=lambda name, why: note(f"{name}: {why}"))
    machine = measure_machine().to_dict() if found else {}
    rows = [judged(row) | {"machine": machine} for row in past.compared(found, past.read(path))]
    try:
        past.append(path, rows, machine)
    except OSError as error:
        note(f"the history cannot be kept: {error.strerror or error}")
    if json:
        say_json(rows)
        return
    head = ("case", "value", "unit", "reference", "ratio", "limit_ratio", "goal", "met", "spread", "last")
    if not rows:
        return
    say_table(head, [[row.get(key) for key in head] for row in rows])
    say(
        f"this machine: {machine['bandwidth'] / 1e9:.3g} GB/s, {machine['peak'] / 1e9:.3g} GFlop/s, "
        f"{machine['threads']} threads"
    )
