"""Gravitation by masses: of all particles on each other, or of one source on all."""

from typing import ClassVar

import numpy as np
from pydantic import Field, model_validator

from pliant.actions.base import TimeWindow
from pliant.core.parameters import parameters
from pliant.core.selection import BodyRef, Point
from pliant.core.typing import Array, IntArray, Vector
from pliant.core.units import Length, Number
from pliant.interfaces import ActionRuntime
from pliant.state.world import World

NEWTON = 6.6743e-11  # [m3/(kg s2)]


@parameters
class Attraction(TimeWindow):
    r"""Gravitation between particles, or from a fixed point.

    .. math:: f_i = \sum_{j \ne i} G m_i m_j \frac{x_j - x_i}{(|x_j - x_i|^2 + s^2)^{3/2}}

    Without ``source`` the sum runs over all pairs of particles of the bodies (of ``body`` alone, where
    given); with it over the source alone. source: point [m] that attracts all particles; source_mass: mass
    [kg] of the source; constant: G; softening: s [m], which keeps forces finite where particles come close.

    Source: [JanssonVergeest2000]_ eqs. (1), (13). Differs: (13) as published repels and includes the element
    itself; here masses attract, and no particle attracts itself. The softening is ours.
    """

    kind: ClassVar[str] = "attraction"

    body: BodyRef = None
    constant: Number = Field(default=NEWTON, gt=0)
    source: Point | None = None
    source_mass: Number | None = Field(default=None, gt=0)
    softening: Length = Field(default=0.0, ge=0)

    @model_validator(mode="after")
    def _whole_source(self) -> "Attraction":
        if (self.source is None) != (self.source_mass is None):
            raise ValueError("a source has a place and a mass: give both source and source-mass, or neither")
        return self

    def prepare(self, world: World, up: Vector) -> ActionRuntime:
        world.bodies_named(self.body, "action 'attraction'")
        return self.windowed(AttractionRuntime(world, self))


class AttractionRuntime(ActionRuntime):
    """Gravitation between the particles that are there; it has a potential while it acts all the time."""

    def __init__(self, world: World, action: Attraction) -> None:
        self.world, self.action = world, action
        self.account = None if action.from_ <= 0.0 and action.until is None else "work"

    @property
    def attracted(self) -> IntArray:
        """World rows of the particles that attract, or are attracted."""
        parts = self.world.bodies_named(self.action.body, "action 'attraction'")
        rows = [np.arange(part.rows.start, part.rows.stop) for part in parts if part.present]
        return np.concatenate([np.empty(0, np.int64), *rows])

    def _from_source(self, x: Array) -> tuple[IntArray, Array, Array]:
        """Rows, their places as seen from the source (k, 3), and their softened distances (k,) from it."""
        rows = self.attracted
        d = x[rows] - np.array(self.action.source)
        return rows, d, np.sqrt(np.einsum("ij,ij->i", d, d) + self.action.softening**2)

    def add_forces(self, time: float, x: Array, v: Array, out: Array) -> None:
        from pliant.actions.attraction_kernels import add_attraction

        action = self.action
        if action.source_mass is None:
            add_attraction(self.attracted, self.world.mass, x, action.constant, action.softening, out)
            return
        rows, d, distance = self._from_source(x)
        strength = action.constant * action.source_mass * self.world.mass[rows] / distance**3
        out[rows] -= strength[:, None] * d

    def potential_energy(self, x: Array) -> float:
        """``-sum G m_i m_j / sqrt(|d|^2 + s^2)`` [J]; zero where it does not act all the time."""
        from pliant.actions.attraction_kernels import attraction_energy

        action = self.action
        if self.account is not None:
            return 0.0
        if action.source_mass is None:
            return float(
                attraction_energy(self.attracted, self.world.mass, x, action.constant, action.softening)
            )
        rows, _, distance = self._from_source(x)
        return -action.constant * action.source_mass * float(np.sum(self.world.mass[rows] / distance))
