"""The carried surface of a body of virtual tets: open along its cuts, closed on both sides."""

from functools import cached_property
from typing import ClassVar

import numpy as np

from pliant.fracture.torn import Torn
from pliant.fracture.virtual import Shadow, VirtualMesh, tet_with, weights_in
from pliant.mesh.types import Surface
from pliant.protocols import Carrier
from pliant.structure.carrier import EmbeddedSurface
from pliant.typing import AnyArray, Array


class VirtualSurface:
    """``whole``, cut as the shadow is, and carried by the virtual tets; made when somebody asks for it."""

    kind: ClassVar[str] = EmbeddedSurface.kind

    def __init__(self, whole: Carrier, shadow: Shadow, mesh: VirtualMesh, spacing: float) -> None:
        self.whole, self.shadow, self.mesh, self.spacing = whole, shadow, mesh, spacing

    @cached_property
    def _made(self) -> EmbeddedSurface:
        shadow, mesh = self.shadow, self.mesh
        torn = Torn(self.whole, shadow.rest, shadow.tets, self.spacing).arrays()
        made = EmbeddedSurface.from_arrays(torn)
        indices = made.indices.astype(np.int64)
        home = shadow.home[0][indices[:, 0]] if indices.shape[1] == 1 else tet_with(shadow.tets, indices)
        weights = weights_in(made.surface.points, shadow.points[shadow.whole[shadow.origin[home]]])
        return EmbeddedSurface(made.surface, mesh.tets[mesh.of[home]], weights, made.extrapolation)

    @property
    def surface(self) -> Surface:
        return self._made.surface

    def positions(self, x: Array) -> Array:
        return self._made.positions(x)

    def arrays(self) -> dict[str, AnyArray]:
        return self._made.arrays()
