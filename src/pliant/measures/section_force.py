"""Internal forces through a plane: force, torque, and the parts that published figures show."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from pliant.core.errors import IncompatibleError, SelectionError
from pliant.core.parameters import parameters
from pliant.core.selection import AXES, Axis, BodyRef
from pliant.core.typing import Array, BoolArray
from pliant.core.units import Length
from pliant.interfaces import IndexMap, MeasureSampler, Mechanics, SectionForce
from pliant.measures.base import MeasureParameters
from pliant.state.world import World

if TYPE_CHECKING:
    from pliant.simulation.system import System


@parameters
class CutPlane:
    """A plane across ``axis`` at a rest coordinate [m]."""

    axis: Axis
    at: Length


@parameters
class Flux(MeasureParameters):
    r"""The section force [N] that the material beyond a plane (at higher coordinates) exerts on the rest,
    and its torque about the centroid of the section [N m].

    ``x``, ``y``, ``z`` are its components; the one along the plane's axis is positive in tension, the others
    are shear resultants. ``torque.x`` and so on are bending moments and torsion:
    :math:`-\sum_i (x_i - c) \times f_i` over the particles of the far side, f their internal forces.

    Interactions count when the plane separates their particles in the rest shape ([Everts2006]_ 8.4). Parts
    along the axis: ``elastic``, ``shear``, ``volumetric``, ``total``; ``magnitude`` is Everts' sum of
    magnitudes.
    """

    kind: ClassVar[str] = "flux"
    unit: ClassVar[str] = "N"

    plane: CutPlane
    body: BodyRef = None

    def series_units(self) -> dict[str, str]:
        return {self.label: "N", f"{self.label}.torque": "N m"}

    def prepare(self, system: "System") -> "FluxSampler":
        return FluxSampler(system, self)


class FluxSampler(MeasureSampler):
    """Section forces of the bodies that the plane cuts."""

    PARTS = ("elastic", "shear", "volumetric")

    def __init__(self, system: "System", flux: Flux) -> None:
        self.world, self.axis, self.flux = system.world, AXES[flux.plane.axis], flux
        vectors = (*"xyz", *(f"torque.{axis}" for axis in "xyz"))
        self.series_names = tuple(
            f"{flux.label}.{part}" for part in (*self.PARTS, "total", "magnitude", *vectors)
        )
        self._find_cuts()
        if not self.cuts:
            raise SelectionError(f"measure '{flux.label}': the plane cuts no body.")

    def remap(self, change: IndexMap, world: World) -> None:
        self._find_cuts()

    def _find_cuts(self) -> None:
        flux = self.flux
        self.cuts: list[tuple[slice, Mechanics, SectionForce, BoolArray]] = []
        near: list[list[Array]] = [[], []]  # rows beside the plane, below and above
        for part in self.world.bodies_named(flux.body, f"measure '{flux.label}'"):
            mechanics = part.mechanics.offer(SectionForce)
            if mechanics is None:
                raise IncompatibleError(
                    f"measure '{flux.label}': the model of body '{part.name}' has no flux."
                )
            height = part.structure.rest[:, self.axis] - flux.plane.at
            above = height > 0.0
            if above.any() and not above.all():
                self.cuts.append((part.rows, part.mechanics, mechanics, above))
                for side, rows in zip(near, (~above, above), strict=True):
                    least = np.abs(height[rows]).min()
                    beside = rows & (np.abs(height) <= least + 0.5 * part.structure.spacing)
                    side.append(np.flatnonzero(beside) + part.rows.start)
        if self.cuts:
            self.beside = [np.concatenate(rows) for rows in near]
            low, high = (float(self.world.rest[rows, self.axis].mean()) for rows in self.beside)
            self.share = (flux.plane.at - low) / (high - low)

    def _middle(self) -> Array:
        """Where the middle of the section is now (3,) [m]: between the particles on both sides of it."""
        low, high = (self.world.x[rows].mean(axis=0) for rows in self.beside)
        return np.asarray((1.0 - self.share) * low + self.share * high)

    def sample(self, time: float) -> Sequence[float]:
        if not self.cuts:  # nothing is left on one side
            return [0.0] * len(self.series_names)
        sums, magnitude = dict.fromkeys(self.PARTS, 0.0), 0.0
        force, torque, middle = np.zeros(3), np.zeros(3), self._middle()
        for rows, body, mechanics, above in self.cuts:
            x = self.world.x[rows]
            for part, (resultant, size) in mechanics.section_force(x, above).items():
                sums[part] -= float(resultant[self.axis])
                force -= resultant
                magnitude += size
            internal = np.zeros_like(x)
            body.add_elastic_forces(x, internal)
            torque -= np.cross(x[above] - middle, internal[above]).sum(axis=0)
        return [*sums.values(), sum(sums.values()), magnitude, *force.tolist(), *torque.tolist()]
