"""From what a scene says to a complete material."""

from dataclasses import fields

from pydantic import ValidationError

from pliant.core.errors import MaterialError
from pliant.core.parameters import from_table, kebab
from pliant.core.registry import nearest
from pliant.core.tables import Table, TableView
from pliant.materials import anisotropic, elastic, presets
from pliant.materials.constants import ISOTROPIC, isotropic
from pliant.materials.material import Material, Properties, RegionalProperties, ResolvedMaterial

_NEEDS = {"creep": "yield", "plastic-max": "yield", "crack-speed": "strength", "frame": "moduli"}

AnyMaterial = str | TableView | RegionalProperties
"""A preset's name, a scene table, or a material."""


def resolve(material: AnyMaterial) -> ResolvedMaterial:
    """The complete material that a name, a scene table or a ``Material`` stands for.

    Regions come out complete as well: see ``by_region``. Raises ``MaterialError``.
    """
    if isinstance(material, ResolvedMaterial):
        return material
    try:
        if not isinstance(material, RegionalProperties):
            material = from_table(Material, material)  # type: ignore[arg-type]  # a name is read too
        table = _complete(merged(material))
        regions = [
            {"region": entry.region, **_complete(merged(entry, table), f"region {entry.region!r}: ")}
            for entry in material.regions
        ]
        return from_table(ResolvedMaterial, {**table, "regions": regions})
    except ValidationError as error:
        raise MaterialError(explain(error)) from None


def by_region(material: AnyMaterial) -> dict[int | str, ResolvedMaterial]:
    """The complete material of each region that ``material`` names."""
    return {entry.region: from_table(ResolvedMaterial, entry.given) for entry in resolve(material).regions}


def merged(spec: Properties, base: TableView | None = None) -> Table:
    """Constants by scene key: those of the preset (or else of ``base``), overridden by those given.

    Young, Poisson and shear are complete in the result. Given on top of an anisotropic preset they make
    the material isotropic; if only moduli are given, they are those of the nearest isotropic material.
    """
    given = spec.given
    start = dict(presets.get(spec.preset).table if spec.preset else base or {})
    own = any(key in given for key in ISOTROPIC)
    if "moduli" in given and not own:
        young, poisson = anisotropic.nearest_isotropic(given["moduli"])
        shear = elastic.shear_modulus(young, poisson)
        return {**start, **given, "young": young, "poisson": poisson, "shear": shear}
    if own and "moduli" not in given:
        start = {key: value for key, value in start.items() if key not in ("moduli", "frame")}
    try:
        return {**start, **given, **isotropic(given, start if "young" in start else None)}
    except ValueError as error:
        raise MaterialError(str(error)) from None


def _complete(table: Table, place: str = "") -> Table:
    """``table`` itself, if nothing is missing and every key in it does something."""
    if "density" not in table:
        raise MaterialError(f"{place}a material needs a density; add one, or name a preset")
    for key, other in _NEEDS.items():
        if key in table and other not in table:
            raise MaterialError(f"{place}{key} does nothing without {other}; add {other}, or leave {key} out")
    return table


def explain(error: ValidationError) -> str:
    """A validation error of a material in one line: the keys, and what is wrong with each."""
    parts = []
    for entry in error.errors(include_url=False):
        place = ".".join(str(part) for part in entry["loc"])
        text = entry["msg"].removeprefix("Value error, ")
        if entry["type"] == "unexpected_keyword_argument":
            text = _unknown_key(str(entry["loc"][-1]))
        parts.append(text if text.startswith(place) else f"{place}: {text}")
    return "; ".join(parts)


def _unknown_key(key: str) -> str:
    known = [kebab(entry.name) for entry in fields(Material)]
    return f"unknown key; {nearest(key, known)}"
