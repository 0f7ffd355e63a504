"""``pliant export``: frames and series of a run as files of other programs."""

from pathlib import Path
from typing import Annotated

import typer

from pliant.cli import options
from pliant.cli.output import say, say_json

EXAMPLES = (
    "pliant export beam.pliant beam.pvd",
    "pliant export beam.pliant frames/beam_%04d.obj --every 2",
    "pliant export beam.pliant series.csv",
)


def command(
    run: options.RunFolder,
    output: Annotated[Path, typer.Argument(metavar="OUT", help="File; the suffix says the format.")],
    frames: Annotated[
        str | None, typer.Option(metavar="RANGE", help="Frames: 5, 0:50, 10:, -1 [default: all].")
    ] = None,
    every: Annotated[int, typer.Option(min=1, metavar="N", help="Every N-th of them.")] = 1,
    bodies: Annotated[
        str | None, typer.Option(metavar="NAMES", help="Bodies, with commas [default: all].")
    ] = None,
    force: options.Force = False,
    json: options.Json = False,
) -> None:
    """Write frames or series of a run; the suffix of OUT chooses the format."""
    from pliant.exporters import export
    from pliant.recording import load

    loaded = load(run)
    options_: dict[str, object] = {"force": force}
    chosen = frame_numbers(frames, every, len(loaded))
    if chosen is not None:
        options_["frames"] = chosen
    if bodies is not None:
        options_["bodies"] = [name.strip() for name in bodies.split(",")]
    written = export(loaded, output, **options_)
    if json:
        say_json({"files": [str(path) for path in written]})
    else:
        more = f" to {written[-1]}" if len(written) > 1 else ""
        say(f"{len(written)} file{'s' * (len(written) != 1)} written: {written[0]}{more}")


def frame_numbers(text: str | None, every: int, count: int) -> list[int] | None:
    """Frames that ``--frames`` and ``--every`` mean, of ``count``; None for all."""
    from pliant.errors import InputError

    if text is None and every == 1:
        return None
    try:
        parts = [int(part) if part else None for part in (text or ":").split(":")]
        if len(parts) == 1 and parts[0] is not None:
            chosen = [range(count)[parts[0]]]
        elif len(parts) == 2:
            chosen = list(range(count))[slice(*parts)]
        else:
            raise ValueError
    except (ValueError, IndexError):
        raise InputError(
            f"--frames {text}: the run has frames 0 to {count - 1}.", hint="Write 5, 0:50, 10: or -1."
        ) from None
    if not chosen:
        raise InputError(f"--frames {text}: no frame is in that range; the run has 0 to {count - 1}.")
    return chosen[::every]
