"""How a picture looks: what users choose, checked once."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from pliant.core.errors import InputError
from pliant.core.registry import nearest
from pliant.run.requests import RenderRequest

STYLES = (
    "surface", "edges", "wireframe", "tets", "cells", "particles", "surfels", "levels", "cracks", "contacts",
)  # fmt: skip
VIEWS = ("auto", "iso", "front", "back", "left", "side", "top", "bottom")
BACKGROUNDS = {  # colours at the top and the bottom; ground; text
    "light": ((0.82, 0.87, 0.93), (0.98, 0.98, 0.97), (0.90, 0.90, 0.89), (45, 50, 60)),
    "white": ((1.0, 1.0, 1.0), (1.0, 1.0, 1.0), (0.94, 0.94, 0.94), (30, 30, 30)),
    "dark": ((0.10, 0.12, 0.16), (0.20, 0.22, 0.27), (0.24, 0.26, 0.30), (225, 228, 232)),
}
BODY_COLOURS = ("#E76F51", "#2A9D8F", "#E9B44C", "#4A7FB5", "#9B6A9E", "#7FB069", "#D98CA0", "#6C8EAD")
ROLE_COLOURS = {"ground": "#8D99A6", "table": "#B08968", "obstacle": "#8D99A6", "tool": "#4B86C8"}
CRACK_COLOUR = "#5C1F1B"
FORCE_COLOUR = "#9B2226"
LEVEL_COLOURS = ("#9AA5B1", "#4A7FB5", "#2A9D8F", "#E9B44C", "#E76F51", "#9B2226")  # coarse to fine
CRACK = "crack"  # the group of a carried surface that cracks have opened
LARGEST = 8192  # pixels along a side


@dataclass(frozen=True)
class RenderOptions:
    """The choices that hold for every picture of a movie or a sheet.

    size: pixels of one panel; colour: a field such as "stress" or "displacement.z" (None: a colour per body);
    map: a colour map of matplotlib, or "blue-green-red"; section: (axis, place [m]) of a cut, or None;
    ground: a level [m] along up, "auto" for the scene's own or "none".
    """

    size: tuple[int, int] = (1280, 720)
    style: str = "surface"
    view: str = "auto"
    colour: str | None = None
    map: str = "viridis"
    bar: bool = True
    section: tuple[int, float] | None = None
    ground: float | str = "auto"
    shadow: bool = True
    background: str = "light"
    title: str | None = None
    time: bool = True
    bodies: tuple[str, ...] | None = None
    zoom: float = 1.0

    @classmethod
    def of(cls, asked: RenderRequest, size: tuple[int, int], bodies: tuple[str, ...] | None) -> Self:
        """The choices of a request whose size and bodies have been checked."""
        same = ("style", "view", "colour", "map", "bar", "shadow", "background", "title", "time", "zoom")
        kept = {name: value for name, value in vars(asked).items() if name in same}
        section, ground = cut(asked.section), level(asked.ground)
        return cls(size=size, bodies=bodies, section=section, ground=ground, **kept)

    def __post_init__(self) -> None:
        _known("style", self.style, STYLES)
        _known("view", self.view, VIEWS)
        _known("background", self.background, tuple(BACKGROUNDS))
        if not 0.0 < self.zoom < float("inf"):
            raise InputError(f"zoom = {self.zoom:g}: it must be above 0.")
        if isinstance(self.ground, str) and self.ground not in ("auto", "none"):
            raise InputError(f"ground = {self.ground!r}: give a level in metres, 'auto' or 'none'.")
        width, height = self.size
        if not (16 <= width <= LARGEST and 16 <= height <= LARGEST):
            raise InputError(f"size = {width}x{height}: each side is 16 to {LARGEST} pixels.")
        if self.colour is not None and self.style in ("levels", "cracks", "contacts"):
            raise InputError(f"The style '{self.style}' has colours of its own.", hint="Leave --colour out.")
        if self.section is not None and self.style in ("wireframe", "edges", "surfels", "cracks", "contacts"):
            raise InputError(f"A section of the style '{self.style}' is not possible.", hint="Try tets.")


def _known(what: str, name: str, names: Sequence[str]) -> None:
    if name not in names:
        raise InputError(f"There is no {what} '{name}'; {nearest(name, list(names))}")


def rgb(colour: str) -> tuple[int, int, int]:
    """The parts 0..255 of a colour such as "#E76F51"."""
    red, green, blue = bytes.fromhex(colour.lstrip("#"))
    return red, green, blue


def body_rgb(number: int) -> tuple[int, int, int]:
    """The colour of the body ``number`` of a run."""
    return rgb(BODY_COLOURS[number % len(BODY_COLOURS)])


def pair(what: str, value: str | Sequence[int]) -> tuple[int, int]:
    """``"1280x720"`` or two numbers as whole numbers of at least 1."""
    parts = re.split(r"[x×,]", value.strip().lower()) if isinstance(value, str) else list(map(str, value))
    try:
        first, second = (int(part) for part in parts)
    except ValueError:
        raise InputError(f"{what} = {value!r}: expected two whole numbers, as in 4x3.") from None
    if min(first, second) < 1:
        raise InputError(f"{what} = {value!r}: both numbers must be at least 1.")
    return first, second


def cut(text: str | None) -> tuple[int, float] | None:
    """``"x=0.5"`` or ``"z = 2 cm"`` as an axis number and a place [m]."""
    from pliant.core.units import parse

    if text is None:
        return None
    axis, _, place = text.partition("=")
    if axis.strip() not in ("x", "y", "z") or not place.strip():
        raise InputError(f"section = {text!r}: expected an axis and a place, as in x=0.5 or z=2cm.")
    try:
        return "xyz".index(axis.strip()), parse(place.strip(), "m")
    except ValueError as error:
        raise InputError(f"section = {text!r}: {error}.") from None


def level(value: float | str) -> float | str:
    """A ground level [m] from a number, ``"5 cm"``, ``"auto"`` or ``"none"``."""
    from pliant.core.units import parse

    if value in ("auto", "none"):
        return value
    try:
        return parse(value, "m")
    except ValueError as error:
        raise InputError(f"ground = {value!r}: {error}.", hint="Or write auto or none.") from None
