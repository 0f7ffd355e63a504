"""Frames of a run, read when asked for."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from pliant.core.errors import InputError
from pliant.core.registry import nearest
from pliant.core.typing import AnyArray, Array
from pliant.embedding.carriers import carried_velocities
from pliant.interfaces import FieldData
from pliant.mesh.mesh import Surface
from pliant.run.store.topology import BodyRecord

if TYPE_CHECKING:
    from pliant.run.store.reader import Run

_RECORDED = {"displacement": "m", "velocity": "m/s", "contact-force": "N"}
_OF_CONTACT = ("contact-force", "gap", "pressure")
_HINTS = {
    "velocity": "The run did not record velocities.",
    **dict.fromkeys(_OF_CONTACT, "The run did not record contact forces: [record] contact-forces = true"),
}


class Frame:
    """The state of all bodies at one instant; arrays are read on first use, and those given are copies."""

    def __init__(self, run: "Run", index: int) -> None:
        self._run, self.index = run, index
        self._read: dict[str, Array] = {}
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
        return self._array("positions").copy()

    @property
    def velocities(self) -> Array | None:
        """Velocities of all particles (n, 3) [m/s]; None where the run did not record them."""
        return self._array("velocities").copy() if self._moving else None

    @property
    def _moving(self) -> bool:
        return self._run.recorded(self.version, "velocities")

    def _array(self, name: str) -> Array:
        """Positions or velocities of all particles, read once; not to be changed."""
        if name not in self._read:
            self._read[name] = self._run.read(self, name)
        return self._read[name]

    def fetch(self) -> "Frame":
        """This frame with its positions and velocities in memory."""
        for name in ("positions", "velocities")[: 1 + self._moving]:
            self._array(name)
        return self

    def body(self, name: str) -> Array:
        """Positions (n, 3) [m] of one body."""
        return self.rows(name).copy()

    def rows(self, name: str) -> Array:
        """Positions (n, 3) [m] of one body, not a copy: to be read only."""
        return self._rows("positions", name)

    def _rows(self, array: str, body: str) -> Array:
        return self._array(array)[slice(*self.record(body).rows)]

    def surface(self, name: str) -> Surface:
        """The shown surface of a body at this frame: its points moved, its UVs and groups kept."""
        carrier = self.record(name).structure.carrier
        if carrier is None:
            raise InputError(f"Body '{name}' has no surface to show.")
        return replace(carrier.surface, points=carrier.positions(self._rows("positions", name)))

    def surface_velocities(self, name: str) -> Array | None:
        """Velocities (p, 3) [m/s] of the shown surface; None where the run did not record any."""
        carrier = self.record(name).structure.carrier
        if not self._moving or carrier is None:
            return None
        return carried_velocities(carrier, self.rows(name), self._rows("velocities", name))

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
        offered = self._run.mechanics(self.version, body).field_names
        own = ["displacement"] + ["velocity"] * self._run.recorded(self.version, "velocities")
        if self._run.recorded(self.version, "contact-forces"):
            bare = not len(self.record(body).structure.cells.get("triangle", ()))
            own += _OF_CONTACT[:2] if bare else _OF_CONTACT
        own += ["force"] if offered else []  # rigid bodies have no forces within
        return tuple(dict.fromkeys([*own, *(name for name in offered if name not in _RECORDED)]))

    def field(self, name: str, body: str | None = None) -> FieldData:
        """A named field of a body, or of all bodies one after the other.

        Displacements count from rest; ``force`` is what the material does to each particle [N];
        ``contact-force`` what obstacles and other bodies did to it, its mean since the frame before,
        ``pressure`` [Pa] what of that presses on the surface around it, ``gap`` [m] the distance to the
        nearest other body or obstacle. Other fields come from the body's model, set up again with the
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
            return FieldData(self._rows("positions", body.name) - body.structure.rest, unit="m")
        if name == "velocity" and self._moving:
            return FieldData(self._rows("velocities", body.name).copy(), unit="m/s")
        known = self.field_names(body.name)
        if name in _OF_CONTACT and name in known:
            return self._contact_field(name, body)
        if name not in known:
            raise InputError(
                f"Body '{body.name}' has no field '{name}'; {nearest(name, list(known))}",
                hint=_HINTS.get(name),
            )
        mechanics = self._run.mechanics(self.version, body.name)
        history = self.memory(body.name)
        if history:
            mechanics.restore(mechanics.state() | history)  # a run may record a part of the state
        x = self.body(body.name)
        v = self._rows("velocities", body.name).copy() if self._moving else np.zeros_like(x)
        if name == "force" and name not in mechanics.field_names:
            force = np.zeros_like(x)
            mechanics.add_forces(x, v, force)
            return FieldData(force, unit="N")
        return mechanics.fields(x, v, [name])[name]

    def _contact_field(self, name: str, body: BodyRecord) -> FieldData:
        from pliant.run.contact_fields import gap, pressure
        from pliant.run.scenery import obstacles

        forces = self._rows("contact-forces", body.name)
        if name == "contact-force":
            return FieldData(forces.copy(), unit="N")
        if name == "gap":
            return FieldData(gap(self, body, obstacles(self._run)[1]), unit="m")
        triangles = body.structure.cells["triangle"]
        return FieldData(pressure(self.rows(body.name), triangles, forces), unit="Pa")

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
