"""``pliant certify``: an independent audit of intersections."""

from pathlib import Path
from typing import Annotated

import typer

from pliant.cli import options
from pliant.cli.output import counting, say, say_json
from pliant.core.errors import StorageError

EXAMPLES = {
    "certify": (
        "pliant certify pile.pliant",
        "pliant certify pile.pliant --surface shown --paths",
        "pliant certify frames/cloth_%04d.obj -o audit",
        "pliant certify shot.usd --json",
    ),
}
FAILED = 1


def certify(
    path: Annotated[
        Path,
        typer.Argument(
            metavar="PATH", help="A run folder, a .usd or .vtkhdf file, or meshes: frame_%04d.obj."
        ),
    ],
    output: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", metavar="FOLDER", help="Folder of certificate.json and .html (default: RUN)."
        ),
    ] = None,
    surface: Annotated[
        str, typer.Option(metavar="WHICH", help="Surfaces of a run: simulated or shown.")
    ] = "simulated",
    paths: Annotated[
        bool,
        typer.Option(
            "--paths",
            help="Also check the paths between states: recorded ones move by move, else straight ones.",
        ),
    ] = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Check every recorded state for intersecting surfaces; exit code 1 if there are any.

    Pairs are found by ipctk and decided in exact arithmetic. The result is written as certificate.json and
    certificate.html.
    """
    from pliant.audit import certify

    with counting("auditing", quiet or json) as count:
        found = certify(path, surface, paths, count)
    folder = output or (path if path.is_dir() else path.with_name(f"{path.stem.replace('%', '')}.audit"))
    try:
        page = found.write(folder)[1]
    except OSError as error:
        raise StorageError(
            f"{folder} cannot be written: {error.strerror}.", hint="Choose -o FOLDER."
        ) from error
    if json:
        say_json(found.table())
    else:
        failing = [state for state in found.states if not state.ok]
        say(f"{len(found.states)} states audited, {len(failing)} with intersections; {page} written")
        for state in failing[:5]:
            pairs = sorted({" and ".join(dict.fromkeys(pair.bodies)) for pair in state.pairs})
            ways = "; the way there collides" * (state.path is False)
            say(f"  {state.label}: {state.crossings} edges through triangles ({', '.join(pairs)}){ways}")
        if found.distance is not None:
            say(f"smallest distance between bodies: {found.distance:.3g} m")
    if not found.ok:
        raise typer.Exit(FAILED)
