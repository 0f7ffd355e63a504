"""A force per area on a face."""

from typing import ClassVar

import numpy as np
from pydantic import model_validator

from pliant.actions.base import SelectionAction
from pliant.actions.loaded_surface import particle_areas
from pliant.core.curves import Curve, KeyedForce, KeyedTraction
from pliant.core.errors import SelectionError
from pliant.core.parameters import parameters
from pliant.core.selection import Select
from pliant.core.typing import Array, IntArray, Vector
from pliant.interfaces import ActionRuntime, IndexMap
from pliant.state.world import World


@parameters
class Traction(SelectionAction):
    r"""A force per area at rest on the selected part of a body's surface: ``value`` [Pa], a vector; or
    ``total`` [N], shared out by area.

    Particle i gets :math:`t \int N_i\,dA`, the consistent load: the work of the traction on any motion that
    the elements can represent. The surface consists of the faces whose particles are all selected. The
    direction stays as it is; ``pressure`` follows the surface.
    """

    kind: ClassVar[str] = "traction"
    main: ClassVar[str] = "value"
    live: ClassVar[bool] = True

    value: KeyedTraction = None
    total: KeyedForce = None

    @model_validator(mode="after")
    def _one_way(self) -> "Traction":
        if (self.value is None) == (self.total is None):
            raise ValueError("give one of value (force per area), total (force)")
        return self

    @property
    def is_zero(self) -> bool:
        curve = self.value if self.value is not None else self.total
        return isinstance(curve, Curve) and curve.is_zero

    def prepare(self, world: World, up: Vector) -> ActionRuntime:
        assert self.select is not None
        curve: Curve = self.value if self.value is not None else self.total
        runtime = TractionRuntime(self.rows(world), world, self.select, curve, self.total is not None)
        return self.windowed(runtime)


class TractionRuntime(ActionRuntime):
    """Particle i gets ``weight_i value(t)``: its area, or its share of it for a total force."""

    rows: IntArray

    def __init__(self, rows: IntArray, world: World, select: Select, value: Curve, total: bool) -> None:
        self.select, self.value, self.total = select, value, total
        self.constant = value.is_constant
        self._take(rows, world)

    def _take(self, rows: IntArray, world: World) -> None:
        areas = np.zeros(len(world.x))
        for part in world.bodies:
            own = rows[(rows >= part.rows.start) & (rows < part.rows.stop)] - part.rows.start
            if len(own):
                areas[part.rows] = particle_areas(part, self.select, own, "action 'traction'")
        area = float(areas.sum())
        if not area > 0.0:
            raise SelectionError(
                "action 'traction': the selection holds no whole face of the surface.",
                hint='Select a side of the body, e.g. plane = { axis = "x", at = "max" }.',
            )
        self.selected = rows
        self.rows = np.flatnonzero(areas)
        self.weights: Array = (areas[self.rows] / (area if self.total else 1.0))[:, None]

    def add_forces(self, time: float, x: Array, v: Array, out: Array) -> None:
        from pliant.actions.kernels import add_rows

        add_rows(self.rows, self.weights * self.value.at(time), out)

    def remap(self, change: IndexMap, world: World) -> None:
        self._take(change.remap_rows(self.selected)[0], world)
