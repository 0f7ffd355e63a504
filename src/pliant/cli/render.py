"""``pliant render``: pictures and movies of runs."""

from pathlib import Path
from typing import Annotated, Any

import typer

from pliant.cli import options
from pliant.cli.output import counting, say, say_json
from pliant.run.requests import RenderRequest

EXAMPLES = (
    "pliant render beam.pliant beam.png --frame 40 --colour stress",
    "pliant render beam.pliant beam.mp4 --colour displacement.z --range=-0.5:0",
    "pliant render beam.pliant sheet.png --sheet 4x3 --view front",
    "pliant render soft.pliant stiff.pliant both.mp4",
    "pliant render bear.pliant bear.gif --turntable 1 --style tets",
)


@options.takes(RenderRequest)
def command(
    paths: Annotated[
        list[Path], typer.Argument(metavar="RUN... OUT", help="Runs, and a .png, .mp4 or .gif file.")
    ],
    json: options.Json = False,
    quiet: options.Quiet = False,
    **given: Any,
) -> None:
    """Draw a run, or several side by side, as a picture or a movie; no screen is needed."""
    from pliant.core.errors import InputError
    from pliant.render import render

    *runs, out = paths
    if not runs:
        raise InputError("Give a run and a file to draw to.", hint="pliant render beam.pliant beam.png")
    with counting("drawing", quiet or json) as count:
        path = render(runs, out, options.request(RenderRequest, given), progress=count)
    if json:
        say_json({"file": str(path), "bytes": path.stat().st_size})
    else:
        say(f"{path} written")
