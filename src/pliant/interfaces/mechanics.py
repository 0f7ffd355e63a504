"""Models, and what their runtimes may offer beyond forces."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, runtime_checkable

from pliant.core.typing import Array, BoolArray, IntArray
from pliant.interfaces.common import FieldData, StableStep
from pliant.interfaces.structure import Sampler, Structure

if TYPE_CHECKING:
    from pliant.materials import ResolvedMaterial as Material
    from pliant.mesh.mesh import Surface


class Model(Protocol):
    """Parameters of a mechanics model; one class per entry of ``MODELS``."""

    kind: ClassVar[str]
    references: ClassVar[tuple[str, ...]]  # keys of references.bib
    sampler: ClassVar[Sampler]

    def prepare(self, structure: Structure, material: "Material") -> "Mechanics":
        """The runtime for one body; raises IncompatibleError for materials it cannot do."""


@runtime_checkable
class Mechanics(Protocol):
    """A model at work on one body. ``x``, ``v``, ``out`` are the body's own rows."""

    def add_forces(self, x: Array, v: Array, out: Array) -> None:
        """Add the internal forces [N] to ``out``."""

    def stable_step(self) -> StableStep: ...

    def fields(self, x: Array, v: Array, names: Sequence[str]) -> dict[str, "FieldData"]:
        """The named fields it can give (see ``field_names``)."""

    field_names: tuple[str, ...]


@runtime_checkable
class StoredEnergy(Protocol):
    """Whoever has it is held to f = -dE/dx by the laws in tests/laws."""

    def energy(self, x: Array) -> float:
        """Elastic energy [J]."""


@runtime_checkable
class Dissipation(Protocol):
    """Internal damping, for the energy ledger."""

    def dissipation(self, x: Array, v: Array) -> float:
        """Power turned into heat [W]."""


@runtime_checkable
class Thick(Protocol):
    """Models whose particles are balls: contact keeps them ``radius`` [m] off; others are points."""

    radius: float


@runtime_checkable
class Pieces(Protocol):
    """Models without cells that come apart: where a body meets itself, its pieces meet each other."""

    @property
    def piece(self) -> IntArray:
        """The piece of each particle (n,)."""


@runtime_checkable
class Rough(Protocol):
    """Models whose friction against other bodies may differ from the material's."""

    friction: float


@runtime_checkable
class Uneven(Protocol):
    """Models whose particles may have a friction of their own: ``roughness`` (n,) times the body's."""

    roughness: Array


@runtime_checkable
class Renormalising(Protocol):
    """Models whose present shape can become the rest shape."""

    def renormalise(self, x: Array, chosen: BoolArray) -> None:
        """Make the present shape of the ``chosen`` particles (n,) their rest shape: no energy, no force."""


@runtime_checkable
class Alterable(Protocol):
    """Models whose attributes can be changed while they run."""

    def alter(self, chosen: BoolArray, changes: Mapping[str, float]) -> None:
        """Change attributes of the ``chosen`` particles (n,); IncompatibleError for what it cannot."""


@runtime_checkable
class Removing(Protocol):
    """Models whose particles can be taken away while they run."""

    def remove(self, chosen: BoolArray) -> None:
        """Take the ``chosen`` particles (n,) away, not all of them; the structure and parents change."""


@runtime_checkable
class Growing(Protocol):
    """Models that particles can be added to while they run."""

    def add(self, region: "Surface", x: Array, v: Array) -> None:
        """Fill ``region``, closed and in world coordinates, with particles connected to those at ``x`` (n, 3)
        that it touches; SelectionError where there is no room, or nothing to touch."""


@runtime_checkable
class Welding(Protocol):
    """Models whose shown surface can be joined to that of another body."""

    def weld(self, x: Array, which: IntArray, places: Array) -> None:
        """Carry the surface's points ``which`` (k,) from ``places`` (k, 3) on, particles being at ``x``."""


@runtime_checkable
class StiffnessDamping(Protocol):
    """Models whose internal forces can be damped in proportion to their stiffness."""

    damping_time: float  # beta [s] in f = -beta K v


@runtime_checkable
class VolumeLeaver(Protocol):
    """Models whose own volumetric stiffness can be left out where a constraint keeps nodal volumes."""

    def disable_volumetric_term(self) -> None: ...


@runtime_checkable
class Stiffness(Protocol):
    """Models that implicit integrators can use."""

    def add_stiffness_product(self, x: Array, dx: Array, out: Array) -> None:
        """Add ``K dx`` with ``K = -df/dx`` [N/m] at ``x`` to ``out``.

        K may be simplified to stay symmetric and positive semi-definite; at rest it is exact.
        """


@runtime_checkable
class RestStiffness(Protocol):
    """Models whose linear stiffness at rest is known as a matrix: implicit integrators build their
    preconditioner ``(M + h^2 K0)^-1`` from it once, and turn it along, ``R (..)^-1 R^T``."""

    def rest_stiffness(self) -> Any:
        """The stiffness at rest [N/m], sparse (3n, 3n) in 3x3 blocks (``scipy.sparse.bsr_array``)."""

    def nodal_rotations(self, x: Array) -> Array:
        """The rotation of the body around each particle at ``x``, (n, 3, 3), determinant +1."""


@runtime_checkable
class EnergyAndForces(Protocol):
    """Models that give both in one pass, for line searches."""

    def energy_and_forces(self, x: Array, v: Array, out: Array) -> float:
        """``add_forces``, and the elastic energy [J]."""


@runtime_checkable
class SectionForce(Protocol):
    """Internal forces through a cut, for the flux measure."""

    def section_force(self, x: Array, above: BoolArray) -> Mapping[str, tuple[Array, float]]:
        """Per part ("elastic", "shear", "volumetric"): the resultant force (3,) [N] that particles with
        ``above`` feel from the others, and the sum of the magnitudes of its contributions [N]."""


@runtime_checkable
class BodySeries(Protocol):
    """Mechanics with series of their own, one row per frame; columns are called ``BODY.NAME``."""

    series_names: tuple[str, ...]

    def series(self) -> Sequence[float]: ...


@runtime_checkable
class Stiffening(Protocol):
    """A model whose bodies can be stiffer than at rest: crushed, inverted, crumpled."""

    def substeps_at(self, x: Array) -> int:
        """Into how many parts an explicit step that is right for the rest shape has to be taken at ``x``."""
        ...
