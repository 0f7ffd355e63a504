"""The carried surface of a body of virtual tets: open along its cuts, closed on both sides."""

from typing import ClassVar

import numpy as np

from pliant.embedding.barycentric import EmbeddedSurface
from pliant.embedding.lazy import LazyCarrier
from pliant.fracture.cut_carrier import CutTetCarrier
from pliant.fracture.virtual_nodes import CutMesh, VirtualMesh, tet_with, weights_in
from pliant.interfaces import Carrier


class VirtualNodeCarrier(LazyCarrier):
    """``whole``, cut as the shadow is, and carried by the virtual tets; made when somebody asks for it."""

    kind: ClassVar[str] = EmbeddedSurface.kind

    def __init__(self, whole: Carrier, shadow: CutMesh, mesh: VirtualMesh, spacing: float) -> None:
        self.whole, self.shadow, self.mesh, self.spacing = whole, shadow, mesh, spacing

    def make(self) -> EmbeddedSurface:
        shadow, mesh = self.shadow, self.mesh
        torn = CutTetCarrier(self.whole, shadow.rest, shadow.tets, self.spacing).arrays()
        made = EmbeddedSurface.from_arrays(torn)
        indices = made.indices.astype(np.int64)
        home = shadow.home[0][indices[:, 0]] if indices.shape[1] == 1 else tet_with(shadow.tets, indices)
        weights = weights_in(made.surface.points, shadow.points[shadow.whole[shadow.origin[home]]])
        corners = mesh.tets[mesh.of[home]].astype(np.uint32)
        return EmbeddedSurface(made.surface, corners, weights, made.extrapolation)
