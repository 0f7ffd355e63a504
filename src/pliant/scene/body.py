"""A body as scenes write it: a shape or mesh, a model, a material, and where it is."""

from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BeforeValidator, Field, PlainSerializer, model_validator

from pliant.core.diagnostics import Diagnostics
from pliant.core.errors import PliantError, SelectionError
from pliant.core.parameters import from_table, parameters, to_table
from pliant.core.rotation import Rotation, quarter_turn
from pliant.core.selection import Point
from pliant.core.typing import Array
from pliant.core.units import LIGHT, AngularSpeed, Length, Number, Speed, parse
from pliant.interfaces import Structure
from pliant.materials import Material, ResolvedMaterial, resolve
from pliant.mesh.shapes.scene_form import AnyShape
from pliant.models import MODELS
from pliant.scene.geometry import BodyGeometry, Progress


def _material(value: Any) -> Any:
    if isinstance(value, (Material, str, dict)):
        try:
            resolve(value)
        except PliantError as error:
            raise ValueError(str(error)) from None
        return value if isinstance(value, Material) else from_table(Material, value)  # type: ignore[arg-type]
    raise ValueError(f"a material is a preset's name or a table, got {value!r}")


AnyModel = Annotated[Any, BeforeValidator(MODELS.build), PlainSerializer(MODELS.describe)]
AnyMaterial = Annotated[Any, BeforeValidator(_material), PlainSerializer(to_table)]
StartSpeed = Annotated[Speed, Field(ge=-LIGHT, le=LIGHT)]
StartSpin = Annotated[AngularSpeed, Field(ge=-LIGHT, le=LIGHT)]


@parameters
class Body:
    """A deformable body.

    shape or mesh: what it looks like; edge [m]: target edge length (default: automatic);
    position [m], rotation, scale: where it is; velocity [m/s], spin [rad/s] about its centre: how it starts;
    mesh_up: the axis of the mesh file that points up, which is turned to the scene's (default: the scene's);
    mesh_units: the length that one unit of the mesh file stands for, "cm", "mm", "in", ... (default metres);
    surface: "embedded" shows and exports the original mesh, "boundary" the simulated one.
    groups: named sets of its particles, by number, that selections may name.
    """

    shape: AnyShape = None
    mesh: str | Path | None = None
    mesh_up: Literal["x", "y", "z"] | None = Field(default=None, kw_only=True)
    mesh_units: Literal["m", "cm", "mm", "um", "km", "in", "ft"] = Field(default="m", kw_only=True)
    edge: Length | None = Field(default=None, gt=0)
    model: AnyModel = "mass-spring"
    material: AnyMaterial = "rubber"
    name: str | None = Field(default=None, pattern=r"^[A-Za-z_][\w\-]*$")
    position: Point = (0.0, 0.0, 0.0)
    rotation: Rotation | None = None
    scale: Number = Field(default=1.0, gt=0, le=1e9)
    velocity: tuple[StartSpeed, StartSpeed, StartSpeed] = (0.0, 0.0, 0.0)
    spin: tuple[StartSpin, StartSpin, StartSpin] = (0.0, 0.0, 0.0)
    surface: Literal["embedded", "boundary"] = "embedded"
    mesher: Literal["auto", "tetwild", "tetgen", "lattice"] = "auto"
    groups: dict[str, tuple[int, ...]] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _one_source(self) -> "Body":
        if (self.shape is None) == (self.mesh is None):
            raise ValueError(
                "a body needs one of shape, mesh" + (", not both" if self.shape is not None else "")
            )
        if self.mesh is None and (self.mesh_up is not None or self.mesh_units != "m"):
            raise ValueError("mesh-up and mesh-units belong to a body with mesh, and this one has a shape")
        return self

    @cached_property
    def resolved_material(self) -> ResolvedMaterial:
        """The complete material, its axes turned with the body."""
        material = resolve(self.material)
        return material if self.rotation is None else material.turned(self.rotation.matrix())

    def geometry(
        self, diagnostics: Diagnostics | None = None, progress: Progress | None = None, up: str = "z"
    ) -> BodyGeometry:
        """The body's geometry, placed in a world where the axis ``up`` points up."""
        turn = np.eye(3) if self.rotation is None else self.rotation.matrix()
        if self.mesh_up is not None:
            turn = turn @ quarter_turn(self.mesh_up, up)
        return BodyGeometry(
            source=self.shape if self.shape is not None else self.mesh,
            edge=self.edge,
            mesher=self.mesher,
            embedded=self.surface == "embedded",
            linear=self.scale * parse(f"1 {self.mesh_units}", "m") * turn,
            position=np.array(self.position),
            diagnostics=diagnostics or Diagnostics(),
            progress=progress,
        )

    def structure(
        self, diagnostics: Diagnostics | None = None, progress: Progress | None = None, up: str = "z"
    ) -> Structure:
        """Particles, masses and cells, made by the model's sampler."""
        geometry = self.geometry(diagnostics, progress, up)
        structure: Structure = self.model.sampler.sample(geometry, self.resolved_material)
        return self.with_groups(structure)

    def with_groups(self, structure: Structure) -> Structure:
        """``structure`` with this body's own groups beside those of its mesh."""
        count = len(structure.rest)
        own = {}
        for name, ids in self.groups.items():
            own[name] = np.unique(np.array(ids, np.int64))
            if len(own[name]) and (own[name][0] < 0 or own[name][-1] >= count):
                raise SelectionError(
                    f"body '{self.name}': group '{name}' names particle {int(own[name][-1])}, and there are "
                    f"{count}.",
                    hint="Groups are numbers of particles: another edge length or model makes others.",
                )
        return replace(structure, groups={**structure.groups, **own}) if own else structure

    def start_velocities(self, structure: Structure) -> Array:
        """``velocity + spin x (x - centre of mass)`` (n, 3) [m/s]."""
        centre = np.average(structure.rest, axis=0, weights=structure.mass)
        return np.array(self.velocity) + np.cross(np.array(self.spin), structure.rest - centre)
