"""How far bodies have broken."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from pliant.core.parameters import parameters
from pliant.interfaces import ChangingTopology, MeasureSampler
from pliant.measures.base import MeasureParameters

if TYPE_CHECKING:
    from pliant.simulation.system import System


@parameters
class Fracture(MeasureParameters):
    """Over all bodies that can break: number of ``pieces``, ``area`` of cracks and cuts in the rest
    shape [m2], number of particles that have ``broken``."""

    kind: ClassVar[str] = "fracture"

    def series_units(self) -> dict[str, str]:
        return {f"{self.label}.area": "m²"}

    def prepare(self, system: "System") -> "FractureSampler":
        return FractureSampler(system, self.label)


class FractureSampler(MeasureSampler):
    """Counts pieces again only when a body has changed."""

    def __init__(self, system: "System", label: str) -> None:
        self.bodies = [p for p in system.world.bodies if p.mechanics.fracture_statistics() is not None]
        self.series_names = tuple(f"{label}.{part}" for part in ("pieces", "area", "broken"))
        self._known: dict[str, tuple[int, Sequence[float]]] = {}

    def sample(self, time: float) -> Sequence[float]:
        totals = [0.0, 0.0, 0.0]
        for body in self.bodies:
            changing = body.mechanics.offer(ChangingTopology)
            now = 0 if changing is None else changing.topology_version
            version, found = self._known.get(body.name, (-1, ()))
            if version != now:
                found = body.mechanics.fracture_statistics() or (0, 0.0, 0)
                self._known[body.name] = (now, found)
            totals = [total + value for total, value in zip(totals, found, strict=True)]
        return totals
