"""Shapes by name: solids that need no file.

``SHAPES`` has the scene names; the lower-case functions are the short form for Python:
``shapes.box(2.0, 0.2, 0.2)``, ``shapes.sphere("5 cm")``. Lengths are metres or strings with units.
"""

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from pliant.core.errors import MeshError
from pliant.core.typing import AnyArray
from pliant.mesh.shapes.blocks import Split
from pliant.mesh.shapes.boxes import Box, Mattress
from pliant.mesh.shapes.common import Shape
from pliant.mesh.shapes.extrusions import BeamWithHole, Cylinder, Prism, Support
from pliant.mesh.shapes.implicit import Gummy, Liver
from pliant.mesh.shapes.round_shapes import Icosphere, Sphere, Torus
from pliant.mesh.shapes.specimens import ChocolateBar, Goblet, NeckedBar

__all__ = [
    "SHAPES",
    "BeamWithHole",
    "Box",
    "ChocolateBar",
    "Cylinder",
    "Goblet",
    "Gummy",
    "Icosphere",
    "Liver",
    "Mattress",
    "NeckedBar",
    "Prism",
    "Shape",
    "Sphere",
    "Support",
    "Torus",
    "beam_with_hole",
    "box",
    "chocolate_bar",
    "cylinder",
    "goblet",
    "gummy",
    "icosphere",
    "liver",
    "mattress",
    "necked_bar",
    "prism",
    "sphere",
    "support",
    "torus",
]

_SOLIDS = (Box, BeamWithHole, Mattress, Support, Cylinder, Prism, Sphere, Icosphere, Torus, Gummy, Liver)
_SPECIMENS = (NeckedBar, ChocolateBar, Goblet)
SHAPES: dict[str, type[Shape]] = {
    re.sub(r"(?<=[a-z])(?=[A-Z])", "-", cls.__name__).lower(): cls for cls in _SOLIDS + _SPECIMENS
}
"""Shapes by their names in scenes: ``necked-bar`` for ``NeckedBar``."""

Metres = float | str
Sides = Metres | Sequence[Metres] | AnyArray


def box(*size: Sides, divisions: Sequence[int] | None = None, split: Split = "alternating") -> Box:
    """A box from the origin to ``size``: three lengths or a vector; ``divisions`` make it a lattice of tets,
    whose diagonals alternate from cell to cell, or are all alike with ``split="uniform"``."""
    return Box(size=_three("box", size), divisions=_plain(divisions), split=split)


def beam_with_hole(*size: Sides, radius: Metres | None = None) -> BeamWithHole:
    """A box from the origin to ``size`` with a hole of ``radius`` along y through its middle."""
    return BeamWithHole(size=_three("beam_with_hole", size), radius=_plain(radius))


def mattress(*size: Sides) -> Mattress:
    """A tufted box with round edges, from the origin to ``size``."""
    return Mattress(size=_three("mattress", size))


def support(*size: Sides, thickness: Metres | None = None) -> Support:
    """An L-shaped bracket from the origin to ``size``, its plates ``thickness`` thick."""
    return Support(size=_three("support", size), thickness=_plain(thickness))


def cylinder(radius: Metres, height: Metres) -> Cylinder:
    """A cylinder about z, from z = 0 to ``height``."""
    return Cylinder(radius=_plain(radius), height=_plain(height))


def prism(radius: Metres, height: Metres, sides: int = 6) -> Prism:
    """A regular prism about z with corners at ``radius``, from z = 0 to ``height``."""
    return Prism(radius=_plain(radius), height=_plain(height), sides=_plain(sides))


def sphere(radius: Metres) -> Sphere:
    """A sphere about the origin."""
    return Sphere(radius=_plain(radius))


def icosphere(radius: Metres, subdivisions: int = 3) -> Icosphere:
    """A subdivided icosahedron about the origin."""
    return Icosphere(radius=_plain(radius), subdivisions=_plain(subdivisions))


def torus(major: Metres, minor: Metres) -> Torus:
    """A ring about z: a tube of radius ``minor`` around a circle of radius ``major``."""
    return Torus(major=_plain(major), minor=_plain(minor))


def gummy(height: Metres) -> Gummy:
    """A gummy bear, ``height`` tall, standing on z = 0 and facing -y."""
    return Gummy(height=_plain(height))


def liver(width: Metres) -> Liver:
    """A liver-like organ of two lobes, ``width`` along x, lying on z = 0."""
    return Liver(width=_plain(width))


def necked_bar(*size: Sides, neck: float = 0.6, divisions: Sequence[int] | None = None) -> NeckedBar:
    """A bar along x from the origin to ``size``, narrowed to ``neck`` of its width in the middle."""
    return NeckedBar(size=_three("necked_bar", size), neck=_plain(neck), divisions=_plain(divisions))


def chocolate_bar(*size: Sides, squares: Sequence[int] = (5, 2), groove: float = 0.4) -> ChocolateBar:
    """A bar of chocolate from the origin to ``size``, with ``squares`` along x and y."""
    return ChocolateBar(size=_three("chocolate_bar", size), squares=_plain(squares), groove=_plain(groove))


def goblet(height: Metres, wall: Metres | None = None, divisions: Sequence[int] = (28, 24, 1)) -> Goblet:
    """A wine glass, ``height`` tall, standing on z = 0, its ``wall`` of lattice ``divisions``."""
    return Goblet(height=_plain(height), wall=_plain(wall), divisions=_plain(divisions))


def _three(name: str, size: tuple[Any, ...]) -> tuple[Any, Any, Any]:
    """Three lengths from three arguments or from one vector."""
    values = _plain(size[0]) if len(size) == 1 else [_plain(value) for value in size]
    if not isinstance(values, (list, tuple)) or len(values) != 3:
        raise MeshError(
            f"{name} needs three lengths, got {size if len(size) != 1 else size[0]!r}.",
            hint=f"Write {name}(2.0, 0.2, 0.4) or {name}([2.0, 0.2, 0.4]).",
        )
    return (_plain(values[0]), _plain(values[1]), _plain(values[2]))


def _plain(value: Any) -> Any:
    """NumPy arrays and scalars as Python lists and numbers, anything else as it is."""
    return value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value
