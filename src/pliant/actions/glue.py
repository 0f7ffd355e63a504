"""Bodies that are tied together while they run: glue, and bodies that fuse."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from pydantic import Field, model_validator

from pliant.actions.base import BodyEdit, SelectionAction, SelectionTool
from pliant.core.errors import IncompatibleError, SelectionError
from pliant.core.parameters import parameters
from pliant.core.selection import BodyRef, OneBody
from pliant.core.typing import AnyArray, Array, BoolArray, IntArray, Vector
from pliant.core.units import Length
from pliant.interfaces import ActionRuntime, BodyChange, Editable, Event, IndexMap
from pliant.mesh.bvh import Bvh
from pliant.mesh.mesh import Surface
from pliant.state.world import BodyState, World

SEAM = 1.2  # stiffness of a seam per particle [E a]
REACH = 1.8  # how far a seam reaches [spacings]
FACING = 0.5  # cosine between a point's normal and the way to the other body


@parameters
class Glue(SelectionAction, BodyEdit):
    """Ties the selected particles to body ``to`` at the time ``at``: to all of its particles within ``reach``
    [m] (default: 1.8 spacings), by springs of their present lengths, until ``until``."""

    kind: ClassVar[str] = "glue"
    may_end: ClassVar[bool] = True
    tools: ClassVar[tuple[SelectionTool, ...]] = (
        SelectionTool("Glue", "glue", "Glue them to the nearest other body", "shape", "nearest"),
    )

    to: BodyRef = None
    reach: Length | None = Field(default=None, gt=0)

    @model_validator(mode="after")
    def _has_a_partner(self) -> "Glue":
        if not self.to:
            raise ValueError("to is missing: the name of a body")
        return self

    def prepare(self, world: World, up: Vector) -> ActionRuntime:
        (part,) = world.bodies_named(self.to, "action 'glue'")
        rows = self.rows(world)
        others = np.arange(part.rows.start, part.rows.stop)
        rows = np.setdiff1d(rows, others)
        if not len(rows):
            raise SelectionError(
                "action 'glue': the selected particles belong to the body they are glued to."
            )
        return self.windowed(GlueRuntime(world, rows, others, self.reach, self.at, "glue"))


@parameters
class Fuse(BodyEdit):
    """Makes two bodies one at the time ``at``: particles of both closer than ``reach`` [m] (default: 1.8
    spacings) are connected by springs of their present lengths, 1.2 E a for each particle in the seam; the
    embedded surfaces of lattice bodies are joined in the middle of the gap."""

    kind: ClassVar[str] = "fuse"
    may_end: ClassVar[bool] = True

    bodies: tuple[OneBody, OneBody]
    reach: Length | None = Field(default=None, gt=0)

    @model_validator(mode="after")
    def _two(self) -> "Fuse":
        if self.bodies[0] == self.bodies[1]:
            raise ValueError("fuse needs two different bodies")
        return self

    def prepare(self, world: World, up: Vector) -> ActionRuntime:
        (one,), (two,) = (world.bodies_named(name, "action 'fuse'") for name in self.bodies)
        first, second = (np.arange(p.rows.start, p.rows.stop) for p in (one, two))
        return self.windowed(
            GlueRuntime(world, first, second, self.reach, self.at, "fuse", weld_surfaces_of=(one, two))
        )


class GlueRuntime(ActionRuntime):
    """Springs that tie particles ``first`` to ``second`` from the time ``at`` on.

    weld_surfaces_of: two bodies whose shown surfaces then meet in the middle of the gap.
    """

    capabilities = frozenset({Event})
    rows: IntArray

    def __init__(
        self,
        world: World,
        first: IntArray,
        second: IntArray,
        reach: float | None,
        at: float,
        kind: str,
        weld_surfaces_of: tuple[BodyState, BodyState] | None = None,
    ) -> None:
        self.kind, self.welded = kind, weld_surfaces_of
        self.world, self.rows, self.second, self.reach, self.at = world, first, second, reach, at
        owner = np.repeat(np.arange(len(world.bodies)), [part.count for part in world.bodies])
        self._strength = np.array([p.material.young * p.structure.spacing for p in world.bodies])[owner]
        self._spacing = np.array([p.structure.spacing for p in world.bodies])[owner]
        self._tie(np.empty((0, 2), np.int64), np.empty(0), np.empty(0))

    def _tie(self, edges: IntArray, lengths: Array, stiffness: Array) -> None:
        from pliant.models.springs.network import SpringNetwork

        self.edges, self.lengths, self.stiffness = edges, lengths, stiffness
        self.ties = SpringNetwork(edges, lengths, stiffness, self.world.count) if len(edges) else None

    def apply(self, world: World) -> Sequence[BodyChange]:
        from scipy.spatial import cKDTree

        x = world.x
        spacing = max(float(self._spacing[self.rows].max()), float(self._spacing[self.second].max()))
        reach = self.reach or REACH * spacing
        near: Any = cKDTree(x[self.second]).query_ball_point(x[self.rows], reach, return_sorted=True)
        pairs = [(self.rows[i], self.second[j]) for i, found in enumerate(near) for j in found]
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
        if self.welded is not None:
            spacing = max(part.structure.spacing for part in self.welded)
            weld(world, *self.welded, max((self.reach or REACH * spacing) - spacing, 0.0))
        return ()

    def add_forces(self, time: float, x: Array, v: Array, out: Array) -> None:
        if self.ties is not None and self.ties.blocks is not None:
            self.ties.loops.add_forces(x, out)

    def potential_energy(self, x: Array) -> float:
        """``sum k (l - L)^2 / 2`` [J]."""
        if not len(self.edges):
            return 0.0
        stretch = np.linalg.norm(x[self.edges[:, 1]] - x[self.edges[:, 0]], axis=1) - self.lengths
        return 0.5 * float(np.sum(self.stiffness * stretch**2))

    def remap(self, change: IndexMap, world: World) -> None:
        if change.resampled is not None:
            raise IncompatibleError(
                f"action 'resample': body '{change.resampled}' is glued to another, and glue holds single "
                "elements.",
                hint="Resample it before the glue acts, or leave one of the two out.",
            )
        parents = change.parents.reshape(len(change.parents), -1)[:, 0]
        new = np.full(int(max(parents.max(), self.edges.max(initial=0))) + 1, -1)
        new[parents[::-1]] = np.arange(len(parents))[::-1]
        self.rows, self.second = change.remap_rows(self.rows)[0], change.remap_rows(self.second)[0]
        self._strength, self._spacing = self._strength[parents], self._spacing[parents]
        kept = (new[self.edges] >= 0).all(axis=1)
        self._tie(new[self.edges[kept]], self.lengths[kept], self.stiffness[kept])

    def state(self) -> dict[str, AnyArray]:
        return {"edges": self.edges, "lengths": self.lengths, "stiffness": self.stiffness}

    def restore(self, state: Mapping[str, AnyArray]) -> None:
        self._tie(*(np.array(state[name]) for name in ("edges", "lengths", "stiffness")))


def weld(world: World, one: BodyState, two: BodyState, gap: float) -> None:
    """Move points of both shown surfaces that face the other one, up to ``gap`` [m] away, half-way to it."""
    shown, editors = [], []
    for part in (one, two):
        carrier = part.structure.carrier
        editable = part.mechanics.offer(Editable)
        if carrier is None or editable is None:
            return
        editors.append(editable)
        shown.append(Surface(carrier.positions(world.x[part.rows]), carrier.surface.triangles))
    both = ((one, editors[0], shown[0], shown[1]), (two, editors[1], shown[1], shown[0]))
    for part, editor, own, other in both:
        nearest, away, _ = Bvh(other.points, other.triangles).nearest(own.points)
        which = np.flatnonzero((away <= gap) & _facing(own, nearest - own.points, away))
        if len(which) and float(away[which].max()) > 1e-6 * gap:
            places = 0.5 * (own.points[which] + nearest[which])
            editor.weld(world.x[part.rows], which, places)


def _facing(surface: Surface, way: Array, away: Array) -> BoolArray:
    """Which points look along ``way`` (p, 3), or against it, whose length is ``away`` (p,)."""
    a, b, c = (surface.points[surface.triangles[:, k]] for k in range(3))
    normals = np.zeros_like(surface.points)
    for k in range(3):
        np.add.at(normals, surface.triangles[:, k], np.cross(b - a, c - a))
    size = np.linalg.norm(normals, axis=1)
    return np.asarray(np.abs(np.einsum("ij,ij->i", normals, way)) >= FACING * size * away)
