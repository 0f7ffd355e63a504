"""Operations on bodies while they run: renormalise, change attributes."""

from collections.abc import Callable, Sequence
from typing import ClassVar

import numpy as np
from pydantic import Field, model_validator

from pliant.actions.base import BodyEdit, RowsRuntime, SelectionAction, SelectionTool
from pliant.core.errors import IncompatibleError
from pliant.core.parameters import parameters
from pliant.core.typing import Array, BoolArray, IntArray, Vector
from pliant.core.units import Number, Pressure, Time
from pliant.interfaces import ActionRuntime, BodyChange, Editable, Event, StableStep
from pliant.models import models_offering
from pliant.state.world import BodyState, World

Edit = Callable[[Editable, Array, BoolArray], None]
"""Changes a body: its mechanics, positions (n, 3) and the chosen particles (n,)."""


class MaterialEdit(SelectionAction, BodyEdit):
    """Base of operations on selected particles of bodies that can be edited."""

    needs: ClassVar[type] = Editable

    def parts(self, world: World, rows: IntArray) -> list[BodyState]:
        """The bodies that hold ``rows``; IncompatibleError where one cannot be edited."""
        found = [p for p in world.bodies if ((rows >= p.rows.start) & (rows < p.rows.stop)).any()]
        for part in found:
            if part.mechanics.offer(Editable) is None:
                raise IncompatibleError(
                    f"action '{self.kind}': model '{part.model.kind}' of body '{part.name}' cannot do it.",
                    hint=f"Use {models_offering(Editable)}.",
                )
        return found


@parameters
class Renormalise(MaterialEdit):
    """Resets the rest shape of the selected particles to their current shape [JanssonVergeest2000]_ 6.1: the
    stored energy and all forces become zero."""

    kind: ClassVar[str] = "renormalise"
    tools: ClassVar[tuple[SelectionTool, ...]] = (
        SelectionTool("Keep shape", "body", "Reset the rest shape to the current shape", "shape"),
    )

    def prepare(self, world: World, up: Vector) -> ActionRuntime:
        rows = self.rows(world)
        parts = self.parts(world, rows)
        return self.windowed(EditRuntime(parts, rows, self.at, lambda m, x, chosen: m.renormalise(x, chosen)))


@parameters
class Attributes(MaterialEdit):
    """Changes attributes of the selected particles at the time ``at``.

    stiffness, fracture_distance: factors on their connections; friction, strength [Pa], damping [s]: new
    values of theirs.
    """

    kind: ClassVar[str] = "attributes"
    tools: ClassVar[tuple[SelectionTool, ...]] = (
        SelectionTool(
            "Stiffen", "stiff", "Make their connections twice as stiff", "shape", table={"stiffness": 2}
        ),
        SelectionTool(
            "Soften", "soft", "Make their connections half as stiff", "shape", table={"stiffness": 0.5}
        ),
    )

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

    def prepare(self, world: World, up: Vector) -> ActionRuntime:
        rows, changes = self.rows(world), self.changes
        parts = self.parts(world, rows)
        operation = EditRuntime(parts, rows, self.at, lambda m, x, chosen: m.alter(chosen, changes))
        operation.stiffer = self.stiffness or 1.0
        return self.windowed(operation)


class EditRuntime(RowsRuntime):
    """Applies ``edit`` to the mechanics of each body, once."""

    account = "removed"
    capabilities = frozenset({Event})
    stiffer = 1.0  # by which factor stiffness grows

    def __init__(self, parts: list[BodyState], rows: IntArray, at: float, edit: Edit) -> None:
        self.parts, self.rows, self.at, self.edit = parts, rows, at, edit

    def apply(self, world: World) -> Sequence[BodyChange]:
        chosen = np.zeros(world.count, bool)
        chosen[self.rows] = True
        for part in self.parts:
            editable = part.mechanics.offer(Editable)
            assert editable is not None
            self.edit(editable, world.x[part.rows], chosen[part.rows])
        return ()

    def stable_step(self) -> StableStep:
        """That of the stiffened bodies; damped ones are limited in proportion to their stiffness."""
        limits = [p.mechanics.stable_step().seconds for p in self.parts] if self.stiffer > 1.0 else []
        return StableStep(min(limits, default=float("inf")) / self.stiffer, "a body is made stiffer")
