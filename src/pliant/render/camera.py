"""Where pictures are taken from: presets, keys, following a body, turning around it."""

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from pydantic import ValidationError

from pliant.core.errors import InputError
from pliant.core.parameters import from_table
from pliant.core.typing import Array
from pliant.scene.camera import ANGLE, CameraKeys, Eye

MARGIN = 1.17  # room around what moves


def read_camera(given: Any) -> CameraKeys | None:
    """Camera keys from a table, a TOML file of that form, or CameraKeys; None stays None."""
    if given is None or isinstance(given, CameraKeys):
        return given
    name = "camera"
    if not isinstance(given, Mapping):
        name = os.fspath(given)
        try:
            with open(name, "rb") as file:
                given = tomllib.load(file)
        except (OSError, tomllib.TOMLDecodeError) as error:
            raise InputError(f"{name}: not a camera file that can be read: {error}.") from error
    try:
        return from_table(CameraKeys, dict(given))
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        hint = "A camera has position and target, each [x, y, z] or { keys = [...] }, and may have an angle."
        raise InputError(f"{name}: {place}: {first['msg']}.", hint=hint) from None


def axes(up: str) -> tuple[Array, Array, Array]:
    """Unit vectors to the right, towards the viewer and up, seen from the front."""
    e = np.eye(3)
    upward = e["xyz".index(up)]
    right = e[1] if up == "x" else e[0]
    return right, np.cross(right, upward), upward


def direction(view: str, up: str) -> tuple[Array, Array]:
    """From the target to the camera, and what points up in the picture; unit vectors."""
    right, near, upward = axes(up)
    if view == "iso":
        way = 0.85 * near + 0.52 * right + 0.42 * upward
        return way / np.linalg.norm(way), upward
    table = {"front": near, "back": -near, "side": right, "left": -right, "top": upward, "bottom": -upward}
    return table[view], {"top": -near, "bottom": near}.get(view, upward)


def turned(way: Array, axis: Array, turn: float) -> Array:
    """``way`` turned about the unit vector ``axis`` by ``turn`` whole turns."""
    angle = 2.0 * np.pi * turn
    along = axis * (way @ axis)
    out: Array = along + np.cos(angle) * (way - along) + np.sin(angle) * np.cross(axis, way)
    return out


@dataclass(frozen=True)
class Camera:
    """The camera of a movie: looks along ``-way`` at ``target`` from ``distance``, or goes by its keys.

    turns: whole turns about ``up`` from the first picture to the last; follow: moved along with the bodies.
    """

    way: Array
    picture_up: Array
    up: Array
    target: Array
    distance: float
    turns: float = 0.0
    follow: bool = False
    keys: CameraKeys | None = None

    def eye(self, time: float, phase: float, moved: Array) -> Eye:
        """At ``time`` [s], ``phase`` (0..1) through the movie, the bodies ``moved`` [m] since its start."""
        if self.keys is not None:
            return self.keys.eye(time, self.up)
        way, up = self.way, self.picture_up
        if self.turns:
            way, up = (turned(v, self.up, self.turns * phase) for v in (way, up))
        target = self.target + moved if self.follow else self.target
        return Eye(target + self.distance * way, target, up)


def fitted(points: Array, way: Array, up: Array, aspect: float, zoom: float) -> tuple[Array, float]:
    """Target and distance from which all points (n, 3) are just inside the picture, with a margin."""
    right = np.cross(up, way)
    right /= np.linalg.norm(right)
    frame = np.stack([right, np.cross(way, right), way])
    seen = points @ frame.T
    middle = 0.5 * (seen.min(axis=0) + seen.max(axis=0))
    seen = seen - middle
    tangent = np.tan(np.radians(ANGLE) / 2.0)
    reach = np.maximum(np.abs(seen[:, 0]) / (tangent * aspect), np.abs(seen[:, 1]) / tangent)
    distance = float((MARGIN * reach + seen[:, 2]).max())
    floor = 1e-6 * (1.0 + float(np.abs(points).max(initial=0.0)))  # a single point
    return middle @ frame, max(distance, floor) / zoom
