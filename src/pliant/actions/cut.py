"""Cutting bodies: with a plane or a mesh at once, with a blade that moves and may turn, or along a seam."""

from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from pydantic import model_validator

from pliant.actions.base import OneShot
from pliant.actions.cut_runtimes import BladeRuntime, CutRuntime, PlanarBlade, SeamRuntime, cuttable
from pliant.actions.cutting_surfaces import CuttingSheet, read_cutter, swept
from pliant.core.curves import KeyedLength, KeyedPoint
from pliant.core.errors import IncompatibleError
from pliant.core.parameters import parameters
from pliant.core.rotation import Direction
from pliant.core.selection import AXES, Axis, BodyRef, Point
from pliant.core.typing import Array, Vector
from pliant.core.units import Length
from pliant.interfaces import ActionRuntime, Cuttable

if TYPE_CHECKING:
    from pliant.state.world import BodyState, World


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
class Cut(OneShot):
    """Cuts a body (all bodies without ``body``) where it is at that moment, through its tets.

    plane: along a plane, at the time ``at``. mesh: along a surface, a file, at the time ``at``: what is
    inside a closed one is separated from what is outside; an open one cuts as far as it reaches. plane with
    ``direction`` and ``edge``: with a blade in that plane whose edge moves; ``edge`` [m], usually keyed, is
    how far it has come along ``direction``, measured from the origin; it acts from ``from`` until ``until``.
    tip and heel: with a blade that may turn; its edge goes straight from the one point to the other, both
    keyed, and cuts what it sweeps over.
    """

    kind: ClassVar[str] = "cut"
    main: ClassVar[str] = "edge"
    live: ClassVar[bool] = True
    changes_bodies: ClassVar[bool] = True
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

    def prepare(self, world: "World", up: Vector) -> ActionRuntime:
        parts = _cuttable(world, self.body, self.kind)
        if self.plane is not None and self.direction is not None:
            return self.windowed(
                BladeRuntime(parts, PlanarBlade(self.plane, np.array(self.direction), self.edge))
            )
        if self.tip is not None:
            return self.windowed(BladeRuntime(parts, swept(self.tip, self.heel, self.from_, self.until)))
        if self.plane is not None:
            return self.windowed(CutRuntime(parts, self.plane.level, self.at))
        cutter = read_cutter(self.mesh)
        if isinstance(cutter, CuttingSheet):
            blade = self.windowed(BladeRuntime(parts, cutter))
            blade.start = self.at
            return blade
        return self.windowed(CutRuntime(parts, cutter.level, self.at))


@parameters
class Seam(OneShot):
    """Parts a body at the time ``at`` along the faces of its tets or cells by a plane: none is cut up."""

    kind: ClassVar[str] = "seam"
    live: ClassVar[bool] = True
    changes_bodies: ClassVar[bool] = True
    parts_bodies: ClassVar[bool] = True
    needs: ClassVar[type] = Cuttable

    plane: CuttingPlane
    body: BodyRef = None

    def prepare(self, world: "World", up: Vector) -> ActionRuntime:
        return self.windowed(SeamRuntime(_cuttable(world, self.body, self.kind), self.plane.level, self.at))


def _cuttable(world: "World", body: Any, kind: str) -> list["BodyState"]:
    parts = world.bodies_named(body, f"action '{kind}'")
    for part in parts:
        try:
            cuttable(part)
        except IncompatibleError as error:
            error.message = f"action '{kind}': {error.message}"
            raise
    return parts
