"""Small records that models, actions and the loop exchange."""

from dataclasses import dataclass

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
    """Running totals of the energy that actions gave and took [J], and the powers [W] at the last step.

    driven: kinetic energy of the degrees of freedom whose motion is prescribed [J].
    """

    work: float = 0.0
    dissipated: float = 0.0
    powers: tuple[float, float] = (0.0, 0.0)
    driven: float = 0.0


@dataclass(frozen=True)
class ContactSurface:
    """How a body touches others. What is None follows from its structure and material.

    radius [m]: particles are balls of this radius, and triangles are as thick to either side. friction:
    instead of the material's. roughness (n,): factors on the friction, per particle. pieces (n,): the piece
    of each particle of a body without cells; where such a body collides with itself, its pieces do.

    Rigid bodies also give: triangles (t, 3), own rows, closed and outward; mass (n,) [kg] that a contact has
    to move; stiffness [N/m] of contacts. Obstacles leave their particles alone: they resolve these contacts
    by themselves.
    """

    radius: float | None = None
    friction: float | None = None
    roughness: Array | None = None
    pieces: IntArray | None = None
    rigid: bool = False
    triangles: IntArray | None = None
    mass: Array | None = None
    stiffness: float | None = None
