"""Measures of selected particles, and of fields: probe, reaction, peak."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from pliant.core.errors import InputError, SelectionError
from pliant.core.parameters import parameters
from pliant.core.registry import nearest
from pliant.core.selection import OneBody, Select
from pliant.core.typing import Array, IntArray
from pliant.interfaces import IndexMap, MeasureSampler, PrescribedMotion, offered
from pliant.measures.base import MeasureParameters
from pliant.state.world import BodyState, World
from pliant.structure.faces import face_shares

if TYPE_CHECKING:
    from pliant.simulation.system import System


@parameters
class Probe(MeasureParameters):
    """Mean position [m], displacement [m] or velocity [m/s] of selected particles, weighted equally.

    A plane at the ``min`` or ``max`` of a lattice body stands for the face, half an edge beyond the elements.
    """

    kind: ClassVar[str] = "probe"

    select: Select
    what: Literal["position", "displacement", "velocity"] = "position"

    def series_units(self) -> dict[str, str]:
        return {self.label: "m/s" if self.what == "velocity" else "m"}

    def prepare(self, system: "System") -> "ProbeSampler":
        return ProbeSampler(system, self.select.rows(system.world, f"measure '{self.label}'"), self)


class ProbeSampler(MeasureSampler):
    """Means over the selected particles, or over the face that they stand for (``weights``)."""

    def __init__(self, system: "System", rows: IntArray, probe: Probe) -> None:
        self.world, self.rows, self.what = system.world, rows, probe.what
        self.selected, self.select = rows, probe.select
        self.weights: Array | None = None
        if probe.select.plane is not None:
            self._find_face(probe.select)
        self.start = self.world.rest[self.rows]
        self.series_names = tuple(f"{probe.label}.{axis}" for axis in "xyz")

    def _find_face(self, select: Select) -> None:
        """Take the neighbours further inside too, by which values at the face follow: ``face_shares``."""
        found, weights = [], []
        for part in self.world.bodies:
            own = self.rows[(self.rows >= part.rows.start) & (self.rows < part.rows.stop)] - part.rows.start
            even = np.full(len(own), 1.0 / len(self.rows))
            local, shares = face_shares(part.structure, select, own, even)
            found.append(local + part.rows.start)
            weights.append(shares)
        rows = np.concatenate(found)
        if len(rows) != len(self.rows):
            self.rows, self.weights = rows, np.concatenate(weights)

    def remap(self, change: IndexMap, world: World) -> None:
        self.selected = change.remap_rows(self.selected)[0]
        if change.resampled is not None:
            self.rows, self.weights = self.selected, None
            if self.select.plane is not None:
                self._find_face(self.select)
            self.start = world.rest[self.rows]
            return
        self.start = change.remap_values(self.rows, self.start)
        if self.weights is not None:
            self.weights = change.remap_values(self.rows, self.weights)
            self.weights = self.weights / self.weights.sum()
        self.rows, _ = change.remap_rows(self.rows)

    def sample(self, time: float) -> Sequence[float]:
        if self.what == "velocity":
            found = self.world.v[self.rows]
        elif self.what == "displacement":
            found = self.world.x[self.rows] - self.start
        else:
            found = self.world.x[self.rows]
        mean: list[float] = (found.mean(axis=0) if self.weights is None else self.weights @ found).tolist()
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
