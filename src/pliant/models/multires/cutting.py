"""Cuts through the mesh of a body with levels, with virtual nodes; cages are made anew around what is
left."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from pliant.core.typing import Array, BoolArray, IntArray
from pliant.fracture.cut_carrier import VirtualNodeCarrier
from pliant.fracture.tet_topology import boundary_twins
from pliant.fracture.virtual_nodes import CutMesh, VirtualMesh, virtual_mesh
from pliant.interfaces import Carrier, Structure
from pliant.mesh.mesh import boundary_triangles, tet_volumes
from pliant.mesh.triangles import double_areas
from pliant.structure.mass_scaling import scale_tet_masses
from pliant.structure.samplers.levels import CutArrays

LEAST_SHARE = 0.02  # of its whole tet that a part has: hardly any material would bear no motion


class MeshCutting:
    """The mesh of a body as cuts have left it: its cut geometry, and the virtual tets that follow (None:
    uncut).

    parents: after a change, the particle before it that each one continues. carrier: the embedded surface of
    the uncut body. All of it is in the structure that ``cut_structure`` gives, for a run that is resumed."""

    def __init__(self, structure: Structure, carrier: Carrier | None) -> None:
        self.uncut_carrier, arrays = carrier, CutArrays.of(structure)
        self.mesh = CutMesh.of(structure.rest, structure.cells["tetra"])
        self.virtual: VirtualMesh | None = None
        if arrays is not None:
            named = {name: array for name, array in vars(arrays).items() if name != "sides_of_cages"}
            self.mesh = replace(self.mesh, **named, before=np.arange(len(arrays.tets)))
            self.virtual = virtual_mesh(self.mesh)
        self.parents: IntArray = np.arange(len(structure.rest))

    def _change(self, change: Callable[[CutMesh, VirtualMesh], CutMesh | None]) -> bool:
        """Change the cut mesh (None: it stays); True if it changed."""
        old = self.virtual or virtual_mesh(self.mesh)
        made = change(self.mesh, old)
        if made is None:
            return False
        now = virtual_mesh(made)
        rows = now.parents(old, made)
        self.parents = old.owner[rows] if self.virtual is None else rows
        self.mesh, self.virtual = made, now
        return True

    def _at_vertices(self, mesh: CutMesh, virtual: VirtualMesh, values: Array) -> Array:
        """Particles' values at the vertices of a cut mesh. An uncut body has one particle where parts of it
        touch in a point or an edge alone; its virtual mesh has one for each part."""
        return virtual.at_vertices(mesh, values if self.virtual is not None else values[virtual.owner])

    def cut(self, values: Array) -> bool:
        """Cut through where the particles' values are zero; True if that cut anything."""
        return len(np.unique(values > 0.0)) > 1 and self._change(
            lambda mesh, virtual: mesh.cut(self._at_vertices(mesh, virtual, values))
        )

    def mark_cut(self, values: Array) -> None:
        """Subdivide along the zero of the particles' values, and separate nothing."""
        self._change(lambda mesh, virtual: mesh.mark_cut(self._at_vertices(mesh, virtual, values)))

    def open_faces(self, sides: IntArray | None, where: BoolArray | None) -> bool:
        """Separate neighbouring tets of different ``sides`` (m,); or along marked cuts, where all particles
        around are ``where`` (n,). True if any were separated."""
        if sides is not None:
            return self._change(lambda mesh, virtual: _separated(mesh, sides[virtual.of]))

        def along_marks(mesh: CutMesh, virtual: VirtualMesh) -> CutMesh | None:
            code = np.unique(mesh.sides, axis=0, return_inverse=True)[1].reshape(-1)
            if where is None:
                return mesh.part(code, None)
            return mesh.part(code, self._at_vertices(mesh, virtual, where.astype(float)) > 1.0 - 1e-6)

        return self._change(along_marks)

    # -------------------------------------------------------------------------------------- results

    def area(self) -> float:
        """Area [m2] of the cuts, at rest."""
        mesh = self.mesh
        triangles = boundary_triangles(mesh.tets)
        torn = triangles[boundary_twins(mesh.rest, triangles)]
        return 0.25 * float(double_areas(mesh.rest, torn).sum()) if len(torn) else 0.0

    def cut_structure(self, old: Structure, sides: Sequence[float]) -> Structure:
        """The structure as it is now, of a body with cages of these sides [m]; a quarter of each tet's mass
        at its corners. Parts of tets have at least a fiftieth of them: particles of thinner ones would be so
        light, and held so softly, that their share of the motion threw them far."""
        mesh, virtual, parents = self.mesh, self.virtual, self.parents
        assert virtual is not None
        rest = mesh.points[virtual.owner]
        share = np.maximum(virtual.share, LEAST_SHARE)
        volumes = tet_volumes(rest, virtual.tets) * share
        mass: Array = np.bincount(virtual.tets.ravel(), np.repeat(volumes, 4), len(rest)).astype(float)
        mass *= old.mass.sum() / mass.sum()
        return replace(
            old,
            rest=rest,
            mass=scale_tet_masses(rest, virtual.tets, volumes, mass),
            cells={"tetra": virtual.tets, "triangle": boundary_triangles(virtual.tets)},
            groups={name: np.flatnonzero(np.isin(parents, ids)) for name, ids in old.groups.items()},
            carrier=self.carrier(old.spacing),
            extra=CutArrays(
                mesh.points, mesh.whole, mesh.rest, mesh.tets, mesh.origin, mesh.sides, np.array(sides, float)
            ),
            volume_share=share,
        )

    def carrier(self, spacing: float) -> Carrier | None:
        """The embedded surface, open along the cuts."""
        if self.uncut_carrier is None or self.virtual is None:
            return self.uncut_carrier
        return VirtualNodeCarrier(self.uncut_carrier, self.mesh, self.virtual, spacing)


def _separated(mesh: CutMesh, sides: IntArray) -> CutMesh:
    found = mesh.with_sides(sides)
    return found.part(found.sides[:, -1], None) or found
