"""``pliant schema``, ``models`` and ``materials``: what scene files may say, for editors and for people."""

from pathlib import Path
from typing import Annotated

import typer

from pliant.cli import options
from pliant.cli.output import say, say_json, say_table, write_new

EXAMPLES = {
    "schema": ("pliant schema -o pliant.schema.json", "pliant schema | jq .properties.bodies"),
    "models": ("pliant models", "pliant info --model fem"),
    "materials": ("pliant materials", "pliant info --material gelatine"),
}


def schema(
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="Write it to a file.")
    ] = None,
    force: options.Force = False,
) -> None:
    """Print the JSON Schema of scene files, for completion and checks in editors.

    Taplo and VS Code's Even Better TOML read the line `#:schema pliant.schema.json` at the top of a scene.
    """
    import json

    from pliant.scene.json_schema import scene_schema

    text = json.dumps(scene_schema(), indent=1)
    if output is None:
        say(text)
    else:
        write_new(output, text + "\n", force)
        say(f"{output} written")


def models(json: options.Json = False) -> None:
    """List the models with a description of each."""
    from pliant.models import MODELS

    rows = [
        {"name": name, "about": first_sentence(cls.__doc__), "example": _example(name)}
        for name, cls in MODELS.items()
    ]
    if json:
        say_json(rows)
        return
    say_table(("model", "what it is", "example"), [tuple(row.values()) for row in rows])
    say("\nParameters of one: pliant info --model NAME")


def materials(json: options.Json = False) -> None:
    """List the material presets with their constants."""
    from pliant.materials import presets, resolve

    rows = []
    for name in presets.names():
        known = resolve(name)
        own = {"young": known.young, "poisson": known.poisson, "density": known.density}
        rows.append({"name": name, **own, "source": presets.get(name).source})
    if json:
        say_json(rows)
        return
    head = ("material", "E [Pa]", "nu", "density [kg/m3]", "source")
    say_table(head, [(*list(row.values())[:4], _short(str(row["source"]))) for row in rows])
    say("\nAll constants of one: pliant info --material NAME")


def first_sentence(text: str | None) -> str:
    """The first sentence of a docstring, without references."""
    import re

    plain = re.sub(r"\s*\[\w+\]_", "", " ".join((text or "").split()))
    return plain.split(". ")[0].rstrip(".") + "."


def _short(text: str, most: int = 60) -> str:
    return text if len(text) <= most else text[: most - 3].rstrip() + "..."


def _example(model: str) -> str:
    """The first shipped scene of a model."""
    from pliant import examples
    from pliant.models import MODELS

    return next((name for name in examples.names() if MODELS[examples.model(name)].kind == model), "")
