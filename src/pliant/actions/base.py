"""What all actions share: what they declare, a time window, and how they point at bodies and particles."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field, model_validator

from pliant.contact.obstacle_shape import ObstacleShape
from pliant.core.curves import Curve
from pliant.core.parameters import parameters
from pliant.core.registry import SceneMember
from pliant.core.selection import BodyRef, Select
from pliant.core.tables import Table
from pliant.core.typing import IntArray, Vector
from pliant.core.units import Time
from pliant.interfaces import ActionRuntime, IndexMap
from pliant.state.world import World


@dataclass(frozen=True)
class SelectionTool:
    """A button of the studio that applies an action to the selected particles: ``table`` are its keys.

    group: "hold" for loads and supports, "shape" for changes of the body. target: what ``select`` becomes:
    the particles themselves, their body, or they and the nearest other body.
    """

    name: str
    icon: str
    hint: str
    group: Literal["hold", "shape"] = "hold"
    target: Literal["particles", "body", "nearest"] = "particles"
    table: Table = field(default_factory=dict)


class ActionParameters(SceneMember):
    """Base of the parameters of actions, with what each declares about itself.

    live: whether it may start while a simulation runs; changes_bodies: whether a live one is prepared when
    it starts, among the particles that exist then; parts_bodies: whether it may divide a body into pieces;
    holds: whether it supports the selected particles; steered: the field that a hand may move; needs: what
    a body's mechanics must offer; tools: its buttons in the studio; mark: how the studio draws where it acts.
    """

    live: ClassVar[bool] = False
    changes_bodies: ClassVar[bool] = False
    parts_bodies: ClassVar[bool] = False
    holds: ClassVar[bool] = False
    steered: ClassVar[str | None] = None
    needs: ClassVar[type | None] = None
    tools: ClassVar[tuple[SelectionTool, ...]] = ()
    mark: ClassVar[Literal["pin", "moved", "arrow", "pressure"] | None] = None

    late: bool = False
    mesh: str | Path | None = None

    @property
    def once(self) -> bool:
        """Whether it happens at one time, ``at``."""
        return False

    @property
    def starts(self) -> float:
        """When it begins to act [s]."""
        return 0.0

    @property
    def is_zero(self) -> bool:
        """Whether its ``value`` is zero at all times, so that it has no effect."""
        value = vars(self).get("value")
        return isinstance(value, Curve) and value.is_zero

    def scenery(self, up: Vector) -> ObstacleShape | None:
        """The rigid shape that it puts into the world, for pictures and for its runtime."""
        return None

    def acted_on(self, world: World) -> IntArray:
        """World rows of the particles that it acts on, for those that have a mark."""
        return np.empty(0, np.int64)

    def prepare(self, world: World, up: Vector) -> ActionRuntime:
        """The runtime; raises SelectionError or IncompatibleError where it cannot act."""
        raise NotImplementedError


@parameters
class TimeWindow(ActionParameters):
    """Acts from ``from`` up to, and not at, ``until`` (seconds; default always).

    late: prepared when it starts, among the particles that are there then, and not at the beginning.
    """

    from_: Time = Field(default=0.0, ge=0, kw_only=True)
    until: Time | None = Field(default=None, kw_only=True)
    late: bool = Field(default=False, kw_only=True)

    @model_validator(mode="after")
    def _window(self) -> "TimeWindow":
        if self.until is not None and self.until <= self.from_:
            raise ValueError(f"until ({self.until:g} s) must be after from ({self.from_:g} s)")
        return self

    @property
    def starts(self) -> float:
        return self.from_

    @property
    def ends(self) -> float:
        """When it stops to act [s]; infinity where it does not."""
        return float("inf") if self.until is None else self.until

    def windowed(self, acting: ActionRuntime) -> ActionRuntime:
        """``acting`` with this action's time window."""
        acting.start = self.from_
        acting.until = self.ends
        return acting


@parameters
class SelectionAction(TimeWindow):
    """An action on selected particles: ``Fix(body, where)``, or ``select = { body = ..., ... }``."""

    body: BodyRef = None
    select: Select | None = None

    @model_validator(mode="before")
    @classmethod
    def _body_from_select(cls, data: Any) -> Any:
        """Accept a selection in the first place too: ``Fix(where.all())``."""
        values = getattr(data, "args", None)
        if values and isinstance(values[0], Select):
            from pydantic_core import ArgsKwargs

            first: Any = values[0]
            return ArgsKwargs((first.body, *values), data.kwargs)
        return data

    @model_validator(mode="after")
    def _whole(self) -> "SelectionAction":
        if self.select is None:
            raise ValueError("select is missing: which particles? e.g. select = { all = true }")
        inner = self.select.body
        if inner is not None and self.body is not None and inner is not self.body and inner != self.body:
            raise ValueError("body and select.body name different bodies")
        return self

    def rows(self, world: World) -> IntArray:
        """World rows of the selected particles."""
        assert self.select is not None
        return self.select.rows(world, f"action '{self.kind}'", self.body)

    def acted_on(self, world: World) -> IntArray:
        return self.rows(world)


@parameters
class OneShot(TimeWindow):
    """An action that happens once, at the time ``at`` [s].

    may_end: whether its effect may end, at ``until``.
    """

    may_end: ClassVar[bool] = False

    at: Time = Field(default=0.0, ge=0, kw_only=True)

    @model_validator(mode="after")
    def _happens_once(self) -> "OneShot":
        if self.once and (self.from_ > 0 or (self.until is not None and not self.may_end)):
            window = "from" if self.may_end else "from and until"
            raise ValueError(f"this happens once: give at, not {window}")
        return self

    @property
    def once(self) -> bool:
        return True

    @property
    def starts(self) -> float:
        return max(self.from_, self.at)


class BodyEdit(OneShot):
    """Base of one-shot actions that change bodies, and may come while a simulation runs."""

    live: ClassVar[bool] = True
    changes_bodies: ClassVar[bool] = True


class RowsRuntime(ActionRuntime):
    """Base of runtimes of ``rows`` of the World, which follow them when the topology changes."""

    rows: IntArray

    def remap(self, change: IndexMap, world: World) -> None:
        self.rows, _ = change.remap_rows(self.rows)
