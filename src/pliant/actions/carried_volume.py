"""The volume inside the surface that phyxels carry, kept by projection."""

from typing import TYPE_CHECKING

import numpy as np

from pliant.actions.volume_projections import VolumeProjection, volume_and_gradient
from pliant.core.errors import IncompatibleError
from pliant.core.typing import AnyArray, Array
from pliant.embedding.barycentric import EmbeddedSurface
from pliant.interfaces import Structure

if TYPE_CHECKING:
    from pliant.actions.volume_constraint import VolumeConstraint
    from pliant.materials import ResolvedMaterial as Material

ROUNDS = 50


class CarriedVolume(VolumeProjection):
    r"""One constraint: the volume inside the surface of a meshless body.

    Points of the surface are fixed sums :math:`A x` of phyxels, so :math:`B = A^T\, dV/d(Ax)` is the gradient
    of the exact volume; corrections are those of ``BodyVolume``, :math:`\Delta x = -M^{-1} B^T \lambda` along
    the gradient of the last step, again until the volume is right. Remembers its pressure [Pa] and the
    positions of the last step.
    """

    def __init__(self, structure: Structure, material: "Material", options: "VolumeConstraint") -> None:
        from scipy.sparse import csr_array

        carrier = structure.carrier
        if not isinstance(carrier, EmbeddedSurface) or carrier.offsets is not None:
            raise IncompatibleError(
                "action 'volume-constraint': parts of the surface are too far from the particles.",
                hint="Give the body a smaller edge.",
            )
        indices, weights = carrier.indices, carrier.weights
        starts = np.arange(len(indices) + 1) * indices.shape[1]
        shape = (len(indices), len(structure.rest))
        self._carry = csr_array((weights.ravel(), indices.ravel().astype(np.int64), starts), shape=shape)
        self._back = self._carry.T.tocsr()
        self.triangles = np.ascontiguousarray(carrier.surface.triangles, dtype=np.int64)
        self._on_surface = np.zeros((len(indices), 3))
        self.target = self._volume(structure.rest)[0]
        self.tolerance = options.tolerance or 1e-11
        self.before: Array = structure.rest.copy()
        self.pressure: Array = np.zeros(1)

    def begin(self, x: Array) -> None:
        self.before[:] = x

    def _volume(self, x: Array) -> tuple[float, Array]:
        """Volume [m3] at ``x`` and its gradient (n, 3) [m2]."""
        surface = self._carry @ x
        o = surface[0].copy()
        volume = volume_and_gradient(self.triangles, surface, o[0], o[1], o[2], self._on_surface)
        return float(volume), np.asarray(self._back @ self._on_surface)

    def add_forces(self, x: Array, out: Array) -> None:
        if self.pressure[0]:
            out += self.pressure[0] * self._volume(x)[1]

    def project(self, x: Array, v: Array, w: Array, dt: float) -> None:
        along = w * self._volume(self.before)[1]
        for _ in range(ROUNDS):
            volume, gradient = self._volume(x)
            error, slope = volume - self.target, float(np.sum(gradient * along))
            if abs(error) <= self.tolerance * abs(self.target) or slope <= 0.0:
                break
            move = (-error / slope) * along
            x += move
            v += move / dt
            self.pressure[0] -= error / slope / dt**2
        self.before[:] = x

    def state(self) -> dict[str, AnyArray]:
        return {"before": self.before, "pressure": self.pressure}
