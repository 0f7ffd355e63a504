"""Frames of a run, read when asked for."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from pliant.errors import InputError
from pliant.mesh.types import Surface
from pliant.protocols import FieldData, Memory
from pliant.recording.topology import BodyRecord
from pliant.registry import nearest
from pliant.typing import AnyArray, Array

if TYPE_CHECKING:
    from pliant.recording.reader import Run

_RECORDED = {"displacement": "m", "velocity": "m/s"}


class Frame:
    """The state of all bodies at one instant; arrays are read on first use and are the caller's own."""

    def __init__(self, run: "Run", index: int) -> None:
        self._run, self.index = run, index
        self._x: Array | None = None
        self.version = run.version_of(index)

    @property
    def time(self) -> float:
        """Time [s]."""
        return self.index / float(self._run.manifest["fps"])

    @property
    def bodies(self) -> tuple[BodyRecord, ...]:
        """The bodies as they are made at this frame."""
        return self._run.topology(self.version)

    @property
    def positions(self) -> Array:
        """Positions of all particles (n, 3) [m]."""
        if self._x is None:
            self._x = self._run.read(self, "positions")
        return self._x.copy()

    @property
    def velocities(self) -> Array | None:
        """Velocities of all particles (n, 3) [m/s]; None where the run did not record them."""
        return self._run.read(self, "velocities") if self._run.recorded(self.version, "velocities") else None

    def body(self, name: str) -> Array:
        """Positions (n, 3) [m] of one body."""
        return self.positions[slice(*self.record(name).rows)]

    def surface(self, name: str) -> Surface:
        """The shown surface of a body at this frame: its points moved, its UVs and groups kept."""
        carrier = self.record(name).structure.carrier
        if carrier is None:
            raise InputError(f"Body '{name}' has no surface to show.")
        return replace(carrier.surface, points=carrier.positions(self.body(name)))

    def record(self, name: str) -> BodyRecord:
        """What a body is made of at this frame; InputError for an unknown name."""
        for body in self.bodies:
            if body.name == name:
                return body
        raise InputError(f"The run has no body '{name}'; {nearest(name, [b.name for b in self.bodies])}")

    def memory(self, body: str) -> dict[str, AnyArray]:
        """The recorded history of a body's model, by key; empty where there is none."""
        names = {f"memory.{b.name}.": b.name for b in self.bodies}
        found = {}
        for name in self._run.arrays(self.version):
            owners = [prefix for prefix in names if name.startswith(prefix)]
            if owners and names[longest := max(owners, key=len)] == body:
                found[name.removeprefix(longest)] = self._run.read(self, name)
        return found

    def field_names(self, body: str) -> tuple[str, ...]:
        """Fields that ``field`` can give for a body."""
        own = ["displacement"] + ["velocity"] * self._run.recorded(self.version, "velocities")
        offered = self._run.mechanics(self.version, body).field_names
        return tuple(dict.fromkeys([*own, *(name for name in offered if name not in _RECORDED)]))

    def field(self, name: str, body: str | None = None) -> FieldData:
        """A named field of a body, or of all bodies one after the other.

        Displacements count from rest. Other fields come from the body's model, set up anew with the
        recorded history; velocities that were not recorded count as zero there.
        """
        names = [b.name for b in self.bodies] if body is None else [body]
        parts = [self._field(name, self.record(one)) for one in names]
        if len(parts) == 1:
            return parts[0]
        shapes = {(part.per, part.unit, part.values.shape[1:]) for part in parts}
        if len(shapes) > 1:
            raise InputError(f"The bodies give '{name}' in different forms.", hint="Ask for one body.")
        return replace(parts[0], values=np.concatenate([part.values for part in parts]))

    def _field(self, name: str, body: BodyRecord) -> FieldData:
        if name == "displacement":
            return FieldData(self.body(body.name) - body.structure.rest, unit="m")
        velocities = self.velocities
        if name == "velocity" and velocities is not None:
            return FieldData(velocities[slice(*body.rows)], unit="m/s")
        known = self.field_names(body.name)
        if name not in known:
            raise InputError(
                f"Body '{body.name}' has no field '{name}'; {nearest(name, list(known))}",
                hint="The run did not record velocities." if name == "velocity" else None,
            )
        mechanics = self._run.mechanics(self.version, body.name)
        history = self.memory(body.name)
        if history and isinstance(mechanics, Memory):
            mechanics.restore(mechanics.state() | history)  # a run may record a part of the state
        x = self.body(body.name)
        v = np.zeros_like(x) if velocities is None else velocities[slice(*body.rows)]
        return mechanics.fields(x, v, [name])[name]

    def __repr__(self) -> str:
        return f"Frame({self.index}, time={self.time:g} s)"


class Frames(Sequence[Frame]):
    """The frames of a run that count; slices are lazy too."""

    def __init__(self, run: "Run", numbers: range) -> None:
        self._run, self._numbers = run, numbers

    def __len__(self) -> int:
        return len(self._numbers)

    def __getitem__(self, index):  # type: ignore[no-untyped-def]
        if isinstance(index, slice):
            return Frames(self._run, self._numbers[index])
        try:
            return Frame(self._run, self._numbers[index])
        except IndexError:
            raise IndexError(f"frame {index}: there are {len(self)} frames") from None

    def __repr__(self) -> str:
        return f"Frames({len(self)} of {self._run.path.name})"
