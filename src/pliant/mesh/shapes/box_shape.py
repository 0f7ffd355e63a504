"""The box."""

from typing import Annotated

import numpy as np
from pydantic import AfterValidator

from pliant.core.parameters import parameters
from pliant.core.typing import Array
from pliant.mesh.mesh import Surface, TetMesh
from pliant.mesh.shapes.blocks import block_surface, kuhn_tets, lattice_points, steps
from pliant.mesh.shapes.common import Size, target_edge

CELL_LIMIT = 5_000_000


def checked_divisions(divisions: tuple[int, int, int]) -> tuple[int, int, int]:
    if min(divisions) < 1:
        raise ValueError(f"expected at least one division along each axis, got {list(divisions)}")
    cells = divisions[0] * divisions[1] * divisions[2]
    if cells > CELL_LIMIT:
        raise ValueError(f"{list(divisions)} divisions make {cells} cells, more than {CELL_LIMIT}")
    return divisions


@parameters
class Box:
    """A box from the origin to ``size`` [m]; with ``divisions`` it is a lattice of six tets a cell."""

    size: Size
    divisions: Annotated[tuple[int, int, int], AfterValidator(checked_divisions)] | None = None

    def surface(self, edge: float | None = None) -> Surface:
        """The six sides in steps of about ``edge`` (a sixth of the shortest side), or in ``divisions``."""
        if self.divisions is None:
            x, y, z = self.size
            default = max(min(self.size) / 6, max(self.size) / 200)
            target = target_edge(edge, default, 2 * (x * y + y * z + z * x))
            cells = tuple(steps(length, target) for length in self.size)
        else:
            cells = self.divisions
        return Surface(*block_surface(*self._axes(cells)))

    def volume(self) -> TetMesh | None:
        """The lattice's tets (Kuhn's six a cell) if there are ``divisions``."""
        if self.divisions is None:
            return None
        return TetMesh(lattice_points(*self._axes(self.divisions)), kuhn_tets(self.divisions))

    def _axes(self, cells: tuple[int, ...]) -> list[Array]:
        return [np.linspace(0.0, length, n + 1) for length, n in zip(self.size, cells, strict=True)]
