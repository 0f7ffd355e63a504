"""Frames in other units and with another axis up."""

import tomllib
from dataclasses import dataclass, replace

import numpy as np

from pliant.core.errors import InputError
from pliant.core.typing import Array
from pliant.core.units import parse
from pliant.interfaces import FieldData
from pliant.mesh.mesh import Surface
from pliant.run.store import BodyRecord, Frame, Run

_VECTORS = ("displacement", "velocity", "force")


@dataclass(frozen=True)
class AxisTransform:
    """From metres and the scene's axes to those of a file: points become ``scale * turn @ point``.

    unit: length unit of the file, ``metres`` long; up: its axis that points up.
    """

    unit: str = "m"
    metres: float = 1.0
    up: str = "z"
    turn: tuple[tuple[float, ...], ...] = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))

    @property
    def plain(self) -> bool:
        return self.metres == 1.0 and np.array_equal(self.turn, np.eye(3))

    def points(self, points: Array) -> Array:
        """Points, velocities or displacements (n, 3), converted."""
        return points if self.plain else points @ (np.array(self.turn).T / self.metres)

    def field(self, name: str, data: FieldData) -> FieldData:
        """A field, converted: lengths and speeds scaled, vectors and tensors turned; all else stays SI."""
        values, turn = np.asarray(data.values), np.array(self.turn)
        if self.plain:
            return data
        if values.shape[1:] == (3, 3):
            values = turn @ values @ turn.T
        elif name in _VECTORS and values.shape[1:] == (3,):
            values = values @ turn.T
        if data.unit in ("m", "m/s"):
            return FieldData(values / self.metres, data.per, self.unit + data.unit[1:])
        return replace(data, values=values)


def placing(run: Run, unit: str | None, up: str | None) -> AxisTransform:
    """Checked: ``unit`` is a length (m if not given), ``up`` an axis (the scene's if not given)."""
    own = scene_up(run)
    wanted = own if up is None else up
    if wanted not in ("x", "y", "z"):
        raise InputError(f"up = {up!r}: it is x, y or z.")
    unit = unit or "m"
    try:
        metres = parse(f"1 {unit}", "m")
    except ValueError as error:
        raise InputError(f"units = {unit!r}: {error}.", hint="Lengths are m, cm, mm, km, in, ft.") from None
    turn = np.eye(3)
    if wanted != own:
        a, b = "xyz".index(own), "xyz".index(wanted)
        turn[a, a] = turn[b, b] = 0.0
        turn[b, a], turn[a, b] = 1.0, -1.0
    return AxisTransform(unit, metres, wanted, tuple(tuple(row) for row in turn.tolist()))


def scene_up(run: Run) -> str:
    """The axis that points up in the run's scene."""
    try:
        up = tomllib.loads(run.scene_text).get("up", "z")
    except tomllib.TOMLDecodeError:
        up = "z"
    return up if up in ("x", "y", "z") else "z"


class TransformedFrame(Frame):
    """A frame whose positions, velocities and fields are converted; structures stay as they are."""

    def __init__(self, frame: Frame, place: AxisTransform) -> None:
        super().__init__(frame._run, frame.index)
        self._frame, self._place = frame, place

    def _array(self, name: str) -> Array:
        if name not in self._read:
            self._read[name] = self._place.points(self._frame._array(name))
        return self._read[name]

    def surface(self, name: str) -> Surface:
        shown = self._frame.surface(name)  # carried in metres, as its offsets are
        return replace(shown, points=self._place.points(shown.points))

    def surface_velocities(self, name: str) -> Array | None:
        velocities = self._frame.surface_velocities(name)
        return None if velocities is None else self._place.points(velocities)

    def _field(self, name: str, body: BodyRecord) -> FieldData:
        return self._place.field(name, self._frame.field(name, body.name))
