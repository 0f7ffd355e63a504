"""Measures of the whole state: volume, energy, momentum."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from pliant.core.parameters import parameters
from pliant.core.typing import Array
from pliant.interfaces import ACCOUNTS, MeasureSampler
from pliant.measures.base import MeasureParameters
from pliant.mesh.mesh import surface_volume, tet_volumes

if TYPE_CHECKING:
    from pliant.simulation.system import System
    from pliant.state.world import BodyState


@parameters
class Volume(MeasureParameters):
    """Volume of all bodies and of each [m3]: ``volume``, ``volume.BODY``."""

    kind: ClassVar[str] = "volume"
    unit: ClassVar[str] = "m³"

    def prepare(self, system: "System") -> "VolumeSampler":
        return VolumeSampler(system, self.label)


class VolumeSampler(MeasureSampler):
    """Volumes of all bodies."""

    def __init__(self, system: "System", label: str) -> None:
        self.world = system.world
        self.series_names = (label, *(f"{label}.{part.name}" for part in self.world.bodies))

    def sample(self, time: float) -> Sequence[float]:
        each = [part_volume(part, self.world.x[part.rows]) for part in self.world.bodies]
        return [float(sum(each)), *each]


def part_volume(part: "BodyState", x: Array) -> float:
    """Volume of one body [m3]: of its tets, or inside the surface it carries."""
    structure = part.structure
    if "tetra" in structure.cells:
        share = 1.0 if structure.volume_share is None else structure.volume_share
        return float((share * tet_volumes(x, structure.cells["tetra"])).sum())
    if structure.carrier is not None:
        carrier = structure.carrier
        return surface_volume(carrier.positions(x), carrier.surface.triangles)
    return float("nan")


@parameters
class Energy(MeasureParameters):
    """The energy ledger [J]: kinetic + elastic + gravity + contact + scheme + dissipated - work = total.

    The total is constant; ``unexplained`` is its change since the start. ``dissipated`` is the sum of
    damping, friction, plastic, fracture, numerical, levels and removed.
    """

    kind: ClassVar[str] = "energy"
    unit: ClassVar[str] = "J"

    def prepare(self, system: "System") -> "EnergySampler":
        return EnergySampler(system, self.label)


class EnergySampler(MeasureSampler):
    """Terms of the energy balance."""

    def __init__(self, system: "System", label: str) -> None:
        self.system = system
        parts = ("kinetic", "elastic", "gravity", "dissipated", "work", "total", "contact", "scheme",
                 *ACCOUNTS[1:], "unexplained")  # fmt: skip
        self.series_names = tuple(f"{label}.{part}" for part in parts)

    def sample(self, time: float) -> Sequence[float]:
        system, ledger = self.system, self.system.energy_ledger
        total = ledger.total(system)
        work, *heats = ledger.totals.values()
        return [
            *system.energies(), system.potential_energy("gravity"), sum(heats), work, total,
            system.potential_energy("contact"), ledger.scheme_energy(), *heats, ledger.change(total),
        ]  # fmt: skip


@parameters
class Momentum(MeasureParameters):
    """Linear [kg m/s] and angular momentum about the origin [kg m2/s] of all bodies."""

    kind: ClassVar[str] = "momentum"

    def prepare(self, system: "System") -> "MomentumSampler":
        return MomentumSampler(system, self.label, self._angular)

    @property
    def _angular(self) -> str:
        return "angular" if self.name is None else f"{self.name}.angular"

    def series_units(self) -> dict[str, str]:
        return {self.label: "kg m/s", self._angular: "kg m²/s"}


class MomentumSampler(MeasureSampler):
    """Momenta of all bodies."""

    def __init__(self, system: "System", linear: str, angular: str) -> None:
        self.world = system.world
        self.series_names = tuple(f"{name}.{axis}" for name in (linear, angular) for axis in "xyz")

    def sample(self, time: float) -> Sequence[float]:
        world = self.world
        p = world.mass[:, None] * world.v
        return [*p.sum(axis=0).tolist(), *np.cross(world.x, p).sum(axis=0).tolist()]
