"""``pliant export``: frames and series of a run as files of other programs."""

from pathlib import Path
from typing import Annotated, Any

import typer

from pliant.cli import options
from pliant.cli.output import counting, say, say_json
from pliant.run.requests import ExportRequest

EXAMPLES = (
    "pliant export beam.pliant beam.pvd",
    "pliant export beam.pliant frames/beam_%04d.obj --every 2",
    "pliant export beam.pliant beam.usd --units cm --up y",
    "pliant export beam.pliant beam.glb --bodies beam",
    "pliant export beam.pliant print.stl --frames -1 --units mm",
    "pliant export beam.pliant series.csv",
)


@options.takes(ExportRequest)
def command(
    run: options.RunFolder,
    output: Annotated[Path, typer.Argument(metavar="OUT", help="File; the suffix says the format.")],
    json: options.Json = False,
    quiet: options.Quiet = False,
    **given: Any,
) -> None:
    """Write frames or series of a run; the suffix of OUT chooses the format."""
    from pliant.exporters import export
    from pliant.run.store import load

    with counting("writing", quiet or json) as count:
        written = export(load(run), output, options.request(ExportRequest, given), progress=count)
    if json:
        say_json({"files": [str(path) for path in written]})
    else:
        more = f" to {written[-1]}" if len(written) > 1 else ""
        say(f"{len(written)} file{'s' * (len(written) != 1)} written: {written[0]}{more}")
