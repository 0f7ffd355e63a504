"""Runtime of the fem model for one body: forces, stiffness, plasticity, fracture, fields."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from pliant.core.typing import AnyArray, Array, BoolArray, IntArray
from pliant.interfaces import (
    ChangingTopology,
    Cuttable,
    Damped,
    DiscreteGradient,
    EnergyTotals,
    FieldData,
    FractureStatistics,
    IncrementalFlow,
    Mechanics,
    SectionForce,
    StableStep,
    StepHook,
    StoredEnergy,
    Structure,
    Tangent,
    VolumetricTerm,
)
from pliant.models.critical_step import element_limit, explicit_limit
from pliant.models.fem import stiffness_product
from pliant.models.fem.elements import LinearTets, TetElements
from pliant.models.fem.plasticity import LargePlasticity, Plasticity, SmallPlasticity
from pliant.models.fem.quadratic import QuadraticTets
from pliant.models.fem.reference import ReferenceTets
from pliant.models.flow_trial import FlowLosses, FlowTrial
from pliant.models.tets import fields
from pliant.models.tets.fracture import TetFracture

if TYPE_CHECKING:
    from scipy.sparse import bsr_array

    from pliant.materials import ResolvedMaterial as Material
    from pliant.models.fem.model import Fem


class FemMechanics(Mechanics):
    """Forces, stiffness and fields of a body of tets: elements, a law, plasticity and fracture.

    Arrays are in the body's own numbering. Quadratic tets cannot be cut and do not crack; fields are per
    cell, of which a quadratic tet has eight.
    """

    field_names: tuple[str, ...] = (*fields.NAMES, "stress-averaged", "plastic")

    def __init__(self, structure: Structure, material: "Material", model: "Fem") -> None:
        self.material, self.model = material, model
        self.law, self._constants = model.constitutive, model.constants()
        self.inversion_safe = self.law.safe
        self.damping_time = material.damping or 0.0
        self._volumetric = True
        self._quickest: tuple[tuple[int, float], StableStep] | None = None
        self._plastic_heat = 0.0  # since the last report [J]
        self._set_up(structure)
        linear = isinstance(self.elements, LinearTets)
        self.fracture = TetFracture(structure, material, self._replace_body, linear and model.fracture)
        self.can_crack = self.fracture.cracking is not None
        self.books_fracture = model.rotation != "gram-schmidt"  # which has no energy
        self.components = {Cuttable: self.fracture, ChangingTopology: self.fracture}
        self.capabilities = frozenset(
            {Damped, Tangent, SectionForce, VolumetricTerm, StepHook, IncrementalFlow, ChangingTopology}
            | ({Cuttable} if linear else set())
            | (set() if model.rotation == "gram-schmidt" else {StoredEnergy, DiscreteGradient})
        )

    def _set_up(self, structure: Structure) -> None:
        """Make all that depends on the tets."""
        self.structure, material, model = structure, self.material, self.model
        flow = model.flow(material)
        printed = model.rotation == "gram-schmidt"
        full = printed or flow in ("small", "cairns") or model.anisotropic(material)
        self._frame = stiffness_product.ORTHONORMAL if printed else stiffness_product.POLAR
        self.elements: TetElements
        if model.elements == "quadratic":
            self.elements = QuadraticTets(
                structure, material, full, self.law, self._constants, flow is not None
            )
        else:
            averaged = model.locking == "averaged-pressure"
            rest = ReferenceTets(structure, material, full)
            self.elements = LinearTets(structure, rest, self.law, self._constants, averaged)
        self.plasticity: Plasticity | None = None
        if flow == "large":
            self.plasticity = LargePlasticity(self.elements.structure, material, self.elements.rest)
        elif flow is not None:
            own = self.elements
            self.plasticity = SmallPlasticity(own.structure, material, own.rest, self.law, flow == "cairns")
        self.recorded = self.plasticity.recorded if self.plasticity else ()
        variational = self.plasticity is not None and self.plasticity.variational
        self.flow_trial = FlowTrial(self.plasticity if variational else None, self._flow)
        if not self._volumetric:
            self.disable_volumetric_term()

    def _replace_body(self, structure: Structure, origin: IntArray | None) -> None:
        """Set up for a structure whose tets are parts of the old tets ``origin``, with their history."""
        before = self.plasticity
        self._set_up(structure)
        if before is not None and self.plasticity is not None and origin is not None:
            memory = before.cell_memory()
            self.plasticity.take_cell_memory({name: kept[origin] for name, kept in memory.items()})

    def disable_volumetric_term(self) -> None:
        """Leave the volumetric term out: a constraint on nodal volumes replaces it, and it would lock."""
        self._volumetric = False
        if not self.model.anisotropic(self.material):
            self.elements.drop_volumetric_term()

    # ---------------------------------------------------------------------------------- forces

    def add_elastic_forces(self, x: Array, out: Array) -> None:
        self.flow_trial.at(x)
        self.elements.integrate(x, True, False)
        self.elements.blocks.add_to(out)
        self.fracture.faces.add_forces(x, out)

    def energy(self, x: Array) -> float:
        """Elastic energy [J], that of cohesive faces included, during an implicit solve with the potential of
        the flow; the sum runs over fixed partitions, so any number of threads gives the same."""
        potential = self.flow_trial.at(x)
        return self.elements.integrate(x, False, True) + potential + self.fracture.faces.energy(x)

    def _flow(self, x: Array, dt: float, solved: bool) -> tuple[bool, FlowLosses]:
        assert self.plasticity is not None
        return self.elements.flow(self.plasticity, x, dt, solved)

    def begin_flow(self, dt: float) -> None:
        self.flow_trial.begin(dt)

    def leave_flow(self) -> None:
        self.flow_trial.leave()

    def end_flow(self, x: Array, dt: float) -> None:
        self._plastic_heat += self.flow_trial.end(x, dt)

    def add_forces_between(self, before: Array, after: Array, out: Array) -> None:
        self.elements.integrate_between(before, after)
        self.elements.blocks.add_to(out)
        self.fracture.faces.add_forces(0.5 * (before + after), out)  # their energy is a quadratic form

    def add_damping_forces(self, x: Array, v: Array, out: Array) -> None:
        self._add_product(stiffness_product.STRETCHED, x, -self.damping_time * v, out)

    def report_energy(self, totals: EnergyTotals) -> None:
        """Add the heat of plastic flow, and what cracks took, since the last call."""
        totals.plastic += self._plastic_heat
        totals.fracture += self.fracture.taken
        self._plastic_heat = self.fracture.taken = 0.0

    # ------------------------------------------------------------------------------- stiffness

    def _add_product(self, frame: int, x: Array, dx: Array, out: Array) -> None:
        self.elements.multiply(frame, x, -dx)
        self.elements.blocks.add_to(out)

    def add_stiffness_product(self, x: Array, dx: Array, out: Array) -> None:
        """Add ``K dx`` with the warped stiffness: symmetric, positive semi-definite, exact at rest.

        It leaves out the stiffness that present stresses bring (see ``stiffness_product.py``).
        """
        self._add_product(self._frame, x, dx, out)
        if len(self.fracture.faces):
            resisting = np.zeros_like(out)
            self.fracture.faces.add_forces(dx, resisting)
            out -= resisting

    def rest_stiffness(self) -> "bsr_array":
        """The stiffness matrix at rest (3n, 3n) [N/m], in 3x3 blocks."""
        return self.elements.rest_stiffness(len(self.structure.rest))

    def stable_step(self) -> StableStep:
        """That of the rest shape; half of it where the rest shape may flow, which makes tets slender. Where
        the body may break, that of the quickest tet alone, which holds for all pieces."""
        if self.can_crack:
            limit = self._limit_with_faces(self._limit_of_tets())
        else:
            limit = explicit_limit(self, self.structure, self.damping_time)
        if isinstance(self.plasticity, LargePlasticity):
            return StableStep(0.5 * limit.seconds, f"{limit.reason}, halved for plastic flow")
        return limit

    def _limit_with_faces(self, tets: StableStep) -> StableStep:
        """The stable step where faces of cracks still hold, as stiff as they are now."""
        frequency = self.fracture.faces.frequency(self.structure.mass)
        if frequency == 0.0:
            return tets
        seconds = 1.0 / np.sqrt(1.0 / tets.seconds**2 + 0.25 * frequency**2)
        return StableStep(float(seconds), f"{tets.reason}, and faces of cracks that hold")

    def _limit_of_tets(self) -> StableStep:
        """That of the quickest tet; found again only where tets were subdivided, not where they separated."""
        made_for = (len(self.elements.nodes), self.damping_time)
        if self._quickest is None or self._quickest[0] != made_for:
            limit = element_limit(self.elements.stiffness(), self.structure, self.damping_time)
            self._quickest = (made_for, limit)
        return self._quickest[1]

    # ------------------------------------------------------------------------- history and fields

    def after_step(self, time: float, dt: float, x: Array, v: Array) -> bool:
        """Plastic flow and cracks over the step that ended at ``time``; True where forces changed."""
        flowed = False
        if self.plasticity is not None and not self.flow_trial.take_committed():
            large = isinstance(self.plasticity, LargePlasticity)
            before = self.energy(x) if large else 0.0  # their loss is exact for small strains alone
            flowed, losses = self._flow(x, dt, False)
            self._plastic_heat += before - self.energy(x) if large and flowed else losses[0]
        if isinstance(self.elements, LinearTets):
            stored = self.energy if self.books_fracture else None
            return self.fracture.crack(time, x, self.elements.nodal_stress, stored) or flowed
        return flowed

    def state(self) -> dict[str, AnyArray]:
        return {**(self.plasticity.state() if self.plasticity else {}), **self.fracture.state()}

    def restore(self, state: Mapping[str, AnyArray]) -> None:
        self.fracture.restore(state)
        if self.plasticity:
            self.plasticity.restore(state)

    def fracture_statistics(self) -> FractureStatistics:
        return self.fracture.statistics()

    def section_force(self, x: Array, above: BoolArray) -> dict[str, tuple[Array, float]]:
        """Forces of the elements that have particles on both sides of a section."""
        return {"elastic": self.elements.section_force(x, above)}

    def fields(self, x: Array, v: Array, names: Sequence[str]) -> dict[str, FieldData]:
        """Fields per cell, and the averaged stress per particle."""
        return _fields(self.structure, self.elements, self.plasticity, x, names)


def _cauchy(elements: TetElements, F: Array, x: Array) -> Array:
    """Cauchy stress ``P F^T / |J|`` of all cells (m, 3, 3) [Pa] with elastic deformation gradients F."""
    own = elements.owner(np.arange(len(F)))
    P = elements.first_piola(F, own, elements.pressures(x, own), elements.point(np.arange(len(F))))
    J = np.maximum(np.abs(np.linalg.det(F)), 1e-12)
    sigma = P @ F.transpose(0, 2, 1) / J[:, None, None]
    return np.asarray(0.5 * (sigma + sigma.transpose(0, 2, 1)))


def _averaged(structure: Structure, volumes: Array, values: Array) -> Array:
    """Means of ``values`` per tet (m, ...) over the tets around each particle by ``volumes``, (n, ...)."""
    weights, corners = np.repeat(volumes, 4), structure.cells["tetra"].ravel()
    shape = (len(structure.rest), *values.shape[1:])
    total, volume = np.zeros(shape), np.zeros(shape[0])
    np.add.at(volume, corners, weights)
    np.add.at(total, corners, np.einsum("m...,m->m...", np.repeat(values, 4, axis=0), weights))
    return np.asarray(np.einsum("n...,n->n...", total, 1.0 / volume))


def _fields(
    structure: Structure,
    elements: TetElements,
    plasticity: Plasticity | None,
    x: Array,
    names: Sequence[str],
) -> dict[str, FieldData]:
    """strain and inverted as in ``tet_fields``; stresses are Cauchy stresses of the model's law [Pa].

    stress: von Mises; stress-tensor (m, 3, 3); principal (m, 3), descending; stress-averaged: von Mises of
    the volume-weighted mean tensor around each particle; plastic: equivalent plastic strain.
    """
    tets = structure.cells["tetra"]
    cells = np.arange(len(tets))
    own, F = elements.owner(cells), elements.deformation(x, cells)
    lam, mu = (constant[own] for constant in elements.rest.lame)
    if plasticity is not None:  # strain counts from the first rest shape
        found = fields.tet_fields(x, structure.rest, tets, (lam, mu), names)
    else:
        found = fields.deformation_fields(F, (lam, mu), names)
    if "plastic" in names:
        values = np.zeros(len(cells))
        if plasticity is not None:
            each = plasticity.equivalent()
            values = each[own, np.minimum(elements.point(cells), each.shape[1] - 1)]
        found["plastic"] = FieldData(values, "cell")
    if not {"stress", "stress-tensor", "principal", "stress-averaged"}.isdisjoint(names):
        sigma = _cauchy(elements, F, x)
        found |= fields.stress_fields(sigma, names, "cell")
        if "stress-averaged" in names:
            mean = _averaged(structure, elements.cell_volumes, sigma)
            found["stress-averaged"] = FieldData(fields.von_mises(mean), "particle", "Pa")
    return found
