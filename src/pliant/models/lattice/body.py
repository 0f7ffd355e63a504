"""The state of one lattice body: elements, the connections between them, and which of them there are."""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from pliant.core.typing import AnyArray, Array, BoolArray, IntArray
from pliant.interfaces import NewParticles, Structure
from pliant.models.lattice import kernels
from pliant.models.lattice.add_material import AddedElements, connected_cells
from pliant.models.lattice.cut_carrier import SampledBody
from pliant.models.lattice.plastic_flow import PlasticFlow
from pliant.models.lattice.soft_connections import SofteningConnections
from pliant.models.lattice.stiffness import (
    compensation,
    connection_stiffness,
    lame_constants,
    lattice_axes,
    plain_stiffness,
)
from pliant.models.lattice.volume_cells import VolumeCells, mean_volumes
from pliant.models.springs.network import SpringNetwork, normal_inverses
from pliant.structure.samplers.voxels import intact, swept_triangles

if TYPE_CHECKING:
    from pliant.materials import ResolvedMaterial as Material
    from pliant.models.lattice.model import Lattice


class LatticeBody:
    """Elements and connections of a body, shared by its mechanics, its fracture criterion and its editor.

    reference (n, 3) [m]: the shape in which the directions of connections are taken for strains;
    whole: cells before any connection broke; ``structure`` lists those that are left.
    friction, roughness (n,): coefficient of the body, and the factor of each element on it;
    damping_time [s], dampness (n,): stiffness damping of the body, and the share of each element in it.
    altered: whether anything differs from what the sampler and the material gave; recorded: the names of
    ``state`` that frames need. topology_version rises when connections break and elements come or go;
    parents (n,) and newcomers tell how the present elements follow from those of the version before.
    """

    def __init__(self, structure: Structure, material: "Material", model: "Lattice") -> None:
        self.structure, self.material, self.model = structure, material, model
        n, edges = len(structure.rest), structure.cells["edge"]
        lengths = np.linalg.norm(structure.rest[edges[:, 1]] - structure.rest[edges[:, 0]], axis=1)
        self.lam, self.mu = lame_constants(material.young, material.poisson)
        self.connection_young = 2.5 * self.mu if model.rule == "calibrated" else material.young
        stiffness = connection_stiffness(structure, self.connection_young, model.rule, model.compensate)
        self.connections = SpringNetwork(edges, lengths, stiffness, n)
        self.softening = SofteningConnections(self.connections)
        self.crack_area = 0.0  # of cracks and cuts, in the rest shape [m2]
        self.reference, self.whole = structure.rest, structure.cells
        self.volume_cells: VolumeCells | None = None
        self._make_cells(structure.rest)
        self.origin = SampledBody(structure)
        self.friction, self.roughness = material.friction, np.ones(n)
        self.damping_time, self.dampness = material.damping or 0.0, np.ones(n)
        self.altered = False
        self.recorded: tuple[str, ...] = () if material.yield_ is None else ("lengths",)
        self.topology_version, self.parents = 0, np.arange(n)
        self.newcomers: NewParticles | None = None
        self._inverse: Array | None = None
        self._spans = np.ones(len(edges))  # of material that connections and cells stand for [spacings]
        self.clamped: list[
            tuple[IntArray, Array]
        ] = []  # elements that stand for a face, and how far it is [m]
        self._cell_spans = np.ones(0 if self.volume_cells is None else len(self.volume_cells.cells))
        self.flow = None if material.yield_ is None or not len(edges) else PlasticFlow(self)

    # -------------------------------------------------------------------------------- strain

    def strains(self, x: Array) -> Array:
        """Least-squares strains of all elements (n, 6), in the axes of the reference."""
        own = self.connections
        if self._inverse is None:
            every = np.arange(len(x))
            self._inverse = normal_inverses(own.table, own.bearing, self.reference, every)
        return kernels.element_strains(own.table, own.lengths, own.bearing, self.reference, self._inverse, x)

    @property
    def spans(self) -> Array:
        """Material (m,) that connections stand for [spacings]."""
        return self._spans

    @property
    def cell_spans(self) -> Array:
        """Material (c,) that cells stand for [spacings]."""
        return self._cell_spans

    def leave_strain(self, which: IntArray) -> None:
        """Take connections that soften or have broken out of the strains of their elements."""
        own = self.connections
        if self._inverse is not None and len(which):
            ends = np.unique(own.edges[which])
            self._inverse[ends] = normal_inverses(own.table, own.bearing, self.reference, ends)

    # ------------------------------------------------------------------------- volume terms

    def _make_cells(self, places: Array, old: IntArray | None = None) -> None:
        """Give all whole cubes a volume term. Those of ``old`` (c, 8), the present cells in the numbers of
        now, keep their rest volumes and factors; the others are at rest at ``places`` (n, 3)."""
        cubes, before = self.whole["hexahedron"], self.volume_cells
        if not len(cubes):
            self.volume_cells = None
            return
        bulk = self.lam - self.mu if self.model.rule == "calibrated" else 0.0
        volumes, factors = mean_volumes(places, cubes), np.ones(len(cubes))
        if before is not None and old is not None and len(old):
            name = np.dtype((np.void, 64))
            own, was = (np.ascontiguousarray(np.sort(c, axis=1)).view(name).ravel() for c in (cubes, old))
            order = np.argsort(was)
            place = order[np.minimum(np.searchsorted(was[order], own), len(was) - 1)]
            known = was[place] == own
            volumes[known], factors[known] = before.volumes[place[known]], before.factors[place[known]]
        self.volume_cells = VolumeCells(cubes, volumes, bulk, self.material.young, len(self.structure.rest))
        self.volume_cells.factors = factors
        self.find_damage()

    def find_damage(self) -> None:
        """Give all cells the damage of their connections."""
        cells, own = self.volume_cells, self.connections
        if cells is not None:
            cells.damage = np.zeros(len(cells.cells))
            if len(self.softening.which) or not own.intact.all():
                cells.damage = self._damages()[cells.connections(own.edges)].max(axis=1)
            cells.write()

    def _damages(self) -> Array:
        """Damage (m,) of all connections."""
        found = (~self.connections.intact).astype(float)
        found[self.softening.which] = self.softening.damage
        return found

    def damage_cells(self, which: IntArray, x: Array) -> float:
        """Give the cells around the connections ``which`` their present damage; returns the energy that this
        takes at ``x`` [J]."""
        cells, own = self.volume_cells, self.connections
        if cells is None or not len(which):
            return 0.0
        table = cells.connections(own.edges)
        mark = np.zeros(len(own.edges), bool)
        mark[which] = True
        near = np.flatnonzero(mark[table].any(axis=1))
        damage = self._damages()[table[near]].max(axis=1) if len(near) else np.zeros(0)
        return cells.take_damage(near, damage, x)

    def connection_energy(self, which: IntArray, x: Array) -> float:
        """Energy [J] of whole connections ``which`` at ``x``."""
        own = self.connections
        i, j = own.edges[which].T
        stretch = np.linalg.norm(x[j] - x[i], axis=1) - own.lengths_of(which)
        return float(0.5 * own.own[which] @ stretch**2)

    def reset_volumes(self, x: Array, chosen: BoolArray) -> None:
        """Make the present volumes of cells of ``chosen`` elements (n,) their rest volumes."""
        cells = self.volume_cells
        if cells is not None:
            within = chosen[cells.cells].all(axis=1)
            cells.volumes = np.where(within, mean_volumes(x, cells.cells), cells.volumes)
            cells.write()

    def stiffen_cells(self, chosen: BoolArray, factor: float) -> None:
        """Multiply the stiffness of cells of ``chosen`` elements (n,) by ``factor``."""
        if self.volume_cells is not None:
            self.volume_cells.factors[chosen[self.volume_cells.cells].all(axis=1)] *= factor
            self.volume_cells.write()

    def lengthen_spans(self, held: IntArray, distance: float) -> None:
        r"""Let the connections between the elements ``held`` and the others, and the cells around them, stand
        for ``distance`` spacings of material more: springs in series of s spacings have :math:`k / s`."""
        mark = np.zeros(len(self.structure.rest), bool)
        mark[held] = True
        own, cells = self.connections, self.volume_cells
        longer = self._spans + distance * (mark[own.edges[:, 0]] != mark[own.edges[:, 1]])
        own.own *= self._spans / longer
        self._spans = longer
        own.write()
        if cells is not None:
            inside = mark[cells.cells]
            longer = self._cell_spans + distance * (inside.any(axis=1) & ~inside.all(axis=1))
            cells.factors *= self._cell_spans / longer
            self._cell_spans = longer
            cells.write()

    # ---------------------------------------------------------------------------- attributes

    def mark_altered(self) -> None:
        """Raise the version for a change of attributes; the elements stay the same."""
        self.altered = True
        self.parents, self.newcomers = np.arange(len(self.structure.rest)), None
        self.topology_version += 1

    def rest_shape_changed(self) -> None:
        """Forget what follows from the reference, and record it with the frames from now on."""
        self._inverse, self.altered, self.recorded = None, True, ("lengths", "reference")

    def set_damping(self, times: Array) -> None:
        """Give each element a damping time (n,) [s]; a connection takes the mean of its ends'."""
        self.damping_time = float(times.max())
        even = bool((times == times[0]).all())
        self.dampness = np.ones(len(times)) if even else times / self.damping_time
        self.share_damping()

    def share_damping(self) -> None:
        """Hand the shares of the elements in the damping on to the connections."""
        own, even = self.connections, bool((self.dampness == 1.0).all())
        own.damp(None if even else np.asarray(self.dampness[own.edges].mean(axis=1)))

    # ------------------------------------------------------------------------------ topology

    def break_connections(self, which: IntArray) -> None:
        """Break connections, and take them out of the structure that contact and pictures see."""
        own = self.connections
        own.break_(which)
        self.softening.drop(which)
        self.leave_strain(which)
        self.crack_area += self._area_of(which)
        self.update_structure()
        self.topology_version += 1

    def _area_of(self, which: IntArray) -> float:
        """Area [m2] of a plane that goes through just the connections ``which``: each of those along an axis
        of the lattice stands for a square across it."""
        edges, rest, a = self.connections.edges[which], self.structure.rest, self.structure.spacing
        d = rest[edges[:, 1]] - rest[edges[:, 0]]
        d = d[np.linalg.norm(d, axis=1) < 1.1 * a]
        along = np.abs(np.rint(d @ lattice_axes(d) / a)).sum(axis=0)
        return float(a * a * np.linalg.norm(along))

    def update_structure(self) -> None:
        """Give the structure the present connections, cells, swept surface and carrier."""
        own, whole, n = self.connections, self.whole, len(self.structure.rest)
        cubes, quads = (intact(whole[name], own.edges, ~own.intact, n) for name in ("hexahedron", "quad"))
        edges = own.edges[own.intact]
        triangles = swept_triangles(cubes, quads, edges, n)
        cells = {"edge": edges, "hexahedron": cubes, "quad": quads, "triangle": triangles}
        carrier = self.origin.carrier(own.edges, own.intact)
        self.structure = replace(self.structure, cells=cells, carrier=carrier)
        self.parents, self.newcomers = np.arange(n), None

    def _reconnect(
        self, connections: SpringNetwork, intact: BoolArray, lengths: Array, number: IntArray
    ) -> None:
        """Take other connections, with the rest ``lengths`` [m] that they have now; ``number``: those of the
        present ones among them, or -1."""
        connections.intact = intact
        connections.write(lengths)
        self.connections = connections
        self.softening.renumber(connections, number)
        self.rest_shape_changed()

    def keep(self, kept: IntArray) -> IntArray:
        """Continue with the elements ``kept`` alone; the numbers of the connections that are left."""
        own, structure, n = self.connections, self.structure, len(self.structure.rest)
        name = np.full(n, -1)
        name[kept] = np.arange(len(kept))
        left = np.flatnonzero((name[own.edges] >= 0).all(axis=1))
        fewer = SpringNetwork(name[own.edges[left]], own.born[left], own.own[left], len(kept))
        number = np.full(len(own.edges), -1)
        number[left] = np.arange(len(left))
        self._reconnect(fewer, own.intact[left].copy(), own.lengths[left], number)
        self.reference, self.roughness = self.reference[kept], self.roughness[kept]
        self.dampness = self.dampness[kept]
        self.share_damping()
        self.whole = {key: name[c[(name[c] >= 0).all(axis=1)]] for key, c in self.whole.items()}
        old = None if self.volume_cells is None else name[self.volume_cells.cells]
        self.origin.keep(kept)
        self.structure = replace(
            structure, rest=structure.rest[kept], mass=structure.mass[kept], groups={},
            extra=self.origin.extra(),
        )  # fmt: skip
        if self.flow is not None:
            self.flow.keep(kept)
        self.update_structure()
        self._make_cells(self.reference, old)
        self.parents = kept
        return left

    def grow(self, growth: AddedElements, lengths: Array, places: Array) -> IntArray:
        """Continue with the elements of ``growth`` too, whose connections have the rest ``lengths`` [m] and
        whose cells are at rest at ``places`` (n, 3); the order (m,) in which the present connections follow
        from the old ones and then the new ones."""
        own, structure, model = self.connections, self.structure, self.model
        a, material, count = structure.spacing, self.material, len(growth.rest)
        rest = np.concatenate([structure.rest, growth.rest])
        edges = np.concatenate([own.edges, growth.edges])
        order = np.lexsort((edges[:, 1], edges[:, 0]))
        edges = edges[order]
        stiffness = np.append(own.own, plain_stiffness(lengths, a, self.connection_young, model.rule))[order]
        if model.compensate and model.rule == "calibrated":
            before = np.append(compensation(own.edges, structure.rest, a), np.ones(len(lengths)))
            stiffness *= compensation(edges, rest, a) / before[order]
        more = SpringNetwork(edges, np.append(own.born, lengths)[order], stiffness, len(rest))
        whole = np.append(own.intact, np.ones(len(lengths), bool))[order]
        number = np.empty(len(order), np.int64)
        number[order] = np.arange(len(order))
        self._reconnect(more, whole, np.append(own.lengths, lengths)[order], number)
        self.roughness = np.append(self.roughness, np.ones(count))
        self.dampness = np.append(self.dampness, np.full(count, np.median(self.dampness)))
        self.share_damping()
        self.whole = connected_cells(rest, edges, a)
        self.origin.grow(growth)
        mass = np.append(structure.mass, np.full(count, material.density * a**3))
        self.structure = replace(structure, rest=rest, mass=mass, extra=self.origin.extra())
        if self.flow is not None:
            self.flow.grow(count)
        self.update_structure()
        self._make_cells(places, None if self.volume_cells is None else self.volume_cells.cells)
        return order

    # ------------------------------------------------------------------------------- restart

    def state(self) -> dict[str, AnyArray]:
        own = self.connections
        found: dict[str, AnyArray] = {
            "version": np.array(self.topology_version),
            "intact": own.intact,
            "lengths": own.lengths[own.intact],
            "crack-area": np.array(self.crack_area),
            **self.softening.state(),
            **({} if self.flow is None else self.flow.state()),
        }
        if self.altered:
            found |= {"reference": self.reference, "born": own.born, "stiffness": own.own}
            found |= {"body": np.array([self.damping_time, self.friction]), "roughness": self.roughness}
            found["dampness"] = self.dampness
            if self.volume_cells is not None:
                found |= {"volumes": self.volume_cells.volumes, "volume-factors": self.volume_cells.factors}
        return found

    def restore(self, state: Mapping[str, AnyArray]) -> None:
        own, version = self.connections, int(state["version"])
        own.intact = state["intact"].copy()
        self._inverse = None
        if "reference" in state:
            self.rest_shape_changed()
            self.reference = state["reference"].copy()
        if "stiffness" in state:
            own.own = state["stiffness"].copy()
            own.reset(state["born"].copy(), np.ones(len(own.edges), bool))
            self.damping_time, self.friction = (float(value) for value in state["body"])
            self.roughness, self.dampness = state["roughness"].copy(), state["dampness"].copy()
            self.share_damping()
        if "volumes" in state and self.volume_cells is not None:
            self.volume_cells.volumes = state["volumes"].copy()
            self.volume_cells.factors = state["volume-factors"].copy()
        lengths = own.lengths
        lengths[own.intact] = state["lengths"]
        own.write(lengths)
        if self.flow is not None:
            self.flow.restore(state)
        self.crack_area = float(state["crack-area"])
        self.softening.restore(state)
        self.find_damage()
        if version != self.topology_version:
            self.update_structure()
            self.topology_version = version
