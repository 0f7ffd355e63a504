"""Editing of lattice bodies while they run: rest shape, attributes, surface, cuts, elements."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from pliant.core.errors import IncompatibleError
from pliant.core.typing import AnyArray, Array, BoolArray, IntArray
from pliant.embedding.barycentric import EmbeddedSurface
from pliant.embedding.carriers import moved, renumbered
from pliant.embedding.mls import carried_by_elements
from pliant.interfaces import NewParticles, Structure
from pliant.mesh.mesh import Surface
from pliant.models.lattice.add_material import AddedElements, fill_region, outside_of
from pliant.models.lattice.body import LatticeBody
from pliant.models.lattice.cut_carrier import EditedLattice
from pliant.models.lattice.fracture import DistanceFracture, StressFracture
from pliant.models.springs.kernels import TINY


def _cannot(name: str, whole: bool) -> IncompatibleError:
    if not whole and name == "friction":
        return IncompatibleError(
            "Single elements of a body without friction cannot be given one.",
            hint="Select the whole body: { all = true }.",
        )
    return IncompatibleError(
        f"Model 'lattice' cannot change {name} of this body.",
        hint='strength needs a material with strength; fracture-distance also fracture = "distance".',
    )


class LatticeEditor:
    """Changes a running body as actions ask for, and its fracture criterion along with it.

    A cut that opens bit by bit is remembered between ``mark_cut`` and ``open_faces``.
    """

    def __init__(self, body: LatticeBody, fracture: StressFracture | DistanceFracture | None) -> None:
        self.body, self.fracture = body, fracture
        self._sides: BoolArray | IntArray | None = None  # (n,) of a cut that is being opened

    # ------------------------------------------------------------------------ shape and attributes

    def renormalise(self, x: Array, chosen: BoolArray) -> None:
        """Make the present lengths of connections between ``chosen`` elements (n,) their rest lengths."""
        body, own = self.body, self.body.connections
        within: BoolArray = np.asarray(chosen[own.edges].all(axis=1))
        d = x[own.edges[:, 1]] - x[own.edges[:, 0]]
        now = np.sqrt(d[:, 0] * d[:, 0] + d[:, 1] * d[:, 1] + d[:, 2] * d[:, 2] + TINY)
        own.reset(np.where(within, now, own.lengths), within)
        body.reset_volumes(x, chosen)
        if body.flow is not None:
            body.flow.relax(x, chosen)
        if chosen.all():
            body.reference = x.copy()
        if body.flow is not None:
            body.flow.rebase()
        body.rest_shape_changed()
        body.mark_altered()

    def alter(self, chosen: BoolArray, changes: Mapping[str, float]) -> None:
        """Change attributes of the ``chosen`` elements (n,).

        stiffness and fracture-distance: factors on the connections between chosen elements; friction,
        strength [Pa] and damping [s]: of the chosen elements.
        """
        body, own = self.body, self.body.connections
        within = chosen[own.edges].all(axis=1)
        for name, value in changes.items():
            if name == "stiffness":
                own.own[within] *= value
                own.write()
                body.stiffen_cells(chosen, value)
            elif name == "fracture-distance" and isinstance(self.fracture, DistanceFracture):
                self.fracture.limit[within] *= value
            elif name == "strength" and isinstance(self.fracture, StressFracture):
                self.fracture.set_strength(chosen, value)
            elif name == "damping":
                body.set_damping(np.where(chosen, value, body.damping_time * body.dampness))
            elif name == "friction" and chosen.all():
                body.friction, body.roughness = value, np.ones(len(chosen))
            elif name == "friction" and body.friction > 0.0:
                body.roughness[chosen] = value / body.friction
            else:
                raise _cannot(name, bool(chosen.all()))
        body.mark_altered()

    def weld(self, x: Array, which: IntArray, places: Array) -> None:
        """Embed the surface points ``which`` (k,) at ``places`` (k, 3) [m]; a body whose surface is cut
        keeps its own."""
        body, own = self.body, self.body.connections
        carrier = body.structure.carrier
        if carrier is not body.origin.structure.carrier or not isinstance(carrier, EmbeddedSurface):
            return
        none = np.empty((0, 3), np.int64)
        made = carried_by_elements(Surface(places, none), x, body.structure.spacing, own.edges[own.intact])
        made = replace(made, surface=Surface(made.positions(body.structure.rest), none))
        body.origin.show(moved(carrier, which, made))
        carrier, extra = body.origin.structure.carrier, body.origin.extra()
        body.structure = replace(body.structure, carrier=carrier, extra=extra)
        body.mark_altered()

    # ------------------------------------------------------------------------------------- cuts

    def cut(self, x: Array, level: Array) -> bool:
        """Break the connections through the surface where ``level`` (n,) changes its sign."""
        return self.open_faces((level > 0.0).astype(np.int64))

    def mark_cut(self, x: Array, level: Array, past: Array | None = None) -> Array:
        """Remember a cut that will open bit by bit; rest positions of the elements beside it, where ``past``
        (n,) is not positive."""
        own = self.body.connections
        self._sides = sides = np.asarray(level > 0.0)
        across = own.intact & (sides[own.edges[:, 0]] != sides[own.edges[:, 1]])
        beside = np.unique(own.edges[across])
        return np.asarray(self.body.structure.rest[beside if past is None else beside[past[beside] <= 0.0]])

    def open_faces(
        self, sides: IntArray | None, where: BoolArray | None = None, x: Array | None = None
    ) -> bool:
        """Break connections between elements of different ``sides`` (n,), both of them ``where``; without
        ``sides``, those of the marked cut."""
        own = self.body.connections
        side = self._sides if sides is None else sides
        if side is None:
            return False
        across = own.intact & (side[own.edges[:, 0]] != side[own.edges[:, 1]])
        if where is not None:
            across &= where[own.edges].all(axis=1)
        if across.any():
            self.body.break_connections(np.flatnonzero(across))
        return bool(across.any())

    # --------------------------------------------------------------------------------- elements

    def remove(self, chosen: BoolArray) -> None:
        """Remove the ``chosen`` elements (n,), and their connections with them."""
        self._refuse_resampled("remove")
        self._keep(np.flatnonzero(~chosen))
        self.body.topology_version += 1

    def _refuse_resampled(self, action: str) -> None:
        if self.body.origin.resampled:
            raise IncompatibleError(
                f"action '{action}': the body has been resampled, and elements cannot be added to it or "
                "taken away any more.",
                hint="Add and remove elements before it is resampled.",
            )

    def add(self, region: Surface, x: Array, v: Array) -> None:
        """Fill ``region`` with elements, connected to each other and to those that they touch."""
        self._refuse_resampled("add")
        body, n = self.body, len(x)
        filling = fill_region(region, body.structure, x, v)
        growth = filling.growth
        places = np.concatenate([x, filling.newcomers.x])
        growth = replace(growth, shown=self._surface_around(region, places, growth, x))
        more = growth.rest if filling.fits else filling.newcomers.x
        if body.flow is not None and not filling.fits:
            body.flow.change_reference(x)
        body.reference = np.concatenate([body.reference if filling.fits else x, more])
        self._grow(growth, filling.lengths, places)
        body.newcomers, body.parents = filling.newcomers, np.append(np.arange(n), filling.nearest)
        body.topology_version += 1

    def _surface_around(
        self, region: Surface, places: Array, growth: AddedElements, x: Array
    ) -> EmbeddedSurface | None:
        """The surface of what is added to a body at ``x``, embedded in elements at ``places``, in rest
        coordinates and in the numbers of all elements that ever were."""
        body, own = self.body, self.body.connections
        carrier, spacing, origin = body.structure.carrier, body.structure.spacing, body.origin
        if carrier is None:
            return None
        now = Surface(carrier.positions(x), carrier.surface.triangles)
        outer = outside_of(region, now, spacing)
        edges = np.concatenate([own.edges[own.intact], growth.edges])
        made = carried_by_elements(outer, places, spacing, edges)
        rest = made.positions(np.concatenate([body.structure.rest, growth.rest]))
        made = replace(made, surface=replace(outer, points=rest))
        first = len(origin.structure.rest)
        return renumbered(made, np.concatenate([origin.rows, np.arange(first, first + len(growth.rest))]))

    def _keep(self, kept: IntArray) -> None:
        connections = self.body.keep(kept)
        if self.fracture is not None:
            self.fracture.keep(kept, connections)
        self._sides = None if self._sides is None else self._sides[kept]

    def _grow(self, growth: AddedElements, lengths: Array, places: Array) -> None:
        order = self.body.grow(growth, lengths, places)
        if self.fracture is not None:
            self.fracture.grow(len(growth.rest), order)
        self._sides = None

    def take(self, body: LatticeBody, fracture: StressFracture | DistanceFracture | None) -> None:
        """Go on with another body."""
        self.body, self.fracture, self._sides = body, fracture, None

    # ---------------------------------------------------------------------------------- restart

    def rebuild(self, structure: Structure) -> None:
        """Add and remove elements until they are those of ``structure``, which a resumed run has stored."""
        body, edited = self.body, EditedLattice.of(structure)
        if edited is None:
            return
        for growth in edited.growths:
            body.reference = np.concatenate([body.reference, growth.rest])
            self._grow(growth, np.ones(len(growth.edges)), body.reference)
        if edited.shown is not None:
            body.origin.show(edited.shown)
        body.structure = replace(body.structure, extra=body.origin.extra())
        if edited.kept is not None:
            self._keep(edited.kept)
            fresh = np.flatnonzero(body.origin.rows >= body.origin.sampled)
            rest = body.structure.rest[fresh]
            body.newcomers = NewParticles(fresh, rest, np.zeros_like(rest))

    def state(self) -> dict[str, AnyArray]:
        return {} if self._sides is None else {"sides": self._sides}

    def restore(self, state: Mapping[str, AnyArray]) -> None:
        self._sides = state["sides"].copy() if "sides" in state else None
