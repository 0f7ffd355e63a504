"""Measures and their runtimes."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pliant.interfaces.topology import IndexMap

if TYPE_CHECKING:
    from pliant.state.world import World


class MeasureSampler(ABC):
    """The runtime of a measure: takes rows of its series."""

    series_names: tuple[str, ...] = ()

    @abstractmethod
    def sample(self, time: float) -> Sequence[float]:
        """Values of ``series_names`` at the present state, whose time is ``time``."""

    def remap(self, change: IndexMap, world: "World") -> None:
        """Keep up with a change of the World's rows."""
