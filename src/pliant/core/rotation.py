"""Rotations as scenes write them: an axis and an angle."""

from typing import Annotated, Any

import numpy as np
from pydantic import BeforeValidator, Field

from pliant.core.parameters import parameters
from pliant.core.typing import Array, Vector
from pliant.core.units import Number


def unit_vector(axis: Any) -> Vector:
    """A unit vector from "x", "y", "z" (with a sign: "-z") or three numbers."""
    if isinstance(axis, str):
        name = axis.lstrip("+-")
        if name not in ("x", "y", "z"):
            raise ValueError(f"axis is 'x', 'y', 'z' (or '-x', ...) or three numbers, got {axis!r}")
        sign = -1.0 if axis.startswith("-") else 1.0
        x, y, z = (sign * (name == letter) for letter in "xyz")
        return (x, y, z)
    try:
        a, b, c = (float(value) for value in axis)
    except (TypeError, ValueError):
        raise ValueError(f"axis is 'x', 'y', 'z' or three numbers, got {axis!r}") from None
    length = float(np.sqrt(a * a + b * b + c * c))
    if not 0.0 < length < float("inf"):
        raise ValueError("axis must have a length and be finite")
    if abs(length - 1.0) < 1e-15:  # a unit vector already: reading it again must not change its bits
        return (a, b, c)
    return (a / length, b / length, c / length)


Direction = Annotated[Any, BeforeValidator(unit_vector)]


@parameters
class Rotation:
    """A rotation by ``degrees`` about ``axis`` (right-handed)."""

    axis: Direction
    degrees: Number = Field(default=0.0)

    def matrix(self) -> Array:
        """The rotation matrix (3, 3), ``cos 1 + sin [a]x + (1 - cos) a a^T``."""
        a = np.array(self.axis)
        angle = np.deg2rad(self.degrees)
        cross = np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])
        turn: Array = np.cos(angle) * np.eye(3) + np.sin(angle) * cross + (1 - np.cos(angle)) * np.outer(a, a)
        return turn


def quarter_turn(start: str, end: str) -> Array:
    """The rotation (3, 3) that takes one axis, by its letter, to another: about the third, by 90 degrees."""
    a, b = np.eye(3)["xyz".index(start)], np.eye(3)["xyz".index(end)]
    axis = np.cross(a, b)
    return np.asarray(np.outer(axis, axis) + np.outer(b, a) - np.outer(a, b) if axis.any() else np.eye(3))
