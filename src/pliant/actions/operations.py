"""Operations on bodies while they run: renormalise, change attributes, glue, fuse."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from pydantic import Field, model_validator

from pliant.actions.base import Selecting, Timed
from pliant.actions.seams import weld
from pliant.errors import IncompatibleError, SelectionError
from pliant.parameters import parameters
from pliant.protocols import Acting, Alterable, Renormalising, RowChange, StableStep
from pliant.selection import BodyRef, OneBody
from pliant.typing import AnyArray, Array, IntArray, Vector
from pliant.units import Length, Number, Pressure, Time

if TYPE_CHECKING:
    from pliant.simulation.world import Part, World

SEAM = 1.2  # stiffness of a seam per particle [E a]
REACH = 1.8  # how far a seam reaches [spacings]


@parameters
class Once(Selecting):
    """An operation on selected particles at the time ``at`` [s]."""

    at: Time = Field(default=0.0, ge=0)

    @model_validator(mode="after")
    def _happens_once(self) -> "Once":
        if self.from_ > 0 or self.until is not None:
            raise ValueError("this happens once: give at, not from and until")
        return self

    def parts(self, world: "World", rows: IntArray, capability: Any) -> list["Part"]:
        """The bodies that hold ``rows``; IncompatibleError where one lacks the capability."""
        found = [p for p in world.parts if ((rows >= p.rows.start) & (rows < p.rows.stop)).any()]
        for part in found:
            if not isinstance(part.mechanics, capability):
                kind = getattr(self, "kind", "operation")
                raise IncompatibleError(
                    f"action '{kind}': model '{part.model.kind}' of body '{part.name}' cannot do it.",
                    hint='Use model = "elements".',
                )
        return found


@parameters
class Renormalise(Once):
    """Makes the present shape of the selected particles their rest shape [JanssonVergeest2000]_ 6.1: no
    energy is left in it, and no force."""

    kind: ClassVar[str] = "renormalise"

    def prepare(self, world: "World", up: Vector) -> Acting:
        rows = self.rows(world)
        parts = self.parts(world, rows, Renormalising)
        return self.windowed(Operation(parts, rows, self.at, lambda m, x, chosen: m.renormalise(x, chosen)))


@parameters
class Attributes(Once):
    """Changes attributes of the selected particles at the time ``at``.

    stiffness, fracture_distance: factors on their connections; friction, strength [Pa], damping [s]: new
    values of theirs.
    """

    kind: ClassVar[str] = "attributes"

    stiffness: Number | None = Field(default=None, gt=0)
    fracture_distance: Number | None = Field(default=None, gt=0)
    damping: Time | None = Field(default=None, ge=0)
    friction: Number | None = Field(default=None, ge=0)
    strength: Pressure | None = Field(default=None, gt=0)

    @property
    def changes(self) -> dict[str, float]:
        names = ("stiffness", "fracture_distance", "damping", "friction", "strength")
        given = {name.replace("_", "-"): getattr(self, name) for name in names}
        return {name: float(value) for name, value in given.items() if value is not None}

    @model_validator(mode="after")
    def _says_something(self) -> "Attributes":
        if not self.changes:
            raise ValueError("which attributes? stiffness, fracture-distance, damping, friction or strength")
        return self

    def prepare(self, world: "World", up: Vector) -> Acting:
        rows, changes = self.rows(world), self.changes
        parts = self.parts(world, rows, Alterable)
        operation = Operation(parts, rows, self.at, lambda m, x, chosen: m.alter(chosen, changes))
        operation.stiffer = self.stiffness or 1.0
        return self.windowed(operation)


class Operation(Acting):
    """An operation at work: calls a verb of each body's mechanics, once."""

    stiffer = 1.0  # by which factor stiffness grows

    def __init__(self, parts: list["Part"], rows: IntArray, at: float, verb: Any) -> None:
        self.parts, self.rows, self.at, self.verb = parts, rows, at, verb

    def happen(self, world: "World") -> None:
        chosen = np.zeros(world.count, bool)
        chosen[self.rows] = True
        for part in self.parts:
            self.verb(part.mechanics, world.x[part.rows], chosen[part.rows])

    def stable_step(self) -> StableStep:
        """That of the stiffened bodies; damped ones are limited in proportion to their stiffness."""
        limits = [p.mechanics.stable_step().seconds for p in self.parts] if self.stiffer > 1.0 else []
        return StableStep(min(limits, default=float("inf")) / self.stiffer, "a body is made stiffer")

    def follow(self, change: RowChange, world: "World") -> None:
        self.rows, _ = change.follow(self.rows)


@parameters
class Glue(Once):
    """Ties the selected particles to body ``to`` at the time ``at``: to all of its particles within ``reach``
    [m] (default: 1.8 spacings), by springs of their present lengths, until ``until``."""

    kind: ClassVar[str] = "glue"

    to: BodyRef = None
    reach: Length | None = Field(default=None, gt=0)

    @model_validator(mode="after")
    def _happens_once(self) -> "Glue":
        if self.from_ > 0:
            raise ValueError("glue takes hold once: give at, not from")
        if not self.to:
            raise ValueError("to is missing: the name of a body")
        return self

    def prepare(self, world: "World", up: Vector) -> Acting:
        (part,) = world.parts_named(self.to, "action 'glue'")
        rows = self.rows(world)
        others = np.arange(part.rows.start, part.rows.stop)
        rows = np.setdiff1d(rows, others)
        if not len(rows):
            raise SelectionError(
                "action 'glue': the selected particles belong to the body they are glued to."
            )
        return self.windowed(Bonds(world, rows, others, self.reach, self.at, "glue"))


@parameters
class Fuse(Timed):
    """Makes two bodies one at the time ``at``: particles of both closer than ``reach`` [m] (default: 1.8
    spacings) are connected by springs of their present lengths, 1.2 E a for each particle in the seam; the
    shown surfaces of bodies of elements meet in the middle of the gap."""

    kind: ClassVar[str] = "fuse"

    bodies: tuple[OneBody, OneBody]
    at: Time = Field(default=0.0, ge=0)
    reach: Length | None = Field(default=None, gt=0)

    @model_validator(mode="after")
    def _two(self) -> "Fuse":
        if self.bodies[0] == self.bodies[1]:
            raise ValueError("fuse needs two different bodies")
        if self.from_ > 0:
            raise ValueError("bodies fuse once: give at, not from")
        return self

    def prepare(self, world: "World", up: Vector) -> Acting:
        (one,), (two,) = (world.parts_named(name, "action 'fuse'") for name in self.bodies)
        first, second = (np.arange(p.rows.start, p.rows.stop) for p in (one, two))
        return self.windowed(Fusion(world, (one, two), (first, second), self))


class Bonds(Acting):
    """Springs between bodies that are made at a time."""

    velocity_dependent = False

    def __init__(
        self, world: "World", first: IntArray, second: IntArray, reach: float | None, at: float, kind: str
    ) -> None:
        self.world, self.first, self.second, self.reach, self.at = world, first, second, reach, at
        self.kind = kind
        owner = np.repeat(np.arange(len(world.parts)), [part.count for part in world.parts])
        self._strength = np.array([p.material.young * p.structure.spacing for p in world.parts])[owner]
        self._spacing = np.array([p.structure.spacing for p in world.parts])[owner]
        self._tie(np.empty((0, 2), np.int64), np.empty(0), np.empty(0))

    def _tie(self, edges: IntArray, lengths: Array, stiffness: Array) -> None:
        from pliant.models.elements.connections import Connections

        self.edges, self.lengths, self.stiffness = edges, lengths, stiffness
        self.ties = Connections(edges, lengths, stiffness, self.world.count) if len(edges) else None

    def happen(self, world: "World") -> None:
        from scipy.spatial import cKDTree

        x = world.x
        spacing = max(float(self._spacing[self.first].max()), float(self._spacing[self.second].max()))
        reach = self.reach or REACH * spacing
        near: Any = cKDTree(x[self.second]).query_ball_point(x[self.first], reach, return_sorted=True)
        pairs = [(self.first[i], self.second[j]) for i, found in enumerate(near) for j in found]
        if not pairs:
            raise SelectionError(
                f"action '{self.kind}': nothing is closer than {reach:.3g} m at {self.at:g} s.",
                hint="Give a larger reach, or a time when the bodies touch.",
            )
        edges = np.unique(np.sort(np.array(pairs), axis=1), axis=0)
        d = x[edges[:, 1]] - x[edges[:, 0]]
        times = np.bincount(edges.ravel(), minlength=world.count)
        share = 0.5 * (1.0 / times[edges[:, 0]] + 1.0 / times[edges[:, 1]])
        strength = np.minimum(self._strength[edges[:, 0]], self._strength[edges[:, 1]])
        self._tie(edges, np.linalg.norm(d, axis=1), SEAM * strength * share)

    def add_forces(self, time: float, x: Array, v: Array, out: Array) -> None:
        if self.ties is not None and self.ties.blocks is not None:
            self.ties.loops.add_forces(x, out)

    def potential(self, x: Array) -> float:
        """``sum k (l - L)^2 / 2`` [J]."""
        if not len(self.edges):
            return 0.0
        stretch = np.linalg.norm(x[self.edges[:, 1]] - x[self.edges[:, 0]], axis=1) - self.lengths
        return 0.5 * float(np.sum(self.stiffness * stretch**2))

    def follow(self, change: RowChange, world: "World") -> None:
        parents = change.parents.reshape(len(change.parents), -1)[:, 0]
        new = np.full(int(max(parents.max(), self.edges.max(initial=0))) + 1, -1)
        new[parents[::-1]] = np.arange(len(parents))[::-1]
        self.first, self.second = change.follow(self.first)[0], change.follow(self.second)[0]
        self._strength, self._spacing = self._strength[parents], self._spacing[parents]
        kept = (new[self.edges] >= 0).all(axis=1)
        self._tie(new[self.edges[kept]], self.lengths[kept], self.stiffness[kept])

    def state(self) -> dict[str, AnyArray]:
        return {"edges": self.edges, "lengths": self.lengths, "stiffness": self.stiffness}

    def restore(self, state: Mapping[str, AnyArray]) -> None:
        self._tie(*(np.array(state[name]) for name in ("edges", "lengths", "stiffness")))


class Fusion(Bonds):
    """Two bodies that will be one: springs, and surfaces without a gap."""

    def __init__(
        self, world: "World", parts: tuple["Part", "Part"], rows: tuple[IntArray, IntArray], fuse: Fuse
    ) -> None:
        super().__init__(world, *rows, fuse.reach, fuse.at, "fuse")
        self.parts = parts

    def happen(self, world: "World") -> None:
        super().happen(world)
        spacing = max(part.structure.spacing for part in self.parts)
        weld(world, *self.parts, max((self.reach or REACH * spacing) - spacing, 0.0))
