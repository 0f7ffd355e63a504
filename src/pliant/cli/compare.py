"""``pliant compare``: the same scene over models, integrators and resolutions."""

from pathlib import Path
from typing import Annotated, Any

import typer

from pliant.cli import options
from pliant.cli.output import note, say, say_json, say_table

EXAMPLES = (
    "pliant compare beam.toml --models mass-spring,fem",
    "pliant compare beam.toml --models fem --integrators leapfrog,implicit-euler --edges 2,1,0.5",
    "pliant compare -o study",
)


def command(
    scene: Annotated[
        Path | None,
        typer.Argument(
            metavar="[SCENE]",
            help="A scene file; none: cantilever, drop, squeeze, twist, poke and break.",
            show_default=False,
        ),
    ] = None,
    models: Annotated[
        str | None, typer.Option(metavar="NAMES", help="Models, with commas between (all if not given).")
    ] = None,
    integrators: Annotated[str | None, typer.Option(metavar="NAMES", help="Integrators.")] = None,
    edges: Annotated[
        str | None, typer.Option(metavar="FACTORS", help="Resolutions: factors on the edge length, 2,1,0.5.")
    ] = None,
    reference: Annotated[
        Path | None,
        typer.Option(metavar="RUN", help="The run that counts as true; else fem at half the edge length."),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FOLDER", help="Where everything goes.")
    ] = None,
    pictures: Annotated[
        bool, typer.Option("--pictures/--no-pictures", help="Pictures, a movie and graphs on the page.")
    ] = True,
    jobs: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Runs at the same time; one for each core if not given."),
    ] = None,
    force: options.Force = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Run a scene with several models and tell them apart: error, speed, stability, pictures. Writes
    index.html, one page that holds everything, and compare.json."""
    from pliant.cli.options import names
    from pliant.core.errors import InputError
    from pliant.validation.compare import compare
    from pliant.validation.study import compare_study

    out = output or Path("study" if scene is None else f"{scene.stem}-compared")
    if out.exists() and not force and any(out.iterdir()):
        raise InputError(f"{out} exists already.", hint="Use --force to write over it.")
    if reference is not None and scene is None:
        raise InputError("--reference goes with a scene.")
    try:
        factors = [float(text) for text in names(edges)] if edges else []
    except ValueError:
        raise InputError(f"--edges {edges}: expected factors, as in 2,1,0.5.") from None
    if any(not 0.0 < factor < 100.0 for factor in factors):
        raise InputError(f"--edges {edges}: factors are above 0.")
    chosen: dict[str, Any] = {
        "models": names(models) if models else None,
        "integrators": names(integrators) if integrators else [],
        "edges": factors,
        "pictures": pictures,
        "jobs": jobs,
        "show": (lambda text: None) if quiet or json else note,
    }
    if scene is None:
        found = compare_study(out, **chosen)
    else:
        found = [compare(scene, out, reference=reference, **chosen)]
    if json:
        say_json(found if scene is None else found[0])
        return
    head = ("label", "error", "wall", "real_time_factor", "energy_drift", "volume_change", "memory", "state")
    for result in found:
        say(f"{result['title']}; reference: {result['reference']}")
        say_table(head, [[entry[key] for key in head] for entry in result["attempts"]])
        for entry in result["attempts"]:
            if entry["message"]:
                say(f"{entry['label']}: {entry['message']}")
        say()
    say(f"{out / 'index.html'} written")
