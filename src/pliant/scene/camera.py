"""The camera of a scene: what ``[camera]`` says, and where the eye is at a time."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from pydantic import Field, ValidationError, model_validator

from pliant.core.curves import KeyedNumber, KeyedPoint
from pliant.core.parameters import from_table, parameters
from pliant.core.typing import Array

ANGLE = 28.0  # degrees that a picture sees from bottom to top


@dataclass(frozen=True)
class Eye:
    """A camera at one instant: where it is, what it looks at [m], what points up, its angle [deg]."""

    position: Array
    target: Array
    up: Array
    angle: float = ANGLE

    def axes(self) -> Array:
        """Unit vectors (3, 3): to the right, up and back, from the target to the eye."""
        back = self.position - self.target
        back = back / np.linalg.norm(back)
        right = np.cross(self.up, back)
        right = right / np.linalg.norm(right)
        return np.stack([right, np.cross(back, right), back])


@parameters
class CameraKeys:
    """A camera by keys: ``position`` and ``target`` [m], ``angle`` [deg], each a constant or keys."""

    position: KeyedPoint
    target: KeyedPoint
    angle: KeyedNumber = Field(default=ANGLE)

    @model_validator(mode="after")
    def _looks_somewhere(self) -> Self:
        times = sorted({*self.position.times, *self.target.times})
        if any(np.array_equal(self.position.at(time), self.target.at(time)) for time in times):
            raise ValueError("position and target are the same point")
        if not all(0.0 < angle < 180.0 for angle in self.angle.values):
            raise ValueError("angle: expected degrees above 0 and below 180")
        return self

    def eye(self, time: float, up: Array) -> Eye:
        """At ``time`` [s], with ``up`` pointing up in the scene."""
        position, target = np.array(self.position.at(time)), np.array(self.target.at(time))
        return Eye(position, target, _upward(up, target - position), float(self.angle.at(time)))

    @property
    def moves(self) -> bool:
        """Whether it changes with time."""
        return not all(curve.is_constant for curve in (self.position, self.target, self.angle))


def _upward(up: Array, sight: Array) -> Array:
    """``up``, unless that is where the camera looks."""
    if np.linalg.norm(np.cross(sight, up)) > 1e-6 * np.linalg.norm(sight):
        return up
    return np.roll(up, 1)


def camera_in(table: Any) -> CameraKeys | None:
    """The camera of the tables of a scene that was checked before; None where it has none that is valid."""
    given = table.get("camera") if isinstance(table, dict) else None
    try:
        return from_table(CameraKeys, given) if isinstance(given, dict) else None
    except ValidationError:
        return None
