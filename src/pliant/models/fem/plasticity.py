r"""Plastic deformation of fem bodies, once per accepted step (``materials/constitutive/plastic_flow.py``).

Plastic strain lives in rest coordinates. Source: [Cairns2012]_ algorithm 4.1. Differs: that moves the whole
elastic strain, volume change included, as soon as a norm that depends on the axes passes the yield;
``plasticity = "cairns"`` keeps it.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.core.typing import AnyArray, Array, IndexArray
from pliant.interfaces import Structure
from pliant.materials.constitutive.law import Law
from pliant.materials.constitutive.plastic_flow import ROOT_3_2
from pliant.models.fem import plastic_kernels as kernels
from pliant.models.fem.reference import PLASTIC_COLUMN, ReferenceTets
from pliant.models.regions import per_cell

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

    def __init__(self, rest: ReferenceTets, loops: tuple[Any, Any], rows: Array, flow: Array) -> None:
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

    @abstractmethod
    def state(self) -> dict[str, AnyArray]:
        """What a restart needs."""

    @abstractmethod
    def restore(self, state: Mapping[str, AnyArray]) -> None:
        """Continue from ``state``."""


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
        super().__init__(rest, kernels.additive_loops(law, printed), rows, flow)

    def equivalent(self) -> Array:
        r""":math:`\sqrt{2/3}\,|\epsilon_p|` of each tet."""
        return np.asarray(
            np.linalg.norm(self.rest.plastic_strain * np.sqrt([1, 1, 1, 2, 2, 2]), axis=1) / ROOT_3_2
        )

    def cell_memory(self) -> dict[str, Array]:
        return {"plastic": self.rest.plastic_strain}

    def take_cell_memory(self, memory: Mapping[str, Array]) -> None:
        self.rest.write(PLASTIC_COLUMN, memory["plastic"])

    def state(self) -> dict[str, AnyArray]:
        return {"plastic": self.rest.plastic_strain}

    def restore(self, state: Mapping[str, AnyArray]) -> None:
        self.rest.write(PLASTIC_COLUMN, state["plastic"])


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
        super().__init__(rest, kernels.multiplicative_loops(), rows, np.zeros((len(rest.rows), 16)))

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
