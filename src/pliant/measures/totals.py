"""Measures of the whole state: volume, energy, momentum, fracture."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from pliant.core.parameters import parameters
from pliant.core.tables import Table
from pliant.core.typing import Array
from pliant.interfaces import ACCOUNTS, ChangingTopology, MeasureSampler, Structure
from pliant.measures.base import MeasureParameters
from pliant.mesh.mesh import surface_volume, tet_volumes

if TYPE_CHECKING:
    from pliant.simulation.system import System


@parameters
class Volume(MeasureParameters):
    """Volume of all bodies and of each [m3]: ``volume``, ``volume.BODY``; zero for one that is not there."""

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
        each = []
        for part in self.world.bodies:
            x = self.world.x[part.rows]
            own = part.mechanics.volume(x) if part.present else 0.0
            each.append(structure_volume(part.structure, x) if own is None else own)
        return [float(sum(each)), *each]


def structure_volume(structure: Structure, x: Array) -> float:
    """Volume of one body [m3] with particles at ``x``: of its tets, or inside the surface it carries."""
    if "tetra" in structure.cells:
        share = 1.0 if structure.volume_share is None else structure.volume_share
        return float((share * tet_volumes(x, structure.cells["tetra"])).sum())
    if structure.carrier is not None:
        carrier = structure.carrier
        return surface_volume(carrier.positions(x), carrier.surface.triangles)
    return float("nan")


@dataclass(frozen=True)
class BodySummary:
    """A body at rest: model name, counts, mass [kg] and volume [m3] (None where unknown)."""

    name: str
    model: str
    particles: int
    cells: int
    mass: float
    volume: float | None


def body_summary(name: str, model: str, structure: Structure) -> Table:
    """The ``BodySummary`` of a body as a table."""
    solids = max((len(cells) for kind, cells in structure.cells.items() if kind != "triangle"), default=0)
    mass, volume = float(structure.mass.sum()), structure_volume(structure, structure.rest)
    return vars(BodySummary(name, model, len(structure.rest), solids, mass, volume))


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
        stored = ("kinetic", "elastic", "gravity", "dissipated", "work", "total", "contact", "scheme")
        parts = (*stored, *ACCOUNTS[1:], "unexplained")
        self.series_names = tuple(f"{label}.{part}" for part in parts)

    def sample(self, time: float) -> Sequence[float]:
        system, ledger = self.system, self.system.energy_ledger
        total = ledger.total(system)
        work, *heats = ledger.totals.values()
        return [
            *system.energies(), system.potential_energy("gravity"), sum(heats), work, total,
            system.potential_energy("contact"), ledger.correction_energy(), *heats, ledger.change(total),
        ]  # fmt: skip


@parameters
class Momentum(MeasureParameters):
    """Linear [kg m/s] and angular momentum about the origin [kg m2/s] of all bodies; of bodies with levels,
    of what is simulated."""

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
        each = np.concatenate([p, np.cross(world.x, p)], axis=1)
        own: Array = np.zeros(6)
        for part in world.bodies:
            if (found := part.mechanics.momenta(world.v[part.rows])) is not None:
                each[part.rows] = 0.0
                own += np.concatenate(found)
        return list((each.sum(axis=0) + own).tolist())


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
