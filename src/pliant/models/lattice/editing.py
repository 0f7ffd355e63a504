"""Working on bodies of elements while they run: the operations that actions call."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from pliant.core.errors import IncompatibleError
from pliant.core.typing import Array, BoolArray, IntArray
from pliant.embedding.barycentric import EmbeddedSurface
from pliant.embedding.framed import moved
from pliant.embedding.mls import carried_by_elements
from pliant.mesh.mesh import Surface
from pliant.models.lattice.fracture import DistanceFracture, StressFracture
from pliant.models.lattice.topology import LatticeTopology
from pliant.models.springs.kernels import TINY


def _cannot(name: str, whole: bool) -> IncompatibleError:
    if not whole and name == "friction":
        return IncompatibleError(
            "Single elements of a body without friction cannot be given one.",
            hint="Select the whole body: { all = true }.",
        )
    return IncompatibleError(
        f"Model 'elements' cannot change {name} of this body.",
        hint='strength needs a material with strength; fracture-distance also fracture = "distance".',
    )


class LatticeEditor(LatticeTopology):
    """What mechanics of elements inherit to be worked on: claying, cuts, elements that come and go."""

    # ------------------------------------------------------------------------ shape and attributes

    def renormalise(self, x: Array, chosen: BoolArray) -> None:
        """Connections between chosen elements take their present lengths as rest lengths."""
        own = self.connections
        within: BoolArray = np.asarray(chosen[own.edges].all(axis=1))
        d = x[own.edges[:, 1]] - x[own.edges[:, 0]]
        now = np.sqrt(d[:, 0] * d[:, 0] + d[:, 1] * d[:, 1] + d[:, 2] * d[:, 2] + TINY)
        own.reset(np.where(within, now, own.lengths), within)
        if chosen.all():
            self.reference = x.copy()
        self.recorded = ("lengths", "reference")
        self._inverse = None
        self._change()

    def alter(self, chosen: BoolArray, changes: Mapping[str, float]) -> None:
        """stiffness and fracture-distance: factors on the connections between chosen elements; friction,
        strength [Pa] and damping [s]: of the chosen elements."""
        own = self.connections
        within = chosen[own.edges].all(axis=1)
        for name, value in changes.items():
            if name == "stiffness":
                own.own[within] *= value
                own.write()
            elif name == "fracture-distance" and isinstance(self.fracture, DistanceFracture):
                self.fracture.limit[within] *= value
            elif name == "strength" and isinstance(self.fracture, StressFracture):
                self.fracture.set_strength(chosen, value)
            elif name == "damping":
                self._damp(np.where(chosen, value, self.damping_time * self.dampness))
            elif name == "friction" and chosen.all():
                self.friction, self.roughness = value, np.ones(len(chosen))
            elif name == "friction" and self.friction > 0.0:
                self.roughness[chosen] = value / self.friction
            else:
                raise _cannot(name, bool(chosen.all()))
        self._change()

    def _damp(self, times: Array) -> None:
        """Give each element a damping time [s]; a connection takes the mean of its ends'."""
        self.damping_time = float(times.max())
        even = bool((times == times[0]).all())
        self.dampness = np.ones(len(times)) if even else times / self.damping_time
        self._share_damping()

    def _change(self) -> None:
        """Tell the loop that something changed that it cannot see."""
        self.altered = True
        self.parents, self.newcomers = np.arange(len(self.structure.rest)), None
        self.topology_version += 1

    def weld(self, x: Array, which: IntArray, places: Array) -> None:
        """Carry surface points from ``places`` on; those of a body that has come apart stay as they are."""
        carrier, own = self.structure.carrier, self.connections
        if carrier is not self.origin.structure.carrier or not isinstance(carrier, EmbeddedSurface):
            return
        none = np.empty((0, 3), np.int64)
        made = carried_by_elements(Surface(places, none), x, self.structure.spacing, own.edges[own.intact])
        made = replace(made, surface=Surface(made.positions(self.structure.rest), none))
        self.origin.show(moved(carrier, which, made))
        extra = {**self.structure.extra, **self.origin.arrays()}
        self.structure = replace(self.structure, carrier=self.origin.structure.carrier, extra=extra)
        self._change()

    # ------------------------------------------------------------------------------------- cuts

    def cut(self, x: Array, level: Array) -> bool:
        """Break the connections through the surface where ``level`` (n,) changes its sign."""
        return self.open_faces((level > 0.0).astype(np.int64))

    def mark_cut(self, x: Array, level: Array, past: Array | None = None) -> Array:
        """Remember a cut that will open bit by bit; rest positions of the elements beside it, where ``past``
        (n,) is not positive."""
        own = self.connections
        self._sides = np.asarray(level > 0.0)
        across = own.intact & (self._sides[own.edges[:, 0]] != self._sides[own.edges[:, 1]])
        beside = np.unique(own.edges[across])
        return np.asarray(self.structure.rest[beside if past is None else beside[past[beside] <= 0.0]])

    def open_faces(self, sides: IntArray | None, where: BoolArray | None = None) -> bool:
        """Break connections between elements of different ``sides`` (n,), both of them ``where``."""
        own = self.connections
        side = self._sides if sides is None else sides
        if side is None:
            return False
        across = own.intact & (side[own.edges[:, 0]] != side[own.edges[:, 1]])
        if where is not None:
            across &= where[own.edges].all(axis=1)
        if across.any():
            self.break_connections(np.flatnonzero(across))
        return bool(across.any())
