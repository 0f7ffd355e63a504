"""What a body is before it moves: particles, cells, and the surface it carries."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, Self

from pliant.core.diagnostics import Diagnostics
from pliant.core.typing import AnyArray, Array, IntArray

if TYPE_CHECKING:
    from pliant.materials import ResolvedMaterial as Material
    from pliant.mesh.mesh import Surface, TetMesh


class Carrier(Protocol):
    """Carries a surface mesh along with the particles: what is shown and exported."""

    @property
    def kind(self) -> str:
        """The name under which a run folder stores it, see ``CARRIERS`` in ``pliant.embedding``."""

    @property
    def surface(self) -> "Surface": ...

    def positions(self, x: Array) -> Array:
        """Points of the surface (p, 3) [m] when the particles are at ``x`` (n, 3)."""

    def arrays(self) -> dict[str, AnyArray]:
        """Everything needed to store it and build it again."""


class StructureExtra(ABC):
    """What a sampler or a model keeps with a structure beyond what all bodies have.

    Each owner has a type of its own. A run folder stores named arrays, whose names belong to the owner.
    """

    @abstractmethod
    def arrays(self) -> dict[str, AnyArray]:
        """Everything, by the names that a run folder stores."""

    @classmethod
    @abstractmethod
    def from_arrays(cls, arrays: Mapping[str, AnyArray]) -> Self:
        """What gave these ``arrays()``; KeyError where one is missing."""

    @classmethod
    def of(cls, structure: "Structure") -> Self | None:
        """The extra of ``structure``, with its type also where it comes from a run folder."""
        extra = structure.extra
        return extra if extra is None or isinstance(extra, cls) else cls.from_arrays(extra.arrays())


@dataclass(frozen=True)
class StoredExtra(StructureExtra):
    """An extra as a run folder has it: its owner alone knows the type."""

    named: Mapping[str, AnyArray]

    def arrays(self) -> dict[str, AnyArray]:
        return dict(self.named)

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, AnyArray]) -> Self:
        return cls(arrays)


@dataclass(frozen=True)
class Structure:
    """What a body is made of; constant while its topology version stays the same.

    rest (n, 3) [m] in world coordinates; mass (n,) [kg]; cells: "tetra" (m, 4), "edge" (m, 2), ...;
    groups: named particle sets; spacing: typical distance between neighbours [m];
    carrier: the shown surface, or None for bodies without one; regions (m,): region of each cell;
    extra: what the sampler or the model keeps for itself (coarser levels, cells), stored with the run;
    volume_share (m,): the share of its volume that each tet fills, None where all are full.
    """

    rest: Array
    mass: Array
    cells: Mapping[str, IntArray]
    groups: Mapping[str, IntArray]
    spacing: float
    carrier: Carrier | None = None
    regions: IntArray | None = None
    extra: StructureExtra | None = None
    volume_share: Array | None = None


class Geometry(Protocol):
    """The shape of a body in world coordinates, as samplers ask for it; filling happens on demand."""

    edge: float | None  # target edge length [m] that the user asked for
    linear: Array  # (3, 3): from the shape's own coordinates to the world, x = linear X + position
    position: Array  # (3,)
    diagnostics: Diagnostics | None  # where a sampler reports what a user should know

    @property
    def turn(self) -> Array:
        """The rotation (3, 3) from the body's own axes to the world's."""

    def spacing(self) -> float | None:
        """The edge that was asked for, or that of the volume mesh that was given; None: free to choose."""

    def surface(self) -> "Surface":
        """The closed surface."""

    def tets(self) -> "TetMesh":
        """The volume, filled with tets of about ``edge``."""

    def volume(self) -> "TetMesh | None":
        """The tets that the source itself has, in its own coordinates; None for a surface."""

    def remeshed(self, edge: float | None) -> "Geometry":
        """The same shape, to be filled with well-shaped tets of about ``edge`` [m] (None: as it is)."""

    def shown(self) -> "Surface | None":
        """What is to be carried along and shown; None for the body's own boundary."""


class Sampler(Protocol):
    """Turns geometry into a Structure: tets, voxels, a lattice, an octree."""

    def sample(self, geometry: Geometry, material: "Material") -> Structure: ...
