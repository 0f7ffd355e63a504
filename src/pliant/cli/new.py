"""``pliant new``: a starter scene."""

from importlib import resources
from pathlib import Path
from shlex import quote
from typing import Annotated

import typer

from pliant.cli.output import say
from pliant.core.errors import InputError

EXAMPLES = ("pliant new beam", "pliant run beam.toml")


def command(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the scene.", show_default=False)],
) -> None:
    """Write a commented starter scene to NAME.toml. Nothing is overwritten."""
    from pliant.cli.output import write_new
    from pliant.scene.to_toml import toml_value

    if not Path(name).name.removesuffix(".toml"):
        raise InputError(f"'{name}' is no name for a scene.", hint="For example: pliant new beam")
    path = Path(name) if name.endswith(".toml") else Path(f"{name}.toml")
    title = toml_value(path.stem.replace("-", " ").replace("_", " ").capitalize())[1:-1]
    template = (resources.files("pliant.cli") / "starter.toml").read_text(encoding="utf-8")
    write_new(path, template.format(file=path.name, title=title))
    say(f"{path} written; next: pliant run {quote(str(path))}")
