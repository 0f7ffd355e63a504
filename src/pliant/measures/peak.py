"""The largest value of a field in a body."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from pliant.errors import InputError
from pliant.measures.base import Sampled
from pliant.parameters import parameters
from pliant.registry import nearest
from pliant.selection import OneBody

if TYPE_CHECKING:
    from pliant.simulation.system import System
    from pliant.simulation.world import Part, World


@parameters
class Peak(Sampled):
    """The largest value of a ``field`` (strain, stress, ...) among the particles or cells of a body."""

    kind: ClassVar[str] = "peak"

    body: OneBody
    field: str = "stress"

    def prepare(self, system: "System") -> "Peaking":
        (part,) = system.world.parts_named(self.body, f"measure '{self.label}'")
        known = [name for name in part.mechanics.field_names if name != "stress-tensor"]
        if self.field not in known:
            raise InputError(
                f"measure '{self.label}': body '{part.name}' has no field '{self.field}'; "
                f"{nearest(self.field, known)}"
            )
        return Peaking(system.world, part, self)


class Peaking:
    """Peak at work."""

    def __init__(self, world: "World", part: "Part", peak: Peak) -> None:
        self.world, self.part, self.field = world, part, peak.field
        self.columns = (peak.label,)

    def values(self, time: float) -> Sequence[float]:
        rows = self.part.rows
        found = self.part.mechanics.fields(self.world.x[rows], self.world.v[rows], [self.field])
        return [float(found[self.field].values.max())]
