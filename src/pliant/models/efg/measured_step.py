"""The stable step of a meshless body that can crack: measured again only where it has become much stiffer."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from pliant.core.typing import AnyArray
from pliant.interfaces import StableStep
from pliant.models.critical_step import explicit_limit
from pliant.models.efg import mls_kernels

if TYPE_CHECKING:
    from pliant.models.efg.mechanics import EfgMechanics

STIFFER = 1.2  # the step is measured again when a neighbourhood is this much stiffer than at the last time


class MeasuredStep:
    """The limit [s] as last measured, and the bound of the frequencies at that time."""

    def __init__(self) -> None:
        self._known: tuple[float, float] | None = None

    def look(self, body: "EfgMechanics", cracked: bool) -> StableStep:
        """The stable step of ``body``: half of the limit to plan with, and once it has ``cracked`` the whole
        one."""
        s, mass = body.support, body.structure.mass
        bound = float(mls_kernels.frequency_bound(s.starts, s.around, s.weight, body.material_rows, mass))
        if self._known is None or bound > STIFFER * self._known[1]:
            limit = explicit_limit(body, body.structure, body.damping_time)
            self._known = limit.seconds, bound
        seconds = self._known[0]
        if cracked:
            return StableStep(seconds, "as measured after cracks")
        return StableStep(0.5 * seconds, f"{2.0 / seconds:.4g} rad/s at most, halved for cracks")

    def state(self) -> dict[str, AnyArray]:
        return {} if self._known is None else {"measured-step": np.array(self._known)}

    def restore(self, state: Mapping[str, AnyArray]) -> None:
        if "measured-step" in state:
            self._known = float(state["measured-step"][0]), float(state["measured-step"][1])
