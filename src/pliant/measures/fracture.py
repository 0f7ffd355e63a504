"""How far bodies have come apart."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from pliant.core.parameters import parameters
from pliant.measures.base import MeasureParameters

if TYPE_CHECKING:
    from pliant.simulation.system import System


@parameters
class Fracture(MeasureParameters):
    """Over all bodies that can come apart: number of ``pieces``, ``area`` of cracks and cuts in the rest
    shape [m2], number of particles that have ``broken``."""

    kind: ClassVar[str] = "fracture"

    def series_units(self) -> dict[str, str]:
        return {f"{self.label}.area": "m²"}

    def prepare(self, system: "System") -> "FractureSampler":
        return FractureSampler(system, self.label)


class FractureSampler:
    """The measure at work; counts again when a body has changed."""

    def __init__(self, system: "System", label: str) -> None:
        self.mechanics: list[Any] = [
            p.mechanics for p in system.world.bodies if hasattr(p.mechanics, "fracture_statistics")
        ]
        self.series_names = tuple(f"{label}.{part}" for part in ("pieces", "area", "broken"))
        self._known: dict[int, tuple[int, tuple[int, float, int]]] = {}

    def sample(self, time: float) -> Sequence[float]:
        totals = [0.0, 0.0, 0.0]
        for k, mechanics in enumerate(self.mechanics):
            version, found = self._known.get(k, (-1, (0, 0.0, 0)))
            if version != mechanics.topology_version:
                found = mechanics.fracture_statistics()
                self._known[k] = (mechanics.topology_version, found)
            totals = [total + value for total, value in zip(totals, found, strict=True)]
        return totals
