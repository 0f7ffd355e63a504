"""``pliant examples``: the shipped scenes."""

from pathlib import Path
from typing import Annotated

import typer

from pliant.cli import options
from pliant.cli.output import say, say_json, say_table

EXAMPLES = (
    "pliant examples",
    "pliant examples hello --run",
    "pliant examples hanging-beam --copy my-beam.toml",
)


def command(
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="Which one; none: list them.", show_default=False)
    ] = None,
    run: Annotated[bool, typer.Option("--run", help="Run it, into NAME.pliant.")] = False,
    copy: Annotated[
        Path | None, typer.Option("--copy", metavar="DEST", help="Copy it to this file or folder.")
    ] = None,
    output: options.Output = None,
    force: options.Force = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """List, show, copy or run the scenes that come with pliant."""
    from pliant import examples
    from pliant.core.errors import InputError

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
        from pliant.cli.output import write_new

        place = copy / f"{name}.toml" if copy.is_dir() else copy
        write_new(place, text, force)
        if not json:
            say(f"{place} written; next: pliant run {place}")
        elif not run:
            say_json({"name": name, "path": str(place)})
    if run:
        from pliant.cli.run import simulate
        from pliant.scene.load import parse

        scene = parse(text, Path(), f"{name}.toml")
        simulate(scene, output or Path(f"{name}.pliant"), None, force, json, quiet)
    elif copy is None and json:
        say_json({"name": name, "title": examples.title(name), "scene": text})
    elif copy is None:
        say(text.rstrip("\n"))
