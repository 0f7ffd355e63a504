"""The World: all bodies' particles in one set of arrays; a body owns a slice."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.errors import SelectionError
from pliant.protocols import Mechanics, Model, RowChange, Structure, Thick
from pliant.registry import nearest
from pliant.typing import Array, IntArray

if TYPE_CHECKING:
    from pliant.materials import Resolved as Material


@dataclass
class Part:
    """A body's share of the World: its rows, what it is made of, and its model at work."""

    name: str
    rows: slice
    structure: Structure
    model: Model
    material: "Material"
    mechanics: Mechanics

    @property
    def count(self) -> int:
        return int(self.rows.stop - self.rows.start)


class World:
    """Positions x [m], velocities v [m/s], forces f [N], shape (n, 3), and mass [kg], shape (n,).

    ``radius`` (n,) [m]: how far particles that are balls keep off obstacles; 0 for points.
    ``inverse_mass`` (n, 3) is zero where a degree of freedom is driven. ``topology_version`` rises when
    particles or cells come or go; ``ancestors`` (n,) is the row that each particle had at version 0.
    """

    def __init__(self, parts: Sequence[Part], velocities: Sequence[Array] | None = None) -> None:
        self.parts = list(parts)
        self.x: Array = np.concatenate([p.structure.rest for p in parts])
        self.v: Array = np.concatenate(velocities) if velocities is not None else np.zeros_like(self.x)
        self.f: Array = np.zeros_like(self.x)
        self.mass: Array = np.concatenate([p.structure.mass for p in parts])
        self.inverse_mass: Array = np.repeat(1.0 / self.mass[:, None], 3, axis=1)
        thick = [p.mechanics.radius if isinstance(p.mechanics, Thick) else 0.0 for p in parts]
        self.radius: Array = np.repeat(thick, [len(p.structure.rest) for p in parts])
        self.ancestors: IntArray = np.arange(len(self.x))
        self.topology_version = 0

    @property
    def count(self) -> int:
        return len(self.x)

    @property
    def rest(self) -> Array:
        """Rest positions of all particles (n, 3), world coordinates."""
        return np.concatenate([p.structure.rest for p in self.parts])

    def parts_named(self, body: Any, what: str) -> list[Part]:
        """The part called ``body``, or all of them for None; SelectionError for an unknown name."""
        if body is None:
            return self.parts
        name = body if isinstance(body, str) else body.name
        found = [part for part in self.parts if part.name == name]
        if not found:
            names = [part.name for part in self.parts]
            raise SelectionError(f"{what}: there is no body '{name}'; {nearest(str(name), names)}")
        return found

    def rest_bounds(self, body: Any, what: str) -> tuple[Array, Array]:
        """Lowest and highest rest coordinates of a body (all bodies for None)."""
        rest = np.concatenate([p.structure.rest for p in self.parts_named(body, what)])
        return rest.min(axis=0), rest.max(axis=0)

    def kinetic_energy(self) -> float:
        """``sum m v^2 / 2`` [J]."""
        return 0.5 * float(np.sum(self.mass[:, None] * self.v**2))

    def resize(self, part: Part, structure: Structure, parents: IntArray) -> RowChange:
        """Give ``part`` a new structure whose particle i continues the part's old particle parents[i]."""
        old, start = part.rows, part.rows.start
        keep = np.concatenate([np.arange(start), start + parents, np.arange(old.stop, self.count)])
        self.x, self.v, self.f = self.x[keep].copy(), self.v[keep].copy(), self.f[keep].copy()
        mass = self.mass[keep].copy()
        mass[start : start + len(parents)] = structure.mass
        driven = self.inverse_mass[keep] == 0.0
        self.mass = mass
        self.inverse_mass = np.where(driven, 0.0, 1.0 / mass[:, None])
        self.radius, self.ancestors = self.radius[keep], self.ancestors[keep]
        shift = len(parents) - part.count
        part.structure = structure
        part.rows = slice(start, start + len(parents))
        for other in self.parts:
            if other is not part and other.rows.start >= old.stop:
                other.rows = slice(other.rows.start + shift, other.rows.stop + shift)
        self.topology_version += 1
        return RowChange(keep)
