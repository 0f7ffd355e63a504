"""What all measures share."""

from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import Field

from pliant.core.parameters import parameters
from pliant.core.registry import SceneMember
from pliant.interfaces import MeasureSampler

if TYPE_CHECKING:
    from pliant.simulation.system import System


@parameters
class MeasureParameters(SceneMember):
    """``name`` of its series (default: the type), taken ``every`` frame or step."""

    unit: ClassVar[str] = ""  # of its series

    name: str | None = Field(default=None, kw_only=True, pattern=r"^[A-Za-z_][\w\-]*$")
    every: Literal["frame", "step"] = Field(default="frame", kw_only=True)

    def prepare(self, system: "System") -> MeasureSampler:
        """The runtime; raises SelectionError or IncompatibleError where it cannot measure."""
        raise NotImplementedError

    @property
    def label(self) -> str:
        return self.name or self.kind

    @property
    def series_label(self) -> str:
        return self.label

    def series_units(self) -> dict[str, str]:
        return {self.label: self.unit} if self.unit else {}
