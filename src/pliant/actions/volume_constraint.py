"""Volume kept by projection: of a body, of every particle's share, or of every tet (compliant)."""

from collections.abc import Mapping
from typing import ClassVar, Literal

import numpy as np
from pydantic import Field, model_validator

from pliant.actions.base import TimeWindow
from pliant.core.errors import IncompatibleError
from pliant.core.parameters import parameters
from pliant.core.selection import BodyRef
from pliant.core.typing import AnyArray, Array, Vector
from pliant.core.units import Number
from pliant.interfaces import ActionRuntime, DisableVolumetricTerm, EnergyTotals, IndexMap, Projection
from pliant.state.world import BodyState, World


@parameters
class VolumeConstraint(TimeWindow):
    r"""Keeps the volume of a body.

    per = "body": the volume inside its surface, :math:`V = \tfrac16 \sum \det(r_1, r_2, r_3)`
    ([Everts2006]_ 3.3). With :math:`B = dV/dr`, each step moves particles by
    :math:`\Delta r = -M^{-1} B^T \lambda`, :math:`\lambda = (V - V_0) / (B M^{-1} B^T)`, again until
    the exact volume is within ``tolerance``. Differs: the published feedback, eq. (3.20), never reaches zero
    error and diverges for g >= 2/3; ``feedback = "everts"`` uses it, with ``gain`` g, for comparison.

    Meshless bodies keep the volume inside their embedded surface (per = "body" only).

    per = "node": a quarter of the volumes of the tets around each particle, for every particle; a sparse
    system solved by conjugate gradients each step (default tolerance 1e-5). Models with a volumetric term
    per tet leave it out then: shear modulus and incompressibility remain, Young's modulus is three times
    the shear modulus.

    per = "tet": every tet, compliant, as a stiff volumetric spring of 1/``compliance`` times the material's
    bulk modulus, solved implicitly by ``sweeps`` of Gauss-Seidel [MacklinMuellerChentanez2016]_; exact
    constraints on all tets would lock the body.

    For "body" and "node" the multipliers of a step stay on as forces in the next, which keeps velocities,
    reactions and the energy ledger right; each step solves for the change only.
    """

    kind: ClassVar[str] = "volume-constraint"

    body: BodyRef = None
    per: Literal["body", "node", "tet"] = "body"
    tolerance: Number | None = Field(default=None, gt=0)
    feedback: Literal["exact", "everts"] = "exact"
    gain: Number = Field(default=0.3, gt=0)
    compliance: Number = Field(default=0.1, gt=0)
    sweeps: int = Field(default=4, ge=1)

    @model_validator(mode="after")
    def _keys_that_apply(self) -> "VolumeConstraint":
        if self.feedback == "everts" and self.per != "body":
            raise ValueError('feedback = "everts" belongs to per = "body"')
        if self.per == "node" and (self.from_ > 0 or self.until is not None):
            raise ValueError('per = "node" acts all the time: from and until do not apply')
        return self

    def prepare(self, world: World, up: Vector) -> ActionRuntime:
        parts = world.bodies_named(self.body, "action 'volume-constraint'")
        for part in parts:
            if "tetra" in part.structure.cells:
                continue
            if part.model.kind != "efg":
                raise IncompatibleError(
                    f"action 'volume-constraint': body '{part.name}' has neither tets nor a meshless model."
                )
            if self.per != "body" or self.feedback != "exact":
                raise IncompatibleError(
                    f"action 'volume-constraint': body '{part.name}' has no tets: it is kept as a whole.",
                    hint='Use per = "body" with feedback = "exact".',
                )
        return self.windowed(VolumeConstraintRuntime(parts, self))


class VolumeConstraintRuntime(ActionRuntime):
    """Projects volumes each step, and keeps the multipliers as forces until the next.

    An exact constraint does no work by itself: between free and moving prescribed particles it transmits it.
    What it takes from free bodies over the run is numerical loss; what it would give them stays unexplained.
    """

    capabilities = frozenset({Projection})
    account = "numerical"
    applied_last = True

    def __init__(self, parts: list[BodyState], options: VolumeConstraint) -> None:
        from pliant.actions.carried_volume import CarriedVolume
        from pliant.actions.volume_projections import BodyVolume, NodeVolumes, TetVolumes

        makers = {"body": BodyVolume, "node": NodeVolumes, "tet": TetVolumes}
        if options.per == "node":
            self.requests = tuple(DisableVolumetricTerm(part) for part in parts)
        self.parts, self._made_for = parts, [part.structure for part in parts]
        self.solvers = [
            (makers[options.per] if "tetra" in part.structure.cells else CarriedVolume)(
                part.structure, part.material, options
            )
            for part in parts
        ]
        self._work = self._impulse_work = 0.0  # done so far, and by projections since the last booking [J]
        self._transmits = False  # whether prescribed particles moved in the last step

    def remap(self, change: IndexMap, world: World) -> None:
        for part, structure in zip(self.parts, self._made_for, strict=True):
            if part.structure is not structure:
                raise IncompatibleError(
                    f"action 'volume-constraint': body '{part.name}' has broken or was cut, which it cannot "
                    "follow.",
                    hint='Leave it out: locking = "averaged-pressure" of model "fem" keeps volume too.',
                )

    def begin(self, world: World, time: float) -> None:
        for part, solver in zip(self.parts, self.solvers, strict=True):
            solver.begin(world.x[part.rows])

    def add_forces(self, time: float, x: Array, v: Array, out: Array) -> None:
        for part, solver in zip(self.parts, self.solvers, strict=True):
            solver.add_forces(x[part.rows], out[part.rows])

    def potential_energy(self, x: Array) -> float:
        """``sum C^2 / 2 alpha`` [J] of compliant constraints; exact ones store nothing."""
        pairs = zip(self.parts, self.solvers, strict=True)
        return float(sum(solver.potential_energy(x[part.rows]) for part, solver in pairs))

    def project(self, time: float, dt: float, world: World) -> None:
        for part, solver in zip(self.parts, self.solvers, strict=True):
            rows = part.rows
            v, before = world.v[rows], world.v[rows].copy()
            solver.project(world.x[rows], v, world.inverse_mass[rows], dt)
            change, mass = v - before, world.mass[rows, None]
            mean = mass * (before + 0.5 * change) - 0.5 * dt * world.f[rows]  # mean momentum of two steps
            self._impulse_work += float(np.sum(change * mean))
            self._transmits = bool(np.any((world.inverse_mass[rows] == 0.0) & (before != 0.0)))

    def book(self, work: float, totals: EnergyTotals) -> None:
        lost = max(0.0, -self._work)
        if self._transmits:
            totals.work += work + self._impulse_work
        else:
            self._work += work + self._impulse_work
        self._impulse_work = 0.0
        totals.numerical += max(0.0, -self._work) - lost

    def state(self) -> dict[str, AnyArray]:
        kept = {f"{k}.{name}": a for k, s in enumerate(self.solvers) for name, a in s.state().items()}
        return {**kept, "work": np.array([self._work, self._impulse_work])}

    def restore(self, state: Mapping[str, AnyArray]) -> None:
        self._work, self._impulse_work = (float(value) for value in state["work"])
        for k, solver in enumerate(self.solvers):
            for name, array in solver.state().items():
                array[...] = state[f"{k}.{name}"]
