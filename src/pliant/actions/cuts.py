"""Cutting bodies: with a plane or a mesh at once, with a blade that moves, or along a seam of their own."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from pydantic import Field, model_validator

from pliant.actions.base import Timed
from pliant.curves import KeyedLength
from pliant.errors import IncompatibleError, MeshError
from pliant.parameters import parameters
from pliant.protocols import Acting, Cuttable
from pliant.rotation import Direction
from pliant.selection import AXES, Axis, BodyRef, Point
from pliant.typing import AnyArray, Array, Vector
from pliant.units import Length, Time

if TYPE_CHECKING:
    from pliant.mesh.types import Surface
    from pliant.simulation.world import Part, World


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
class Cut(Timed):
    """Cuts a body (all bodies without ``body``) where it is at that moment, through its tets.

    plane: along a plane, at the time ``at``. mesh: along a closed surface, a file, at the time ``at``: what
    is inside comes apart from what is outside. plane with ``direction`` and ``edge``: with a blade in that
    plane whose edge moves; ``edge`` [m], usually keyed, is how far it has come along ``direction``, measured
    from the origin; it acts from ``from`` until ``until``.
    """

    kind: ClassVar[str] = "cut"
    main: ClassVar[str] = "edge"

    body: BodyRef = None
    plane: CuttingPlane | None = None
    mesh: str | Path | None = None
    at: Time = Field(default=0.0, ge=0)
    direction: Direction | None = None
    edge: KeyedLength = None

    @model_validator(mode="after")
    def _one_way(self) -> "Cut":
        if (self.plane is None) == (self.mesh is None):
            raise ValueError("give one of plane, mesh")
        if (self.direction is None) != (self.edge is None):
            raise ValueError("a blade needs direction and edge (or keys)")
        if self.direction is not None and (self.mesh is not None or self.at > 0):
            raise ValueError("a blade moves in a plane, from and until a time: leave mesh and at out")
        if self.direction is None and (self.from_ > 0 or self.until is not None):
            raise ValueError("a cut happens once: give at, not from and until")
        return self

    def prepare(self, world: "World", up: Vector) -> Acting:
        parts = _cuttable(world, self.body, self.kind)
        if self.direction is not None:
            return self.windowed(Blade(parts, self))
        level = self.plane.level if self.plane is not None else _Inside(self.mesh).level
        return self.windowed(Slice(parts, level, self.at))


@parameters
class Seam(Timed):
    """Parts a body at the time ``at`` along the faces of its tets or cells by a plane: none is cut up."""

    kind: ClassVar[str] = "seam"

    plane: CuttingPlane
    body: BodyRef = None
    at: Time = Field(default=0.0, ge=0)

    @model_validator(mode="after")
    def _happens_once(self) -> "Seam":
        if self.from_ > 0 or self.until is not None:
            raise ValueError("a seam opens once: give at, not from and until")
        return self

    def prepare(self, world: "World", up: Vector) -> Acting:
        return self.windowed(Opening(_cuttable(world, self.body, self.kind), self))


def _cuttable(world: "World", body: Any, kind: str) -> list["Part"]:
    parts = world.parts_named(body, f"action '{kind}'")
    for part in parts:
        if not isinstance(part.mechanics, Cuttable):
            raise IncompatibleError(
                f"action '{kind}': model '{part.model.kind}' of body '{part.name}' cannot be cut.",
                hint='Use model = "fem", "mass-spring" or "efg".',
            )
    return parts


class _Inside:
    """Signed distance from a closed surface, negative inside."""

    def __init__(self, path: Any) -> None:
        from pliant.mesh.formats import read_surface
        from pliant.mesh.topology import is_closed
        from pliant.mesh.tree import Tree

        surface: Surface = read_surface(path)
        if not is_closed(surface.points, surface.triangles):
            raise MeshError(
                f"action 'cut': {path} is not closed: it has no inside to cut out.",
                hint="Close it (pliant mesh repairs), or cut with a plane.",
            )
        self.tree = Tree(surface.points, surface.triangles)

    def level(self, x: Array) -> Array:
        distance = self.tree.nearest(x)[1]
        return np.where(self.tree.inside(x), -distance, distance)


class Slice(Acting):
    """A cut at once, at work."""

    def __init__(self, parts: Sequence["Part"], level: Any, at: float) -> None:
        self.parts, self.level, self.at = parts, level, at

    def happen(self, world: "World") -> None:
        for part in self.parts:
            x, mechanics = world.x[part.rows], part.mechanics
            assert isinstance(mechanics, Cuttable)
            mechanics.cut(x, self.level(x))


class Opening(Acting):
    """A seam at work."""

    def __init__(self, parts: Sequence["Part"], seam: Seam) -> None:
        self.parts, self.plane, self.at = parts, seam.plane, seam.at

    def happen(self, world: "World") -> None:
        for part in self.parts:
            mechanics = part.mechanics
            assert isinstance(mechanics, Cuttable)
            x, tets = world.x[part.rows], part.structure.cells.get("tetra")
            centres = x if tets is None else x[tets].mean(axis=1)  # phyxels have no tets
            mechanics.part_faces((self.plane.level(centres) > 0.0).astype(np.int64))


class Blade(Acting):
    """A moving blade at work: tets are cut up along its plane when it begins, and parted behind its edge.

    marks: rest positions of each body's particles in the plane, which name them whatever else happens.
    """

    def __init__(self, parts: Sequence["Part"], cut: Cut) -> None:
        assert cut.plane is not None
        self.parts, self.plane, self.edge = parts, cut.plane, cut.edge
        self.direction = np.array(cut.direction)
        self.marks: dict[str, Array] = {}

    def between_steps(self, time: float, world: "World") -> bool:
        changed = False
        for part in self.parts:
            x, mechanics = world.x[part.rows], part.mechanics
            assert isinstance(mechanics, Cuttable)
            if part.name not in self.marks:
                count = len(x)
                self.marks[part.name] = mechanics.imprint(x, self.plane.level(x))
                changed |= len(self.marks[part.name]) > 0 and len(mechanics.structure.rest) > count  # type: ignore[attr-defined]
                continue
            behind = x @ self.direction <= float(self.edge.at(time))
            changed |= mechanics.part_faces(None, behind & _among(part.structure.rest, self.marks[part.name]))
        return changed

    def state(self) -> dict[str, AnyArray]:
        return dict(self.marks)

    def restore(self, state: Mapping[str, AnyArray]) -> None:
        self.marks = {name: np.array(points) for name, points in state.items()}


def _among(points: Array, marks: Array) -> Any:
    """Which of ``points`` are exactly one of ``marks``."""
    row = np.dtype((np.void, 24))
    return np.isin(
        np.ascontiguousarray(points).view(row).ravel(), np.ascontiguousarray(marks).view(row).ravel()
    )
