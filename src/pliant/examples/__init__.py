"""Scenes that come with pliant; ``pliant examples`` lists them."""

import shutil
import tomllib
from importlib import resources
from pathlib import Path

from pliant.core.errors import InputError
from pliant.core.registry import nearest


def names() -> list[str]:
    """Their names, in alphabetical order."""
    files = resources.files("pliant.examples").iterdir()
    return sorted(file.name.removesuffix(".toml") for file in files if file.name.endswith(".toml"))


def text(name: str) -> str:
    """The scene file of an example; InputError with the nearest name for an unknown one."""
    name = name.removesuffix(".toml")
    if name not in names():
        raise InputError(f"There is no example '{name}'; {nearest(name, names())}")
    return (resources.files("pliant.examples") / f"{name}.toml").read_text(encoding="utf-8")


def folder() -> Path:
    """Where they are, with the mesh files that they name."""
    return Path(str(resources.files("pliant.examples")))


def copy_meshes(name: str, place: Path) -> list[Path]:
    """Copy the mesh files of an example into the folder ``place``; those that are there are left alone."""
    bodies = tomllib.loads(text(name))["bodies"]
    files = [place / body["mesh"] for body in bodies if "mesh" in body]
    for file in files:
        if not file.exists():
            shutil.copyfile(folder() / file.name, file)
    return files


def title(name: str) -> str:
    """Its title."""
    return str(tomllib.loads(text(name)).get("title", ""))


def model(name: str) -> str:
    """The model of its first body."""
    given = tomllib.loads(text(name))["bodies"][0].get("model", "mass-spring")
    return str(given["type"] if isinstance(given, dict) else given)
