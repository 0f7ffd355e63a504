"""Phyxel bodies that crack and can be cut."""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.core.errors import IncompatibleError
from pliant.core.typing import AnyArray, Array, BoolArray, IntArray
from pliant.interfaces import (
    Carrier,
    ContactSurface,
    FractureStatistics,
    IndexMap,
    Mechanics,
    StableStep,
    Structure,
    TopologyChange,
)
from pliant.models.critical_step import explicit_limit
from pliant.models.efg.cells import VoronoiCells, voronoi_cells
from pliant.models.efg.crack_growth import PhyxelCracks
from pliant.models.efg.cut_carrier import CutPhyxelCarrier
from pliant.models.efg.fields import cauchy
from pliant.models.efg.principal_stress import StressState
from pliant.models.efg.split import SplitResult
from pliant.models.efg.support import MlsSupport, connect
from pliant.structure.samplers.phyxels.embedding import carried

if TYPE_CHECKING:
    from pliant.materials import ResolvedMaterial as Material

CRUSHED = 0.4  # phyxels with less of their volume left do not crack: their stress is pressure
STIFFER = 1.2  # the step is measured again when a neighbourhood is this much stiffer than at the last time


class PhyxelFracture(Mechanics):
    """What a body's mechanics needs to come apart: who sees whom and the surface change, phyxels divide."""

    structure: Structure
    material: "Material"
    support: MlsSupport
    volumes: Array
    plasticity: Any
    recorded: tuple[str, ...]
    parents: IntArray
    parent_weights: Array | None = None
    moved: Array | None = None
    topology_version = 0
    cracking: PhyxelCracks | None = None
    damping_time: float
    _whole: Carrier | None = None
    _sides: IntArray
    _level: Array
    _measured: tuple[float, float] | None = None  # step limit [s] and quickness when it was measured

    def start_whole(self) -> None:
        """Begin in one piece; cells are made now where the material can break, or when something cuts."""
        self._whole = self.structure.carrier
        self.start_again()

    def start_again(self) -> None:
        """Begin with the phyxels of ``structure``, which may be the halves of others."""
        self.parents, self.cracking = np.arange(len(self.structure.rest)), None
        if self.material.strength is not None:
            self._start_cracking()
            self.recorded = (*self.recorded, "opened")

    def _start_cracking(self) -> PhyxelCracks:
        mechanics: Any = self
        if self.cracking is None:
            if self._whole is None:
                raise IncompatibleError("A body without a surface cannot come apart.")
            if self.plasticity is not None and self.plasticity.kind == "absorb":
                raise IncompatibleError("plasticity = 'absorb' renews neighbours: the body cannot be cut.")
            if mechanics.model.resample:
                raise IncompatibleError("resample = true renews neighbours: the body cannot be cut.")
            rest, spacing, surface = self.structure.rest, self.structure.spacing, self._whole.surface
            kept = {name[6:]: array for name, array in self.structure.extra.items() if name[:6] == "cells."}
            cells = VoronoiCells.of(kept) if kept else voronoi_cells(rest, spacing, surface)
            before = (np.array(kept["sites"]), np.array(kept["cuts"])) if kept else None
            self.cracking = PhyxelCracks(
                cells,
                self.support,
                rest,
                self.volumes,
                spacing,
                self.material,
                surface,
                mechanics.model.divide,
                before,
            )
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
        tension = StressState(x, stress, gradients.reshape(-1, 3, 3), volume > CRUSHED)
        if not self.cracking.break_at(time, tension):
            return False
        self._take(tension.F)
        return True

    def cut(self, x: Array, level: Array) -> bool:
        """Part the body where ``level`` (n,) is zero, through phyxels."""
        F, cracks = self._gradients(x), self._start_cracking()
        level = cracks.cut_up(level)
        parted = cracks.part((level > 0.0).astype(np.int64), None, level)
        if parted or cracks.since is not None:
            self._take(F)
        return parted

    def mark_cut(self, x: Array, level: Array, past: Array | None = None) -> Array:
        """Divide the phyxels through which ``level`` is zero, and remember its two sides; rest positions of
        phyxels beside it, where ``past`` (n,) is not positive."""
        F, cracks = self._gradients(x), self._start_cracking()
        level = cracks.cut_up(level)
        if cracks.since is not None:
            self._take(F)
            past = None if past is None else past[self.parents]
        cells, self._sides, self._level = cracks.cells, (level > 0.0).astype(np.int64), level.copy()
        across = self._sides[cells.pairs[:, 0]] != self._sides[cells.pairs[:, 1]]
        beside = np.unique(cells.pairs[across])
        return np.asarray(self.structure.rest[beside if past is None else beside[past[beside] <= 0.0]])

    def open_faces(self, sides: IntArray | None, where: BoolArray | None = None) -> bool:
        """Part phyxels of different ``sides`` (n,), or those of the last imprint; only among ``where``."""
        level = self._level if sides is None else None
        if not self._start_cracking().part(self._sides if sides is None else sides, where, level):
            return False
        self._take(np.zeros((0, 3, 3)))
        return True

    def _gradients(self, x: Array) -> Array:
        mechanics: Any = self
        return np.asarray(mechanics.gradients(x).reshape(-1, 3, 3))

    def _take(self, F: Array) -> None:
        """Take over what cracks have changed; F (n, 3, 3): deformation gradients before."""
        cracks, mechanics = self.cracking, self
        assert cracks is not None
        if cracks.since is not None:
            self._take_halves(cracks, cracks.since, F)
        else:
            self.parents, self.moved = np.arange(len(cracks.rest)), None
        mechanics.set_support(cracks.support())  # type: ignore[attr-defined]
        carrier: Carrier | None = None
        if self._whole is not None and cracks.opened.any():
            carrier = CutPhyxelCarrier(self._whole, cracks)
        elif self._whole is not None:
            carrier = carried(self._whole.surface, cracks.rest)
        self.structure = replace(self.structure, carrier=carrier)
        self.topology_version += 1

    def _take_halves(self, cracks: PhyxelCracks, new: SplitResult, F: Array) -> None:
        """Take over phyxels that were divided."""
        mechanics: Any = self
        whole, parents, cracks.since = self.structure, new.parents, None
        change = IndexMap(parents[:, None], np.ones((len(parents), 1)))
        extra = cracks.cells.arrays() | {
            "sites": cracks.sites,
            "cuts": cracks.cuts,
            "reach": cracks.sight.whole.h,
        }
        self.structure = replace(
            whole,
            rest=cracks.rest,
            mass=whole.mass[parents] * new.share,
            groups={
                name: change.remap_rows(np.asarray(ids))[0] for name, ids in whole.groups.items() if len(ids)
            },
            extra={**whole.extra, **{f"cells.{name}": array for name, array in extra.items()}},
        )
        self.volumes = cracks.volumes = self.structure.mass / self.material.density
        mechanics.reference = cracks.rest
        if self.plasticity is not None:
            self.plasticity.plastic = mechanics.plastic = mechanics.plastic[parents]
        self.parents, self.moved = parents, np.einsum("nij,nj->ni", F[parents], new.offset)
        if hasattr(self, "_sides"):
            self._sides, self._level = self._sides[parents], self._level[parents]

    @property
    def can_crack(self) -> bool:  # type: ignore[override]
        return self.cracking is not None

    def topology_change(self) -> TopologyChange:
        """The latest change: structure, and what its particles continue."""
        return TopologyChange(self.structure, self.parents, self.parent_weights, self.moved)

    def contact_surface(self) -> ContactSurface:
        return ContactSurface(pieces=self.piece)

    @property
    def piece(self) -> IntArray:
        """The piece of each phyxel (n,)."""
        if self.cracking is None:
            return np.zeros(len(self.structure.rest), np.int64)
        return self.cracking.pieces()[1]

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

    def fracture_statistics(self) -> FractureStatistics:
        """Number of pieces, area of all cracks and cuts in the rest shape [m2], phyxels that cracked."""
        if self.cracking is None:
            return FractureStatistics(1, 0.0, 0)
        cracks = self.cracking
        return FractureStatistics(cracks.pieces()[0], cracks.area(), int(cracks.broken))

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
            self._take(np.zeros((0, 3, 3)))
        if "measured-step" in state:
            self._measured = float(state["measured-step"][0]), float(state["measured-step"][1])
        if "topology-version" in state:
            self.topology_version = int(state["topology-version"])


def divided_support(structure: Structure) -> MlsSupport | None:
    """Who sees whom in a body whose phyxels were divided, without its cracks; None where they were not."""
    if "cells.reach" not in structure.extra:
        return None
    reach, sites = np.array(structure.extra["cells.reach"]), len(structure.extra["cells.sites"])
    return connect(structure.rest, reach, float(reach[:sites].mean()))
