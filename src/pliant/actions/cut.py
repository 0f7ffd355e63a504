"""Cutting bodies: with a plane or a mesh at once, with a blade that moves and may turn, or along a seam."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Protocol

import numpy as np
from pydantic import model_validator

from pliant.actions.base import BodyEdit
from pliant.actions.cutting_surfaces import CuttingSheet, read_cutter, swept
from pliant.core.curves import Curve, KeyedLength, KeyedPoint
from pliant.core.errors import IncompatibleError
from pliant.core.parameters import parameters
from pliant.core.rotation import Direction
from pliant.core.selection import AXES, Axis, BodyRef, Point
from pliant.core.typing import AnyArray, Array, BoolArray, Vector
from pliant.core.units import Length
from pliant.interfaces import ActionRuntime, BetweenSteps, BodyChange, ChangingTopology, Cuttable, Event
from pliant.models import models_offering
from pliant.state.world import BodyState, World

Level = Callable[[Array], Array]


@parameters
class CuttingPlane:
    """A plane: across ``axis`` ``at`` a coordinate [m], or through ``point`` across ``normal``."""

    axis: Axis | None = None
    at: Length | None = None
    point: Point | None = None
    normal: Direction | None = None

    @model_validator(mode="after")
    def _one_way(self) -> "CuttingPlane":
        ways = ((self.axis, self.at), (self.point, self.normal))
        if [None not in way for way in ways].count(True) != 1 or any(
            (a is None) != (b is None) for a, b in ways
        ):
            raise ValueError("give axis and at, or point and normal")
        return self

    def level(self, x: Array) -> Array:
        """Signed distances of points (n, 3) [m]."""
        if self.axis is not None and self.at is not None:
            return np.asarray(x[:, AXES[self.axis]] - self.at)
        return np.asarray((x - np.array(self.point)) @ np.array(self.normal))


@parameters
class Cut(BodyEdit):
    """Cuts a body (all bodies without ``body``) at its position at that time, through its tets.

    plane: along a plane, at the time ``at``. mesh: along a surface, a file, at the time ``at``: what is
    inside a closed one is separated from what is outside; an open one cuts as far as it reaches. plane with
    ``direction`` and ``edge``: with a blade in that plane whose edge moves; ``edge`` [m], usually keyed, is
    how far it has come along ``direction``, measured from the origin; it acts from ``from`` until ``until``.
    tip and heel: with a blade that may turn; its edge goes straight from the one point to the other, both
    keyed, and cuts what it sweeps over.
    """

    kind: ClassVar[str] = "cut"
    main: ClassVar[str] = "edge"
    parts_bodies: ClassVar[bool] = True
    needs: ClassVar[type] = Cuttable

    body: BodyRef = None
    plane: CuttingPlane | None = None
    mesh: str | Path | None = None
    direction: Direction | None = None
    edge: KeyedLength = None
    tip: KeyedPoint = None
    heel: KeyedPoint = None

    @model_validator(mode="after")
    def _one_way(self) -> "Cut":
        if [self.plane is None, self.mesh is None, self.tip is None].count(False) != 1:
            raise ValueError("give one of plane, mesh, tip and heel")
        self._check_ends()
        if (self.direction is None) != (self.edge is None):
            raise ValueError("a blade needs direction and edge (or keys)")
        if not self.once and (self.mesh is not None or self.at > 0):
            raise ValueError("a blade moves from and until a time: leave mesh and at out")
        return self

    @property
    def once(self) -> bool:
        return self.direction is None and self.tip is None

    def _check_ends(self) -> None:
        if (self.tip is None) != (self.heel is None):
            raise ValueError("a blade that may turn needs tip and heel")
        if self.tip is None:
            return
        if self.direction is not None or self.edge is not None:
            raise ValueError("tip and heel say where the blade goes: leave direction and edge out")
        if self.tip.is_constant and self.heel.is_constant:
            raise ValueError("the blade does not move: give tip or heel keys")

    def prepare(self, world: World, up: Vector) -> ActionRuntime:
        parts = _cuttable(world, self.body, self.kind)
        if self.plane is not None and self.direction is not None:
            return self.windowed(
                BladeRuntime(parts, PlanarBlade(self.plane, np.array(self.direction), self.edge))
            )
        if self.tip is not None:
            return self.windowed(BladeRuntime(parts, swept(self.tip, self.heel, self.from_, self.until)))
        if self.plane is not None:
            return self.windowed(CutRuntime(parts, self.plane.level, self.at))
        assert self.mesh is not None
        cutter = read_cutter(self.mesh)
        if isinstance(cutter, CuttingSheet):
            blade = self.windowed(BladeRuntime(parts, cutter))
            blade.start = self.at
            return blade
        return self.windowed(CutRuntime(parts, cutter.level, self.at))


@parameters
class Seam(BodyEdit):
    """Separates a body at the time ``at`` along the faces of its tets or cells next to a plane."""

    kind: ClassVar[str] = "seam"
    parts_bodies: ClassVar[bool] = True
    needs: ClassVar[type] = Cuttable

    plane: CuttingPlane
    body: BodyRef = None

    def prepare(self, world: World, up: Vector) -> ActionRuntime:
        return self.windowed(SeamRuntime(_cuttable(world, self.body, self.kind), self.plane.level, self.at))


def _cuttable(world: World, body: Any, kind: str) -> list[BodyState]:
    """The bodies that are named; IncompatibleError where one cannot be cut."""
    parts: list[BodyState] = world.bodies_named(body, f"action '{kind}'")
    for part in parts:
        if part.mechanics.offer(Cuttable) is None:
            raise IncompatibleError(
                f"action '{kind}': model '{part.model.kind}' of body '{part.name}' cannot be cut.",
                hint=f"Use {models_offering(Cuttable)}.",
            )
    return parts


class CuttingRuntime(ActionRuntime):
    """Base of runtimes that cut ``parts``."""

    def __init__(self, parts: Sequence[BodyState]) -> None:
        self.parts = parts

    def mechanics(self, part: BodyState) -> Cuttable:
        found = part.mechanics.offer(Cuttable)
        assert found is not None, "checked when the action was prepared"
        return found

    def warn_missed(self) -> None:
        names = ", ".join(f"'{part.name}'" for part in self.parts)
        self.diagnostics.warn(
            f"the cut misses {names}: it is made at the body's position at that time, in world coordinates"
        )


class CutRuntime(CuttingRuntime):
    """A cut at once along the zero of ``level``."""

    account = "fracture"
    capabilities = frozenset({Event})

    def __init__(self, parts: Sequence[BodyState], level: Level, at: float) -> None:
        super().__init__(parts)
        self.level, self.at = level, at

    def apply(self, world: World) -> Sequence[BodyChange]:
        met = [self.cut(part, world.x[part.rows]) for part in self.parts]
        if not any(met):
            self.warn_missed()
        return ()

    def cut(self, part: BodyState, x: Array) -> bool:
        """Cut a body with particles at ``x``; whether there is something of it on both sides."""
        level = self.level(x)
        self.mechanics(part).cut(x, level)
        return bool(level.min() < 0.0 < level.max())


class SeamRuntime(CutRuntime):
    """A seam along the faces next to the zero of ``level``."""

    def cut(self, part: BodyState, x: Array) -> bool:
        tets = part.structure.cells.get("tetra")
        centres = x if tets is None else x[tets].mean(axis=1)  # phyxels have no tets
        above = self.level(centres) > 0.0
        self.mechanics(part).open_faces(above.astype(np.int64), x=x)
        return bool(above.any() and not above.all())


class BladePath(Protocol):
    """Where a blade goes, at points x (n, 3) [m]."""

    def level(self, x: Array) -> Array:
        """Signed distances from its way (n,) [m]."""

    def beside(self, x: Array) -> Array | None:
        """How far they are beside its rim (n,) [m]; None: it has none."""

    def passed(self, x: Array, time: float) -> BoolArray:
        """Whether the edge has been there."""


@dataclass(frozen=True)
class PlanarBlade:
    """A blade in a plane, its edge at ``edge`` [m] along ``direction``."""

    plane: CuttingPlane
    direction: Array
    edge: Curve

    def level(self, x: Array) -> Array:
        return self.plane.level(x)

    def beside(self, x: Array) -> None:
        return None

    def passed(self, x: Array, time: float) -> BoolArray:
        return np.asarray(x @ self.direction <= float(self.edge.at(time)))


class BladeRuntime(CuttingRuntime):
    """A moving blade: cells are subdivided along its path when it begins, and separated behind its edge.

    marks: rest positions of each body's particles on its path, which identify them whatever else changes.
    """

    capabilities = frozenset({BetweenSteps})

    def __init__(self, parts: Sequence[BodyState], way: BladePath) -> None:
        super().__init__(parts)
        self.way = way
        self.marks: dict[str, Array] = {}
        self._seen: dict[str, bytes] = {}  # what it had passed when it last parted something

    def between_steps(self, time: float, world: World) -> bool:
        changed, begins = False, not self.marks
        for part in self.parts:
            x, mechanics = world.x[part.rows], self.mechanics(part)
            if part.name not in self.marks:
                count = len(x)
                beside = self.way.beside(x)
                past = None if beside is None else beside - 0.5 * part.structure.spacing
                self.marks[part.name] = mechanics.mark_cut(x, self.way.level(x), past)
                changing = part.mechanics.offer(ChangingTopology)
                more = changing is not None and len(changing.topology_change().structure.rest) > count
                changed |= len(self.marks[part.name]) > 0 and more
                continue
            behind = _among(part.structure.rest, self.marks[part.name])
            behind[behind] = self.way.passed(x[behind], time)
            seen = np.packbits(behind).tobytes()
            if behind.any() and self._seen.get(part.name) != seen:
                self._seen[part.name] = seen
                changed |= mechanics.open_faces(None, behind, x)
        if begins and not any(len(points) for points in self.marks.values()):
            self.warn_missed()
        return changed

    def state(self) -> dict[str, AnyArray]:
        return dict(self.marks)

    def restore(self, state: Mapping[str, AnyArray]) -> None:
        self.marks, self._seen = {name: np.array(points) for name, points in state.items()}, {}


def _among(points: Array, marks: Array) -> BoolArray:
    """Which of ``points`` are exactly one of ``marks``."""
    row = np.dtype((np.void, 24))
    return np.isin(
        np.ascontiguousarray(points).view(row).ravel(), np.ascontiguousarray(marks).view(row).ravel()
    )
