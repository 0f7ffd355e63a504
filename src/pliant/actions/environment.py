"""What surrounds a body: pressure on its surface, drag of a medium, damping."""

from typing import ClassVar

import numpy as np
from pydantic import Field, model_validator

from pliant.actions.base import TimeWindow
from pliant.actions.loaded_surface import quadratic_faces
from pliant.core.curves import Curve, KeyedDensity, KeyedPressure, KeyedRate, KeyedVelocity
from pliant.core.errors import IncompatibleError
from pliant.core.parameters import parameters
from pliant.core.selection import BodyRef
from pliant.core.typing import Array, IntArray, Vector
from pliant.core.units import Number, Time
from pliant.interfaces import ActionRuntime, AddStiffnessDamping, Damped, EnergyTotals, IndexMap, StableStep
from pliant.state.world import BodyState, World


class SurfaceRuntime(ActionRuntime):
    """Base of loads on the boundary ``triangles`` (world rows) of a body, or of all bodies."""

    def __init__(self, world: World, action: "Pressure | Drag") -> None:
        self.body, self.what = action.body, f"action '{action.kind}'"
        self._find_triangles(world)

    def _find_triangles(self, world: World) -> None:
        found = [np.empty((0, 3), np.int64)]
        for part in self._linear_parts(world):
            if "triangle" not in part.structure.cells:
                raise IncompatibleError(
                    f"{self.what}: body '{part.name}' has no surface triangles to act on."
                )
            found.append(part.structure.cells["triangle"] + part.rows.start)
        self.triangles: IntArray = np.ascontiguousarray(np.concatenate(found), dtype=np.int64)

    def _linear_parts(self, world: World) -> list[BodyState]:
        """The bodies whose triangles are loaded."""
        return list(world.bodies_named(self.body, self.what))

    def remap(self, change: IndexMap, world: World) -> None:
        self._find_triangles(world)


@parameters
class Pressure(TimeWindow):
    """Pressure [Pa] of the surroundings on a body's surface; positive pushes inward, negative inflates."""

    kind: ClassVar[str] = "pressure"
    mark = "pressure"
    main: ClassVar[str] = "value"
    live: ClassVar[bool] = True

    body: BodyRef = None
    value: KeyedPressure = Curve.constant(0.0)

    def acted_on(self, world: World) -> IntArray:
        parts = world.bodies_named(self.body, "action 'pressure'")
        return np.concatenate([np.arange(part.rows.start, part.rows.stop) for part in parts])

    def prepare(self, world: World, up: Vector) -> ActionRuntime:
        return self.windowed(PressureRuntime(world, self))


class PressureRuntime(SurfaceRuntime):
    """Pressure on the boundary triangles, and consistently on the curved faces of quadratic tets."""

    def __init__(self, world: World, pressure: Pressure) -> None:
        self.faces: IntArray = np.empty((0, 6), np.int64)
        super().__init__(world, pressure)
        self.value: Curve = pressure.value

    def _linear_parts(self, world: World) -> list[BodyState]:
        parts = super()._linear_parts(world)
        quadratic = [part for part in parts if "tetra10" in part.structure.cells]
        faces = [quadratic_faces(part.structure) + part.rows.start for part in quadratic]
        self.faces = np.ascontiguousarray(np.concatenate([np.empty((0, 6), np.int64), *faces]))
        return [part for part in parts if "tetra10" not in part.structure.cells]

    def add_forces(self, time: float, x: Array, v: Array, out: Array) -> None:
        from pliant.actions.kernels import add_pressure, add_quadratic_pressure

        value = float(self.value.at(time))
        if len(self.triangles):
            add_pressure(self.triangles, value, x, out)
        if len(self.faces):
            add_quadratic_pressure(self.faces, value, x, out)


@parameters
class Drag(TimeWindow):
    """Drag of the surrounding medium: ``density`` [kg/m3], ``coefficient``, and its own velocity ``wind``.

    A triangle with normal n and area A that moves into the medium at ``u.n > 0`` feels
    ``-coefficient density/2 A (u.n)^2 n``.
    Differs from [JanssonVergeest2000]_ eq. (12): the coefficient is free (2 there), and the area is the true
    surface's instead of a sphere's per element.
    """

    kind: ClassVar[str] = "drag"
    main: ClassVar[str] = "wind"
    live: ClassVar[bool] = True

    density: KeyedDensity = Curve.constant(1.2)
    coefficient: Number = Field(default=1.0, ge=0)
    wind: KeyedVelocity = Curve.constant((0.0, 0.0, 0.0))
    body: BodyRef = None

    def prepare(self, world: World, up: Vector) -> ActionRuntime:
        return self.windowed(DragRuntime(world, self))


class DragRuntime(SurfaceRuntime):
    """Drag on the boundary triangles."""

    account = "damping"
    velocity_dependent = True

    def __init__(self, world: World, drag: Drag) -> None:
        super().__init__(world, drag)
        self.drag = drag

    def add_forces(self, time: float, x: Array, v: Array, out: Array) -> None:
        from pliant.actions.kernels import add_wind

        drag = self.drag
        half = 0.5 * drag.coefficient * float(drag.density.at(time))
        add_wind(self.triangles, half, drag.wind.at(time), x, v, out)

    def book(self, work: float, totals: EnergyTotals) -> None:
        """Wind that drives bodies does work; air that slows them takes heat."""
        totals.work += max(work, 0.0)
        totals.damping += max(-work, 0.0)


@parameters
class Damping(TimeWindow):
    """Damping of all motion: one of

    rate [1/s]: ``f = -rate m v``, the same for any step; factor: the published "multiply the velocity by 0.99
    each step", converted at the ``step`` it was meant for (``rate = -ln(factor)/step``);
    stiffness [s]: ``f = -stiffness K v``, which calms what deforms and leaves free flight alone.
    """

    kind: ClassVar[str] = "damping"
    main: ClassVar[str] = "rate"

    rate: KeyedRate = None
    factor: Number | None = Field(default=None, gt=0, le=1)
    step: Time = Field(default=1e-4, gt=0)
    stiffness: Time | None = Field(default=None, ge=0)
    body: BodyRef = None

    @model_validator(mode="after")
    def _one_way(self) -> "Damping":
        given = [n for n in ("rate", "factor", "stiffness") if getattr(self, n) is not None]
        if len(given) != 1:
            raise ValueError("give one of rate, factor, stiffness")
        if self.rate is not None and self.rate.values.min() < 0:
            raise ValueError("a rate cannot be negative: that would feed energy in")
        if self.stiffness is not None and (self.from_ > 0 or self.until is not None):
            raise ValueError("stiffness damping acts all the time: from and until do not apply")
        return self

    def prepare(self, world: World, up: Vector) -> ActionRuntime:
        parts = world.bodies_named(self.body, "action 'damping'")
        if self.stiffness is not None:
            for part in parts:
                if part.mechanics.offer(Damped) is None:
                    raise IncompatibleError(
                        f"action 'damping': the model of body '{part.name}' has no stiffness damping.",
                        hint="Use rate instead.",
                    )
            acting = ActionRuntime()
            acting.requests = tuple(AddStiffnessDamping(part, self.stiffness) for part in parts)
            return self.windowed(acting)
        rate: Curve = self.rate
        if self.factor is not None:
            rate = Curve.constant(-float(np.log(self.factor)) / self.step)
        return self.windowed(MassDampingRuntime(parts, rate, world))


class MassDampingRuntime(ActionRuntime):
    """Damping in proportion to mass."""

    account = "damping"
    velocity_dependent = True

    def __init__(self, parts: list[BodyState], rate: Curve, world: World) -> None:
        self.parts, self.rate, self.world = parts, rate, world

    def stable_step(self) -> StableStep:
        """Explicit schemes lag behind rates above about 1/dt: half of that is the limit."""
        fastest = float(np.max(self.rate.values))
        seconds = 1.0 / fastest if fastest > 0 else float("inf")
        return StableStep(seconds, f"damping rate {fastest:.4g} /s")

    def add_forces(self, time: float, x: Array, v: Array, out: Array) -> None:
        from pliant.actions.kernels import add_mass_damping

        rate = float(self.rate.at(time))
        for part in self.parts:
            rows = part.rows
            add_mass_damping(self.world.mass[rows], rate, v[rows], out[rows])
