"""Material added to a body while it runs."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from pydantic import Field, model_validator

from pliant.actions.base import OneShot
from pliant.core.errors import IncompatibleError, MeshError
from pliant.core.parameters import parameters
from pliant.core.rotation import Rotation
from pliant.core.selection import OneBody, Point
from pliant.core.typing import Vector
from pliant.core.units import Number
from pliant.interfaces import ActionRuntime, BodyChange, Editable, Event
from pliant.mesh.mesh import Surface, TetMesh, boundary_triangles, surface_volume
from pliant.mesh.shapes.scene_form import AnyShape
from pliant.mesh.topology import is_closed

if TYPE_CHECKING:
    from pliant.state.world import BodyState, World


@parameters
class Add(OneShot):
    """Adds material to a body of elements at the time ``at``: a region is filled with elements of the body's
    own lattice, connected to the neighbours they touch; they move along with these and strain nothing.

    shape or mesh: the region, a closed surface; position [m], rotation, scale: where it is then, in world
    coordinates.
    """

    kind: ClassVar[str] = "add"
    live: ClassVar[bool] = True
    changes_bodies: ClassVar[bool] = True
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

    def prepare(self, world: "World", up: Vector) -> ActionRuntime:
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

    capabilities = frozenset({Event})
    account = "work"

    def __init__(self, part: "BodyState", region: Surface, at: float) -> None:
        self.part, self.region, self.at = part, region, at

    def apply(self, world: "World") -> Sequence[BodyChange]:
        rows, editable = self.part.rows, self.part.mechanics.offer(Editable)
        assert editable is not None
        editable.add(self.region, world.x[rows], world.v[rows])
        return ()
