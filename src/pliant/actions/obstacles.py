"""Rigid obstacles that bodies collide with: the ground, a tabletop, fixed or moving shapes."""

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

import numpy as np
from pydantic import Field, model_validator

from pliant.actions.base import TimeWindow
from pliant.contact.obstacle import ObstacleRuntime
from pliant.contact.obstacle_shape import BOX, CAPSULE, MESH, PLANE, SPHERE, ObstacleShape, frame_along
from pliant.core.curves import Curve, KeyedAngle, KeyedPoint
from pliant.core.errors import IncompatibleError, MeshError
from pliant.core.parameters import parameters
from pliant.core.rotation import Direction, Rotation
from pliant.core.selection import Axis
from pliant.core.typing import Vector
from pliant.core.units import Length, Number, parse
from pliant.interfaces import ActionRuntime
from pliant.state.world import World

if TYPE_CHECKING:
    from pliant.contact.surface_motion import SurfaceMotion
    from pliant.mesh.io.sequences import SurfaceSequence

PositiveLength = Annotated[Length, Field(gt=0)]


class RigidAction(TimeWindow):
    """Base of the actions that put a rigid shape into the world: ``scenery`` gives the shape, of which the
    runtime is made; its series are the force and torque on it."""

    live: ClassVar[bool] = True
    refines: ClassVar[bool] = False  # whether adaptive bodies resolve the shape in all detail

    name: str | None
    restitution: float
    friction: float

    @property
    def series_label(self) -> str:
        return self.name or self.kind

    def series_units(self) -> dict[str, str]:
        return {self.series_label: "N", f"{self.series_label}.torque": "N m"}

    def scenery(self, up: Vector) -> ObstacleShape:
        raise NotImplementedError

    def prepare(self, world: World, up: Vector) -> ActionRuntime:
        shape = self.scenery(up)
        runtime: ObstacleRuntime
        if shape.motion is not None:
            from pliant.contact.mesh_obstacle import MeshObstacle

            _check_bodies(world, self.series_label)
            runtime = MeshObstacle(self.series_label, shape.motion, self.restitution, self.friction)
        else:
            placed = shape.shape, shape.size, shape.frame, shape.path
            runtime = ObstacleRuntime(self.series_label, *placed, self.restitution, self.friction)
        runtime.refines = self.refines
        return self.windowed(runtime)


@parameters
class Ground(RigidAction):
    """A plane that bodies cannot pass: ``level`` [m] along ``up``."""

    kind: ClassVar[str] = "ground"

    level: Length = 0.0
    restitution: Number = Field(default=0.0, ge=0, le=1)
    friction: Number = Field(default=0.5, ge=0)
    name: str | None = None

    def scenery(self, up: Vector) -> ObstacleShape:
        axis = np.array(up)
        place = Curve.constant(self.level * axis)
        return ObstacleShape(
            PLANE, (0.0, 0.0, 0.0), frame_along(axis), place, self.from_, self.ends, "ground"
        )


@parameters
class Tabletop(RigidAction):
    """A rectangular table: its top at ``height`` along ``up``, ``size`` [m, m] centred on ``centre``."""

    kind: ClassVar[str] = "tabletop"

    height: Length
    size: tuple[PositiveLength, PositiveLength]
    centre: tuple[Length, Length] = (0.0, 0.0)
    thickness: Length | None = Field(default=None, gt=0)
    restitution: Number = Field(default=0.0, ge=0, le=1)
    friction: Number = Field(default=0.5, ge=0)
    name: str | None = None

    def scenery(self, up: Vector) -> ObstacleShape:
        axis = np.array(up)
        k = int(np.argmax(np.abs(axis)))
        first, second = [c for c in range(3) if c != k]
        frame = np.column_stack([np.eye(3)[first], np.cross(axis, np.eye(3)[first]), axis])
        thickness = self.thickness or 0.1 * max(self.size)
        place = np.zeros(3)
        place[first], place[second] = self.centre
        place += (self.height - 0.5 * thickness) * axis
        size = (0.5 * self.size[0], 0.5 * self.size[1], 0.5 * thickness)
        return ObstacleShape(BOX, size, frame, Curve.constant(place), self.from_, self.ends, "table")


@parameters
class SphereShape:
    """A ball of ``radius`` [m]."""

    radius: PositiveLength


@parameters
class BoxShape:
    """A box with edge lengths ``size`` [m]."""

    size: tuple[PositiveLength, PositiveLength, PositiveLength]


@parameters
class CapsuleShape:
    """A rod with round ends: ``radius``, and ``length`` [m] between their centres, along ``axis``."""

    radius: PositiveLength
    length: Length = Field(ge=0)
    axis: Axis = "z"


@parameters
class Obstacle(RigidAction):
    """A sphere, box, capsule or mesh centred at ``position`` [m], fixed or moved by keys.

    mesh: a surface file whose origin is placed at ``position``, scaled by ``scale`` and rotated by
    ``rotation``; it rotates further by ``angle`` [rad], which may have keys, about ``axis`` through
    ``position``. The surface deforms if the file is a USD file with time samples or a pattern of numbered
    files ("hand_%04d.obj", ``fps`` of them per second from time 0 on), or if a ``cache`` holds its points
    (.pc2 with ``fps`` frames per second, .mdd). The mesh must be closed, except with barrier contact.
    """

    kind: ClassVar[str] = "obstacle"
    main: ClassVar[str] = "position"
    steered: ClassVar[str] = "position"
    role: ClassVar[Literal["obstacle", "tool"]] = "obstacle"
    refines: ClassVar[bool] = True

    sphere: SphereShape | None = None
    box: BoxShape | None = None
    capsule: CapsuleShape | None = None
    mesh: str | Path | None = None
    cache: str | Path | None = None
    fps: Number = Field(default=24.0, gt=0)
    scale: Number = Field(default=1.0, gt=0)
    mesh_units: Literal["m", "cm", "mm", "um", "km", "in", "ft"] = "m"
    angle: KeyedAngle = Curve.constant(0.0)
    axis: Direction = (0.0, 0.0, 1.0)
    position: KeyedPoint = Curve.constant((0.0, 0.0, 0.0))
    rotation: Rotation | None = None
    restitution: Number = Field(default=0.0, ge=0, le=1)
    friction: Number = Field(default=0.5, ge=0)
    name: str | None = None

    @model_validator(mode="after")
    def _one_shape(self) -> "Obstacle":
        if sum(shape is not None for shape in (self.sphere, self.box, self.capsule, self.mesh)) != 1:
            raise ValueError("give one of sphere, box, capsule, mesh")
        if self.mesh is None and (
            self.cache is not None
            or self.scale != 1.0
            or self.mesh_units != "m"
            or not self.angle.is_constant
            or not self.angle.is_zero
        ):
            raise ValueError("cache, scale, mesh-units and angle belong to an obstacle with mesh")
        return self

    def scenery(self, up: Vector) -> ObstacleShape:
        if self.mesh is not None:
            return ObstacleShape(
                MESH, (0.0, 0.0, 0.0), np.eye(3), self.position, self.from_, self.ends, self.role,
                self._motion(),
            )  # fmt: skip
        frame = np.eye(3)
        shape, size = self._shape()
        if self.capsule is not None:
            frame = frame_along(np.eye(3)["xyz".index(self.capsule.axis)])
        if self.rotation is not None:
            frame = self.rotation.matrix() @ frame
        return ObstacleShape(shape, size, frame, self.position, self.from_, self.ends, self.role)

    def _motion(self) -> "SurfaceMotion":
        from pliant.contact.surface_motion import SurfaceMotion
        from pliant.mesh.io.sequences import SurfaceSequence

        assert self.mesh is not None
        cache = None if self.cache is None else Path(self.cache)
        if cache is not None and not cache.is_absolute():
            cache = Path(self.mesh).parent / cache
        found = _sequence(Path(self.mesh), cache, float(self.fps))
        turn = np.eye(3) if self.rotation is None else self.rotation.matrix()
        linear = self.scale * parse(f"1 {self.mesh_units}", "m") * turn
        if Path(self.mesh).suffix == ".npz":  # of a run folder: it has its size already
            linear = np.eye(3)
        placed = SurfaceSequence(found.times, found.points @ linear.T, found.triangles)
        return SurfaceMotion(placed, self.position, np.array(self.axis), self.angle)

    def _shape(self) -> tuple[int, Vector]:
        if self.sphere is not None:
            return SPHERE, (self.sphere.radius, 0.0, 0.0)
        if self.box is not None:
            a, b, c = self.box.size
            return BOX, (0.5 * a, 0.5 * b, 0.5 * c)
        assert self.capsule is not None
        return CAPSULE, (self.capsule.radius, 0.5 * self.capsule.length, 0.0)


@lru_cache(maxsize=8)
def _sequence(mesh: Path, cache: Path | None, fps: float) -> "SurfaceSequence":
    from pliant.mesh.io.sequences import read_sequence

    found = read_sequence(mesh, cache, fps)
    if not len(found.triangles):
        raise MeshError(f"{mesh} has no triangles.")
    return found


def _check_bodies(world: World, name: str) -> None:
    """Refuse bodies that cannot collide with a mesh."""
    for part in world.bodies:
        if part.mechanics.contact_surface().resolves_obstacles:
            raise IncompatibleError(
                f"Body '{part.name}' (model '{part.model.kind}') does not collide with obstacle '{name}', "
                "which is a mesh.",
                hint='Rigid bodies do with [contact] method = "barrier" and implicit steps.',
            )


@parameters
class Tool(Obstacle):
    """An obstacle that is moved by hand in the studio; its keys record that motion."""

    kind: ClassVar[str] = "tool"
    role: ClassVar[Literal["obstacle", "tool"]] = "tool"
