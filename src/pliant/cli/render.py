"""``pliant render``: pictures and movies of runs."""

from pathlib import Path
from typing import Annotated

import typer

from pliant.cli import options
from pliant.cli.output import counting, say, say_json

EXAMPLES = (
    "pliant render beam.pliant beam.png --frame 40 --colour stress",
    "pliant render beam.pliant beam.mp4 --colour displacement.z --range=-0.5:0",
    "pliant render beam.pliant sheet.png --sheet 4x3 --view front",
    "pliant render soft.pliant stiff.pliant both.mp4",
    "pliant render bear.pliant bear.gif --turntable 1 --style tets",
)


def command(
    paths: Annotated[
        list[Path], typer.Argument(metavar="RUN... OUT", help="Runs, and a .png, .mp4 or .gif file.")
    ],
    frame: Annotated[
        int | None, typer.Option(metavar="N", help="The frame of a picture; -1, the last, if not given.")
    ] = None,
    frames: Annotated[
        str | None, typer.Option(metavar="RANGE", help="Frames of a movie or a sheet: 0:50 or 10:.")
    ] = None,
    every: Annotated[int, typer.Option(min=1, metavar="N", help="Every N-th of them.")] = 1,
    sheet: Annotated[
        str | None, typer.Option(metavar="COLUMNSxROWS", help="A contact sheet of so many pictures.")
    ] = None,
    size: Annotated[str | None, typer.Option(metavar="WxH", help="Pixels of a picture.")] = None,
    view: Annotated[
        str, typer.Option(metavar="NAME", help="iso, front, back, left, side, top, bottom.")
    ] = "iso",
    camera: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A TOML file with position and target, also as keys.")
    ] = None,
    follow: Annotated[bool, typer.Option("--follow", help="Move the camera along with the bodies.")] = False,
    turntable: Annotated[
        float, typer.Option(metavar="TURNS", help="Turn the camera around the bodies meanwhile.")
    ] = 0.0,
    zoom: Annotated[float, typer.Option(metavar="FACTOR", help="Come closer.")] = 1.0,
    style: Annotated[
        str,
        typer.Option(
            metavar="NAME", help="surface, edges, wireframe, tets, particles, surfels, levels, cracks."
        ),
    ] = "surface",
    colour: Annotated[
        str | None,
        typer.Option(
            "--colour", "--color", metavar="FIELD", help="Colour by a field: stress, displacement.z."
        ),
    ] = None,
    range_: Annotated[
        str, typer.Option("--range", metavar="RANGE", help="Of the colours: auto, full, 0:5e4 or 1%:99%.")
    ] = "auto",
    map_: Annotated[
        str, typer.Option("--map", metavar="NAME", help="A colour map of matplotlib.")
    ] = "viridis",
    bar: Annotated[bool, typer.Option("--bar/--no-bar", help="The colour bar.")] = True,
    section: Annotated[str | None, typer.Option(metavar="AXIS=PLACE", help="Cut bodies open: x=0.5.")] = None,
    ground: Annotated[
        str, typer.Option(metavar="LEVEL", help="auto (the scene's), none, or a height.")
    ] = "auto",
    shadow: Annotated[bool, typer.Option("--shadow/--no-shadow", help="Shadows on the ground.")] = True,
    background: Annotated[str, typer.Option(metavar="NAME", help="light, white, dark.")] = "light",
    title: Annotated[
        str | None, typer.Option(metavar="TEXT", help="Instead of the scene's; '' for none.")
    ] = None,
    time: Annotated[bool, typer.Option("--time/--no-time", help="Write the time on the picture.")] = True,
    bodies: Annotated[
        str | None, typer.Option(metavar="NAMES", help="Bodies, with commas between (all if not given).")
    ] = None,
    fps: Annotated[
        float | None, typer.Option(metavar="N", help="Pictures a second; real time if not given.")
    ] = None,
    workers: Annotated[int | None, typer.Option(min=1, metavar="N", help="Drawing processes.")] = None,
    force: options.Force = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Draw a run, or several side by side, as a picture or a movie; no screen is needed."""
    from pliant.cli.export import frame_range, names
    from pliant.core.errors import InputError
    from pliant.render import render

    *runs, out = paths
    if not runs:
        raise InputError("Give a run and a file to draw to.", hint="pliant render beam.pliant beam.png")
    with counting("drawing", quiet or json) as count:
        path = render(
            runs,
            out,
            frame=frame,
            frames=frame_range(frames),
            every=every,
            sheet=sheet,
            size=size,
            view=view,
            camera=camera,
            follow=follow,
            turntable=turntable,
            zoom=zoom,
            style=style,
            colour=colour,
            range=range_,
            map=map_,
            bar=bar,
            section=section,
            ground=ground,
            shadow=shadow,
            background=background,
            title=title,
            time=time,
            bodies=None if bodies is None else names(bodies),
            fps=fps,
            workers=workers,
            force=force,
            progress=count,
        )
    if json:
        say_json({"file": str(path), "bytes": path.stat().st_size})
    else:
        say(f"{path} written")
