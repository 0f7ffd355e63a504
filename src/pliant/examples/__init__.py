"""Scenes that come with pliant; ``pliant examples`` lists them."""

import tomllib
from importlib import resources

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


def title(name: str) -> str:
    """Its title."""
    return str(tomllib.loads(text(name)).get("title", ""))


def model(name: str) -> str:
    """The model of its first body."""
    given = tomllib.loads(text(name))["bodies"][0].get("model", "mass-spring")
    return str(given["type"] if isinstance(given, dict) else given)
