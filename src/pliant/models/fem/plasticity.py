r"""Plastic deformation of fem bodies, once per accepted step.

The yield stress :math:`\sigma_y` (von Mises) is a limit on the norm of the deviatoric elastic strain,
:math:`y = \sigma_y / (\sqrt6 \mu)`; what exceeds it relaxes at the rate ``creep`` (at once where not given):

.. math:: d\epsilon_p = (1 - e^{-creep\,dt}) (1 - y / |dev\,\epsilon_e|)\,dev\,\epsilon_e.

So volume is kept, the result depends neither on the step nor on the orientation, and under held strain the
excess decays exponentially. Plastic strain lives in rest coordinates.

Source: [Cairns2012]_ algorithm 4.1. Differs: that moves the whole elastic strain, volume change included, as
soon as a norm that depends on the axes passes the yield; ``plasticity = "cairns"`` keeps it.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

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


def _constants(structure: Structure, material: "Material", rest: ReferenceTets) -> tuple[Array, Array, Array]:
    """Yield stress [Pa], creep rate [1/s], largest plastic strain of each tet; infinite where not given."""

    def read(own: "Material") -> list[float]:
        given = (own.yield_, own.creep, own.plastic_max)
        return [np.inf if value is None else value for value in given]

    values = per_cell(structure, material, read)
    return values[:, 0], values[:, 1], values[:, 2]


class SmallPlasticity:
    """Additive plastic strain, for plastic strains up to about 0.3; ``printed``: as in [Cairns2012]_.

    There the limit on the norm of the strain 6-vector is the yield stress over Young's modulus.
    """

    recorded = ("plastic",)
    index: IndexArray | None = None  # rows of x that span each element, where those are not its corners

    def __init__(
        self, structure: Structure, material: "Material", rest: ReferenceTets, law: Law, printed: bool
    ) -> None:
        self.rest, self._loops = rest, kernels.additive_loops(law, printed)
        stress, creep, most = _constants(structure, material, rest)
        young = per_cell(structure, material, lambda own: own.young)
        limit = stress / young if printed else stress / (np.sqrt(6.0) * rest.lame[1])
        cap = most if printed else ROOT_3_2 * most
        self._rows = rest.blocks.rows(limit, creep, cap)
        self._flow = np.zeros((len(rest.rows), 1))

    def step(self, x: Array, dt: float) -> tuple[bool, float]:
        """Let plastic strain grow over ``dt``; whether it did, and the energy it took [J]."""
        b = self.rest.blocks
        run = self._loops[b.parallel]
        index = b.index if self.index is None else self.index
        flowed, heat = run(b.starts, index, self.rest.rows, self._rows, self._flow, dt, x)
        return bool(flowed), float(heat)

    def equivalent(self) -> Array:
        r""":math:`\sqrt{2/3}\,|\epsilon_p|` of each tet."""
        return np.asarray(
            np.linalg.norm(self.rest.plastic_strain * np.sqrt([1, 1, 1, 2, 2, 2]), axis=1) / ROOT_3_2
        )

    def cell_memory(self) -> dict[str, Array]:
        """History of each tet, independent of its shape and place."""
        return {"plastic": self.rest.plastic_strain}

    def take_cell_memory(self, memory: Mapping[str, Array]) -> None:
        self.rest.write(PLASTIC_COLUMN, memory["plastic"])

    def state(self) -> dict[str, AnyArray]:
        return {"plastic": self.rest.plastic_strain}

    def restore(self, state: Mapping[str, AnyArray]) -> None:
        self.rest.write(PLASTIC_COLUMN, state["plastic"])


class LargePlasticity:
    r"""Multiplicative plastic flow, for clay and dough: :math:`F = F_e F_p`, det F_p = 1.

    The logarithmic strains of F_e are returned to the yield limit, :math:`h_i \to h_i - \gamma\,dev h_i`, and
    the rest shape takes over the difference: :math:`D_m^{-1} \to D_m^{-1} V e^{-\gamma\,dev h} V^T` with the
    eigenvectors V of :math:`F_e^T F_e`. Volumes stay; every law works on F_e as before.

    Source: [BargteilWojtanHodginsTurk2007]_, with the exponential return of [WeberAnand1990]_. Differs: the
    rate law above. ``plastic-max`` limits the accumulated plastic strain.
    """

    recorded = ("rest-shape",)
    index: IndexArray | None = None  # as above

    def __init__(self, structure: Structure, material: "Material", rest: ReferenceTets) -> None:
        self.rest = rest
        stress, creep, most = _constants(structure, material, rest)
        self._rows = rest.blocks.rows(stress / (np.sqrt(6.0) * rest.lame[1]), creep, ROOT_3_2 * most)
        self.flow = np.zeros((len(rest.rows), 16))  # accumulated norm of plastic strain

    def step(self, x: Array, dt: float) -> tuple[bool, float]:
        """Let the rest shape flow over ``dt``; whether it did, and the energy it took [J]."""
        b = self.rest.blocks
        run = kernels.multiplicative_loops()[b.parallel]
        index = b.index if self.index is None else self.index
        flowed, heat = run(b.starts, index, self.rest.rows, self._rows, self.flow, dt, x)
        return bool(flowed), float(heat)

    def equivalent(self) -> Array:
        r""":math:`\sqrt{2/3}\,|\log F_p|` of each tet, by the logarithms of its principal stretches."""
        inverse = self.rest.edges @ self.rest.inverse  # F_p^-1
        logs = np.log(np.linalg.svd(inverse, compute_uv=False))
        return np.asarray(np.linalg.norm(logs, axis=1) / ROOT_3_2)

    def cell_memory(self) -> dict[str, Array]:
        """History of each tet, independent of its shape and place: F_p^-1, and the accumulated flow."""
        return {"unflowed": self.rest.edges @ self.rest.inverse, "flow": self.rest.per_tet(self.flow)}

    def take_cell_memory(self, memory: Mapping[str, Array]) -> None:
        self.rest.write(0, (self.rest.first_inverse @ memory["unflowed"]).reshape(-1, 9))
        self.flow[:] = self.rest.blocks.rows(memory["flow"])

    def state(self) -> dict[str, AnyArray]:
        return {"rest-shape": self.rest.inverse, "flow": self.flow}

    def restore(self, state: Mapping[str, AnyArray]) -> None:
        self.rest.write(0, state["rest-shape"].reshape(-1, 9))
        self.flow[:] = state["flow"]
