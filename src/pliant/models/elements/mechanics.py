"""The elements model at work on one body."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.errors import IncompatibleError
from pliant.mesh.types import Surface
from pliant.models.elements import kernels
from pliant.models.elements.connections import Connections, normal_inverses
from pliant.models.elements.fields import element_fields, nodal_rotations
from pliant.models.elements.fracture import DistanceFracture, StressFracture
from pliant.models.elements.growth import Growth, connected_cells, fill_region, outside_of
from pliant.models.elements.stiffness import compensation, connection_stiffness, plain_stiffness
from pliant.models.elements.torn import Origin
from pliant.models.springs import energies, products
from pliant.models.springs.kernels import TINY
from pliant.models.stability import explicit_limit
from pliant.models.tet_stiffness import assemble
from pliant.protocols import FieldData, Newcomers, StableStep, Structure
from pliant.structure.carrier import EmbeddedSurface
from pliant.structure.framed import moved, renumbered
from pliant.structure.lattice_surface import intact, swept_triangles
from pliant.structure.nearby import carried_by_elements
from pliant.typing import AnyArray, Array, BoolArray, IntArray

if TYPE_CHECKING:
    from pliant.materials import Resolved as Material
    from pliant.models.elements.model import Elements


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


class ElementsMechanics:
    """Forces of the connections, and the machine that breaks them and lets them flow.

    reference (n, 3): the shape in which the connections' directions are told, for strains;
    ``topology_version`` rises when connections break or are made (elements stay).
    """

    field_names = ("strain", "stress", "stress-tensor", "principal", "damage", "plastic")
    inversion_safe = True

    def __init__(self, structure: Structure, material: "Material", model: "Elements") -> None:
        self.structure, self.material, self.model = structure, material, model
        self.damping_time = material.damping or 0.0
        self.radius = 0.5 * structure.spacing
        self.topology_version, self.parents = 0, np.arange(len(structure.rest))
        self.newcomers: Newcomers | None = None
        self.reference = structure.rest
        self.whole = structure.cells  # as sampled: cracks leave some of these out of ``structure``
        edges = structure.cells["edge"]
        lengths = np.linalg.norm(structure.rest[edges[:, 1]] - structure.rest[edges[:, 0]], axis=1)
        stiffness = connection_stiffness(structure, material.young, model.rule, model.compensate)
        self.connections = Connections(edges, lengths, stiffness, len(structure.rest))
        self.flows = material.yield_ is not None
        self.recorded: tuple[str, ...] = ("lengths",) if self.flows else ()
        self.friction, self.altered = material.friction, False
        self.roughness = np.ones(len(structure.rest))
        self.dampness = np.ones(len(structure.rest))  # shares of damping_time
        self.origin = Origin(structure)
        self._sides: BoolArray | None = None  # of a cut that is being opened
        self.fracture: StressFracture | DistanceFracture | None = None
        if material.strength is not None and len(edges):
            make = StressFracture if model.fracture == "stress" else DistanceFracture
            self.fracture = make(self, material.strength)
        self._inverse: Array | None = None
        self._stable: tuple[float, StableStep] | None = None  # for that damping time

    # ------------------------------------------------------------------------------------- forces

    def add_forces(self, x: Array, v: Array, out: Array) -> None:
        if self.connections.blocks is None:
            return
        self.connections.loops.add_forces(x, out)
        if self.damping_time:
            own = self.connections
            own.loops.add_damping(self.damping_time, x, v, out, own.damped)

    def energy(self, x: Array) -> float:
        """``sum k (l - L)^2 / 2`` [J]."""
        s = self.connections.blocks
        if s is None:
            return 0.0
        run = energies.energy_parallel if s.parallel else energies.energy_serial
        return float(run(s.starts, s.index, self.connections.rest, x, True))

    def dissipation(self, x: Array, v: Array) -> float:
        """``sum beta k (d l / d t)^2`` [W]."""
        if not self.damping_time or self.connections.blocks is None:
            return 0.0
        damping, own = np.zeros_like(x), self.connections
        own.loops.add_damping(self.damping_time, x, v, damping, own.damped)
        return -float(np.sum(damping * v))

    def add_stiffness_product(self, x: Array, dx: Array, out: Array) -> None:
        s = self.connections.blocks
        if s is not None:
            run = products.spring_product_parallel if s.parallel else products.spring_product_serial
            run(s.starts, s.low, s.offset, s.index, self.connections.rest, x, dx, s.buffer)
            s.add_to(out)

    def rest_stiffness(self) -> Any:
        """The stiffness matrix at rest (3n, 3n) [N/m], scipy BSR with 3x3 blocks."""
        own, rest = self.connections, self.reference
        d = rest[own.edges[:, 1]] - rest[own.edges[:, 0]]
        d /= np.linalg.norm(d, axis=1)[:, None]
        both = np.concatenate([-d, d], axis=1)
        k = np.where(own.intact, own.own, 0.0)
        return assemble(k[:, None, None] * both[:, :, None] * both[:, None, :], own.edges, len(rest))

    def nodal_rotations(self, x: Array) -> Array:
        return nodal_rotations(x, self.reference, self.connections)

    def stable_step(self) -> StableStep:
        if self.connections.blocks is None:
            return StableStep(float("inf"), "a lone element has no stiffness")
        if self._stable is None or self._stable[0] != self.damping_time:
            limit = explicit_limit(self, replace(self.structure, rest=self.reference), self.damping_time)
            self._stable = (self.damping_time, limit)
        return self._stable[1]

    def flux(self, x: Array, above: BoolArray) -> dict[str, tuple[Array, float]]:
        """Forces of the connections with ends on both sides of a cut."""
        own = self.connections
        i, j = own.edges[:, 0], own.edges[:, 1]
        cut = (above[i] != above[j]) & own.intact
        d = x[j[cut]] - x[i[cut]]
        length = np.linalg.norm(d, axis=1)
        pull = (own.own[cut] * (1.0 - own.lengths[cut] / length))[:, None] * d
        on_above = np.where(above[i[cut]][:, None], pull, -pull)
        return {"elastic": (on_above.sum(axis=0), float(np.linalg.norm(pull, axis=1).sum()))}

    # -------------------------------------------------------------------------- strain and fields

    def strains(self, x: Array) -> Array:
        """Least-squares strains of all elements (n, 6), in the axes of the reference."""
        own = self.connections
        if self._inverse is None:
            every = np.arange(len(x))
            self._inverse = normal_inverses(own.table, own.intact, self.reference, every)
        return kernels.element_strains(own.table, own.lengths, own.intact, self.reference, self._inverse, x)

    def fields(self, x: Array, v: Array, names: Sequence[str]) -> dict[str, FieldData]:
        return element_fields(self.strains(x), self.material.young, self.connections, names)

    # ---------------------------------------------------------------------------- state machine

    def after_step(self, time: float, dt: float, x: Array, v: Array) -> bool:
        """Let connections flow and break; True if the forces changed."""
        changed = self.flows and self._flow(dt, x)
        if self.fracture is not None:
            broken = self.fracture.step(time, x)
            if len(broken):
                self.break_connections(broken)
                changed = True
        return changed

    def _flow(self, dt: float, x: Array) -> bool:
        own, m, s = self.connections, self.material, self.connections.blocks
        if s is None:
            return False
        assert m.yield_ is not None
        share = 1.0 if m.creep is None else 1.0 - float(np.exp(-m.creep * dt))
        most = 0.9 if m.plastic_max is None else min(m.plastic_max, 0.9)
        strain = m.yield_ / m.young
        return kernels.flow(s.starts, s.index, own.rest, own.born_rows, strain, share, most, x) > 0

    def break_connections(self, which: IntArray) -> None:
        """Break connections, and take them out of the structure that contact and pictures see."""
        own = self.connections
        own.break_(which)
        if self._inverse is not None:
            ends = np.unique(own.edges[which])
            self._inverse[ends] = normal_inverses(own.table, own.intact, self.reference, ends)
        self._publish()

    def _publish(self) -> None:
        """Give the structure its present connections and swept surface, and raise the version."""
        own, whole, n = self.connections, self.whole, len(self.structure.rest)
        cubes, quads = (intact(whole[name], own.edges, ~own.intact, n) for name in ("hexahedron", "quad"))
        edges = own.edges[own.intact]
        triangles = swept_triangles(cubes, quads, edges, n)
        cells = {"edge": edges, "hexahedron": cubes, "quad": quads, "triangle": triangles}
        carrier = self.origin.carrier(own.edges, own.intact)
        self.structure = replace(self.structure, cells=cells, carrier=carrier)
        self.parents, self.newcomers = np.arange(n), None
        self.topology_version += 1

    # ------------------------------------------------------------------------------ operations

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

    def _share_damping(self) -> None:
        own, even = self.connections, bool((self.dampness == 1.0).all())
        own.damp(None if even else np.asarray(self.dampness[own.edges].mean(axis=1)))

    def _change(self) -> None:
        """Tell the loop that something changed that it cannot see."""
        self.altered = True
        self.parents, self.newcomers = np.arange(len(self.structure.rest)), None
        self.topology_version += 1

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
        fewer = Connections(name[own.edges[whole]], own.born[whole], own.own[whole], len(kept))
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

    def _around(self, region: "Surface", places: Array, growth: Growth, x: Array) -> EmbeddedSurface | None:
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

    def _grow(self, growth: Growth, lengths: Array) -> None:
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
        more = Connections(edges, np.append(own.born, lengths)[order], stiffness, len(rest))
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

    def rebuild(self, structure: Structure) -> None:
        """Take the elements that a resumed run had left, and those that had come."""
        self.structure = replace(self.structure, extra=structure.extra)
        for growth in Growth.read(structure.extra):
            self.reference = np.concatenate([self.reference, growth.rest])
            self._grow(growth, np.ones(len(growth.edges)))
        self.origin.read(structure.extra)
        if "kept" in structure.extra:
            self._keep(np.asarray(structure.extra["kept"], np.int64))
            fresh = np.flatnonzero(self.origin.rows >= self.origin.sampled)
            rest = self.structure.rest[fresh]
            self.newcomers = Newcomers(fresh, rest, np.zeros_like(rest))

    def cut(self, x: Array, level: Array) -> bool:
        """Break the connections through the surface where ``level`` (n,) changes its sign."""
        return self.part_faces((level > 0.0).astype(np.int64))

    def imprint(self, x: Array, level: Array, past: Array | None = None) -> Array:
        """Remember a cut that will open bit by bit; rest positions of the elements beside it, where ``past``
        (n,) is not positive."""
        own = self.connections
        self._sides = np.asarray(level > 0.0)
        across = own.intact & (self._sides[own.edges[:, 0]] != self._sides[own.edges[:, 1]])
        beside = np.unique(own.edges[across])
        return np.asarray(self.structure.rest[beside if past is None else beside[past[beside] <= 0.0]])

    def part_faces(self, sides: IntArray | None, where: BoolArray | None = None) -> bool:
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

    # ----------------------------------------------------------------------------------- restart

    def state(self) -> dict[str, AnyArray]:
        own = self.connections
        found: dict[str, AnyArray] = {
            "version": np.array(self.topology_version),
            "intact": own.intact,
            "lengths": own.lengths[own.intact],
        }
        if self.altered:
            found |= {"reference": self.reference, "born": own.born, "stiffness": own.own}
            found |= {"body": np.array([self.damping_time, self.friction]), "roughness": self.roughness}
            found["dampness"] = self.dampness
        if self.altered and self._stable is not None:
            found["stable"] = np.array([self._stable[0], self._stable[1].seconds])
        if self._sides is not None:
            found["sides"] = self._sides
        return found | (self.fracture.state() if self.fracture else {})

    def restore(self, state: Mapping[str, AnyArray]) -> None:
        own, version = self.connections, int(state["version"])
        own.intact = state["intact"].copy()
        if "reference" in state:
            self.altered, self.recorded = True, ("lengths", "reference")
            self.reference = state["reference"].copy()
        if "stiffness" in state:
            own.own = state["stiffness"].copy()
            own.reset(state["born"].copy(), np.ones(len(own.edges), bool))
            self.damping_time, self.friction = (float(value) for value in state["body"])
            self.roughness, self.dampness = state["roughness"].copy(), state["dampness"].copy()
            self._share_damping()
        lengths = own.lengths
        lengths[own.intact] = state["lengths"]
        own.write(lengths)
        if "stable" in state:  # measured when elements came, maybe before others broke
            damping, seconds = (float(value) for value in state["stable"])
            self._stable = damping, StableStep(seconds, "highest frequency when elements were added")
        self._sides = state["sides"].copy() if "sides" in state else None
        self._inverse = None
        if self.fracture:
            self.fracture.restore(state)
        if version != self.topology_version:
            self._publish()
            self.topology_version = version
