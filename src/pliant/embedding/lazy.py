"""Carried surfaces that take long to make and are not always looked at."""

from abc import ABC, abstractmethod
from functools import cached_property

from pliant.core.typing import AnyArray, Array
from pliant.embedding.barycentric import EmbeddedSurface
from pliant.mesh.mesh import Surface


class LazyCarrier(ABC):
    """A carrier that is made when somebody looks: a body may come apart many times between two frames."""

    @abstractmethod
    def make(self) -> EmbeddedSurface:
        """The carrier."""

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
