"""The scenes of the comparative study: ``pliant compare`` without a scene runs them all."""

from importlib import resources

KEYS = {"multires": ("operator=corotational",)}  # its default is for small rotations; these scenes turn
NAMES = ("cantilever", "drop", "squeeze", "twist", "poke", "break")


def text(name: str) -> str:
    """The scene file of one of ``NAMES``."""
    return (resources.files("pliant.validation.study") / f"{name}.toml").read_text(encoding="utf-8")
