"""What all actions share: a time window, and how they point at bodies and particles."""

from typing import TYPE_CHECKING, Any

from pydantic import Field, model_validator

from pliant.core.parameters import parameters
from pliant.core.selection import BodyRef, Select
from pliant.core.typing import IntArray
from pliant.core.units import Time

if TYPE_CHECKING:
    from pliant.interfaces import ActionRuntime
    from pliant.state.world import World


@parameters
class TimeWindow:
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
        """When it begins to matter [s]: ``from``, or ``at`` of what happens once."""
        return max(self.from_, float(getattr(self, "at", 0.0)))

    def windowed(self, acting: "ActionRuntime") -> "ActionRuntime":
        """``acting`` with this action's time window."""
        acting.start = self.from_
        acting.until = float("inf") if self.until is None else self.until
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

    def rows(self, world: "World") -> IntArray:
        """World rows of the selected particles."""
        assert self.select is not None
        kind = getattr(self, "kind", "selection")
        return self.select.rows(world, f"action '{kind}'", self.body)
