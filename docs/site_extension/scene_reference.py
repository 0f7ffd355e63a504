"""Reference of scene files, from the JSON Schema and the docstrings of the parameter classes."""

import inspect
import re
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from typing import Any

from pliant.integrators import INTEGRATORS
from pliant.materials import presets as preset_table
from pliant.materials import resolve
from pliant.materials.constitutive import LAWS, law_named
from pliant.mesh.shapes import SHAPES
from pliant.models import MODELS
from pliant.scene.json_schema import scene_schema
from pliant.scene.schema import FAMILIES

Schema = dict[str, Any]
REGISTRIES: dict[str, Any] = {**FAMILIES, "models": MODELS, "integrators": INTEGRATORS, "shapes": SHAPES}
HEAD = "| key | type | unit | default | meaning |\n| --- | --- | --- | --- | --- |"
ELSEWHERE = {  # keys that have a section of their own, by place
    "select": "[selection](scene.md#selections)",
    "shape": "[shape](shapes.md)",
    "body.model": "[model](models.md)",
    "body.material": "[material](materials.md)",
    "time.integrator": "[integrator](integrators.md)",
}
DEFAULT_LIMIT = 40


@cache
def _scene() -> Schema:
    return scene_schema()


def _entry(name: str, kind: str) -> Schema:
    """The schema of a member of a registry."""
    properties = _scene()["properties"]
    bodies = properties["bodies"]["items"]["properties"]
    places = {
        "actions": lambda: properties["actions"]["items"]["oneOf"],
        "measures": lambda: properties["measures"]["items"]["oneOf"],
        "models": lambda: bodies["model"]["anyOf"][1:],
        "integrators": lambda: properties["time"]["properties"]["integrator"]["anyOf"][1:],
    }
    if name == "shapes":
        choices = [each["properties"] for each in bodies["shape"]["oneOf"]]
        (found,) = [each[kind] for each in choices if kind in each]
    else:
        (found,) = [each for each in places[name]() if kind in each["properties"]["type"]["enum"]]
    return dict(found)


def family(name: str) -> str:
    """A section per member of a registry."""
    return "\n\n".join(_section(name, kind, cls) for kind, cls in REGISTRIES[name].items())


def _section(name: str, kind: str, cls: Any) -> str:
    module = {"actions": "pl", "measures": "pl"}.get(name, f"pl.{name}")
    schema = _entry(name, kind)
    keys = {key: value for key, value in schema["properties"].items() if key not in ("type", "keys", "ease")}
    main = vars(cls).get("main") or ""
    parts = [f"## {kind}", f"In Python: `{module}.{cls.__name__}`", markdown(cls.__doc__ or "")]
    if main:
        parts.append(f"Bare `keys` in the table are keys of `{main}`.")
    if keys:
        parts.append(_table(keys, set(schema.get("required", ())), ""))
    else:
        parts.append("It has no keys.")
    return "\n\n".join(parts)


def top_level() -> str:
    """The top level of a scene file, and its single tables."""
    properties = _scene()["properties"]
    parts = [_table(properties, set(_scene()["required"]), "", deep=False)]
    for key in ("time", "record", "contact", "camera"):
        schema = _of_table(properties[key])
        about = properties[key]["description"]
        parts += [f"## [{key}]", f"{about[0].upper()}{about[1:]}."]
        parts.append(_table(schema["properties"], set(schema.get("required", ())), key))
    return "\n\n".join(parts)


def body() -> str:
    schema = _scene()["properties"]["bodies"]["items"]
    return _table(schema["properties"], set(), "body")


def selections() -> str:
    """The keys of ``select``."""
    fix = _entry("actions", "fix")["properties"]["select"]
    return _table(_of_table(fix)["properties"], set(), "selection")


def materials() -> str:
    """Keys of a material."""
    tables = _scene()["properties"]["bodies"]["items"]["properties"]["material"]["anyOf"]
    return _table(tables[1]["properties"], set(), "material", deep=False)


def presets() -> str:
    rows = ["| name | E [Pa] | ν | ρ [kg/m³] | more keys | source |", "| --- | --- | --- | --- | --- | --- |"]
    for name in preset_table.names():
        known, table = resolve(name), preset_table.get(name)
        more = [f"{key} {value:.4g}" for key, value in table.table.items() if _is_more(key, value)]
        constants = f"{known.young:.3g} | {known.poisson:.3g} | {known.density:.4g}"
        rows.append(f"| `{name}` | {constants} | {', '.join(more)} | {_cell(table.source)} |")
    return "\n".join(rows)


def _is_more(key: str, value: object) -> bool:
    return key not in ("young", "poisson", "density") and isinstance(value, (int, float))


def laws() -> str:
    """The constitutive laws, in the words of their modules."""
    parts = []
    for name in LAWS:
        law = law_named(name)
        defaults = ", ".join(f"`{key}` = {value}" for key, value in law.parameters.items()) or "none"
        about = markdown(import_module(str(law.source)).__doc__ or "")
        parts += [f"### {name}", about, f"Parameters beside E and ν: {defaults}."]
    return "\n\n".join(parts)


def _table(keys: Schema, required: set[str], place: str, deep: bool = True) -> str:
    return "\n".join([HEAD, *_rows(keys, required, place, "", deep)])


def _rows(keys: Schema, required: set[str], place: str, prefix: str, deep: bool) -> Iterator[str]:
    for key, schema in keys.items():
        about = schema.get("description", "")
        unit, _, text = about[1:].partition("] ") if re.match(r"\[[^\]]+\] ", about) else ("", "", about)
        elsewhere = ELSEWHERE.get(f"{place}.{key}") or ELSEWHERE.get(key)
        kind = elsewhere or _type(schema)
        default = "required" if key in required else _default(schema)
        yield f"| `{prefix}{key}` | {kind} | {unit} | {default} | {_cell(text)} |"
        inner = None if elsewhere or not deep else _inner_table(schema)
        if inner is not None:
            needed = set(inner.get("required", ()))
            yield from _rows(inner["properties"], needed, place, f"{prefix}{key}.", deep)


def _default(schema: Schema) -> str:
    if schema.get("default", "") == "":
        return ""
    value = schema["default"]
    text = f"`{str(value).lower() if isinstance(value, bool) else value}`"
    return text if len(text) < DEFAULT_LIMIT else text[:DEFAULT_LIMIT]


def _inner_table(schema: Schema) -> Schema | None:
    """The schema of the table that a key holds, or of those in its list; none for keyed values."""
    for choice in (schema, *schema.get("anyOf", ()), *schema.get("oneOf", ())):
        items = choice.get("items", choice)
        if isinstance(items, dict) and items.get("properties") and "keys" not in items["properties"]:
            return items
    return None


def _of_table(schema: Schema) -> Schema:
    found = _inner_table(schema)
    assert found is not None
    return found


def _type(schema: Schema) -> str:
    """The type of a key in words."""
    if "enum" in schema:
        return ", ".join(f"`{value}`" for value in schema["enum"])
    if "anyOf" in schema or "oneOf" in schema:
        kinds = list(dict.fromkeys(_type(choice) for choice in schema.get("anyOf") or schema["oneOf"]))
        if "keyed" in kinds:
            return f"{' or '.join(kind for kind in kinds if kind != 'keyed')}, may be keyed"
        numbers = [kind for kind in kinds if kind.startswith("number")]
        if numbers and "text" in kinds:  # a quantity: a string may have a unit
            kinds = [kind for kind in kinds if kind != "text"]
        return " or ".join(kinds)
    kind = schema.get("type")
    if kind == "array":
        if "prefixItems" in schema:
            return f"{len(schema['prefixItems'])} × {_type(schema['prefixItems'][0])}"
        count = schema.get("minItems") if schema.get("minItems") == schema.get("maxItems") else None
        items = "table" if "oneOf" in schema["items"] else _type(schema["items"])
        return f"{count} × {items}" if count else f"list of {items}"
    if kind == "object":
        return "keyed" if "keys" in schema.get("properties", {}) else "table"
    plain = {"boolean": "`true`, `false`", "integer": "integer", "number": "number", "string": "text"}
    return plain.get(str(kind), "any") + _bounds(schema)


def _bounds(schema: Schema) -> str:
    signs = {"exclusiveMinimum": ">", "minimum": "≥", "exclusiveMaximum": "<", "maximum": "≤"}
    found = [f"{sign} {schema[key]:g}" for key, sign in signs.items() if key in schema]
    return f" {', '.join(found)}" if found else ""


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ").replace("<", "&lt;")


def markdown(docstring: str) -> str:
    """A docstring as Markdown: formulas between dollars, code between single marks."""
    text = inspect.cleandoc(docstring)
    text = re.sub(r"^\.\. math::([^\n]*(?:\n[ \t]+[^\n]*|\n(?=\n[ \t]))*)", _displayed, text, flags=re.M)
    text = re.sub(r":math:`([^`]*)`", lambda found: f"${' '.join(found[1].split())}$", text)
    text = re.sub(r":\w+:`~?(?:[\w.]+\.)?([^`]*)`", r"`\1`", text)
    text = re.sub(r"(?<!`)``([^`]+)``", lambda found: f"`{' '.join(found[1].split())}`", text)
    return "\n\n".join(_paragraph(part) for part in text.split("\n\n"))


def _displayed(found: re.Match[str]) -> str:
    return f"$$\n{' '.join(found[1].split())}\n$$"


def _paragraph(text: str) -> str:
    """Explanations of keys, ``name: ...``, as a list."""
    if text.startswith("$$"):
        return text
    if text.startswith("    "):
        return f"```text\n{inspect.cleandoc(text)}\n```"
    name = r"\w+(?: \[[^\]]*\])?"
    return re.sub(rf"(?:^|(?<=[.;] ))((?:{name}(?:, | and ))*{name}):(?= )", r"**\1**:", text)
