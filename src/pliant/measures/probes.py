"""Measures of selected particles, of sections and of fields: probe, reaction, flux, peak."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from pliant.core.errors import IncompatibleError, InputError, SelectionError
from pliant.core.parameters import parameters
from pliant.core.registry import nearest
from pliant.core.selection import AXES, Axis, BodyRef, OneBody, Select
from pliant.core.typing import BoolArray, IntArray
from pliant.core.units import Length
from pliant.interfaces import IndexMap, MeasureSampler, PrescribedMotion, SectionForce, offered
from pliant.measures.base import MeasureParameters
from pliant.state.world import BodyState, World

if TYPE_CHECKING:
    from pliant.simulation.system import System


@parameters
class Probe(MeasureParameters):
    """Mean position [m], displacement [m] or velocity [m/s] of selected particles, weighted equally."""

    kind: ClassVar[str] = "probe"

    select: Select
    what: Literal["position", "displacement", "velocity"] = "position"

    def series_units(self) -> dict[str, str]:
        return {self.label: "m/s" if self.what == "velocity" else "m"}

    def prepare(self, system: "System") -> "ProbeSampler":
        return ProbeSampler(system, self.select.rows(system.world, f"measure '{self.label}'"), self)


class ProbeSampler(MeasureSampler):
    """Means over the selected particles."""

    def __init__(self, system: "System", rows: IntArray, probe: Probe) -> None:
        self.world, self.rows, self.what = system.world, rows, probe.what
        self.start = self.world.rest[rows]
        self.series_names = tuple(f"{probe.label}.{axis}" for axis in "xyz")

    def remap(self, change: IndexMap, world: World) -> None:
        self.start = change.remap_values(self.rows, self.start)
        self.rows, _ = change.remap_rows(self.rows)

    def sample(self, time: float) -> Sequence[float]:
        if self.what == "velocity":
            found = self.world.v[self.rows]
        elif self.what == "displacement":
            found = self.world.x[self.rows] - self.start
        else:
            found = self.world.x[self.rows]
        mean: list[float] = found.mean(axis=0).tolist()
        return mean


@parameters
class Reaction(MeasureParameters):
    """Force [N] that holds or moves selected particles, and its torque [N m] about their centre."""

    kind: ClassVar[str] = "reaction"

    select: Select

    def series_units(self) -> dict[str, str]:
        return {self.label: "N", f"{self.label}.torque": "N m"}

    def prepare(self, system: "System") -> "ReactionSampler":
        rows = self.select.rows(system.world, f"measure '{self.label}'")
        driven = [a.rows for a in offered([a for _, a in system.actions], PrescribedMotion)]
        if not driven or not np.isin(rows, np.concatenate(driven)).any():
            raise SelectionError(
                f"measure '{self.label}': nothing holds or moves the selected particles.",
                hint="Select particles of a fix, move, rotate or sine action.",
            )
        return ReactionSampler(system, rows, self.label)


class ReactionSampler(MeasureSampler):
    """Force and torque on the selected particles."""

    def __init__(self, system: "System", rows: IntArray, label: str) -> None:
        self.system, self.rows = system, rows
        parts = ("x", "y", "z", "torque.x", "torque.y", "torque.z")
        self.series_names = tuple(f"{label}.{part}" for part in parts)

    def remap(self, change: IndexMap, world: World) -> None:
        self.rows, _ = change.remap_rows(self.rows)

    def sample(self, time: float) -> Sequence[float]:
        forces = self.system.reactions(time)[self.rows]
        arms = self.system.world.x[self.rows]
        torque = np.cross(arms - arms.mean(axis=0), forces).sum(axis=0)
        return [*forces.sum(axis=0).tolist(), *torque.tolist()]


@parameters
class CutPlane:
    """A plane across ``axis`` at a rest coordinate [m]."""

    axis: Axis
    at: Length


@parameters
class Flux(MeasureParameters):
    """Internal force through a plane [N], along its axis: what the material on the far side (higher
    coordinate) is pulled back with; positive in tension.

    Interactions count when the plane separates their particles in the rest shape ([Everts2006]_ 8.4). Parts:
    ``elastic``, ``shear``, ``volumetric``, ``total``; ``magnitude`` is Everts' sum of magnitudes.
    """

    kind: ClassVar[str] = "flux"
    unit: ClassVar[str] = "N"

    plane: CutPlane
    body: BodyRef = None

    def prepare(self, system: "System") -> "FluxSampler":
        return FluxSampler(system, self)


class FluxSampler(MeasureSampler):
    """Section forces of the bodies that the plane cuts."""

    PARTS = ("elastic", "shear", "volumetric")

    def __init__(self, system: "System", flux: Flux) -> None:
        self.world, self.axis, self.flux = system.world, AXES[flux.plane.axis], flux
        self.series_names = tuple(f"{flux.label}.{part}" for part in (*self.PARTS, "total", "magnitude"))
        self._find_cuts()
        if not self.cuts:
            raise SelectionError(f"measure '{flux.label}': the plane cuts no body.")

    def remap(self, change: IndexMap, world: World) -> None:
        self._find_cuts()

    def _find_cuts(self) -> None:
        flux = self.flux
        self.cuts: list[tuple[slice, SectionForce, BoolArray]] = []
        for part in self.world.bodies_named(flux.body, f"measure '{flux.label}'"):
            mechanics = part.mechanics.offer(SectionForce)
            if mechanics is None:
                raise IncompatibleError(
                    f"measure '{flux.label}': the model of body '{part.name}' has no flux."
                )
            above = part.structure.rest[:, self.axis] > flux.plane.at
            if above.any() and not above.all():
                self.cuts.append((part.rows, mechanics, above))

    def sample(self, time: float) -> Sequence[float]:
        sums = dict.fromkeys(self.PARTS, 0.0)
        magnitude = 0.0
        for rows, mechanics, above in self.cuts:
            for part, (resultant, size) in mechanics.section_force(self.world.x[rows], above).items():
                sums[part] -= float(resultant[self.axis])
                magnitude += size
        return [*sums.values(), sum(sums.values()), magnitude]


@parameters
class Peak(MeasureParameters):
    """The largest value of a ``field`` (strain, stress, ...) among the particles or cells of a body."""

    kind: ClassVar[str] = "peak"

    body: OneBody
    field: str = "stress"

    def series_units(self) -> dict[str, str]:
        return {self.label: "Pa"} if self.field == "stress" else {}

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

    def __init__(self, world: World, part: BodyState, peak: Peak) -> None:
        self.world, self.part, self.field = world, part, peak.field
        self.series_names = (peak.label,)

    def sample(self, time: float) -> Sequence[float]:
        rows = self.part.rows
        found = self.part.mechanics.fields(self.world.x[rows], self.world.v[rows], [self.field])
        return [float(found[self.field].values.max())]
