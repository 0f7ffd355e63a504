"""``pliant export``, ``render`` and ``plot``: runs as files of other programs, pictures, movies, graphs."""

from pathlib import Path
from typing import Annotated, Any

import typer

from pliant.cli import options
from pliant.cli.output import counting, say, say_json
from pliant.core.errors import InputError
from pliant.run.requests import ExportRequest, RenderRequest

EXAMPLES = {
    "export": (
        "pliant export beam.pliant beam.pvd",
        "pliant export beam.pliant frames/beam_%04d.obj --every 2",
        "pliant export beam.pliant beam.usd --units cm --up y",
        "pliant export beam.pliant beam.glb --bodies beam",
        "pliant export beam.pliant print.stl --frames -1 --units mm",
        "pliant export beam.pliant series.csv",
    ),
    "render": (
        "pliant render beam.pliant beam.png --frame 40 --colour stress",
        "pliant render beam.pliant beam.mp4 --colour displacement.z --range=-0.5:0",
        "pliant render beam.pliant sheet.png --sheet 4x3 --view front",
        "pliant render soft.pliant stiff.pliant both.mp4",
        "pliant render bear.pliant bear.gif --turntable 1 --style tets",
    ),
    "plot": (
        "pliant plot beam.pliant tip.z -o tip.png",
        "pliant plot beam.pliant energy -o energy.pdf",
        "pliant plot soft.pliant stiff.pliant tip.z -o both.svg",
        "pliant plot cube.pliant wall.x --x side.y -o force.png --slide",
    ),
}


@options.takes(ExportRequest)
def export(
    run: options.RunFolder,
    out: Annotated[
        Path | None,
        typer.Argument(metavar="OUT", help="Output file; the suffix selects the format.", show_default=False),
    ] = None,
    output: options.OutFile = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
    **given: Any,
) -> None:
    """Write frames or series of a run; the suffix of OUT selects the format."""
    from pliant.exporters import export
    from pliant.run.store import load

    file = options.out_file(out, output)
    if file is None:
        raise InputError("Which file?", hint="pliant export beam.pliant -o beam.pvd")
    with counting("writing", quiet or json) as count:
        written = export(load(run), file, options.request(ExportRequest, given), progress=count)
    if json:
        say_json({"files": [str(path) for path in written]})
    else:
        more = f" to {written[-1]}" if len(written) > 1 else ""
        say(f"{len(written)} file{'s' * (len(written) != 1)} written: {written[0]}{more}")


@options.takes(RenderRequest)
def render(
    paths: Annotated[
        list[Path], typer.Argument(metavar="RUN... OUT", help="Runs, and a .png, .mp4 or .gif file.")
    ],
    output: options.OutFile = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
    **given: Any,
) -> None:
    """Draw a run, or several side by side, as a picture or a movie; no screen is needed."""
    from pliant.render import render

    *runs, out = paths if output is None else [*paths, output]
    if not runs:
        raise InputError("Give a run and a file to draw to.", hint="pliant render beam.pliant beam.png")
    with counting("drawing", quiet or json) as count:
        path = render(runs, out, options.request(RenderRequest, given), progress=count)
    _say_written(path, json)


def plot(
    words: Annotated[
        list[str],
        typer.Argument(
            metavar="RUN... SERIES... OUT",
            help="Run folders, then series (energy: all energy.*), and a .png, .svg or .pdf file.",
        ),
    ],
    output: options.OutFile = None,
    x: Annotated[str, typer.Option("--x", metavar="SERIES", help="Series for the x axis.")] = "time",
    title: Annotated[str, typer.Option(metavar="TEXT", help="Title (default: none).")] = "",
    labels: Annotated[
        str | None, typer.Option(metavar="TEXTS", help="Comma-separated labels of the runs.")
    ] = None,
    slide: Annotated[
        bool, typer.Option("--slide", help="For a slide: larger letters, thicker lines.")
    ] = False,
    size: Annotated[str | None, typer.Option(metavar="WxH", help="In millimetres, as in 90x60.")] = None,
    force: options.Force = False,
    json: options.Json = False,
) -> None:
    """Draw graphs of series: over time or one against another, of one run or several."""
    from pliant.render import plot
    from pliant.render.graphs import SUFFIXES

    if output is None and Path(words[-1]).suffix.lower() in SUFFIXES:
        *words, output = *words[:-1], Path(words[-1])
    count = next((k for k, word in enumerate(words) if not _is_run(word)), len(words))
    runs, series = words[:count], words[count:]
    if not runs or not series:
        what = "run" if not runs else "series"
        raise InputError(f"Which {what}?", hint="pliant plot beam.pliant tip.z -o tip.png")
    if output is None:
        raise InputError("Which file?", hint="pliant plot beam.pliant tip.z -o tip.png")
    chosen = None if labels is None else options.names(labels)
    path = plot(runs, series, output, x=x, title=title, labels=chosen, slide=slide, size=size, force=force)
    _say_written(path, json)


def _say_written(path: Path, json: bool) -> None:
    if json:
        say_json({"file": str(path), "bytes": path.stat().st_size})
    else:
        say(f"{path} written")


def _is_run(word: str) -> bool:
    return word.rstrip("/").endswith(".pliant") or Path(word).is_dir()
