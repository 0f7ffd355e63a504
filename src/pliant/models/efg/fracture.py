"""Fracture of phyxel bodies: cells, cracks and cuts of one body, and what they change about it."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

import numpy as np

from pliant.core.errors import Diverged, IncompatibleError
from pliant.core.typing import AnyArray, Array, BoolArray, IntArray
from pliant.embedding.mls import carried_by_phyxels
from pliant.interfaces import Carrier, FractureStatistics, IndexMap, Structure, StructureExtra
from pliant.models.efg.cells import VoronoiCells, voronoi_cells
from pliant.models.efg.crack_faces import CrackFaces
from pliant.models.efg.crack_growth import PhyxelCrackGrowth, StressState
from pliant.models.efg.cut_carrier import CutPhyxelCarrier
from pliant.models.efg.split import PhyxelSplitter, SplitResult
from pliant.models.efg.support import MlsSupport, connect

if TYPE_CHECKING:
    from pliant.materials import ResolvedMaterial as Material

CRUSHED = 0.4  # phyxels with less of their volume left do not crack: their stress is pressure


@dataclass(frozen=True)
class DividedPhyxels(StructureExtra):
    """What a body whose phyxels were divided keeps: their cells, ``sites`` and ``cuts`` as ``PhyxelSplitter``
    has them, and the support radii ``reach`` (n,) [m]."""

    cells: VoronoiCells
    sites: Array
    cuts: Array
    reach: Array

    def arrays(self) -> dict[str, AnyArray]:
        own = {"sites": self.sites, "cuts": self.cuts, "reach": self.reach}
        return {f"cells.{name}": array for name, array in (self.cells.arrays() | own).items()}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, AnyArray]) -> Self:
        own = {name.removeprefix("cells."): np.array(array) for name, array in arrays.items()}
        return cls(VoronoiCells.of(own), own["sites"], own["cuts"], own["reach"])


@dataclass(frozen=True)
class PhyxelChange:
    """What cracks and cuts have made of a body.

    support: who sees whom now; carrier: the surface, cut where faces have opened; rest (n, 3) [m] and
    mass (n,) [kg] of the phyxels; halves: how they follow from those before, None where they are the same;
    extra: what a resumed run needs where phyxels were divided.
    """

    support: MlsSupport
    carrier: Carrier
    rest: Array
    mass: Array
    halves: SplitResult | None
    extra: DividedPhyxels | None

    def structure(self, old: Structure) -> Structure:
        """The structure of phyxels that are halves of those of ``old``."""
        assert self.halves is not None
        parents = self.halves.parents
        lines, named = IndexMap(parents[:, None], np.ones((len(parents), 1))), old.groups.items()
        return replace(
            old,
            rest=self.rest,
            mass=self.mass,
            groups={name: lines.remap_rows(np.asarray(ids))[0] for name, ids in named if len(ids)},
            extra=self.extra,
        )


class PhyxelFracture:
    """Cells, open faces, divided phyxels and crack growth of one body.

    structure: its phyxels, which may be the halves of others; support: whom they see without cracks; whole:
    its uncut surface; divide: whether cracks pass through phyxels.
    """

    def __init__(
        self, structure: Structure, support: MlsSupport, whole: Carrier, material: "Material", divide: bool
    ) -> None:
        rest, spacing = structure.rest, structure.spacing
        known = DividedPhyxels.of(structure)
        cells = voronoi_cells(rest, spacing, whole.surface) if known is None else known.cells
        sites, cuts = (rest, np.zeros((0, 7))) if known is None else (known.sites, known.cuts)
        unit = float(support.h[: len(sites)].mean())
        self.whole, self.mass, self.density = whole, structure.mass, material.density
        self.faces = CrackFaces(cells, support, rest, spacing, material.crack_speed, unit)
        volumes = structure.mass / material.density
        self.splitter = PhyxelSplitter(self.faces, whole.surface, volumes, sites, cuts, divide)
        self.growth = PhyxelCrackGrowth(self.faces, self.splitter, material)
        self._level: Array | None = None  # (n,) what is zero at a cut that is being opened

    # ------------------------------------------------------------------------------- cracks

    def due(self, time: float) -> bool:
        """Whether the stress at ``time`` has to be looked at."""
        return bool(np.isfinite(self.growth.strength)) and time >= self.growth.next

    def crack(
        self, time: float, x: Array, gradients: Array, stress: Array, bound: Array, volume: Array
    ) -> PhyxelChange | None:
        """Let cracks start and run where the stress exceeds the strength; None where nothing does.

        x (n, 3) [m], gradients F (n, 3, 3), stress (n, 3, 3): Cauchy's [Pa], bound (n,): what no principal
        stress exceeds [Pa], volume (n,): det F.
        """
        parted = self.faces.part_overstretched(x, self.growth.most_stretch)
        self.growth.broken += max(parted, 0)
        if not (bound > self.growth.strength).any() and not len(self.faces.rim()):
            return self._change() if parted >= 0 else None
        state = StressState(x, stress, gradients, volume > CRUSHED)
        return self._change() if self.growth.break_at(time, state) or parted >= 0 else None

    # --------------------------------------------------------------------------------- cuts

    def cut(self, level: Array) -> tuple[bool, PhyxelChange | None]:
        """Open the body where ``level`` (n,) is zero, through phyxels; whether faces opened."""
        level = self.splitter.divide_along(level)
        opened = self.faces.open_between((level > 0.0).astype(np.int64), None, level)
        return opened, self._change() if opened or self.splitter.since is not None else None

    def mark_cut(self, level: Array, past: Array | None) -> tuple[Array, PhyxelChange | None]:
        """Divide the phyxels through which ``level`` (n,) is zero, and remember its two sides; rest positions
        of the phyxels beside it, where ``past`` (n,) is not positive."""
        level, change = self.splitter.divide_along(level), None
        if self.splitter.since is not None:
            change = self._change()
            past = None if past is None or change.halves is None else past[change.halves.parents]
        pairs, sides, self._level = self.faces.cells.pairs, level > 0.0, level.copy()
        beside = np.unique(pairs[sides[pairs[:, 0]] != sides[pairs[:, 1]]])
        chosen = beside if past is None else beside[past[beside] <= 0.0]
        return np.asarray(self.faces.rest[chosen]), change

    def open_faces(self, sides: IntArray | None, where: BoolArray | None) -> PhyxelChange | None:
        """Open the faces between phyxels of different ``sides`` (n,), or those of the marked cut; only among
        ``where``."""
        level = self._level if sides is None else None
        if sides is None:
            if level is None:
                raise IncompatibleError("The cut that is to open is not known: no blade has marked one.")
            sides = (level > 0.0).astype(np.int64)
        return self._change() if self.faces.open_between(sides, where, level) else None

    # ------------------------------------------------------------------------- what they made

    def _change(self) -> PhyxelChange:
        """What has changed since the last time."""
        faces, new = self.faces, self.splitter.take_result()
        extra = None
        if new is not None:
            self.mass = self.mass[new.parents] * new.share
            self.splitter.volumes = self.mass / self.density
            if self._level is not None:
                self._level = self._level[new.parents]
            splitter, reach = self.splitter, faces.sight.whole.h
            extra = DividedPhyxels(faces.cells, splitter.sites, splitter.cuts, reach)
        cut = faces.opened.any()
        carrier = (
            CutPhyxelCarrier(self.whole, faces) if cut else carried_by_phyxels(self.whole.surface, faces.rest)
        )
        return PhyxelChange(faces.support(), carrier, faces.rest, self.mass, new, extra)

    @property
    def uncracked(self) -> MlsSupport:
        """Who would see whom without cracks."""
        return self.faces.sight.whole

    def pieces(self) -> tuple[int, IntArray]:
        """Number of pieces and the piece of each phyxel (n,)."""
        return self.faces.pieces()

    def statistics(self) -> FractureStatistics:
        """Pieces, area of cracks and cuts, and the number of faces that cracked."""
        area = float(self.faces.cells.inner_area[self.faces.opened].sum())
        return FractureStatistics(self.pieces()[0], area, int(self.growth.broken))

    def state(self) -> dict[str, AnyArray]:
        return self.growth.state() | ({} if self._level is None else {"cut-level": self._level})

    def restore(self, state: Mapping[str, AnyArray]) -> PhyxelChange | None:
        """Continue from ``state``; what differs from a whole body."""
        self.growth.restore(state)
        self._level = np.array(state["cut-level"]) if "cut-level" in state else None
        return self._change() if self.faces.opened.any() else None


def check_finite(x: Array, time: float) -> None:
    """Stop the run where positions are not numbers: no search for neighbours could go on from there."""
    if not np.isfinite(x).all():
        worst = int(np.argmin(np.isfinite(x).all(axis=1)))
        raise Diverged(
            f"Stopped at t = {time:.6g} s: the position of particle {worst} is not a number.",
            hint="Try half the step, more damping, or a gentler load.",
        )


def divided_support(structure: Structure) -> MlsSupport | None:
    """Who sees whom in a body whose phyxels were divided, without its cracks; None where they were not."""
    known = DividedPhyxels.of(structure)
    if known is None:
        return None
    return connect(structure.rest, known.reach, float(known.reach[: len(known.sites)].mean()))
