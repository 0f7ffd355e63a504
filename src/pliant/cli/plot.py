"""``pliant plot``: graphs of series."""

from pathlib import Path
from typing import Annotated

import typer

from pliant.cli import options
from pliant.cli.output import say, say_json

EXAMPLES = (
    "pliant plot beam.pliant tip.z -o tip.png",
    "pliant plot beam.pliant energy -o energy.pdf",
    "pliant plot soft.pliant stiff.pliant tip.z -o both.svg",
    "pliant plot cube.pliant wall.x --x side.y -o force.png --slide",
)


def command(
    words: Annotated[
        list[str],
        typer.Argument(metavar="RUN... SERIES...", help="Run folders, then series (energy: all energy.*)."),
    ],
    output: Annotated[Path, typer.Option("-o", "--output", metavar="OUT", help="File: .png, .svg or .pdf.")],
    x: Annotated[str, typer.Option("--x", metavar="SERIES", help="What runs to the right.")] = "time",
    title: Annotated[str, typer.Option(metavar="TEXT", help="A title; none if not given.")] = "",
    labels: Annotated[
        str | None, typer.Option(metavar="TEXTS", help="Names of the runs, with commas between.")
    ] = None,
    slide: Annotated[
        bool, typer.Option("--slide", help="For a slide: larger letters, thicker lines.")
    ] = False,
    size: Annotated[str | None, typer.Option(metavar="WxH", help="In millimetres, as in 90x60.")] = None,
    force: options.Force = False,
    json: options.Json = False,
) -> None:
    """Draw graphs of series: over time or one against another, of one run or several."""
    from pliant.cli.options import names
    from pliant.core.errors import InputError
    from pliant.render import plot

    count = next((k for k, word in enumerate(words) if not _is_run(word)), len(words))
    runs, series = words[:count], words[count:]
    if not runs or not series:
        what = "run" if not runs else "series"
        raise InputError(f"Which {what}?", hint="pliant plot beam.pliant tip.z -o tip.png")
    chosen = None if labels is None else names(labels)
    path = plot(runs, series, output, x=x, title=title, labels=chosen, slide=slide, size=size, force=force)
    if json:
        say_json({"file": str(path), "bytes": path.stat().st_size})
    else:
        say(f"{path} written")


def _is_run(word: str) -> bool:
    return word.rstrip("/").endswith(".pliant") or Path(word).is_dir()
