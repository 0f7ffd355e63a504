"""The extension points of pliant, all on one page: the first file to read.

Data flows  mesh -> Structure -> Body -> World -> Simulation -> Run.  A model, an action, an integrator or a
measure has two halves. The first is a frozen parameter class (``pliant.parameters``): it is what a scene
file says. Its ``prepare`` makes the second, a runtime object that works on arrays, once per simulation.
Runtime objects never own positions: they are handed ``x``, ``v`` and ``out``, shape (n, 3), SI units.

Capabilities are protocols; whoever has the method has the capability, and the loop asks for nothing else.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol, runtime_checkable

import numpy as np

from pliant.typing import AnyArray, Array, BoolArray, IntArray, Vector

if TYPE_CHECKING:
    from pliant.materials import Resolved as Material
    from pliant.mesh.types import Surface, TetMesh
    from pliant.simulation.system import System
    from pliant.simulation.world import World


# ---------------------------------------------------------------------------------------------- structure


class Carrier(Protocol):
    """Carries a surface mesh along with the particles: what is shown and exported."""

    @property
    def surface(self) -> "Surface": ...

    def positions(self, x: Array) -> Array:
        """Points of the surface (p, 3) [m] when the particles are at ``x`` (n, 3)."""

    def arrays(self) -> dict[str, AnyArray]:
        """Everything needed to store it and build it again."""


@dataclass(frozen=True)
class Structure:
    """What a body is made of; constant while its topology version stays the same.

    rest (n, 3) [m] in world coordinates; mass (n,) [kg]; cells: "tetra" (m, 4), "edge" (m, 2), ...;
    groups: named particle sets; spacing: typical distance between neighbours [m];
    carrier: the shown surface, or None for bodies without one; regions (m,): region of each cell;
    extra: arrays that the model's own sampler made for it (coarser levels), kept with the run.
    """

    rest: Array
    mass: Array
    cells: Mapping[str, IntArray]
    groups: Mapping[str, IntArray]
    spacing: float
    carrier: Carrier | None = None
    regions: IntArray | None = None
    extra: Mapping[str, AnyArray] = field(default_factory=dict)


class Geometry(Protocol):
    """The shape of a body in world coordinates, as samplers ask for it; filling happens on demand."""

    edge: float | None  # target edge length [m] that the user asked for
    linear: Array  # (3, 3): from the shape's own coordinates to the world, x = linear X + position
    position: Array  # (3,)

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


# ----------------------------------------------------------------------------------------------- mechanics


@dataclass(frozen=True)
class StableStep:
    """The largest stable explicit step [s] of a body, and why."""

    seconds: float
    reason: str


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
class Energy(Protocol):
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
class StiffnessDamping(Protocol):
    """Models whose internal forces can be damped in proportion to their stiffness."""

    damping_time: float  # beta [s] in f = -beta K v


@runtime_checkable
class VolumeLeaver(Protocol):
    """Models whose own volumetric stiffness can be left out where a constraint keeps nodal volumes."""

    def leave_volume_to_constraint(self) -> None: ...


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
class Flux(Protocol):
    """Internal forces through a cut, for the flux measure."""

    def flux(self, x: Array, above: BoolArray) -> Mapping[str, tuple[Array, float]]:
        """Per part ("elastic", "shear", "volumetric"): the resultant force (3,) [N] that particles with
        ``above`` feel from the others, and the sum of the magnitudes of its contributions [N]."""


@runtime_checkable
class Memory(Protocol):
    """Anything with state beyond positions and velocities: it is checkpointed and restored."""

    def state(self) -> dict[str, AnyArray]: ...
    def restore(self, state: Mapping[str, AnyArray]) -> None: ...


@runtime_checkable
class OwnStep(Protocol):
    """Mechanics that advance their own particles: levels of detail with local steps, rigid bodies.

    Such bodies have the last rows of the World; integrators work on the rows before them. A step calls
    ``advance`` after the drift of the other bodies, then contacts are projected, then forces are evaluated:
    ``add_internal`` in place of ``add_forces``. Who also is ``Settling`` hands work and heat to the ledger.
    """

    def advance(
        self, time: float, dt: float, x: Array, v: Array, external: Array, inverse_mass: Array
    ) -> None:
        """Take the body's own rows from ``time`` to ``time + dt``, in place.

        external: forces [N] of actions at ``time``. Degrees of freedom with zero ``inverse_mass`` are driven:
        they are where they belong at ``time + dt`` already, and stay there. Contacts may have moved rows
        since the last call.
        """

    def add_internal(self, out: Array) -> None:
        """Add the body's own forces [N] at the end of the last ``advance``, for reactions at driven rows."""


@runtime_checkable
class Completing(Protocol):
    """Mechanics that own their step and want the forces at its end, as well as those at its beginning."""

    def complete(self, dt: float, x: Array, v: Array, external: Array, inverse_mass: Array) -> None:
        """Finish the step of ``dt``: external [N] are the forces of actions at its end. May write ``v``."""


@runtime_checkable
class Solid(Protocol):
    """Mechanics of bodies that do not deform. Obstacles leave their particles alone: such a body meets them
    by itself (``meet``).

    contact_triangles (t, 3), own rows, closed and outward, ``radius`` [m] thick to either side: what touches
    other bodies; contact_mass (n,) [kg]: what a contact there has to move; contact_stiffness [N/m].
    """

    radius: float
    contact_triangles: IntArray
    contact_mass: Array
    contact_stiffness: float


@runtime_checkable
class Meeting(Protocol):
    """Mechanics that resolve contacts with obstacles themselves, within their step."""

    def meet(self, obstacles: Sequence["Pushing"]) -> None:
        """Take notice of the obstacles that act from now on."""


@runtime_checkable
class Stepped(Protocol):
    """Mechanics with something to do once per accepted step: plasticity, cracks, adaptation."""

    def after_step(self, time: float, dt: float, x: Array, v: Array) -> bool:
        """True where the forces at ``x`` changed and have to be evaluated again."""


@dataclass(frozen=True)
class RowChange:
    """New rows of the World and the old rows that each continues.

    parents, weights (n, k): a new row is ``sum_k weights old[parents]``; its main parent comes first, and
    places that are not needed have weight 0 and repeat it.
    """

    parents: IntArray
    weights: Array

    def _places(self, rows: IntArray) -> tuple[IntArray, IntArray]:
        """New rows all of whose parents are in ``rows``, and the places of these parents there (f, k)."""
        place = np.full(int(max(self.parents.max(), rows.max(initial=0))) + 1, -1)
        place[rows] = np.arange(len(rows))
        source = place[self.parents]
        found = np.flatnonzero((source >= 0).all(axis=1))
        return found, source[found]

    def follow(self, rows: IntArray) -> tuple[IntArray, IntArray]:
        """The new rows of what were ``rows``, and for each the place in ``rows`` that it comes from.

        A row between several old ones belongs to a selection if all of them do.
        """
        found, source = self._places(rows)
        return found, source[:, 0]

    def carry(self, rows: IntArray, values: Array) -> Array:
        """Values (rows, ...) of what were ``rows``, at the new rows that ``follow`` gives."""
        found, source = self._places(rows)
        return blend(values, source, self.weights[found])


def blend(values: Array, parents: IntArray, weights: Array) -> Array:
    """``sum_k weights[:, k] values[parents[:, k]]``; exact copies where there is one parent."""
    out = np.asarray(values[parents[:, 0]])
    mixed = np.flatnonzero(weights[:, 0] != 1.0)
    if len(mixed):
        out[mixed] = np.einsum("nk,nk...->n...", weights[mixed], values[parents[mixed]])
    return out


@runtime_checkable
class Topology(Protocol):
    """Mechanics whose particles or cells come and go. A raised version makes the loop take over
    ``structure`` and ``parents``, and the recorder write it.

    parents (n,): the old particle that each new one continues; or (n, k) with ``parent_weights`` (n, k) as
    an attribute beside it, where new ones lie between old ones.
    """

    topology_version: int
    structure: Structure
    parents: IntArray


@runtime_checkable
class Rebuilding(Protocol):
    """Mechanics that can be set up for a structure that came of theirs: told when a run is resumed."""

    def rebuild(self, structure: Structure) -> None: ...


@runtime_checkable
class Cuttable(Protocol):
    """Mechanics on tets or phyxels that can be cut. Each verb returns whether anything was."""

    def cut(self, x: Array, level: Array) -> bool:
        """Cut through tets where ``level`` (n,) is zero, and part the two sides."""

    def imprint(self, x: Array, level: Array) -> Array:
        """Cut up tets where ``level`` is zero and part nothing; rest positions of the cut's vertices."""

    def part_faces(self, sides: IntArray | None, where: BoolArray | None = None) -> bool:
        """Part neighbouring tets (or phyxels) of different ``sides`` (m,); only across faces of particles
        ``where``."""


@runtime_checkable
class BetweenSteps(Protocol):
    """An action with something to do at each step boundary while it acts: a moving blade."""

    def between_steps(self, time: float, world: "World") -> bool:
        """True where it changed the World or a body's topology."""


@runtime_checkable
class BodySeries(Protocol):
    """Mechanics with series of their own, one row per frame; columns are called ``BODY.NAME``."""

    series_names: tuple[str, ...]

    def series(self) -> Sequence[float]: ...


@dataclass(frozen=True)
class FieldData:
    """A named field: values per particle or per cell."""

    values: AnyArray
    per: str = "particle"  # or "cell"
    unit: str = ""


# ------------------------------------------------------------------------------------------------- actions


class Action(Protocol):
    """Parameters of what the world does to bodies; one class per entry of ``ACTIONS``."""

    kind: ClassVar[str]

    def prepare(self, world: "World", up: Vector) -> "Acting":
        """The runtime; raises SelectionError or IncompatibleError where it cannot act."""


class Acting:
    """Base of action runtimes: a time window. Derive and add the capabilities below.

    A runtime that keeps rows of the World also has ``follow(change, world)``, to keep up with changes of
    topology; one that has to look at the World when it starts to act overrides ``begin``.
    """

    start: float = 0.0
    until: float = float("inf")

    def begin(self, world: "World", time: float) -> None:
        """Called when the action starts to act, at the step boundary ``time``."""

    def active(self, time: float) -> bool:
        """Whether the action holds at ``time`` (with a rounding margin at the ends)."""
        return self.start - 1e-12 <= time < self.until - 1e-12


@runtime_checkable
class Forces(Protocol):
    """Adds external forces; those of an action with an attribute ``constant = True`` never change while it
    acts, and are added up once."""

    velocity_dependent: bool

    def add_forces(self, time: float, x: Array, v: Array, out: Array) -> None: ...


@runtime_checkable
class Power(Protocol):
    """Feeds the energy ledger."""

    def power(self, time: float, world: "World") -> tuple[float, float]:
        """(work done on the bodies [W], power turned into heat [W])."""


@runtime_checkable
class Settling(Protocol):
    """Contacts and kicks: hand the work and heat since the last step to the ledger."""

    def settle(self, ledger: "Ledger") -> None: ...


@runtime_checkable
class Potential(Protocol):
    """A conservative external force, such as gravity."""

    def potential(self, x: Array) -> float: ...


@runtime_checkable
class Drive(Protocol):
    """Prescribes degrees of freedom: their inverse mass is zero while it acts."""

    rows: IntArray  # particles
    axes: BoolArray  # (3,)
    still: bool  # holds, and so does no work

    def drive(self, time: float, x: Array, v: Array) -> None:
        """Write positions and velocities of the driven degrees of freedom at ``time``."""

    def acceleration(self, time: float) -> Array:
        """Prescribed acceleration of the driven particles, (rows, 3) [m/s2]."""


@runtime_checkable
class Projection(Protocol):
    """Corrects positions and velocities after the drift of each step: contacts, constraints."""

    exact: bool  # what must hold exactly when the step is done comes after what need not

    def project(self, time: float, dt: float, world: "World") -> None: ...


@runtime_checkable
class Pushing(Protocol):
    """A rigid shape that particles are pushed out of, as models with steps of their own use it."""

    def push(
        self, time: float, dt: float, x: Array, v: Array, f: Array, mass: Array, inverse_mass: Array
    ) -> None:
        """Push particles out, whose x has just moved by ``dt v`` to ``time``; keep the reaction."""

    refines: bool  # whether bodies take note of its shape in all detail

    def distance(self, time: float, x: Array) -> Array:
        """Signed distance [m] of points (n, 3) from the shape as it is at ``time``, negative inside."""


@runtime_checkable
class Contact(Protocol):
    """A rigid shape: implicit integrators hold particles against it while they solve, so that its
    projection has nothing left to do."""

    friction: float
    restitution: float

    def distances(self, time: float, points: Array) -> tuple[Array, Array]:
        """Distances [m] of points (k, 3) at ``time``, negative inside, and outward normals (k, 3)."""

    def velocity(self, time: float, dt: float) -> Array:
        """Mean velocity (3,) [m/s] over the step that ends at ``time``."""

    def book(self, time: float, points: Array, impulses: Array, velocity: Array, heat: float) -> None:
        """Take note of the impulses (k, 3) [N s] that it gave at ``points``, and of the heat [J]."""


@runtime_checkable
class Following(Protocol):
    """Keeps rows of the World, and keeps up with changes of topology."""

    def follow(self, change: RowChange, world: "World") -> None: ...


@runtime_checkable
class StepLimit(Protocol):
    """An action that limits the explicit step (a fast damping rate, a stiff contact)."""

    def stable_step(self) -> StableStep: ...


@runtime_checkable
class Stiffening(Protocol):
    """A model whose bodies can be stiffer than at rest: crushed, inverted, crumpled."""

    def step_parts(self, x: Array) -> int:
        """Into how many parts an explicit step that is right for the rest shape has to be taken at ``x``."""
        ...


@runtime_checkable
class Restarting(Protocol):
    """Averages over the time since the last row of series: told when the next one begins."""

    def restart(self) -> None: ...


@runtime_checkable
class Noting(Protocol):
    """An action that found something out when it was made that a user should know."""

    notes: list[str]


@runtime_checkable
class Event(Protocol):
    """Happens once, at the first step boundary at or after ``at``."""

    at: float

    def happen(self, world: "World") -> None: ...


@runtime_checkable
class Columns(Protocol):
    """Brings series of its own (an obstacle's reaction)."""

    columns: tuple[str, ...]

    def values(self, time: float) -> Sequence[float]: ...


# --------------------------------------------------------------------------------- integrators and measures


class Integrator(Protocol):
    """Advances a System by one step; one class per entry of ``INTEGRATORS``."""

    kind: ClassVar[str]
    order: ClassVar[int]
    stability: ClassVar[float]  # largest dt * omega on the imaginary axis; 0: none, inf: any
    requires: ClassVar[tuple[type, ...]]  # capabilities that every body's mechanics must have

    def step(self, system: "System", time: float, dt: float) -> None:
        """On entry ``world.f`` holds the forces at ``time``; on return those at ``time + dt``."""


class Measure(Protocol):
    """Parameters of a measure; one class per entry of ``MEASURES``."""

    kind: ClassVar[str]

    @property
    def every(self) -> Literal["frame", "step"]: ...

    def prepare(self, system: "System") -> Columns: ...


@dataclass
class Ledger:
    """Running totals of the energy that actions gave and took [J], and the powers [W] at the last step.

    driven: kinetic energy of the driven degrees of freedom [J].
    """

    work: float = 0.0
    dissipated: float = 0.0
    powers: tuple[float, float] = (0.0, 0.0)
    driven: float = 0.0
