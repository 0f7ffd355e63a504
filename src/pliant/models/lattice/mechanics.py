"""The elements model at work on one body."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.core.typing import AnyArray, Array, BoolArray, IntArray
from pliant.interfaces import (
    ChangingTopology,
    ContactSurface,
    Cuttable,
    Damped,
    Editable,
    FieldData,
    NewParticles,
    SectionForce,
    StableStep,
    StepHook,
    StoredEnergy,
    Structure,
    Tangent,
    TopologyChange,
)
from pliant.models.critical_step import explicit_limit
from pliant.models.lattice import kernels
from pliant.models.lattice.cut_carrier import SampledBody
from pliant.models.lattice.editing import LatticeEditor
from pliant.models.lattice.fields import element_fields, nodal_rotations
from pliant.models.lattice.fracture import DistanceFracture, StressFracture
from pliant.models.lattice.stiffness import connection_stiffness
from pliant.models.springs import energies, stiffness_product
from pliant.models.springs.network import SpringNetwork, normal_inverses
from pliant.models.tets.stiffness import assemble
from pliant.structure.samplers.lattice_surface import intact, swept_triangles

if TYPE_CHECKING:
    from pliant.materials import ResolvedMaterial as Material
    from pliant.models.lattice.model import Lattice


class LatticeMechanics(LatticeEditor):
    """Forces of the connections, and the machine that breaks them and lets them flow.

    reference (n, 3): the shape in which the connections' directions are told, for strains;
    ``topology_version`` rises when connections break or are made (elements stay).
    """

    capabilities = frozenset(
        {StoredEnergy, Damped, Tangent, SectionForce, StepHook, Cuttable, Editable, ChangingTopology}
    )
    field_names = ("strain", "stress", "stress-tensor", "principal", "damage", "plastic")
    inversion_safe = True

    def __init__(self, structure: Structure, material: "Material", model: "Lattice") -> None:
        self.structure, self.material, self.model = structure, material, model
        self.damping_time = material.damping or 0.0
        self.radius = 0.5 * structure.spacing
        self.topology_version, self.parents = 0, np.arange(len(structure.rest))
        self.newcomers: NewParticles | None = None
        self.reference = structure.rest
        self.whole = structure.cells  # as sampled: cracks leave some of these out of ``structure``
        edges = structure.cells["edge"]
        lengths = np.linalg.norm(structure.rest[edges[:, 1]] - structure.rest[edges[:, 0]], axis=1)
        stiffness = connection_stiffness(structure, material.young, model.rule, model.compensate)
        self.connections = SpringNetwork(edges, lengths, stiffness, len(structure.rest))
        self.flows = material.yield_ is not None
        self.recorded: tuple[str, ...] = ("lengths",) if self.flows else ()
        self.friction, self.altered = material.friction, False
        self.roughness = np.ones(len(structure.rest))
        self.dampness = np.ones(len(structure.rest))  # shares of damping_time
        self.origin = SampledBody(structure)
        self._sides: BoolArray | None = None  # of a cut that is being opened
        self.fracture: StressFracture | DistanceFracture | None = None
        if material.strength is not None and len(edges):
            make = StressFracture if model.fracture == "stress" else DistanceFracture
            self.fracture = make(self, material.strength)
        self._inverse: Array | None = None
        self._stable: tuple[float, StableStep] | None = None  # for that damping time

    # ------------------------------------------------------------------------------------- forces

    def topology_change(self) -> TopologyChange:
        """The latest change: structure, and what its particles continue."""
        return TopologyChange(self.structure, self.parents, new=self.newcomers)

    def contact_surface(self) -> ContactSurface:
        return ContactSurface(self.radius, self.friction, self.roughness)

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
            run = (
                stiffness_product.spring_product_parallel
                if s.parallel
                else stiffness_product.spring_product_serial
            )
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

    def section_force(self, x: Array, above: BoolArray) -> dict[str, tuple[Array, float]]:
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
