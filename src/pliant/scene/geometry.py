"""Where a body's shape comes from: a named shape, a mesh file or a mesh in memory, placed in the world."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from pliant.core.diagnostics import Diagnostics
from pliant.core.errors import MeshError
from pliant.core.typing import Array
from pliant.mesh.mesh import Surface, TetMesh, boundary_triangles, tet_volumes
from pliant.mesh.shapes import Shape
from pliant.mesh.shapes.boxes import Box

Progress = Callable[[float | None, str], None]


@dataclass
class BodyGeometry:
    """A body's geometry in world coordinates; ``source`` is a Shape, a Surface, a TetMesh or a path."""

    source: Any
    edge: float | None
    mesher: str
    embedded: bool
    linear: Array  # (3, 3) scale and rotation
    position: Array  # (3,)
    diagnostics: Diagnostics = field(default_factory=Diagnostics)
    progress: Progress | None = None
    _read: Any = field(default=None, repr=False)
    _tets: TetMesh | None = field(default=None, repr=False)

    def _mesh(self) -> Surface | TetMesh:
        """The source as a mesh, in its own coordinates."""
        if self._read is None:
            source = self.source
            if isinstance(source, (str, Path)):
                from pliant.mesh.io import kind_of, read_surface, read_volume

                volume = kind_of(Path(source)) == "volume"
                self._read = read_volume(Path(source)) if volume else read_surface(Path(source))
            elif isinstance(source, Shape):
                self._read = source.volume() or source.surface(self._own_edge())
            else:
                self._read = source
        if not isinstance(self._read, (Surface, TetMesh)):
            raise MeshError(f"A body needs a shape, a mesh or a path, not {self._read!r}.")
        return self._read

    def _own_edge(self) -> float | None:
        """The target edge in the source's own coordinates, before scaling."""
        return None if self.edge is None else self.edge / self._scale()

    def _scale(self) -> float:
        return float(abs(np.linalg.det(self.linear)) ** (1 / 3))

    @property
    def turn(self) -> Array:
        return np.asarray(self.linear / self._scale())

    def spacing(self) -> float | None:
        mesh = None if self.edge is not None else self._mesh()
        if not isinstance(mesh, TetMesh):
            return self.edge
        volume = float(tet_volumes(self._place(mesh.points), mesh.tets).sum())
        return float(np.cbrt(6.0 * volume / len(mesh.tets)))  # six tets make a cube

    def _place(self, points: Array) -> Array:
        return points @ self.linear.T + self.position

    def surface(self) -> Surface:
        mesh = self._mesh()
        if isinstance(mesh, TetMesh):
            mesh = Surface(mesh.points, boundary_triangles(mesh.tets))
        return replace(mesh, points=self._place(mesh.points))

    def volume(self) -> TetMesh | None:
        mesh = self._mesh()
        return mesh if isinstance(mesh, TetMesh) else None

    def remeshed(self, edge: float | None) -> "BodyGeometry":
        """The same shape with tets of about ``edge`` [m] by the lattice mesher, unless another is named.

        Boxes with divisions stay structured; other bodies made of tets are meshed again.
        """
        mesher = "lattice" if self.mesher == "auto" else self.mesher
        if edge is None:
            return replace(self, mesher=mesher, _read=None, _tets=None)
        quiet = replace(self, diagnostics=Diagnostics())  # a level that cannot be coarser is no news
        fresh = replace(quiet, edge=edge, mesher=mesher, _read=None, _tets=None)
        own = fresh._own_edge()
        if isinstance(self.source, Box) and self.source.divisions is not None and own is not None:
            cells = tuple(max(1, math.ceil(s / own - 1e-9)) for s in self.source.size)
            return replace(fresh, source=replace(self.source, divisions=cells))  # type: ignore[arg-type]
        mesh = self._mesh()
        if isinstance(mesh, TetMesh):
            fresh = replace(fresh, source=Surface(mesh.points, boundary_triangles(mesh.tets)))
        return fresh

    def shown(self) -> Surface | None:
        if not self.embedded or isinstance(self._mesh(), TetMesh):
            return None
        return self.surface()

    def tets(self) -> TetMesh:
        if self._tets is None:
            mesh = self._mesh()
            if isinstance(mesh, Surface):
                from pliant.mesh.tetrahedralise import fill

                scale = 1.0 if self.edge is None else self._scale()  # messages about an edge are in metres
                mesh = fill(
                    replace(mesh, points=mesh.points * scale),
                    edge=self.edge,
                    mesher=self.mesher,
                    notify=self.diagnostics.note,
                    progress=self.progress,
                )
                mesh = replace(mesh, points=mesh.points / scale)
            elif self.edge is not None:
                self.diagnostics.note(
                    f"edge = {self.edge:g} m is not used: the body's tets are given, by divisions or a file"
                )
            self._tets = replace(mesh, points=self._place(mesh.points))
        return self._tets
