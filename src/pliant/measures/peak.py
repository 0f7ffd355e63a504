"""The largest value of a field in a body."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from pliant.core.errors import InputError
from pliant.core.parameters import parameters
from pliant.core.registry import nearest
from pliant.core.selection import OneBody
from pliant.interfaces import MeasureSampler
from pliant.measures.base import MeasureParameters

if TYPE_CHECKING:
    from pliant.simulation.system import System
    from pliant.state.world import BodyState, World


@parameters
class Peak(MeasureParameters):
    """The largest value of a ``field`` (strain, stress, ...) among the particles or cells of a body."""

    kind: ClassVar[str] = "peak"

    body: OneBody
    field: str = "stress"

    def prepare(self, system: "System") -> "PeakSampler":
        (part,) = system.world.bodies_named(self.body, f"measure '{self.label}'")
        known = [name for name in part.mechanics.field_names if name != "stress-tensor"]
        if self.field not in known:
            raise InputError(
                f"measure '{self.label}': body '{part.name}' has no field '{self.field}'; "
                f"{nearest(self.field, known)}"
            )
        return PeakSampler(system.world, part, self)


class PeakSampler(MeasureSampler):
    """The largest value of a field."""

    def __init__(self, world: "World", part: "BodyState", peak: Peak) -> None:
        self.world, self.part, self.field = world, part, peak.field
        self.series_names = (peak.label,)

    def sample(self, time: float) -> Sequence[float]:
        rows = self.part.rows
        found = self.part.mechanics.fields(self.world.x[rows], self.world.v[rows], [self.field])
        return [float(found[self.field].values.max())]
