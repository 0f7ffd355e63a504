"""What all measures share."""

from typing import ClassVar, Literal

from pydantic import Field

from pliant.core.parameters import parameters


@parameters
class MeasureParameters:
    """``name`` of its series (default: the type), taken ``every`` frame or step."""

    kind: ClassVar[str] = ""
    needs_ledger: ClassVar[bool] = False

    name: str | None = Field(default=None, kw_only=True, pattern=r"^[A-Za-z_][\w\-]*$")
    every: Literal["frame", "step"] = Field(default="frame", kw_only=True)

    @property
    def label(self) -> str:
        return self.name or self.kind
