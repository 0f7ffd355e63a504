r"""Plastic deformation of fem bodies (``materials/constitutive/plastic_flow.py``): once per accepted step in
explicit schemes, inside the solve of implicit ones.

Plastic strain lives in rest coordinates. Source: [Cairns2012]_ algorithm 4.1. Differs: that moves the whole
elastic strain, volume change included, as soon as a norm that depends on the axes passes the yield;
``plasticity = "cairns"`` keeps it.
"""

# mypy: disable-error-code="no-untyped-def"

from abc import abstractmethod
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from pliant.core.typing import AnyArray, Array, IndexArray, Kernel
from pliant.interfaces import Structure
from pliant.kernels.element_blocks import WIDTH
from pliant.kernels.jit import inlined, jit, prange, specialised, specialised_twin
from pliant.materials.constitutive.anisotropic import elastic_strain
from pliant.materials.constitutive.law import Law
from pliant.materials.constitutive.plastic_flow import (
    ROOT_3_2,
    additive_return,
    deviatoric_excess,
    flowed_row,
    logarithmic_excess,
    multiplicative_return,
    printed_excess,
    printed_return,
)
from pliant.models.fem.law_blocks import LAMBDA, MU, PLASTIC, law_label, law_names, plastic_of
from pliant.models.fem.reference import PLASTIC_COLUMN, ReferenceTets
from pliant.models.flow_trial import FlowHistory, FlowLosses
from pliant.models.regions import per_cell
from pliant.models.tets.kernels import SCRATCH, deform_block, gather_edges, take

if TYPE_CHECKING:
    from pliant.materials import ResolvedMaterial as Material


def _constants(structure: Structure, material: "Material") -> tuple[Array, Array, Array]:
    """Yield stress [Pa], creep rate [1/s], largest plastic strain of each tet; infinite where not given."""

    def read(own: "Material") -> list[float]:
        given = (own.yield_, own.creep, own.plastic_max)
        return [np.inf if value is None else value for value in given]

    values = per_cell(structure, material, read)
    return values[:, 0], values[:, 1], values[:, 2]


class Plasticity(FlowHistory):
    """Plastic history of the tets of a body, in their rest rows.

    loops: the serial and the parallel loop of the flow; rows: yield limit, creep and largest plastic strain
    of each tet, as they read them; flow (blocks, 16): accumulated norm of plastic strain, where it counts.
    recorded: entries of ``state`` that each frame records. columns: how many of a rest row, from ``first``
    on, hold the history. variational: whether the flow of a step minimises an energy, so that implicit steps
    can solve for it.
    """

    recorded: tuple[str, ...] = ()
    first: int
    columns: int
    variational = True

    def __init__(self, rest: ReferenceTets, loops: tuple[Kernel, Kernel], rows: Array, flow: Array) -> None:
        self.rest, self._loops, self._rows, self.flow = rest, loops, rows, flow

    def step(
        self, x: Array, index: IndexArray, dt: float, solved: bool, points: int = 1
    ) -> tuple[bool, FlowLosses]:
        """Let the tets flow over ``dt`` [s]; whether they did, and their losses [J]. solved: inside an
        implicit solve; index (blocks * points, 16, 4): the rows of x (n, 3) that span each."""
        b = self.rest.blocks
        run = self._loops[b.parallel]
        flowed, losses = run(points * b.starts, index, self.rest.rows, self._rows, self.flow, dt, solved, x)
        return bool(flowed), losses

    def _history(self) -> Array:
        return self.rest.rows[:, self.first * WIDTH : (self.first + self.columns) * WIDTH]

    def keep(self) -> tuple[Array, Array]:
        """A copy of the present history."""
        return self._history().copy(), self.flow.copy()

    def go_back(self, kept: tuple[Array, Array]) -> None:
        """Return to the history ``kept``."""
        self._history()[:], self.flow[:] = kept

    @abstractmethod
    def equivalent(self) -> Array:
        """Equivalent (uniaxial) plastic strain of each tet."""

    @abstractmethod
    def cell_memory(self) -> dict[str, Array]:
        """History of each tet (m, ...), independent of its shape and place."""

    @abstractmethod
    def take_cell_memory(self, memory: Mapping[str, Array]) -> None:
        """Continue with that history."""

    def state(self) -> dict[str, AnyArray]:
        """What a restart needs."""
        return {**self.cell_memory()}

    def restore(self, state: Mapping[str, AnyArray]) -> None:
        """Continue from ``state``."""
        self.take_cell_memory(state)


class SmallPlasticity(Plasticity):
    """Additive plastic strain, for plastic strains up to about 0.3; ``printed``: as in [Cairns2012]_.

    There the limit on the norm of the strain 6-vector is the yield stress over Young's modulus.
    """

    recorded = ("plastic",)
    first, columns = PLASTIC_COLUMN, 6

    def __init__(
        self, structure: Structure, material: "Material", rest: ReferenceTets, law: Law, printed: bool
    ) -> None:
        self.variational = not printed
        stress, creep, most = _constants(structure, material)
        young = per_cell(structure, material, lambda own: own.young)
        limit = stress / young if printed else stress / (np.sqrt(6.0) * rest.lame[1])
        cap = most if printed else ROOT_3_2 * most
        rows, flow = rest.point_rows(limit, creep, cap), np.zeros((len(rest.rows), 1))
        super().__init__(rest, additive_loops(law, printed), rows, flow)

    def equivalent(self) -> Array:
        r""":math:`\sqrt{2/3}\,|\epsilon_p|` of each tet and point."""
        return np.asarray(
            np.linalg.norm(self.rest.plastic_strains * np.sqrt([1, 1, 1, 2, 2, 2]), axis=2) / ROOT_3_2
        )

    def cell_memory(self) -> dict[str, Array]:
        found = self.rest.plastic_strains
        return {"plastic": found[:, 0] if found.shape[1] == 1 else found}

    def take_cell_memory(self, memory: Mapping[str, Array]) -> None:
        plastic = memory["plastic"]
        self.rest.write(PLASTIC_COLUMN, plastic.reshape(len(plastic), -1, 6))


class LargePlasticity(Plasticity):
    r"""Multiplicative plastic flow, for clay and dough: :math:`F = F_e F_p`, det F_p = 1.

    The logarithmic strains of F_e are returned to the yield limit, :math:`h_i \to h_i - \gamma\,dev h_i`, and
    the rest shape takes over the difference: :math:`D_m^{-1} \to D_m^{-1} V e^{-\gamma\,dev h} V^T` with the
    eigenvectors V of :math:`F_e^T F_e`. Volumes stay; every law works on F_e as before.

    Source: [BargteilWojtanHodginsTurk2007]_, with the exponential return of [WeberAnand1990]_. Differs: the
    rate law above. ``plastic-max`` limits the accumulated plastic strain.
    """

    recorded = ("rest-shape",)
    first, columns = 0, 9

    def __init__(self, structure: Structure, material: "Material", rest: ReferenceTets) -> None:
        stress, creep, most = _constants(structure, material)
        rows = rest.point_rows(stress / (np.sqrt(6.0) * rest.lame[1]), creep, ROOT_3_2 * most)
        super().__init__(rest, multiplicative_loops(), rows, np.zeros((len(rest.rows), 16)))

    def _unflowed(self) -> Array:
        """F_p^-1 (m, points, 3, 3)."""
        return np.asarray(self.rest.edges[:, None] @ self.rest.inverses)

    def equivalent(self) -> Array:
        r""":math:`\sqrt{2/3}\,|\log F_p|` of each tet and point, by the logarithms of its principal
        stretches."""
        logs = np.log(np.linalg.svd(self._unflowed(), compute_uv=False))
        return np.asarray(np.linalg.norm(logs, axis=2) / ROOT_3_2)

    def cell_memory(self) -> dict[str, Array]:
        """F_p^-1, and the accumulated flow."""
        unflowed, flow = self._unflowed(), self.rest.per_point(self.flow)
        if unflowed.shape[1] == 1:
            unflowed, flow = unflowed[:, 0], flow[:, 0]
        return {"unflowed": unflowed, "flow": flow}

    def take_cell_memory(self, memory: Mapping[str, Array]) -> None:
        unflowed = memory["unflowed"]
        each = unflowed.reshape(len(unflowed), -1, 3, 3)
        self.rest.write(0, (self.rest.first_inverse[:, None] @ each).reshape(*each.shape[:2], 9))
        self.flow[:] = self.rest.point_lanes(memory["flow"])

    def state(self) -> dict[str, AnyArray]:
        found = self.rest.inverses
        return {"rest-shape": found[:, 0] if found.shape[1] == 1 else found, "flow": self.flow}

    def restore(self, state: Mapping[str, AnyArray]) -> None:
        shape = state["rest-shape"]
        self.rest.write(0, shape.reshape(len(shape), -1, 9))
        flow = np.asarray(state["flow"])
        self.flow[:] = np.repeat(flow, len(self.flow) // len(flow), axis=0)


STRAIN = 16 * 16  # columns of the scratch: elastic strain (6)
EXCESS = 16 * 22
CREEP, CAP = 16, 32  # columns of a plastic row, after the yield limit

prepare: Kernel = None  # the functions of the law, see ``law_names``
gradient: Kernel = None
stretches: Kernel = None
frame: Kernel = None
excess: Kernel = None
strain_block: Kernel = None
flow_lane: Kernel = None
flow_blocks: Kernel = None


def _additive_block(w, row, plastic):
    """Elastic strain (6, tensor components) of each lane into the columns at STRAIN, and its excess."""
    prepare(w, row)
    for i in range(16):
        f = gradient(w, row, i)
        s = stretches(w, i)
        _a, u = frame(f, s)
        e0, e1, e2, e3, e4, e5 = elastic_strain(u, plastic_of(row, i))
        w[STRAIN + i] = e0
        w[STRAIN + 16 + i] = e1
        w[STRAIN + 32 + i] = e2
        w[STRAIN + 48 + i] = 0.5 * e3
        w[STRAIN + 64 + i] = 0.5 * e4
        w[STRAIN + 80 + i] = 0.5 * e5
        w[EXCESS + i] = excess((e0, e1, e2, 0.5 * e3, 0.5 * e4, 0.5 * e5), plastic[i])


@jit
def _multiplicative_block(w, row, plastic):
    """F into the columns 0 to 8, and what may exceed the yield limit."""
    deform_block(w, row)
    for i in range(16):
        f = take(w, i)
        w[EXCESS + i] = logarithmic_excess(f, plastic[i])


@inlined
def _strain_of(w, i):
    n = STRAIN + i
    return w[n], w[n + 16], w[n + 32], w[n + 48], w[n + 64], w[n + 80]


@inlined
def _put_plastic(row, i, p):
    n = PLASTIC + i
    row[n], row[n + 16], row[n + 32], row[n + 48], row[n + 64], row[n + 80] = p


@jit
def _additive_lane(w, row, plastic, flow, i, dt, solved):
    """Move what exceeds the yield limit of lane ``i`` to its plastic strain; the losses."""
    losses, new = additive_return(
        _strain_of(w, i),
        plastic_of(row, i),
        row[MU + i],
        plastic[i],
        plastic[CREEP + i],
        plastic[CAP + i],
        dt,
        solved,
    )
    _put_plastic(row, i, new)
    return losses


@jit
def _printed_lane(w, row, plastic, flow, i, dt, solved):
    """As ``_additive_lane``, by algorithm 4.1 as printed."""
    losses, new = printed_return(
        _strain_of(w, i), plastic_of(row, i), row[MU + i], row[LAMBDA + i],
        plastic[i], plastic[CREEP + i], plastic[CAP + i], dt,
    )  # fmt: skip
    _put_plastic(row, i, new)
    return losses


@jit
def _multiplicative_lane(w, row, plastic, flow, i, dt, solved):
    """Let ``D_m^-1`` of lane ``i`` flow, and ``flow`` grow; the losses."""
    room = plastic[CAP + i] - flow[i]
    losses, grown, g, v = multiplicative_return(
        take(w, i), row[MU + i], plastic[i], 0.0, plastic[CREEP + i], room, dt, solved
    )
    if losses[0] != 0.0:
        flow[i] += grown
        for b in range(3):
            n = 48 * b + i
            row[n], row[n + 16], row[n + 32] = flowed_row(row[n], row[n + 16], row[n + 32], g, v)
    return losses


def _flow_blocks(first, last, index, rest, plastic, flow, dt, solved, x, w, losses):
    flowed = 0
    for b in range(first, last):
        row = rest[b]
        gather_edges(index[b], x, w, 0)
        strain_block(w, row, plastic[b])
        for i in range(16):
            if w[EXCESS + i] > 0.0 and row[MU + i] > 0.0:
                own = flow_lane(w, row, plastic[b], flow[b], i, dt, solved)
                if own[0] != 0.0:
                    flowed += 1
                    for k in range(3):
                        losses[k] += own[k]
    return flowed


def _flow_partitions(starts, index, rest, plastic, flow, dt, solved, x):
    """Let the rest rows flow over ``dt`` [s]; how many tets did, and their ``losses`` [J] (see
    ``constitutive/plastic_flow.py``)."""
    parts = starts.shape[0] - 1
    counts, losses = np.zeros(parts, np.int64), np.zeros((parts, 3))
    for p in prange(parts):
        w = np.empty(SCRATCH)
        a, b = starts[p], starts[p + 1]
        counts[p] = flow_blocks(a, b, index, rest, plastic, flow, dt, solved, x, w, losses[p])
    flowed, drop, potential, heat = 0, 0.0, 0.0, 0.0
    for p in range(parts):
        flowed += counts[p]
        drop += losses[p, 0]
        potential += losses[p, 1]
        heat += losses[p, 2]
    return flowed, (drop, potential, heat)


def _loops(label: str, strain: Kernel, lane: Kernel, cached: bool) -> tuple[Kernel, Kernel]:
    names = {"strain_block": strain, "flow_lane": lane}
    names["flow_blocks"] = specialised(_flow_blocks, label, names, cache=cached)
    return specialised_twin(_flow_partitions, label, names, cache=cached)


@cache
def additive_loops(law: Law, printed: bool) -> tuple[Kernel, Kernel]:
    """The serial and the parallel loop of additive flow, compiled for the strain measure of a law."""
    label = law_label(law, True)
    label = f"{label}_printed" if printed else label
    names = law_names(law) | {"excess": printed_excess if printed else deviatoric_excess}
    strain = specialised(_additive_block, label, names, cache=law.cached)
    return _loops(label, strain, _printed_lane if printed else _additive_lane, law.cached)


@cache
def multiplicative_loops() -> tuple[Kernel, Kernel]:
    """The serial and the parallel loop of multiplicative flow, which suits every law."""
    return _loops("multiplicative", _multiplicative_block, _multiplicative_lane, True)
