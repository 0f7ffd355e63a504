"""Cuts through all levels of a body."""

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from pliant.core.typing import Array, BoolArray, IntArray
from pliant.fracture.tet_topology import pieces
from pliant.interfaces import Carrier, FractureStatistics, Structure
from pliant.models.multires.hierarchy import Hierarchy
from pliant.models.multires.level_cuts import LevelCuts, down_to_coarsest
from pliant.models.multires.level_state import Coupling, LevelState, flagged
from pliant.models.multires.prescribed_nodes import PrescribedNodes
from pliant.models.multires.refinement import Refinement

if TYPE_CHECKING:
    from pliant.models.multires.model import Multires


class LevelCutting(ABC):
    """What the mechanics of levels inherits to be cut."""

    structure: Structure
    model: "Multires"
    kind: str
    hierarchy: Hierarchy
    motion: LevelState
    adaptation: Refinement
    drives: PrescribedNodes
    coupling: Coupling | None
    split: list[BoolArray]
    cuts: LevelCuts
    parents: IntArray
    topology_version: int
    _whole: Carrier | None
    _last: Array
    _external: Array

    @abstractmethod
    def _set_up(self, structure: Structure) -> None:
        """Make the levels of a structure."""

    @abstractmethod
    def couple(self, kind: str) -> None:
        """Couple the levels anew."""

    @abstractmethod
    def set_split(self, split: list[BoolArray]) -> None:
        """Let other levels take over."""

    def cut(self, x: Array, level: Array) -> bool:
        """Cut through all levels where ``level`` (n,) is zero, and part the two sides."""
        values = down_to_coarsest(self.hierarchy, level)
        self._refine_along(values)
        changed = self.cuts.cut(values)
        if changed:
            self._take_cut()
        return changed

    def mark_cut(self, x: Array, level: Array, past: Array | None = None) -> Array:
        """Mark where a blade is going to cut; the rest positions of all particles, which it is asked about,
        but those where ``past`` (n,) is positive."""
        values = down_to_coarsest(self.hierarchy, level)
        self._refine_along(values)
        self.cuts.mark_cut(values)
        self._take_cut()
        kept = slice(None) if past is None else past[self.parents] <= 0.0
        return np.array(self.structure.rest[kept])

    def open_faces(self, sides: IntArray | None, where: BoolArray | None = None) -> bool:
        """Part neighbouring tets of different ``sides`` (m,) at every level; or what is imprinted, where all
        particles around are ``where``: behind a blade."""
        if sides is not None:
            sides_of = [sides]
            for homes in reversed(self.cuts.tet_homes(self.hierarchy)):
                sides_of.insert(0, sides_of[0][homes])
            changed = self.cuts.part(sides_of, None)
        else:
            flags = np.ones(len(self.structure.rest)) if where is None else where.astype(float)
            behind = [values > 0.5 for values in down_to_coarsest(self.hierarchy, flags)]
            changed = self.cuts.part(None, behind)
        if changed:
            self._take_cut()
        return changed

    def _refine_along(self, values: list[Array]) -> None:
        """Let the finest level take over at tets with ``values`` of both signs, before they are cut."""
        if self.coupling is None or self.model.detail != "adaptive":
            return
        split = [flags.copy() for flags in self.split]
        for level, flags, there in zip(self.hierarchy.levels[:-1], split, values, strict=False):
            signs = np.sign(there[level.tets])
            flags[level.tets[signs.min(axis=1) * signs.max(axis=1) <= 0.0].ravel()] = True
        self.set_split(self.adaptation.graded(split))

    def _take_cut(self) -> None:
        """Go on with the levels that the cuts have left; copies of a node have its values."""
        before, split, eta = self.motion, self.split, self.adaptation.eta
        old, kind = self.structure.mass, self.kind
        heat, momentum = np.zeros(0), None
        if self.coupling is not None:
            heat = self.coupling.heat
            momentum = None if self.drives.any else self.coupling.momenta()[0]
        self._set_up(self.cuts.edited(self.structure, self._whole))
        self.parents = self.cuts.parents[-1]
        self.topology_version += 1
        for k, parents in enumerate(self.cuts.parents):
            for name in ("d", "v", "f"):
                getattr(self.motion, name)[k][:] = getattr(before, name)[k][parents]
        self.adaptation.take([values[p] for values, p in zip(eta, self.cuts.parents, strict=True)])
        self.split = [flags[parents] for flags, parents in zip(split, self.cuts.parents, strict=True)]
        self._last = self._last[self.parents]
        share = self.structure.mass / old[self.parents]
        self._external = self._external[self.parents] * share[:, None]
        if self.coupling is not None:
            self.couple(kind)
            self.coupling.heat = heat
            if momentum is not None:
                self.coupling.keep_momentum(momentum)

    def fracture_statistics(self) -> FractureStatistics:
        """Number of pieces, area of all cuts in the rest shape [m2], particles that cracked: none."""
        return FractureStatistics(pieces(self.structure.cells["tetra"])[0], self.cuts.area(), 0)

    def rebuild(self, structure: Structure) -> None:
        """Become the body of ``structure``, which came of this one in an earlier run."""
        self.cuts = LevelCuts(structure)
        carrier = self.cuts.carried(self._whole, structure.spacing) if self.cuts.any else self._whole
        self._set_up(replace(structure, carrier=carrier))
        self.split = [flagged(level.count) for level in self.hierarchy.levels]
        self._last = np.hstack([structure.rest, np.zeros_like(structure.rest)])
        self._external = np.zeros_like(structure.rest)
