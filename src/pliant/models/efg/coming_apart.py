"""Phyxel bodies that crack and can be cut."""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.errors import IncompatibleError
from pliant.models.efg.cells import voronoi_cells
from pliant.models.efg.cracks import Cracks
from pliant.models.efg.fields import cauchy
from pliant.models.efg.torn import TornPhyxels
from pliant.models.stability import explicit_limit
from pliant.protocols import Carrier, StableStep, Structure
from pliant.typing import AnyArray, Array, BoolArray, IntArray

if TYPE_CHECKING:
    from pliant.materials import Resolved as Material
    from pliant.models.efg.support import Support

CRUSHED = 0.4  # phyxels with less of their volume left do not crack: their stress is pressure
STIFFER = 1.5  # the step is measured again when a neighbourhood is this much stiffer than at the last time


class ComingApart:
    """What a body's mechanics needs to come apart: its phyxels stay, who sees whom and the surface change."""

    structure: Structure
    material: "Material"
    support: "Support"
    volumes: Array
    plasticity: Any
    recorded: tuple[str, ...]
    parents: IntArray
    parent_weights: Array | None = None
    topology_version = 0
    cracking: Cracks | None = None
    damping_time: float
    _whole: Carrier | None = None
    _sides: IntArray
    _level: Array
    _measured: tuple[float, float] | None = None  # step limit [s] and quickness when it was measured

    def start_whole(self) -> None:
        """Begin in one piece; cells are made now where the material can break, or when something cuts."""
        self.parents = np.arange(len(self.structure.rest))
        self._whole = self.structure.carrier
        if self.material.strength is not None:
            self._start_cracking()
            self.recorded = (*self.recorded, "opened")

    def _start_cracking(self) -> Cracks:
        mechanics: Any = self
        if self.cracking is None:
            if self._whole is None:
                raise IncompatibleError("A body without a surface cannot come apart.")
            if self.plasticity is not None and self.plasticity.kind == "absorb":
                raise IncompatibleError("plasticity = 'absorb' renews neighbours: the body cannot be cut.")
            if mechanics.model.resample:
                raise IncompatibleError("resample = true renews neighbours: the body cannot be cut.")
            rest, spacing = self.structure.rest, self.structure.spacing
            cells = voronoi_cells(rest, spacing, self._whole.surface)
            self.cracking = Cracks(cells, self.support, rest, self.volumes, spacing, self.material)
        return self.cracking

    def crack(self, time: float, x: Array) -> bool:
        """Let the body crack where stress at ``x`` exceeds the strength; whether it did."""
        if self.cracking is None or not np.isfinite(self.cracking.strength) or time < self.cracking.next:
            return False
        mechanics: Any = self
        gradients = mechanics.gradients(x)
        stress, bound, volume = cauchy(mechanics, gradients)
        if not (bound > self.cracking.strength).any() and not len(self.cracking.rim()):
            return False
        if not self.cracking.break_at(time, x, stress, gradients.reshape(-1, 3, 3), volume > CRUSHED):
            return False
        self._take()
        return True

    def cut(self, x: Array, level: Array) -> bool:
        """Part the phyxels on the two sides of where ``level`` (n,) is zero."""
        return self._part((level > 0.0).astype(np.int64), None, level)

    def imprint(self, x: Array, level: Array, past: Array | None = None) -> Array:
        """Remember the two sides of where ``level`` is zero; rest positions of phyxels beside it, where
        ``past`` is not positive."""
        cells, self._sides = self._start_cracking().cells, (level > 0.0).astype(np.int64)
        self._level = level.copy()
        across = self._sides[cells.pairs[:, 0]] != self._sides[cells.pairs[:, 1]]
        beside = np.unique(cells.pairs[across])
        return np.asarray(self.structure.rest[beside if past is None else beside[past[beside] <= 0.0]])

    def part_faces(self, sides: IntArray | None, where: BoolArray | None = None) -> bool:
        """Part phyxels of different ``sides`` (n,), or those of the last imprint; only among ``where``."""
        if sides is None:
            return self._part(self._sides, where, self._level)
        return self._part(sides, where, None)

    def _part(self, sides: IntArray, where: BoolArray | None, level: Array | None) -> bool:
        if not self._start_cracking().part(sides, where, level):
            return False
        self._take()
        return True

    def _take(self) -> None:
        """Take over what cracks have changed."""
        cracks, mechanics = self.cracking, self
        assert cracks is not None
        mechanics.set_support(cracks.support())  # type: ignore[attr-defined]
        carrier = None if self._whole is None else TornPhyxels(self._whole, cracks)
        self.structure = replace(self.structure, carrier=carrier)
        self.topology_version += 1

    def cracked_step(self) -> StableStep:
        """The stable step of a body that can crack: half of it to plan with, and once it has cracked the
        whole one. It is measured again only where a neighbourhood has become much stiffer."""
        mechanics: Any = self
        quickness = mechanics.quickness()
        if self._measured is None or quickness > STIFFER * self._measured[1]:
            limit = explicit_limit(mechanics, self.structure, self.damping_time)
            self._measured = limit.seconds, quickness
        seconds = self._measured[0]
        if self.topology_version:
            return StableStep(seconds, "as measured after cracks")
        return StableStep(0.5 * seconds, f"{2.0 / seconds:.4g} rad/s at most, halved for cracks")

    def coming_apart(self) -> tuple[int, float, int]:
        """Number of pieces, area of all cracks and cuts in the rest shape [m2], phyxels that cracked."""
        if self.cracking is None:
            return 1, 0.0, 0
        return self.cracking.pieces()[0], self.cracking.area(), int(self.cracking.broken)

    def crack_state(self) -> dict[str, AnyArray]:
        if self.cracking is None:
            return {}
        found = {"topology-version": np.array(self.topology_version), **self.cracking.state()}
        return found if self._measured is None else found | {"measured-step": np.array(self._measured)}

    def restore_cracks(self, state: Mapping[str, AnyArray]) -> None:
        if "opened" not in state:
            return
        cracks = self._start_cracking()
        cracks.restore(state)
        if cracks.opened.any():
            self._take()
        if "measured-step" in state:
            self._measured = float(state["measured-step"][0]), float(state["measured-step"][1])
        if "topology-version" in state:
            self.topology_version = int(state["topology-version"])
