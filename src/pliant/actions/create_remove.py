"""Bodies and material that are created, removed and added while a scene runs."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar

import numpy as np
from pydantic import Field, model_validator

from pliant.actions.base import BodyEdit, OneShot, RowsRuntime, SelectionTool
from pliant.core.errors import IncompatibleError, MeshError
from pliant.core.parameters import parameters
from pliant.core.rotation import Rotation
from pliant.core.selection import BodyRef, OneBody, Point, Select
from pliant.core.typing import AnyArray, Array, IntArray, Vector
from pliant.core.units import Number
from pliant.interfaces import ActionRuntime, BodyChange, Editable, Event, HideBody
from pliant.mesh.mesh import Surface, TetMesh, boundary_triangles, surface_volume
from pliant.mesh.shapes.scene_form import AnyShape
from pliant.mesh.topology import is_closed
from pliant.models import models_offering
from pliant.state.world import BodyState, World


@parameters
class Create(OneShot):
    """Adds a body of the scene to the simulation at the time ``at``, with the position and velocity that the
    scene gives it."""

    kind: ClassVar[str] = "create"

    body: OneBody

    def prepare(self, world: World, up: Vector) -> ActionRuntime:
        (part,) = world.bodies_named(self.body, "action 'create'")
        return self.windowed(CreateRuntime(world, part, self.at))


class CreateRuntime(ActionRuntime):
    """A body that is absent until ``at``: it has no forces, touches nothing and is not shown."""

    account = "work"
    capabilities = frozenset({Event})

    def __init__(self, world: World, part: BodyState, at: float) -> None:
        self.part, self.at = part, at
        self.velocities: Array = world.v[part.rows].copy()
        self.requests = (HideBody(part),)

    def apply(self, world: World) -> Sequence[BodyChange]:
        self.part.present = True
        world.v[self.part.rows] = self.velocities
        from pliant.embedding.carriers import shown

        return [(self.part, shown(self.part.structure))]

    def state(self) -> dict[str, AnyArray]:
        return {"velocities": self.velocities}

    def restore(self, state: Mapping[str, AnyArray]) -> None:
        self.velocities = np.array(state["velocities"])


@parameters
class Remove(BodyEdit):
    """Removes a body at the time ``at``; with ``select``, the selected elements of lattice bodies."""

    kind: ClassVar[str] = "remove"
    needs: ClassVar[type] = Editable
    tools: ClassVar[tuple[SelectionTool, ...]] = (
        SelectionTool("Remove", "remove", "Take this material away", "shape"),
        SelectionTool("Remove body", "remove", "Take the whole body away", "shape", "body"),
    )

    body: BodyRef = None
    select: Select | None = None

    @model_validator(mode="after")
    def _says_what(self) -> "Remove":
        if self.body is None and self.select is None:
            raise ValueError("give the body to remove, or select particles")
        return self

    def prepare(self, world: World, up: Vector) -> ActionRuntime:
        if self.select is None:
            (part,) = world.bodies_named(self.body, "action 'remove'")
            rows = np.arange(part.rows.start, part.rows.stop)
        else:
            rows = self.select.rows(world, "action 'remove'", self.body)
        acting = RemoveRuntime(rows, self.at)
        for part, chosen in acting.chosen(world):
            if not chosen.all() and part.mechanics.offer(Editable) is None:
                raise IncompatibleError(
                    f"action 'remove': body '{part.name}' ({part.model.kind}) can only be removed whole.",
                    hint=f"Use {models_offering(Editable)} to take parts away.",
                )
        return self.windowed(acting)


class RemoveRuntime(RowsRuntime):
    """Rows that are removed at ``at``."""

    account = "removed"
    capabilities = frozenset({Event})

    def __init__(self, rows: IntArray, at: float) -> None:
        self.rows, self.at = rows, at

    def chosen(self, world: World) -> list[tuple[BodyState, AnyArray]]:
        """The bodies that hold them, and which of their particles."""
        mask = np.zeros(world.count, bool)
        mask[self.rows] = True
        return [(part, mask[part.rows]) for part in world.bodies if mask[part.rows].any()]

    def apply(self, world: World) -> Sequence[BodyChange]:
        from pliant.embedding.carriers import hidden

        changes: list[BodyChange] = []
        for part, chosen in self.chosen(world):
            editable = part.mechanics.offer(Editable)
            if not chosen.all() and editable is not None:
                editable.remove(chosen)
            elif part.present:
                part.present = False
                world.v[part.rows] = 0.0
                changes.append((part, hidden(part.structure)))
        return changes


@parameters
class Add(BodyEdit):
    """Adds material to a body of elements at the time ``at``: a region is filled with elements of the body's
    own lattice, connected to the neighbours they touch; they move along with these and strain nothing.

    shape or mesh: the region, a closed surface; position [m], rotation, scale: where it is then, in world
    coordinates.
    """

    kind: ClassVar[str] = "add"
    needs: ClassVar[type] = Editable

    body: OneBody
    shape: AnyShape = None
    mesh: str | Path | None = None
    position: Point = (0.0, 0.0, 0.0)
    rotation: Rotation | None = None
    scale: Number = Field(default=1.0, gt=0)

    @model_validator(mode="after")
    def _one_region(self) -> "Add":
        if (self.shape is None) == (self.mesh is None):
            raise ValueError("give one of shape, mesh: the region to fill")
        return self

    def prepare(self, world: World, up: Vector) -> ActionRuntime:
        (part,) = world.bodies_named(self.body, "action 'add'")
        if part.mechanics.offer(Editable) is None:
            raise IncompatibleError(
                f"action 'add': nothing can be added to body '{part.name}' ({part.model.kind}).",
                hint="Use model = \"lattice\", or let another body appear: action 'create'.",
            )
        return self.windowed(AddRuntime(part, self._region(part.structure.spacing), self.at))

    def _region(self, spacing: float) -> Surface:
        """The region in world coordinates, facing outward."""
        source = self.shape if self.mesh is None else self.mesh
        if isinstance(source, (str, Path)):
            from pliant.mesh.io import read_surface

            source = read_surface(source)
        elif not isinstance(source, (Surface, TetMesh)):
            source = source.surface(spacing / self.scale)
        if isinstance(source, TetMesh):
            source = Surface(source.points, boundary_triangles(source.tets))
        if not is_closed(source.points, source.triangles):
            raise MeshError(
                f"action 'add': {self.mesh or 'the shape'} is not closed: it has no inside to fill.",
                hint="Close it: pliant mesh repairs.",
            )
        turn = np.eye(3) if self.rotation is None else self.rotation.matrix()
        points = self.scale * source.points @ turn.T + np.array(self.position)
        outward = surface_volume(points, source.triangles) > 0.0
        return Surface(points, source.triangles if outward else source.triangles[:, ::-1])


class AddRuntime(ActionRuntime):
    """Material that is added at ``at``."""

    account = "work"
    capabilities = frozenset({Event})

    def __init__(self, part: BodyState, region: Surface, at: float) -> None:
        self.part, self.region, self.at = part, region, at

    def apply(self, world: World) -> Sequence[BodyChange]:
        rows, editable = self.part.rows, self.part.mechanics.offer(Editable)
        assert editable is not None
        editable.add(self.region, world.x[rows], world.v[rows])
        return ()
