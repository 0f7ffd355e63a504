"""``pliant export``: frames and series of a run as files of other programs."""

from pathlib import Path
from typing import Annotated

import typer

from pliant.cli import options
from pliant.cli.output import counting, say, say_json

EXAMPLES = (
    "pliant export beam.pliant beam.pvd",
    "pliant export beam.pliant frames/beam_%04d.obj --every 2",
    "pliant export beam.pliant beam.usd --units cm --up y",
    "pliant export beam.pliant beam.glb --bodies beam",
    "pliant export beam.pliant print.stl --frames -1 --units mm",
    "pliant export beam.pliant series.csv",
)


def command(
    run: options.RunFolder,
    output: Annotated[Path, typer.Argument(metavar="OUT", help="File; the suffix says the format.")],
    frames: Annotated[
        str | None, typer.Option(metavar="RANGE", help="Frames: 5, -1, 0:50 or 10: (all if not given).")
    ] = None,
    every: Annotated[int, typer.Option(min=1, metavar="N", help="Every N-th of them.")] = 1,
    bodies: Annotated[
        str | None, typer.Option(metavar="NAMES", help="Bodies, with commas between (all if not given).")
    ] = None,
    fields: Annotated[
        str | None, typer.Option(metavar="NAMES", help="Fields to write, where the format has them.")
    ] = None,
    units: Annotated[
        str | None, typer.Option(metavar="UNIT", help="Lengths in mm, cm, in, ... instead of metres.")
    ] = None,
    up: Annotated[
        str | None,
        typer.Option(metavar="AXIS", help="The axis that points up in the file: x, y or z."),
    ] = None,
    start: Annotated[
        int | None,
        typer.Option(metavar="N", help="Number the files from N on (by frame if not given)."),
    ] = None,
    normals: Annotated[
        bool, typer.Option("--normals", help="Smooth normals in USD files too (half as large again).")
    ] = False,
    force: options.Force = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Write frames or series of a run; the suffix of OUT chooses the format."""
    from pliant.exporters import export
    from pliant.run.store import load

    chosen = None if bodies is None else names(bodies)
    wanted = None if fields is None else names(fields)
    with counting("writing", quiet or json) as count:
        written = export(
            load(run),
            output,
            frames=frame_range(frames),
            every=every,
            bodies=chosen,
            fields=wanted,
            units=units,
            up=up,
            start=start,
            normals=normals,
            force=force,
            progress=count,
        )
    if json:
        say_json({"files": [str(path) for path in written]})
    else:
        more = f" to {written[-1]}" if len(written) > 1 else ""
        say(f"{len(written)} file{'s' * (len(written) != 1)} written: {written[0]}{more}")


def names(text: str) -> list[str]:
    """``a,b`` as a list."""
    return [name.strip() for name in text.split(",") if name.strip()]


def frame_range(text: str | None) -> int | slice | None:
    """``5``, ``-1``, ``0:50`` or ``10:`` as an index or a slice; None for all."""
    from pliant.core.errors import InputError

    if text is None:
        return None
    try:
        first, *rest = [int(part) if part.strip() else None for part in text.split(":")]
        if not rest and first is not None:
            return first
        if len(rest) == 1:
            return slice(first, rest[0])
    except ValueError:
        pass
    raise InputError(f"--frames {text}: not a frame or a range of frames.", hint="Write 5, -1, 0:50 or 10:")
