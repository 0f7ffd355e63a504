"""Embedded surfaces that are expensive to build and not always needed."""

from abc import ABC, abstractmethod
from functools import cached_property

from pliant.core.typing import AnyArray, Array
from pliant.embedding.barycentric import EmbeddedSurface
from pliant.mesh.mesh import Surface


class LazyCarrier(ABC):
    """A carrier that is built on first use: a body may crack many times between two frames."""

    @abstractmethod
    def make(self) -> EmbeddedSurface:
        """The carrier."""

    @property
    def kind(self) -> str:
        """The name under which a run folder stores it."""
        return self.made.kind

    @cached_property
    def made(self) -> EmbeddedSurface:
        return self.make()

    @property
    def surface(self) -> Surface:
        return self.made.surface

    def positions(self, x: Array) -> Array:
        return self.made.positions(x)

    def arrays(self) -> dict[str, AnyArray]:
        return self.made.arrays()
