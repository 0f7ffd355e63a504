"""Contact between bodies as scenes describe it: the ``[contact]`` table."""

from typing import TYPE_CHECKING, Literal

from pydantic import Field, model_validator

from pliant.core.parameters import parameters
from pliant.core.typing import Vector
from pliant.core.units import Number, Pressure

if TYPE_CHECKING:
    from pliant.interfaces import ActionRuntime
    from pliant.state.world import BodyState, World


@parameters
class ContactPairSettings:
    """Friction and restitution between two bodies, by their names (twice the same: with itself).

    adhesion [Pa]: what has touched sticks together, and pulls up to this stress before it comes off.
    """

    bodies: tuple[str, str]
    friction: Number | None = Field(default=None, ge=0)
    restitution: Number | None = Field(default=None, ge=0, le=1)
    adhesion: Pressure = Field(default=0.0, ge=0)

    @model_validator(mode="after")
    def _says_something(self) -> "ContactPairSettings":
        if self.friction is None and self.restitution is None and not self.adhesion:
            raise ValueError("give friction, restitution or adhesion")
        return self


@parameters
class Contact:
    """How bodies collide with each other.

    method: "penalty", or "barrier" for implicit steps, in which surfaces never pass through each other,
    through themselves or through obstacles (self is then true unless it is given); between: whether they do;
    self: whether a body collides with itself (default: bodies of elements or phyxels that can break do, so
    that their pieces collide; for others it costs smaller steps), or "pieces": the pieces that it has broken
    into collide with each other, none with itself; stiffness: of contacts, as a multiple of ``0.6 E a`` of
    the softer side (E Young's modulus, a the spacing of particles), with the barrier of ``E a`` (a its mean
    edge); separate: whether bodies that start inside each other, deeper than contact reaches, are pushed
    apart instead of being an error (with the barrier: translated before the start); pairs: friction and
    restitution of given pairs. Other pairs take the geometric mean of their materials' frictions and the
    smaller of their restitutions.
    """

    method: Literal["penalty", "barrier"] = "penalty"
    between: bool = True
    self_: bool | Literal["pieces"] | None = None
    stiffness: Number = Field(default=1.0, gt=0, le=4)
    separate: bool = False
    pairs: tuple[ContactPairSettings, ...] = ()

    def applies(self, world: "World") -> bool:
        """Whether there is anything that can collide."""
        if self.method == "barrier":
            return True
        many = self.between and len(world.bodies) > 1
        return many or any(self.collides_with_itself(part) for part in world.bodies)

    def collides_with_itself(self, part: "BodyState") -> bool:
        """Whether a body collides with itself."""
        surface = part.mechanics.contact_surface()
        if surface.rigid:
            return False
        if self.self_ is not None:
            return bool(self.self_)
        without_cells = surface.radius is not None or surface.pieces is not None
        return part.material.strength is not None and without_cells

    def only_pieces(self, part: "BodyState") -> bool:
        """Whether of a body that collides with itself only different pieces do."""
        return self.self_ == "pieces" and self.collides_with_itself(part)

    def splits(self, part: "BodyState") -> bool:
        """Whether the pieces of a body are bodies of their own: those of tets, which are closed and have no
        particle in common."""
        return self.only_pieces(part) and "tetra" in part.structure.cells

    def prepare(self, world: "World", up: Vector) -> "ActionRuntime":
        if self.method == "barrier":
            from pliant.contact.barrier.barrier_contact import BarrierContact

            return BarrierContact(world, self)
        from pliant.contact.penalty_contact import PenaltyContact

        return PenaltyContact(world, self)
