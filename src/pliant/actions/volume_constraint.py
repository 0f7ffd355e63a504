"""Volume kept by projection: of a body, of every particle's share, or of every tet (compliant)."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np
from pydantic import Field, model_validator

from pliant.actions.base import Timed
from pliant.errors import IncompatibleError
from pliant.parameters import parameters
from pliant.protocols import Acting
from pliant.selection import BodyRef
from pliant.typing import AnyArray, Vector
from pliant.units import Number

if TYPE_CHECKING:
    from pliant.simulation.world import Part, World


@parameters
class VolumeConstraint(Timed):
    r"""Keeps the volume of a body.

    per = "body": the volume inside its surface, :math:`V = \tfrac16 \sum \det(r_1, r_2, r_3)`
    ([Everts2006]_ 3.3). With :math:`B = dV/dr`, each step moves particles by
    :math:`\Delta r = -M^{-1} B^T \lambda`, :math:`\lambda = (V - V_0) / (B M^{-1} B^T)`, again and again until
    the exact volume is within ``tolerance``. Differs: the printed feedback, eq. (3.20), never reaches zero
    error and diverges for g >= 2/3; ``feedback = "everts"`` keeps it, with ``gain`` g, for the record.

    per = "node": a quarter of the volumes of the tets around each particle, for every particle; a sparse
    system solved by conjugate gradients each step (default tolerance 1e-5).

    per = "tet": every tet, compliant: ``compliance`` is the share of a volume error that a sweep leaves
    standing; exact constraints on all tets would lock the body.
    """

    kind: ClassVar[str] = "volume-constraint"

    body: BodyRef = None
    per: Literal["body", "node", "tet"] = "body"
    tolerance: Number | None = Field(default=None, gt=0)
    feedback: Literal["exact", "everts"] = "exact"
    gain: Number = Field(default=0.3, gt=0)
    compliance: Number = Field(default=0.5, gt=0, lt=1)
    sweeps: int = Field(default=4, ge=1)

    @model_validator(mode="after")
    def _keys_that_apply(self) -> "VolumeConstraint":
        if self.feedback == "everts" and self.per != "body":
            raise ValueError('feedback = "everts" belongs to per = "body"')
        return self

    def prepare(self, world: "World", up: Vector) -> Acting:
        parts = world.parts_named(self.body, "action 'volume-constraint'")
        for part in parts:
            if "tetra" not in part.structure.cells:
                raise IncompatibleError(f"action 'volume-constraint': body '{part.name}' is not made of tets.")
        return self.windowed(KeptVolume(parts, self))


class KeptVolume(Acting):
    """The constraint at work; what it remembers makes its solves start near the answer."""

    constrains = True

    def __init__(self, parts: list["Part"], options: VolumeConstraint) -> None:
        from pliant.actions.volume_kernels import BodyVolume, NodeVolumes, TetVolumes

        makers = {"body": BodyVolume, "node": NodeVolumes, "tet": TetVolumes}
        self.parts = parts
        self.solvers = [makers[options.per](part.structure, options) for part in parts]

    def project(self, time: float, dt: float, world: "World") -> None:
        for part, solver in zip(self.parts, self.solvers, strict=True):
            rows = part.rows
            solver.project(
                world.x[rows], world.v[rows], world.inverse_mass[rows], dt, world.constraint[rows]
            )

    def state(self) -> dict[str, AnyArray]:
        return {f"{k}": solver.memory for k, solver in enumerate(self.solvers)}

    def restore(self, state: Mapping[str, AnyArray]) -> None:
        for k, solver in enumerate(self.solvers):
            solver.memory = np.array(state[f"{k}"])


