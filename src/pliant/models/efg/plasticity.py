r"""Plastic deformation of phyxels.

The yield stress :math:`\sigma_y` (von Mises) is a limit on the norm of the deviatoric elastic strain,
:math:`y = \sigma_y / (\sqrt6 \mu)`; what exceeds it relaxes at the rate ``creep`` (at once where not given):
:math:`d\epsilon_p = (1 - e^{-creep\,dt}) (1 - y / |dev\,\epsilon_e|)\,dev\,\epsilon_e`.

Source: [Stegmayr2008]_ 4.1.2. Differs: that moves the whole strain, volume change included, and depends on
the step; "absorb" is its scheme for large deformations, made objective.
"""

# mypy: disable-error-code="no-untyped-def"

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from pliant.core.typing import AnyArray, Array, Kernel
from pliant.kernels.jit import jit, prange, specialised
from pliant.kernels.tensors import times
from pliant.materials.constitutive.anisotropic import elastic_strain
from pliant.materials.constitutive.law import Law
from pliant.materials.constitutive.plastic_flow import (
    NO_LOSSES,
    ROOT_3_2,
    additive_return,
    flowed_row,
    logarithmic_excess,
    multiplicative_return,
)
from pliant.models.efg import mls_kernels
from pliant.models.efg.mls_kernels import FLAT, PARTS, V_MU, take, take_six
from pliant.models.efg.support import SIX, connect
from pliant.models.fem.law_blocks import law_names
from pliant.models.flow_trial import FlowHistory, FlowLosses

if TYPE_CHECKING:
    from pliant.models.efg.mechanics import EfgMechanics


class PhyxelPlasticity(FlowHistory):
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
        self.flow = mls_kernels.LARGE if kind == "large" else mls_kernels.SMALL
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

    def step(self, x: Array, dt: float, solved: bool = False) -> tuple[bool, FlowLosses]:
        """Let the phyxels flow over ``dt``, inside an implicit solve if ``solved``; whether forces changed,
        and their losses [J]."""
        m = self.mechanics
        gradients = m.gradients(x)
        run = flow_loop(m.law, self.flow == mls_kernels.SMALL)
        flowed, losses = run(gradients, m.material_rows, self.constants, self.plastic, dt, solved)
        if self.kind == "absorb":
            self._absorb(x, gradients.reshape(-1, 3, 3))
            return True, losses
        return bool(flowed), losses

    @property
    def variational(self) -> bool:
        """Whether the flow of a step minimises an energy, so that implicit steps can solve for it."""
        return self.kind != "absorb"

    def keep(self) -> Array:
        """A copy of the present history."""
        return self.plastic.copy()

    def go_back(self, kept: Array) -> None:
        """Return to the history ``kept``."""
        self.plastic[:] = kept

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


LIMIT, RATE, CAP, HARDENING = 0, 1, 2, 3  # constants: yield as a norm of strain, creep [1/s], largest norm
FLOWED = 9  # column of ``plastic``: accumulated norm

frame: Kernel = None  # the functions of the law, see ``law_names``
stretch_at: Kernel = None
flow_one: Kernel = None


def _additive(i, f, material, constants, plastic, dt, solved):
    """Additive flow on the law's strain measure; its losses [J]."""
    _a, u = frame(f, stretch_at(f))
    old = take_six(plastic, i, 0)
    e0, e1, e2, e3, e4, e5 = elastic_strain(u, old)
    e = (e0, e1, e2, 0.5 * e3, 0.5 * e4, 0.5 * e5)
    losses, new = additive_return(
        e, old, material[i, V_MU], constants[LIMIT], constants[RATE], constants[CAP], dt, solved
    )
    for c in range(6):
        plastic[i, c] = new[c]
    return losses


@jit
def _multiplicative(i, f, material, constants, plastic, dt, solved):
    """Multiplicative flow of ``F_p^-1``; its losses [J]. Hardening raises the limit as the phyxel flows."""
    slope = constants[LIMIT] * constants[HARDENING]
    limit = constants[LIMIT] + slope * plastic[i, FLOWED]
    room = constants[CAP] - plastic[i, FLOWED]
    fe = times(f, take(plastic, i, 0))
    if not logarithmic_excess(fe, limit) > 0.0:
        return NO_LOSSES
    losses, grown, g, v = multiplicative_return(
        fe, material[i, V_MU], limit, slope, constants[RATE], room, dt, solved
    )
    if losses[0] != 0.0:
        plastic[i, FLOWED] += grown
        for r in range(0, 9, 3):
            p = plastic[i]
            p[r], p[r + 1], p[r + 2] = flowed_row(p[r], p[r + 1], p[r + 2], g, v)
    return losses


def _flow_all(gradients, material, constants, plastic, dt, solved):
    """Let ``plastic`` flow; how many phyxels did, and their ``losses`` [J] (see
    ``constitutive/plastic_flow.py``)."""
    n = material.shape[0]
    counts, losses = np.zeros(PARTS, np.int64), np.zeros((PARTS, 3))
    for p in prange(PARTS):
        for i in range(p * n // PARTS, (p + 1) * n // PARTS):
            if material[i, FLAT] != 0.0:
                continue
            lost = flow_one(np.int64(i), take(gradients, i, 0), material, constants, plastic, dt, solved)
            if lost[0] != 0.0:
                counts[p] += 1
                for k in range(3):
                    losses[p, k] += lost[k]
    flowed, drop, potential, heat = 0, 0.0, 0.0, 0.0
    for p in range(PARTS):
        flowed += counts[p]
        drop += losses[p, 0]
        potential += losses[p, 1]
        heat += losses[p, 2]
    return flowed, (drop, potential, heat)


@cache
def flow_loop(law: Law, additive: bool) -> Kernel:
    """The loop of plastic flow over phyxels, additive in the strain measure of a law or multiplicative."""
    label = law.kind.replace("-", "_")
    if additive:
        one = specialised(_additive, label, law_names(law), cache=law.cached)
        return specialised(_flow_all, label, {"flow_one": one}, parallel=True, cache=law.cached)
    return specialised(_flow_all, "multiplicative", {"flow_one": _multiplicative}, parallel=True)
