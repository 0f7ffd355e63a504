"""``pliant info``: what a run, a scene, a mesh, a model or a material is."""

import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from pliant.cli import options
from pliant.cli.output import cell, say, say_json, say_pairs, say_table
from pliant.core.errors import InputError
from pliant.core.tables import Table
from pliant.core.text import readable, seconds

EXAMPLES = {
    "info": (
        "pliant info beam.pliant --json",
        "pliant info bunny.obj",
        "pliant info --model mass-spring",
        "pliant info --material rubber",
    ),
}


def info(
    file: Annotated[
        Path | None,
        typer.Argument(metavar="[FILE]", help="A scene, a mesh or a run folder.", show_default=False),
    ] = None,
    model: Annotated[str | None, typer.Option(metavar="NAME", help="Describe a model instead.")] = None,
    material: Annotated[str | None, typer.Option(metavar="NAME", help="Describe a material instead.")] = None,
    json: options.Json = False,
) -> None:
    """List the contents of a scene, mesh or run, or describe a model or material."""
    given = [value for value in (file, model, material) if value is not None]
    if len(given) != 1:
        raise InputError("Give one of FILE, --model, --material.", hint="Try: pliant info --help")
    if model is not None:
        found, show = _model(model), _show_model
    elif material is not None:
        found, show = _material(material), _show_pairs
    else:
        assert file is not None
        if not file.exists():
            raise InputError(f"{file} does not exist.")
        if file.suffix == ".toml" and not file.is_dir():
            found, show = _scene(file), _show_scene
        elif file.is_dir() or file.suffix == ".pliant":
            found, show = _run(file), _show_run
        else:
            found, show = _mesh(file), _show_pairs
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
    rows = [[row.get(key) for key in ("name", "kind", "unit", "default")] for row in found["parameters"]]
    if rows:
        say_table(("parameter", "kind", "unit", "default"), rows)
    else:
        say("no parameters")
    say(f"fields: {', '.join(found['fields'])}" if found["fields"] else "")
    say(f"references: {', '.join(found['references'])}")


def _run(path: Path) -> Table:
    """A run folder."""
    from pliant.run.store import load

    loaded = load(path)
    more = {"frames_total": loaded.manifest["frames_total"], "message": loaded.message}
    return {**loaded.info(), **more}


def _scene(path: Path) -> Table:
    """A scene file, without building its meshes."""
    from pliant.core.parameters import to_table
    from pliant.scene.load import read

    found = read(path)
    time = found.time
    bodies = [
        {
            "name": body.name,
            "source": str(body.mesh) if body.mesh is not None else next(iter(to_table(body)["shape"])),
            "edge": body.edge,
            "model": body.model.kind,
            "material": body.material.preset or "own",
            "young": body.resolved_material.young,
            "density": body.resolved_material.density,
        }
        for body in found.bodies
    ]
    return {
        "title": found.title,
        "up": found.up,
        "time": {
            "duration": time.duration,
            "fps": time.fps,
            "frames": time.frames(),
            "step": time.step,
            "integrator": time.integrator.kind,
        },
        "bodies": bodies,
        "actions": [action.kind for action in found.actions],
        "measures": [getattr(measure, "name", None) or measure.kind for measure in found.measures],
    }


def _mesh(path: Path) -> Table:
    """A surface or volume file."""
    import numpy as np

    from pliant.mesh.diagnostics import health
    from pliant.mesh.io import kind_of, read_surface, read_volume
    from pliant.mesh.quality import quality

    if kind_of(path) == "surface":
        surface = read_surface(path)
        more = {"texture": surface.uv is not None, "groups": sorted(surface.groups)}
        return {"kind": "surface", **health(surface).to_dict(), **more}
    volume = read_volume(path)
    low, high = volume.points.min(axis=0).tolist(), volume.points.max(axis=0).tolist()
    found = quality(volume).to_dict()
    found.pop("histogram")
    more = {
        "groups": sorted(volume.groups),
        "regions": [] if volume.regions is None else np.unique(volume.regions).tolist(),
    }
    return {"kind": "volume", "points": len(volume.points), "box_min": low, "box_max": high, **found, **more}


def _model(name: str) -> Table:
    """A model: what it does, its parameters, its fields, its papers."""
    from pliant.models import MODELS

    try:
        cls: Any = MODELS[name]
    except ValueError as error:
        raise InputError(f"{error}") from None
    about, parameters = readable(inspect.cleandoc(cls.__doc__ or "")), parameters_of(cls)
    for key in (each["name"] for each in parameters):  # as scenes spell it
        about = re.sub(rf"\b{key.replace('-', '_')}\b", key, about)
    return {
        "model": name,
        "about": about,
        "parameters": parameters,
        "fields": _fields(cls),
        "references": list(cls.references),
    }


def _fields(cls: Any) -> list[str]:
    """What a model can say of each particle or cell, as a small body of it does."""
    from pliant.mesh import shapes
    from pliant.scene import Body

    body = Body(shapes.box(1, 1, 1, divisions=(2, 2, 2)), model=cls())
    mechanics = body.model.prepare(body.structure(), body.resolved_material)
    own = ("displacement", "velocity", "force") if mechanics.field_names else ("displacement", "velocity")
    return list(dict.fromkeys([*own, *mechanics.field_names]))


def parameters_of(cls: Any) -> list[Table]:
    """Scene keys of a parameter class with kind, unit, default and meaning."""
    from pydantic import TypeAdapter

    from pliant.scene.key_meanings import meanings

    found, about = [], meanings(cls)
    properties = TypeAdapter(cls).json_schema(by_alias=True).get("properties", {})
    for name, schema in properties.items():
        choices = list(_choices(schema))
        kinds = [_kind(choice) for choice in choices]
        found.append(
            {
                "name": name,
                "kind": next((kind for kind in kinds if kind), "any"),
                "unit": next((choice["unit"] for choice in choices if choice.get("unit")), None),
                "default": schema.get("default"),
                "about": readable(about.get(name, "")),
            }
        )
    return found


def _choices(schema: Table) -> Iterator[Table]:
    """A schema and all that it allows."""
    yield schema
    for inner in schema.get("anyOf", ()):
        yield from _choices(inner)


def _kind(schema: Table) -> str:
    if "enum" in schema or "const" in schema:
        return " or ".join(str(value) for value in schema.get("enum", [schema.get("const")]))
    kind = str(schema.get("type", ""))
    return "" if kind in ("null", "") else {"array": "list", "object": "table"}.get(kind, kind)


def _material(name: str) -> Table:
    """A material preset: constants, where they come from, the usual ranges."""
    from pliant.materials import presets, resolve

    preset = presets.get(name)
    constants = {key: value for key, value in resolve(name).given.items() if value is not None}
    return {
        "material": name,
        **constants,
        "usual_young": list(preset.young_range),
        "usual_density": list(preset.density_range),
        "source": preset.source,
        "note": preset.note,
    }
