"""Plastic flow of lattice bodies: each element has a plastic deformation, which its connections follow."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from pliant.core.typing import AnyArray, Array, BoolArray, IntArray
from pliant.models.lattice import plastic_kernels

if TYPE_CHECKING:
    from pliant.models.lattice.body import LatticeBody


class PlasticFlow:
    r"""Plastic deformations ``deformation`` (n, 3, 3) with determinant one, so that flow keeps the volume.

    The rest length of a connection is :math:`L_0 |\bar F_p D| / |D|` and its stiffness goes with
    :math:`(L_0/L)^4`, which keeps the moduli of the body when it is stretched.
    """

    def __init__(self, body: "LatticeBody") -> None:
        self.body = body
        self.deformation: Array = np.tile(np.eye(3), (len(body.structure.rest), 1, 1))

    def step(self, dt: float, x: Array) -> float | None:
        """Let elements flow whose stress exceeds the yield stress; the energy [J] that this takes, None where
        nothing flows."""
        body, own, m = self.body, self.body.connections, self.body.material
        assert m.yield_ is not None
        share = 1.0 if m.creep is None else 1.0 - float(np.exp(-m.creep * dt))
        changed, bearing = np.zeros(len(x), bool), own.bearing
        plastic_kernels.element_flow[len(x) >= plastic_kernels.PARALLEL_ROWS](
            *own.table, bearing, body.reference, x, body.mu, m.yield_, share, m.plastic_max or 0.0,
            self.deformation, changed,
        )  # fmt: skip
        if not changed.any():
            return None
        heat = plastic_kernels.connection_flow(
            own.edges, body.reference, own.born, self.deformation, changed, bearing, *own.slots, own.rest,
            own.own, x,
        )  # fmt: skip
        if own.damped is not None:
            own.write()
        return float(heat)

    # ------------------------------------------------------------------------------------ editing

    def relax(self, x: Array, chosen: BoolArray) -> None:
        """Leave no elastic strain in the ``chosen`` elements (n,), whose rest shape is that at ``x``."""
        if chosen.all():
            self.deformation[:] = np.eye(3)
            return
        own, f, w = self.body.connections, np.empty((3, 3)), np.empty((3, 3, 3))
        for i in np.flatnonzero(chosen):
            spans = plastic_kernels.element_deformation(
                i, *own.table, own.bearing, self.body.reference, x, f, w
            )
            if spans and np.linalg.det(f) > 0.0:
                self.deformation[i] = f / np.cbrt(np.linalg.det(f))

    def rebase(self) -> None:
        """Take the present rest lengths of all connections for those that their elements' flow has led to."""
        own, reference = self.body.connections, self.body.reference
        i, j = own.edges.T
        d = reference[j] - reference[i]
        bent = np.einsum("mrk,mk->mr", 0.5 * (self.deformation[i] + self.deformation[j]), d)
        own.born = own.lengths * np.linalg.norm(d, axis=1) / np.linalg.norm(bent, axis=1)

    def keep(self, kept: IntArray) -> None:
        """Go on with these elements alone."""
        self.deformation = self.deformation[kept]

    def grow(self, count: int) -> None:
        """Take ``count`` more elements, which have not flowed; the body has their connections already."""
        self.deformation = np.concatenate([self.deformation, np.tile(np.eye(3), (count, 1, 1))])
        self.rebase()

    # ------------------------------------------------------------------------------------ restart

    def state(self) -> dict[str, AnyArray]:
        return {"plastic": self.deformation, "flow-stiffness": self.body.connections.own}

    def restore(self, state: Mapping[str, AnyArray]) -> None:
        """Continue from what ``state`` gave; the connections are restored already."""
        self.deformation = state["plastic"].copy()
        self.body.connections.own = state["flow-stiffness"].copy()
        self.body.connections.write()
