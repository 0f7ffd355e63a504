"""``pliant info``: what a scene, mesh or run holds; what a model or material is."""

from pathlib import Path
from typing import Annotated, Any

import typer

from pliant.cli import options
from pliant.cli.output import cell, say, say_json, say_pairs, say_table
from pliant.core.text import seconds
from pliant.core.typing import Table

EXAMPLES = (
    "pliant info beam.pliant --json",
    "pliant info bunny.obj",
    "pliant info --model mass-spring",
    "pliant info --material rubber",
)


def command(
    file: Annotated[
        Path | None,
        typer.Argument(metavar="[FILE]", help="A scene, a mesh or a run folder.", show_default=False),
    ] = None,
    model: Annotated[str | None, typer.Option(metavar="NAME", help="Describe a model instead.")] = None,
    material: Annotated[str | None, typer.Option(metavar="NAME", help="Describe a material instead.")] = None,
    json: options.Json = False,
) -> None:
    """Say what a scene, mesh or run holds, or what a model or material is."""
    from pliant.cli import info_tables
    from pliant.core.errors import InputError

    given = [value for value in (file, model, material) if value is not None]
    if len(given) != 1:
        raise InputError("Give one of FILE, --model, --material.", hint="Try: pliant info --help")
    if model is not None:
        found, show = info_tables.model(model), _show_model
    elif material is not None:
        found, show = info_tables.material(material), _show_pairs
    else:
        assert file is not None
        if not file.exists():
            raise InputError(f"{file} does not exist.")
        if file.suffix == ".toml" and not file.is_dir():
            found, show = info_tables.scene(file), _show_scene
        elif file.is_dir() or file.suffix == ".pliant":
            found, show = info_tables.run(file), _show_run
        else:
            found, show = info_tables.mesh(file), _show_pairs
    if json:
        say_json(found)
    else:
        show(found)


def _show_pairs(found: Table) -> None:
    texts = [(name, value) for name, value in found.items() if value not in (None, [], {})]
    say_pairs([(name.replace("_", " "), _text(value)) for name, value in texts])


def _text(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} {_text(inner)}" for key, inner in value.items())
    return ", ".join(map(_text, value)) if isinstance(value, (list, tuple)) else cell(value)


def _show_run(found: Table) -> None:
    speed = found["real_time_factor"]
    say_pairs(
        [
            ("state", " ".join(filter(None, (found["state"], found.get("message"))))),
            ("frames", f"{found['frames']} of {found['frames_total']}, {cell(found['duration'])} s planned"),
            ("step", f"{cell(found['step'])} s: {found['step_reason']}"),
            ("took", f"{seconds(found['wall'])}, {cell(speed)} x real time"),
            ("series", ", ".join(found["series"])),
        ]
    )
    say()
    _show_bodies(found["bodies"])


def _show_bodies(bodies: list[Table]) -> None:
    head = list(bodies[0])
    say_table(head, [[body[key] for key in head] for body in bodies])


def _show_scene(found: Table) -> None:
    time = found["time"]
    say_pairs(
        [
            ("title", found["title"]),
            (
                "time",
                f"{time['duration']:g} s, {time['frames']} frames, step {time['step']}, {time['integrator']}",
            ),
            ("actions", ", ".join(found["actions"])),
            ("measures", ", ".join(found["measures"])),
        ]
    )
    say()
    _show_bodies(found["bodies"])


def _show_model(found: Table) -> None:
    say(found["about"])
    say()
    rows = [
        [row.get(key) for key in ("name", "kind", "unit", "default", "about")] for row in found["parameters"]
    ]
    if rows:
        say_table(("parameter", "kind", "unit", "default", ""), rows)
    else:
        say("no parameters")
    say(f"fields: {', '.join(found['fields'])}" if found["fields"] else "")
    say(f"references: {', '.join(found['references'])}")
