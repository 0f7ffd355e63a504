"""Elements of a body that come and go while it runs."""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from pliant.core.typing import Array, BoolArray, IntArray
from pliant.embedding.barycentric import EmbeddedSurface
from pliant.embedding.framed import renumbered
from pliant.embedding.mls import carried_by_elements
from pliant.interfaces import Mechanics, NewParticles, StableStep, Structure
from pliant.mesh.mesh import Surface
from pliant.models.lattice.add_material import AddedElements, connected_cells, fill_region, outside_of
from pliant.models.lattice.cut_carrier import SampledBody
from pliant.models.lattice.fracture import DistanceFracture, StressFracture
from pliant.models.lattice.stiffness import compensation, plain_stiffness
from pliant.models.springs.network import SpringNetwork

if TYPE_CHECKING:
    from pliant.materials import ResolvedMaterial as Material
    from pliant.models.lattice.model import Lattice


class LatticeTopology(Mechanics):
    """What mechanics of elements inherit so that elements may come and go."""

    structure: Structure
    material: "Material"
    model: "Lattice"
    connections: SpringNetwork
    fracture: StressFracture | DistanceFracture | None
    origin: SampledBody
    whole: Mapping[str, IntArray]
    reference: Array
    roughness: Array
    dampness: Array
    damping_time: float
    friction: float
    altered: bool
    recorded: tuple[str, ...]
    topology_version: int
    parents: IntArray
    newcomers: NewParticles | None
    _sides: BoolArray | None
    _inverse: Array | None
    _stable: tuple[float, StableStep] | None

    @abstractmethod
    def break_connections(self, which: IntArray) -> None:
        """Break connections."""

    @abstractmethod
    def _publish(self) -> None:
        """Give the structure its present connections and surface, and raise the version."""

    def _share_damping(self) -> None:
        own, even = self.connections, bool((self.dampness == 1.0).all())
        own.damp(None if even else np.asarray(self.dampness[own.edges].mean(axis=1)))

    def remove(self, chosen: BoolArray) -> None:
        """Take elements away, and their connections with them."""
        self._keep(np.flatnonzero(~chosen))
        self.topology_version += 1

    def _keep(self, kept: IntArray) -> None:
        """Go on with the elements ``kept`` alone."""
        own, structure, n = self.connections, self.structure, len(self.structure.rest)
        name = np.full(n, -1)
        name[kept] = np.arange(len(kept))
        whole = (name[own.edges] >= 0).all(axis=1)
        lengths = own.lengths[whole]
        fewer = SpringNetwork(name[own.edges[whole]], own.born[whole], own.own[whole], len(kept))
        fewer.intact = own.intact[whole].copy()
        fewer.write(lengths)
        if self.fracture is not None:
            self.fracture.keep(kept, np.flatnonzero(whole))
        self.connections, self._inverse, self.altered = fewer, None, True  # fewer are no stiffer
        self.recorded = ("lengths", "reference")
        self.reference, self.roughness = self.reference[kept], self.roughness[kept]
        self.dampness = self.dampness[kept]
        self._share_damping()
        self._sides = None if self._sides is None else self._sides[kept]
        self.whole = {key: name[c[(name[c] >= 0).all(axis=1)]] for key, c in self.whole.items()}
        self.origin.keep(kept)
        version = self.topology_version
        self.structure = replace(
            structure, rest=structure.rest[kept], mass=structure.mass[kept], groups={},
            extra={**structure.extra, "kept": self.origin.rows},
        )  # fmt: skip
        self._publish()
        self.topology_version, self.parents = version, kept

    def add(self, region: "Surface", x: Array, v: Array) -> None:
        """Fill ``region`` with elements, connected to each other and to those that they touch."""
        filling = fill_region(region, self.structure, x, v)
        growth, n = filling.growth, len(x)
        places = np.concatenate([x, filling.newcomers.x])
        growth = replace(growth, shown=self._around(region, places, growth, x))
        more = growth.rest if filling.fits else filling.newcomers.x
        self.reference = np.concatenate([self.reference if filling.fits else x, more])
        self._grow(growth, filling.lengths)
        self.newcomers, self.parents = filling.newcomers, np.append(np.arange(n), filling.nearest)
        self.topology_version += 1

    def _around(
        self, region: "Surface", places: Array, growth: AddedElements, x: Array
    ) -> EmbeddedSurface | None:
        """The surface of what is added to a body at ``x``, as the elements carry it from their ``places`` on,
        in rest coordinates and in the numbers of all elements that ever were."""
        carrier, own = self.structure.carrier, self.connections
        if carrier is None:
            return None
        now = Surface(carrier.positions(x), carrier.surface.triangles)
        outer = outside_of(region, now, self.structure.spacing)
        edges = np.concatenate([own.edges[own.intact], growth.edges])
        made = carried_by_elements(outer, places, self.structure.spacing, edges)
        rest = made.positions(np.concatenate([self.structure.rest, growth.rest]))
        made = replace(made, surface=replace(outer, points=rest))
        rows = self.origin.rows
        first = len(self.origin.structure.rest)
        return renumbered(made, np.concatenate([rows, np.arange(first, first + len(growth.rest))]))

    def _grow(self, growth: AddedElements, lengths: Array) -> None:
        """Go on with the elements of ``growth`` too, whose connections have rest ``lengths``."""
        own, structure, model = self.connections, self.structure, self.model
        a, material = structure.spacing, self.material
        rest = np.concatenate([structure.rest, growth.rest])
        edges = np.concatenate([own.edges, growth.edges])
        order = np.lexsort((edges[:, 1], edges[:, 0]))
        edges = edges[order]
        stiffness = np.append(own.own, plain_stiffness(lengths, a, material.young, model.rule))[order]
        if model.compensate and model.rule == "calibrated":
            before = np.append(compensation(own.edges, structure.rest, a), np.ones(len(lengths)))
            stiffness *= compensation(edges, rest, a) / before[order]
        more = SpringNetwork(edges, np.append(own.born, lengths)[order], stiffness, len(rest))
        more.intact = np.append(own.intact, np.ones(len(lengths), bool))[order]
        more.write(np.append(own.lengths, lengths)[order])
        self.connections, self._inverse, self._stable, self.altered = more, None, None, True
        self.recorded = ("lengths", "reference")
        count = len(growth.rest)
        if self.fracture is not None:
            assert material.strength is not None
            self.fracture.grow(count, order, material.strength)
        self.roughness = np.append(self.roughness, np.ones(count))
        self.dampness = np.append(self.dampness, np.full(count, np.median(self.dampness)))
        self._share_damping()
        self._sides = None
        self.whole = connected_cells(rest, edges, a)
        self.origin.grow(growth)
        extra = {**structure.extra, "kept": self.origin.rows}
        extra |= self.origin.arrays()
        mass = np.append(structure.mass, np.full(count, material.density * a**3))
        version = self.topology_version
        self.structure = replace(structure, rest=rest, mass=mass, extra=extra)
        self._publish()
        self.topology_version = version

    def rebuild(self, structure: Structure) -> None:
        """Take the elements that a resumed run had left, and those that had come."""
        self.structure = replace(self.structure, extra=structure.extra)
        for growth in AddedElements.read(structure.extra):
            self.reference = np.concatenate([self.reference, growth.rest])
            self._grow(growth, np.ones(len(growth.edges)))
        self.origin.read(structure.extra)
        if "kept" in structure.extra:
            self._keep(np.asarray(structure.extra["kept"], np.int64))
            fresh = np.flatnonzero(self.origin.rows >= self.origin.sampled)
            rest = self.structure.rest[fresh]
            self.newcomers = NewParticles(fresh, rest, np.zeros_like(rest))
