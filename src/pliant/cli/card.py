"""``pliant card``: the material card of a model."""

from typing import Annotated

import typer

from pliant.cli import options
from pliant.cli.output import say, say_json, say_table
from pliant.core.tables import Table

EXAMPLES = (
    "pliant card --model cpm1 --material rubber",
    "pliant card --model cpm2 --young 3MPa --poisson 0.3 --density 1200 --json",
    "pliant card --model cpm1 --material rubber --set form=everts --set mapping=everts",
    "pliant card --model cpm1 --material rubber --calibrate",
)
NAMES = {"young": "Young's modulus [Pa]", "poisson": "Poisson's ratio", "shear": "shear modulus [Pa]"}
NAMES |= {"bulk": "bulk modulus [Pa]"}


def command(
    model: Annotated[str, typer.Option(metavar="NAME", help="The model.", show_default=False)],
    material: Annotated[str | None, typer.Option(metavar="NAME", help="A material preset.")] = None,
    young: Annotated[str | None, typer.Option(metavar="PA", help="Young's modulus.")] = None,
    poisson: Annotated[float | None, typer.Option(metavar="NU", help="Poisson's ratio.")] = None,
    density: Annotated[str | None, typer.Option(metavar="KG/M3", help="Density.")] = None,
    edge: Annotated[float, typer.Option(metavar="SHARE", help="Edge of the tets, of the cube's side.")] = 0.2,
    calibrate: Annotated[bool, typer.Option("--calibrate", help="Let the model calibrate itself.")] = False,
    changes: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="A key of the model.")
    ] = None,
    json: options.Json = False,
) -> None:
    """Say what a model makes of a material: requested, measured and predicted moduli.

    Virtual tension, shear and swelling of a cube of 1 m at a strain of 0.001.
    """
    from dataclasses import asdict

    from pliant.core.errors import InputError, ParameterError
    from pliant.validation.material_card import material_card

    if not 0.02 <= edge <= 1.0:
        raise InputError(f"--edge {edge:g}: it is a share of the cube's side, 0.02 to 1.")
    chosen = _material(material, young, poisson, density)
    keys = _keys([*(changes or []), *(["calibrate=true"] if calibrate else [])])
    try:
        card = material_card({"type": model, **keys}, chosen, edge)
    except ParameterError as error:
        raise InputError(error.message.removeprefix("Body: ")) from None
    if json:
        say_json(card.to_dict())
        return
    columns = [
        dict.fromkeys(NAMES, "not predicted") if moduli is None else asdict(moduli)
        for moduli in (card.requested, card.effective, card.predicted, card.remainder)
    ]
    say(f"{card.model}, {card.particles} particles")
    head = ("", "requested", "effective", "predicted", "remainder")
    say_table(head, [[text, *(column[key] for column in columns)] for key, text in NAMES.items()])


def _material(preset: str | None, young: str | None, poisson: float | None, density: str | None) -> Table:
    from pliant.core.errors import InputError

    given = {"preset": preset, "young": young, "poisson": poisson, "density": density}
    table = {key: value for key, value in given.items() if value is not None}
    if preset is None and len(table) < 3:
        raise InputError("Give --material, or --young, --poisson and --density.")
    for key in ("young", "density"):
        if key in table:
            table[key] = _number(str(table[key]))
    return table


def _number(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


def _keys(changes: list[str]) -> Table:
    from pliant.core.errors import InputError
    from pliant.scene.override import value_of

    keys = {}
    for text in changes:
        key, equals, value = text.partition("=")
        if not equals:
            raise InputError(f"--set {text}: expected key=value, for example form=everts.")
        keys[key.strip()] = value_of(value)
    return keys
