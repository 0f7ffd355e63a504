"""Small records that models, actions and the loop exchange."""

from dataclasses import dataclass, fields

from pliant.core.typing import AnyArray, Array, IntArray


@dataclass(frozen=True)
class StableStep:
    """The largest stable explicit step [s], and why."""

    seconds: float
    reason: str


@dataclass(frozen=True)
class FieldData:
    """A named field: values per particle or per cell."""

    values: AnyArray
    per: str = "particle"  # or "cell"
    unit: str = ""


@dataclass
class EnergyTotals:
    """Running totals [J] of the work done on the bodies and of the energy that left their motion, by account.

    damping: internal, of the medium and of dampers; friction: contacts, by sliding and by inelastic impact;
    plastic: plastic flow; fracture: new surfaces; numerical: the time integration; levels: changes of
    resolution; removed: with material that was taken away.
    """

    work: float = 0.0
    damping: float = 0.0
    friction: float = 0.0
    plastic: float = 0.0
    fracture: float = 0.0
    numerical: float = 0.0
    levels: float = 0.0
    removed: float = 0.0

    @property
    def dissipated(self) -> float:
        """All that left the motion [J]: the sum of the accounts other than ``work``."""
        return sum(self.values()[1:])

    def values(self) -> list[float]:
        """The accounts in the order of ``ACCOUNTS``."""
        found = (
            self.work, self.damping, self.friction, self.plastic, self.fracture, self.numerical, self.levels,
            self.removed,
        )  # fmt: skip
        return [float(value) for value in found]


ACCOUNTS = tuple(each.name for each in fields(EnergyTotals))


@dataclass(frozen=True)
class ContactSurface:
    """How a body touches others. What is None follows from its structure and material.

    radius [m]: particles are balls of this radius, and triangles are as thick to either side. friction:
    instead of the material's. roughness (n,): factors on the friction, per particle. pieces (n,): the piece
    of each particle of a body without cells; where such a body collides with itself, its pieces do.
    resolves_obstacles: the body resolves its contacts with obstacles in its own steps, so that obstacles
    leave its particles alone.

    Rigid bodies also give: triangles (t, 3), own rows, closed and outward; mass (n,) [kg] that a contact has
    to move; stiffness [N/m] of contacts.
    """

    radius: float | None = None
    friction: float | None = None
    roughness: Array | None = None
    pieces: IntArray | None = None
    rigid: bool = False
    triangles: IntArray | None = None
    mass: Array | None = None
    stiffness: float | None = None
    resolves_obstacles: bool = False
