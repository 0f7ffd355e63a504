"""Bodies and elements that come and go while a scene runs."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from pydantic import model_validator

from pliant.actions.base import OneShot, SelectionTool
from pliant.core.errors import IncompatibleError
from pliant.core.parameters import parameters
from pliant.core.selection import BodyRef, OneBody, Select
from pliant.core.typing import AnyArray, Array, IntArray, Vector
from pliant.interfaces import ActionRuntime, BodyChange, Editable, Event, HideBody, IndexMap
from pliant.models import models_offering

if TYPE_CHECKING:
    from pliant.state.world import BodyState, World


@parameters
class Create(OneShot):
    """A body of the scene that is not there before the time ``at``: it appears where the scene puts it, with
    the velocity that the scene gives it."""

    kind: ClassVar[str] = "create"

    body: OneBody

    def prepare(self, world: "World", up: Vector) -> ActionRuntime:
        (part,) = world.bodies_named(self.body, "action 'create'")
        return self.windowed(CreateRuntime(world, part, self.at))


class CreateRuntime(ActionRuntime):
    """A body that is absent until ``at``: it has no forces, touches nothing and is not shown."""

    capabilities = frozenset({Event})
    account = "work"

    def __init__(self, world: "World", part: "BodyState", at: float) -> None:
        self.part, self.at = part, at
        self.velocities: Array = world.v[part.rows].copy()
        self.requests = (HideBody(part),)

    def apply(self, world: "World") -> Sequence[BodyChange]:
        self.part.present = True
        world.v[self.part.rows] = self.velocities
        from pliant.embedding.carriers import shown

        return [(self.part, shown(self.part.structure))]

    def state(self) -> dict[str, AnyArray]:
        return {"velocities": self.velocities}

    def restore(self, state: Mapping[str, AnyArray]) -> None:
        self.velocities = np.array(state["velocities"])


@parameters
class Remove(OneShot):
    """Takes a body away at the time ``at``; with ``select``, the selected elements of bodies of elements."""

    kind: ClassVar[str] = "remove"
    live: ClassVar[bool] = True
    changes_bodies: ClassVar[bool] = True
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

    def prepare(self, world: "World", up: Vector) -> ActionRuntime:
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


class RemoveRuntime(ActionRuntime):
    """Rows that are removed at ``at``."""

    capabilities = frozenset({Event})
    account = "removed"
    rows: IntArray

    def __init__(self, rows: IntArray, at: float) -> None:
        self.rows, self.at = rows, at

    def chosen(self, world: "World") -> list[tuple["BodyState", AnyArray]]:
        """The bodies that hold them, and which of their particles."""
        mask = np.zeros(world.count, bool)
        mask[self.rows] = True
        return [(part, mask[part.rows]) for part in world.bodies if mask[part.rows].any()]

    def apply(self, world: "World") -> Sequence[BodyChange]:
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

    def remap(self, change: IndexMap, world: "World") -> None:
        self.rows, _ = change.remap_rows(self.rows)
