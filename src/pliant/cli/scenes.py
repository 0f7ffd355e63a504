"""``pliant new``, ``examples`` and ``check``: a starter scene, the shipped scenes, a look without a run."""

from importlib import resources
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from pliant.cli import options
from pliant.cli.output import note, say, say_json, say_pairs, say_table, write_new
from pliant.core.errors import InputError
from pliant.core.text import seconds, size

if TYPE_CHECKING:
    from pliant.scene.check import Report

EXAMPLES = {
    "new": (
        "pliant new beam",
        "pliant new cat --mesh cat.obj --up y --units cm --material gelatine",
    ),
    "examples": (
        "pliant examples",
        "pliant examples hello --run",
        "pliant examples hanging-beam --copy my-beam.toml",
    ),
    "check": ("pliant check beam.toml", "pliant check beam.toml --set bodies.beam.edge=0.02 --json"),
}


def new(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the scene.", show_default=False)],
    mesh: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A surface or volume mesh of your own.")
    ] = None,
    up: Annotated[
        Literal["x", "y", "z"] | None,
        typer.Option(
            help="The axis that points up in the mesh; y for OBJ and GLB, z for others.", show_default=False
        ),
    ] = None,
    units: Annotated[
        Literal["m", "cm", "mm", "um", "km", "in", "ft"] | None,
        typer.Option(help="Units of the mesh (default: guessed from its size).", show_default=False),
    ] = None,
    material: Annotated[
        str | None, typer.Option(metavar="NAME", help="Material of the mesh (default: by its size).")
    ] = None,
    force: options.Force = False,
) -> None:
    """Write a commented scene to NAME.toml: a beam to start from, or with --mesh one for your own mesh."""
    from pliant.scene.to_toml import toml_value

    if not Path(name).name.removesuffix(".toml"):
        raise InputError(f"'{name}' is no name for a scene.", hint="For example: pliant new beam")
    path = Path(name) if name.endswith(".toml") else Path(f"{name}.toml")
    given = {"--up": up, "--units": units, "--material": material}
    if mesh is None:
        for option, value in given.items():
            if value is not None:
                raise InputError(f"{option} belongs to a mesh, and there is no --mesh.")
        title = toml_value(path.stem.replace("-", " ").replace("_", " ").capitalize())[1:-1]
        template = (resources.files("pliant.cli") / "starter.toml").read_text(encoding="utf-8")
        write_new(path, template.format(file=path.name, title=title), force)
    else:
        from pliant.scene.starter import mesh_scene

        made = mesh_scene(mesh, path, up=up, units=units, material=material)
        write_new(path, made.text, force)
        for text in made.assumed:
            note(f"note: assumed that {text}")
    say(f"{path} written; next: pliant run {quote(str(path))}")


def examples(
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="Example (default: list all).", show_default=False)
    ] = None,
    run: Annotated[bool, typer.Option("--run", help="Run the example into NAME.pliant.")] = False,
    copy: Annotated[
        Path | None, typer.Option("--copy", metavar="DEST", help="Copy the example to this file or folder.")
    ] = None,
    output: options.Output = None,
    force: options.Force = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """List, show, copy or run the scenes that come with pliant."""
    from pliant import examples

    if name is None:
        if run or copy is not None:
            raise InputError("Which example?", hint=f"There are: {', '.join(examples.names())}.")
        listed = [{"name": each, "title": examples.title(each)} for each in examples.names()]
        if json:
            say_json(listed)
        else:
            say_table(("example", "shows"), [(entry["name"], entry["title"]) for entry in listed])
        return
    text = examples.text(name)
    if copy is not None:
        place = copy / f"{name}.toml" if copy.is_dir() else copy
        write_new(place, text, force)
        for file in examples.copy_meshes(name, place.parent):
            note(f"{file} copied")
        if not json:
            say(f"{place} written; next: pliant run {place}")
        elif not run:
            say_json({"name": name, "path": str(place)})
    if run:
        from pliant.cli.run import simulate
        from pliant.scene.load import parse

        scene = parse(text, examples.folder(), f"{name}.toml")
        simulate(scene, output or Path(f"{name}.pliant"), None, force, json, quiet)
    elif copy is None and json:
        say_json({"name": name, "title": examples.title(name), "scene": text})
    elif copy is None:
        say(text.rstrip("\n"))


@options.takes(options.RunChanges)
def check(
    scene: options.SceneFile,
    threads: options.Threads = None,
    json: options.Json = False,
    **changes: Any,
) -> None:
    """Validate a scene without running it: bodies, masses, time step, estimated run time, warnings."""
    found = options.read_scene(scene, changes)
    from pliant.kernels.jit import set_threads
    from pliant.scene.check import check

    set_threads(threads)
    with options.about(scene):
        report = check(found)
    if json:
        say_json(report.to_dict())
    else:
        show(report)


def takes(report: "Report") -> str:
    """The estimated time, and what it does not count."""
    text = f"about {seconds(report.wall)} here"
    if not report.uncounted:
        return text
    return f"{text}, from the first {report.covered:.2g} s; not counted: {', '.join(report.uncounted)}"


def show(report: "Report") -> None:
    """The report for people."""
    if report.title:
        say(report.title)
    head = ("body", "model", "particles", "cells", "mass [kg]", "volume [m3]", "size [m]", "E [Pa]", "nu")
    rows = []
    for body in report.bodies:
        extent = " x ".join(f"{b - a:.3g}" for a, b in zip(body.low, body.high, strict=True))
        constants = body.material["young"], body.material["poisson"]
        counts = body.particles, body.cells, body.mass, body.volume
        rows.append((body.name, body.model, *counts, extent, *constants))
    say_table(head, rows)
    say()
    memory = [] if report.memory is None else [("memory", size(report.memory))]
    say_pairs(
        [
            ("time", f"{report.duration:g} s, {report.frames} frames"),
            ("step", f"{report.step:.4g} s: {report.step_reason}"),
            ("steps", f"{report.steps} with {report.integrator}"),
            ("takes", takes(report)),
            ("disk", f"about {size(report.disk)}"),
            *memory,
        ]
    )
    for text in report.warnings:
        say(f"warning: {text}")
