r"""Plastic deformation of phyxels.

The yield stress :math:`\sigma_y` (von Mises) is a limit on the norm of the deviatoric elastic strain,
:math:`y = \sigma_y / (\sqrt6 \mu)`; what exceeds it relaxes at the rate ``creep`` (at once where not given):
:math:`d\epsilon_p = (1 - e^{-creep\,dt}) (1 - y / |dev\,\epsilon_e|)\,dev\,\epsilon_e`.

Source: [Stegmayr2008]_ 4.1.2. Differs: that moves the whole strain, volume change included, and depends on
the step; "absorb" is its scheme for large deformations, made objective.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from pliant.core.typing import AnyArray, Array
from pliant.materials.constitutive.plastic_flow import ROOT_3_2
from pliant.models.efg import row_layout
from pliant.models.efg.plastic_kernels import FLOWED, flow_loop
from pliant.models.efg.support import SIX, connect

if TYPE_CHECKING:
    from pliant.models.efg.mechanics import EfgMechanics


class PhyxelPlasticity:
    r"""Plastic history of a body's phyxels.

    small: additive strain (columns 0 to 5 of ``plastic``), for plastic strains up to 0.3.
    large: :math:`F = F_e F_p`; columns 0 to 8 hold :math:`F_p^{-1}`, 9 the accumulated norm; the logarithmic
    strains of F_e return to the yield limit, which hardening raises [WeberAnand1990]_.
    absorb: small, and after each step the shape becomes the new reference, its elastic strain pushed forward
    into the plastic one, :math:`\epsilon_p \leftarrow -F^{-T} \epsilon_e F^{-1}`, with new neighbours.
    """

    recorded = ("plastic",)

    def __init__(self, mechanics: "EfgMechanics", kind: str) -> None:
        self.mechanics, self.kind = mechanics, kind
        material = mechanics.material
        self.flow = row_layout.LARGE if kind == "large" else row_layout.SMALL
        self.plastic = np.zeros((len(mechanics.volumes), 10))
        if kind == "large":
            self.plastic[:, [0, 4, 8]] = 1.0
        most = np.inf if material.plastic_max is None else material.plastic_max
        self.constants = np.array(
            [
                (material.yield_ or np.inf) / (np.sqrt(6.0) * material.lame[1]),
                np.inf if material.creep is None else material.creep,
                np.inf if kind == "absorb" else ROOT_3_2 * most,
                mechanics.model.hardening / ROOT_3_2,
            ]
        )

    def step(self, x: Array, dt: float) -> tuple[bool, float]:
        """Let the phyxels flow over ``dt``; whether forces changed, and the energy it took [J]."""
        m = self.mechanics
        gradients = m.gradients(x)
        run = flow_loop(m.law, self.flow == row_layout.SMALL)
        flowed, heat = run(gradients, m.material_rows, self.constants, self.plastic, dt)
        if self.kind == "absorb":
            self._absorb(x, gradients.reshape(-1, 3, 3))
            return True, float(heat)
        return bool(flowed), float(heat)

    def _absorb(self, x: Array, F: Array) -> None:
        strain = 0.5 * (F.transpose(0, 2, 1) @ F - np.eye(3))
        for c, (a, b) in enumerate(SIX):
            strain[:, a, b] -= self.plastic[:, c]
            if a != b:
                strain[:, b, a] -= self.plastic[:, c]
        back = np.linalg.inv(F)
        pushed = -(back.transpose(0, 2, 1) @ strain @ back)
        for c, (a, b) in enumerate(SIX):
            self.plastic[:, c] = pushed[:, a, b]
        m = self.mechanics
        m.reference = x.copy()
        m.set_support(connect(m.reference, m.support.h))

    def equivalent(self) -> Array:
        """Equivalent plastic strain of each phyxel."""
        if self.kind == "large":
            return self.plastic[:, FLOWED] / ROOT_3_2
        p = self.plastic[:, :6] * np.sqrt([1, 1, 1, 2, 2, 2])
        return np.asarray(np.linalg.norm(p, axis=1) / ROOT_3_2)

    def state(self) -> dict[str, AnyArray]:
        found: dict[str, AnyArray] = {"plastic": self.plastic}
        return found | ({"reference": self.mechanics.reference} if self.kind == "absorb" else {})

    def restore(self, state: Mapping[str, AnyArray]) -> None:
        self.plastic[:] = state["plastic"]
        if self.kind == "absorb" and "reference" in state:
            m = self.mechanics
            m.reference = state["reference"].copy()
            m.set_support(connect(m.reference, m.support.h))
