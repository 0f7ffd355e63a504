"""Models, their runtimes, and the optional parts that a runtime may declare."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, NamedTuple, Protocol

from pliant.core.tables import Table
from pliant.core.typing import AnyArray, Array, BoolArray, IntArray
from pliant.interfaces.capability import Capable
from pliant.interfaces.shared_data import ContactSurface, EnergyTotals, FieldData, StableStep
from pliant.interfaces.structure import Structure

if TYPE_CHECKING:
    from scipy.sparse import bsr_array, csr_array

    from pliant.materials import ResolvedMaterial
    from pliant.mesh.mesh import Surface


class Model:
    """Base of the parameters of mechanics models; each has a ``sampler``, which makes its particles.

    kind: the name in scenes; references: keys of references.bib; deforms: whether its bodies change their
    shape; oriented: whether its forces turn back a cell that is inside out; own_step: whether its bodies
    take time steps of their own; offers: capabilities that actions ask for, with the key that they depend on
    ("" where they always apply); limits: which of ``strength``, ``toughness`` and ``yield`` of a material its
    bodies can use; subject: the heading of its examples; constant_strain: whether strain is constant in a
    cell, so that bending needs several across a section; locking_remedy: what to use instead where its cells
    are too stiff in nearly incompressible materials, None where they are not.
    """

    kind: ClassVar[str]
    references: ClassVar[tuple[str, ...]] = ()
    deforms: ClassVar[bool] = True
    oriented: ClassVar[bool] = True
    own_step: ClassVar[bool] = False
    offers: ClassVar[Mapping[type, str]] = {}
    subject: ClassVar[str] = "Others"
    limits: ClassVar[frozenset[str]] = frozenset({"strength", "toughness", "yield"})

    @property
    def constant_strain(self) -> bool:
        return False

    @property
    def locking_remedy(self) -> str | None:
        return None

    def bending_remedy(self, edge: float) -> str:
        """What to use where bent sections are too coarse, by keys of a scene; ``edge`` [m] is fine enough."""
        return f"cells of {edge:.2g} m (edge, or divisions)"

    def notes(self, material: "ResolvedMaterial") -> list[str]:
        """What a user should know before looking at the result."""
        return []

    def in_scene(self, implicit: bool, barrier: bool) -> "Model":
        """The model as a scene uses it that takes ``implicit`` steps, or has ``barrier`` contact."""
        return self

    def predicted_lame(self, material: "ResolvedMaterial") -> tuple[float, float] | None:
        """Lame's constants [Pa] of a body by the model's own theory; None where it has none."""
        return None

    def prepare(self, structure: Structure, material: "ResolvedMaterial") -> "Mechanics":
        """The runtime for one body; raises IncompatibleError for materials that it cannot represent."""
        raise NotImplementedError


class FractureStatistics(NamedTuple):
    """Number of pieces, area of cracks and cuts in the rest shape [m2], number of cracked particles."""

    pieces: int
    area: float
    broken: int


class Mechanics(Capable, ABC):
    """The runtime of a model on one body. ``x``, ``v`` and ``out`` are the body's own rows, (n, 3), SI units.

    Forces, the stable step and fields are required. The members below them have neutral defaults. What only
    some models can do is a protocol that a class declares in ``capabilities`` (see ``Capable.offer``).
    """

    field_names: tuple[str, ...] = ()
    recorded: tuple[str, ...] = ()  # entries of ``state`` that each frame records
    series_names: tuple[str, ...] = ()  # columns BODY.NAME, one row per frame
    inversion_safe: bool = False  # whether inverted tets recover, so that they are no sign of divergence
    can_crack: bool = False  # whether the body cracks by itself
    books_fracture: bool = False  # whether ``report_energy`` reports all that breaking takes from its energy

    @abstractmethod
    def add_elastic_forces(self, x: Array, out: Array) -> None:
        """Add the elastic forces [N] at ``x`` to ``out``."""

    def add_forces(self, x: Array, v: Array, out: Array) -> None:
        """Add the internal forces [N], elastic ones and damping, to ``out``."""
        self.add_elastic_forces(x, out)
        if (damped := self.offer(Damped)) and damped.damping_time:
            damped.add_damping_forces(x, v, out)

    @abstractmethod
    def stable_step(self) -> StableStep:
        """The largest stable explicit step of the body."""

    def stable_step_of_loads(self) -> StableStep:
        """The largest step of the scene where forces of actions on the body vary: it differs from
        ``stable_step`` for bodies that take shorter steps of their own, in which they read such forces
        once."""
        return self.stable_step()

    @abstractmethod
    def fields(self, x: Array, v: Array, names: Sequence[str]) -> dict[str, FieldData]:
        """The named fields, of those in ``field_names``."""

    def neighbour_graph(self) -> "csr_array | None":
        """Which particles act on each other, (n, n) without the diagonal; None: those that share a cell."""
        return None

    def contact_surface(self) -> ContactSurface:
        """How the body touches others."""
        return ContactSurface()

    def volume(self, x: Array) -> float | None:
        """Present volume [m3]; None: that of its tets, or inside the surface it carries."""
        return None

    def clamp_face(self, rows: IntArray, distance: float, outward: Array) -> None:
        """Let prescribed particles ``rows`` stand for a face that lies ``distance`` spacings beyond them,
        along ``outward`` (3,) at rest."""

    def momenta(self, v: Array) -> tuple[Array, Array] | None:
        """Linear [kg m/s] and angular momentum about the origin [kg m2/s] of what is simulated, where ``v``
        are the particles' velocities; None: those of the particles with their masses."""
        return None

    def fracture_statistics(self) -> FractureStatistics | None:
        """How far the body has broken; None where it cannot break."""
        return None

    def report_energy(self, totals: EnergyTotals) -> None:
        """Add work and heat of the last step that forces do not show to ``totals``."""

    def sample_series(self) -> Sequence[float]:
        """Values of ``series_names``."""
        return ()

    def replay_parameters(self) -> Table:
        """Keys of the model that make a run repeat what was decided by measuring on this machine."""
        return {}

    def state(self) -> dict[str, AnyArray]:
        """Everything beyond positions and velocities that a restart needs."""
        return {}

    def restore(self, state: Mapping[str, AnyArray]) -> None:
        """Continue from ``state``."""


class StoredEnergy(Protocol):
    """Elastic energy; the tests check f = -dE/dx."""

    def energy(self, x: Array) -> float:
        """Elastic energy [J]."""


class DiscreteGradient(Protocol):
    """Forces of energy-momentum steps; models with an energy and without this get a generic form."""

    def add_forces_between(self, before: Array, after: Array, out: Array) -> None:
        """Add forces f [N] of a step from ``before`` to ``after`` to ``out``: they do exactly the work
        ``f . (after - before) = E(before) - E(after)`` and have no moment about the mean positions."""


class Damped(Protocol):
    """Damping in proportion to stiffness, ``f = -beta K v``."""

    damping_time: float  # beta [s]

    def add_damping_forces(self, x: Array, v: Array, out: Array) -> None:
        """Add ``-beta K v`` [N] to ``out``; called where ``damping_time`` is not zero."""


class Tangent(Protocol):
    """Stiffness, for implicit integrators."""

    def add_stiffness_product(self, x: Array, dx: Array, out: Array) -> None:
        """Add ``K dx`` with ``K = -df/dx`` [N/m] at ``x`` to ``out``.

        K may be simplified to stay symmetric and positive semi-definite; at rest it is exact.
        """

    def rest_stiffness(self) -> "bsr_array":
        """The stiffness at rest [N/m], sparse (3n, 3n) in 3x3 blocks: what preconditioners
        ``(M + h^2 K0)^-1`` are built from once."""


class ElasticConstraints(ABC):
    """Elastic energy as constraints on strains, whose compliance is the inverse of the elastic stiffness: for
    the integrator ``compliant-constraints``."""

    @abstractmethod
    def check_constraints(self) -> None:
        """Raise IncompatibleError where the body's forces are not elastic alone."""

    @abstractmethod
    def multipliers(self, x: Array, dx: Array) -> Array:
        """Multipliers (m, 6) of the constraints [J] that are linearised at ``x``, once the body has moved by
        ``dx``."""

    @abstractmethod
    def constraint_stiffness(self, x: Array, multipliers: Array) -> "csr_array":
        """The stiffness [N/m], (3n, 3n), of the linearised constraints at ``x`` under ``multipliers``:
        symmetric and positive semi-definite."""


class SectionForce(Protocol):
    """Internal forces through a section, for the measure ``flux``."""

    def section_force(self, x: Array, above: BoolArray) -> Mapping[str, tuple[Array, float]]:
        """Per part ("elastic", "shear", "volumetric"): the resultant force (3,) [N] on the particles with
        ``above`` from the others, and the sum of the magnitudes of its contributions [N]."""


class VolumetricTerm(Protocol):
    """A volumetric stiffness that can be left out where a constraint keeps nodal volumes."""

    def disable_volumetric_term(self) -> None:
        """Leave the volumetric term out from now on."""


class StepHook(Protocol):
    """Something to do once per accepted step: plastic flow, cracks."""

    def after_step(self, time: float, dt: float, x: Array, v: Array) -> bool:
        """True where the forces at ``x`` changed and have to be evaluated again."""


class IncrementalFlow(Protocol):
    """Plastic flow that implicit steps solve for, together with the positions."""

    def begin_flow(self, dt: float) -> None:
        """From now on forces and energies are those after the flow over ``dt`` [s] from the history at the
        beginning of the step, and the energy has the potential of the flow added: forces are its gradient."""

    def leave_flow(self) -> None:
        """Return to the history at the beginning of the step."""

    def end_flow(self, x: Array, dt: float) -> None:
        """Keep the flow of the step of ``dt`` that ended at ``x``, and book its heat: ``after_step`` has
        nothing left to do about it."""


class Cuttable(Protocol):
    """Bodies of tets or phyxels that can be cut. Each method returns whether anything changed."""

    def cut(self, x: Array, level: Array) -> bool:
        """Cut through cells where ``level`` (n,) is zero, and separate the two sides."""

    def mark_cut(self, x: Array, level: Array, past: Array | None = None) -> Array:
        """Subdivide cells where ``level`` is zero and separate nothing; returns rest positions of the cut's
        vertices, where ``past`` (n,), the distance beyond the rim of the blade, is not positive."""

    def open_faces(
        self, sides: IntArray | None, where: BoolArray | None = None, x: Array | None = None
    ) -> bool:
        """Separate neighbouring cells of different ``sides`` (m,), only at faces of particles ``where``; x:
        where the particles are, for bodies whose energy changes with it."""


class Resamplable(Protocol):
    """Bodies that can go on with finer or coarser particles; the structure changes."""

    def resample(self, edge: float, x: Array, v: Array, free: BoolArray) -> None:
        """Go on with particles of a spacing ``edge`` [m]: same shape, mass, momenta and material; ``x`` and
        ``v`` (n, 3) are those of the present ones, ``free`` (n,) tells which of them nothing holds."""

    def strain_variation(self, x: Array) -> float:
        """How much the strain changes from one particle to the next."""


class Editable(Protocol):
    """Bodies whose particles can be edited while they run."""

    def renormalise(self, x: Array, chosen: BoolArray) -> None:
        """Make the present shape of the ``chosen`` particles (n,) their rest shape: no energy, no force."""

    def alter(self, chosen: BoolArray, changes: Mapping[str, float]) -> None:
        """Change attributes of the ``chosen`` particles (n,); IncompatibleError for unknown ones."""

    def remove(self, chosen: BoolArray) -> None:
        """Remove the ``chosen`` particles (n,), not all of them; the structure changes."""

    def add(self, region: "Surface", x: Array, v: Array) -> None:
        """Fill ``region``, closed and in world coordinates, with particles connected to those at ``x`` (n, 3)
        that it touches; SelectionError where there is no room, or nothing to touch."""

    def weld(self, x: Array, which: IntArray, places: Array) -> None:
        """Embed the points ``which`` (k,) of the shown surface at ``places`` (k, 3), given ``x``."""
