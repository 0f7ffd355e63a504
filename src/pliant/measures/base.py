"""What all measures share."""

from typing import ClassVar, Literal

from pydantic import Field

from pliant.core.parameters import parameters
from pliant.core.registry import SceneMember


@parameters
class MeasureParameters(SceneMember):
    """``name`` of its series (default: the type), taken ``every`` frame or step."""

    needs_ledger: ClassVar[bool] = False
    unit: ClassVar[str] = ""  # of its series

    name: str | None = Field(default=None, kw_only=True, pattern=r"^[A-Za-z_][\w\-]*$")
    every: Literal["frame", "step"] = Field(default="frame", kw_only=True)

    @property
    def label(self) -> str:
        return self.name or self.kind

    @property
    def series_label(self) -> str:
        return self.label

    def series_units(self) -> dict[str, str]:
        return {self.label: self.unit} if self.unit else {}
