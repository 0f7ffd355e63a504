r"""Plastic deformation of fem bodies, once per accepted step (``materials/constitutive/plastic_flow.py``).

Plastic strain lives in rest coordinates. Source: [Cairns2012]_ algorithm 4.1. Differs: that moves the whole
elastic strain, volume change included, as soon as a norm that depends on the axes passes the yield;
``plasticity = "cairns"`` keeps it.
"""

# mypy: disable-error-code="no-untyped-def"

from abc import ABC, abstractmethod
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from pliant.core.typing import AnyArray, Array, IndexArray, Kernel
from pliant.interfaces import Structure
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


class Plasticity(ABC):
    """Plastic history of the tets of a body, in their rest rows.

    loops: the serial and the parallel loop of the flow; rows: yield limit, creep and largest plastic strain
    of each tet, as they read them; flow (blocks, 16): accumulated norm of plastic strain, where it counts.
    recorded: entries of ``state`` that each frame records.
    """

    recorded: tuple[str, ...] = ()

    def __init__(self, rest: ReferenceTets, loops: tuple[Kernel, Kernel], rows: Array, flow: Array) -> None:
        self.rest, self._loops, self._rows, self.flow = rest, loops, rows, flow

    def step(self, x: Array, index: IndexArray, dt: float) -> tuple[bool, float]:
        """Let the tets flow over ``dt`` [s]; whether they did, and the energy it took [J]. index (blocks, 16,
        4): the rows of x (n, 3) that span each."""
        b = self.rest.blocks
        run = self._loops[b.parallel]
        flowed, heat = run(b.starts, index, self.rest.rows, self._rows, self.flow, dt, x)
        return bool(flowed), float(heat)

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

    def __init__(
        self, structure: Structure, material: "Material", rest: ReferenceTets, law: Law, printed: bool
    ) -> None:
        stress, creep, most = _constants(structure, material)
        young = per_cell(structure, material, lambda own: own.young)
        limit = stress / young if printed else stress / (np.sqrt(6.0) * rest.lame[1])
        cap = most if printed else ROOT_3_2 * most
        rows, flow = rest.blocks.rows(limit, creep, cap), np.zeros((len(rest.rows), 1))
        super().__init__(rest, additive_loops(law, printed), rows, flow)

    def equivalent(self) -> Array:
        r""":math:`\sqrt{2/3}\,|\epsilon_p|` of each tet."""
        return np.asarray(
            np.linalg.norm(self.rest.plastic_strain * np.sqrt([1, 1, 1, 2, 2, 2]), axis=1) / ROOT_3_2
        )

    def cell_memory(self) -> dict[str, Array]:
        return {"plastic": self.rest.plastic_strain}

    def take_cell_memory(self, memory: Mapping[str, Array]) -> None:
        self.rest.write(PLASTIC_COLUMN, memory["plastic"])


class LargePlasticity(Plasticity):
    r"""Multiplicative plastic flow, for clay and dough: :math:`F = F_e F_p`, det F_p = 1.

    The logarithmic strains of F_e are returned to the yield limit, :math:`h_i \to h_i - \gamma\,dev h_i`, and
    the rest shape takes over the difference: :math:`D_m^{-1} \to D_m^{-1} V e^{-\gamma\,dev h} V^T` with the
    eigenvectors V of :math:`F_e^T F_e`. Volumes stay; every law works on F_e as before.

    Source: [BargteilWojtanHodginsTurk2007]_, with the exponential return of [WeberAnand1990]_. Differs: the
    rate law above. ``plastic-max`` limits the accumulated plastic strain.
    """

    recorded = ("rest-shape",)

    def __init__(self, structure: Structure, material: "Material", rest: ReferenceTets) -> None:
        stress, creep, most = _constants(structure, material)
        rows = rest.blocks.rows(stress / (np.sqrt(6.0) * rest.lame[1]), creep, ROOT_3_2 * most)
        super().__init__(rest, multiplicative_loops(), rows, np.zeros((len(rest.rows), 16)))

    def equivalent(self) -> Array:
        r""":math:`\sqrt{2/3}\,|\log F_p|` of each tet, by the logarithms of its principal stretches."""
        inverse = self.rest.edges @ self.rest.inverse  # F_p^-1
        logs = np.log(np.linalg.svd(inverse, compute_uv=False))
        return np.asarray(np.linalg.norm(logs, axis=1) / ROOT_3_2)

    def cell_memory(self) -> dict[str, Array]:
        """F_p^-1, and the accumulated flow."""
        return {"unflowed": self.rest.edges @ self.rest.inverse, "flow": self.rest.per_tet(self.flow)}

    def take_cell_memory(self, memory: Mapping[str, Array]) -> None:
        self.rest.write(0, (self.rest.first_inverse @ memory["unflowed"]).reshape(-1, 9))
        self.flow[:] = self.rest.blocks.rows(memory["flow"])

    def state(self) -> dict[str, AnyArray]:
        return {"rest-shape": self.rest.inverse, "flow": self.flow}

    def restore(self, state: Mapping[str, AnyArray]) -> None:
        self.rest.write(0, state["rest-shape"].reshape(-1, 9))
        self.flow[:] = state["flow"]


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
def _additive_lane(w, row, plastic, flow, i, dt):
    """Move what exceeds the yield limit of lane ``i`` to its plastic strain; the energy it took."""
    heat, new = additive_return(
        _strain_of(w, i),
        plastic_of(row, i),
        row[MU + i],
        plastic[i],
        plastic[CREEP + i],
        plastic[CAP + i],
        dt,
    )
    _put_plastic(row, i, new)
    return heat


@jit
def _printed_lane(w, row, plastic, flow, i, dt):
    """As ``_additive_lane``, by algorithm 4.1 as printed."""
    heat, new = printed_return(
        _strain_of(w, i), plastic_of(row, i), row[MU + i], row[LAMBDA + i],
        plastic[i], plastic[CREEP + i], plastic[CAP + i], dt,
    )  # fmt: skip
    _put_plastic(row, i, new)
    return heat


@jit
def _multiplicative_lane(w, row, plastic, flow, i, dt):
    """Let ``D_m^-1`` of lane ``i`` flow, and ``flow`` grow; the energy it took."""
    room = plastic[CAP + i] - flow[i]
    heat, grown, g, v = multiplicative_return(
        take(w, i), row[MU + i], plastic[i], plastic[CREEP + i], room, dt
    )
    if heat != 0.0:
        flow[i] += grown
        for b in range(3):
            n = 48 * b + i
            row[n], row[n + 16], row[n + 32] = flowed_row(row[n], row[n + 16], row[n + 32], g, v)
    return heat


def _flow_blocks(first, last, index, rest, plastic, flow, dt, x, w):
    flowed = 0
    heat = 0.0
    for b in range(first, last):
        row = rest[b]
        gather_edges(index[b], x, w, 0)
        strain_block(w, row, plastic[b])
        for i in range(16):
            if w[EXCESS + i] > 0.0 and row[MU + i] > 0.0:
                lost = flow_lane(w, row, plastic[b], flow[b], i, dt)
                if lost != 0.0:
                    flowed += 1
                    heat += lost
    return flowed, heat


def _flow_partitions(starts, index, rest, plastic, flow, dt, x):
    """Let the rest rows flow over ``dt`` [s]; how many tets did, and the energy it took [J]."""
    parts = starts.shape[0] - 1
    counts, losses = np.zeros(parts, np.int64), np.zeros(parts)
    for p in prange(parts):
        w = np.empty(SCRATCH)
        n, lost = flow_blocks(starts[p], starts[p + 1], index, rest, plastic, flow, dt, x, w)
        counts[p] = n
        losses[p] = lost
    flowed, heat = 0, 0.0
    for p in range(parts):
        flowed += counts[p]
        heat += losses[p]
    return flowed, heat


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
