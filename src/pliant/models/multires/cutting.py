"""Cuts through all levels of a body: each level's mesh is cut on its own, with virtual nodes."""

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

import numpy as np

from pliant.core.typing import Array, BoolArray, IntArray
from pliant.fracture.cut_carrier import VirtualNodeCarrier
from pliant.fracture.tet_topology import boundary_twins
from pliant.fracture.virtual_nodes import CutMesh, VirtualMesh, virtual_mesh
from pliant.interfaces import Carrier, Structure
from pliant.mesh.mesh import boundary_triangles
from pliant.mesh.triangles import double_areas
from pliant.models.multires.cut_sides import containing_on_same_side
from pliant.models.multires.hierarchy import Hierarchy
from pliant.models.multires.level_transfer import Containment
from pliant.models.multires.levels import LevelMesh
from pliant.structure.mass_scaling import scale_tet_masses
from pliant.structure.samplers.levels import LevelCutArrays, Levels, level_meshes


class LevelCutting:
    """The meshes of all levels, the coarsest first, as cuts have left them.

    cut_meshes: their cut geometry; virtual_meshes: the virtual tets that follow from it (empty: no cuts);
    parents: after a change, the node of each level before it that every node continues; containment: of the
    uncut levels. All of it is in the structure that ``cut_structure`` gives, for a run that is resumed.
    carrier: the embedded surface of the uncut body.
    """

    def __init__(self, structure: Structure, carrier: Carrier | None) -> None:
        levels = Levels.of(structure) or Levels(())
        self.cut_meshes = [CutMesh.of(points, tets) for points, tets in level_meshes(structure)]
        self.any, self.uncut_carrier = bool(levels.cuts), carrier
        if self.any:
            pairs = zip(self.cut_meshes, levels.cuts, strict=True)
            self.cut_meshes = [replace(mesh, **vars(cut)) for mesh, cut in pairs]
        self.virtual_meshes = [virtual_mesh(mesh) for mesh in self.cut_meshes] if self.any else []
        self.parents: list[IntArray] = []
        uncut = [LevelMesh(mesh.points, mesh.whole) for mesh in self.cut_meshes]
        self.containment = [Containment.of(coarse, fine) for coarse, fine in pairwise(uncut)]

    def level_meshes(self) -> list[LevelMesh]:
        """The meshes that the levels are simulated with."""
        if not self.any:
            return [LevelMesh(mesh.points, mesh.whole) for mesh in self.cut_meshes]
        return [
            LevelMesh(mesh.points[virtual.owner], virtual.tets, virtual)
            for mesh, virtual in zip(self.cut_meshes, self.virtual_meshes, strict=True)
        ]

    # ------------------------------------------------------------------------------------- changes

    def _change(self, change: Callable[[int, CutMesh, VirtualMesh], CutMesh | None]) -> bool:
        """Change the cut mesh of every level (None: it stays); True if any changed."""
        uncut = not self.virtual_meshes
        old = self.virtual_meshes or [virtual_mesh(mesh) for mesh in self.cut_meshes]
        made = [change(k, mesh, old[k]) for k, mesh in enumerate(self.cut_meshes)]
        if not any(mesh is not None for mesh in made):
            return False
        self.virtual_meshes, self.parents = [], []
        for k, mesh in enumerate(made):
            virtual = old[k] if mesh is None else virtual_mesh(mesh)
            rows = np.arange(len(virtual.owner)) if mesh is None else virtual.parents(old[k], mesh)
            self.parents.append(old[k].owner[rows] if uncut else rows)
            self.cut_meshes[k] = mesh or self.cut_meshes[k]
            self.virtual_meshes.append(virtual)
        self.any = True
        return True

    def _at_vertices(self, mesh: CutMesh, virtual: VirtualMesh, values: Array) -> Array:
        """Nodes' values at the vertices of a cut mesh. An uncut level has one node where parts of it touch in
        a point or an edge alone; its virtual mesh has one for each part."""
        return virtual.at_vertices(mesh, values if self.virtual_meshes else values[virtual.owner])

    def cut(self, values: list[Array]) -> bool:
        """Cut through where the nodes' values of every level are zero; True if that cut anything."""

        def through(k: int, mesh: CutMesh, virtual: VirtualMesh) -> CutMesh:
            here = self._at_vertices(mesh, virtual, values[k])
            uncut_side = np.where(here[mesh.tets].sum(axis=1) < 0.0, -1, 1)
            return mesh.cut(here) or mesh.with_sides(uncut_side)

        sides = {bool(side) for some in values for side in np.unique(some > 0.0)}
        return len(sides) > 1 and self._change(through)

    def mark_cut(self, values: list[Array]) -> None:
        """Subdivide along the zero of the nodes' values, and separate nothing."""
        self._change(lambda k, mesh, virtual: mesh.mark_cut(self._at_vertices(mesh, virtual, values[k])))

    def open_faces(self, hierarchy: Hierarchy, sides: IntArray | None, where: BoolArray | None) -> bool:
        """Separate neighbouring tets of different ``sides`` (m,) of the finest level, at every level; or
        along marked cuts, where all nodes around are ``where`` (n,). True if any were separated."""
        if sides is not None:
            sides_of = [sides]
            for tets in reversed(_middle_tets(hierarchy)):
                sides_of.insert(0, sides_of[0][tets])
            return self._change(lambda k, mesh, virtual: _separated(mesh, sides_of[k][virtual.of]))
        flags = np.ones(hierarchy.levels[-1].count) if where is None else where.astype(float)
        behind = [values > 0.5 for values in restrict_to_levels(hierarchy, flags)]

        def along_marks(k: int, mesh: CutMesh, virtual: VirtualMesh) -> CutMesh | None:
            code = np.unique(mesh.sides, axis=0, return_inverse=True)[1].reshape(-1)
            return mesh.part(code, self._at_vertices(mesh, virtual, behind[k].astype(float)) > 1.0 - 1e-6)

        return self._change(along_marks)

    # -------------------------------------------------------------------------------------- results

    def nodes_at_cuts(self) -> list[BoolArray]:
        """Flags of each level's nodes at tets that are cut or marked, and at open faces."""
        found = []
        for mesh in self.virtual_meshes:
            flags = np.bincount(mesh.owner)[mesh.owner] > 1
            flags[mesh.tets[(mesh.share < 1.0 - 1e-9) | (mesh.below & mesh.above).any(axis=1)].ravel()] = True
            found.append(flags)
        return found

    def area(self) -> float:
        """Area [m2] of the cuts through the finest level, at rest."""
        mesh = self.cut_meshes[-1]
        triangles = boundary_triangles(mesh.tets)
        torn = triangles[boundary_twins(mesh.rest, triangles)]
        return 0.25 * float(double_areas(mesh.rest, torn).sum()) if len(torn) else 0.0

    def cut_structure(self, old: Structure) -> Structure:
        """The structure of the finest level as it is now; a quarter of each tet's mass at its corners."""
        whole, mesh, parents = self.cut_meshes[-1], self.virtual_meshes[-1], self.parents[-1]
        levels = Levels.of(old) or Levels(())
        cuts = tuple(LevelCutArrays(m.rest, m.tets, m.origin, m.sides) for m in self.cut_meshes)
        finest = self.level_meshes()[-1]
        volumes = finest.volumes()
        mass: Array = np.bincount(mesh.tets.ravel(), np.repeat(volumes, 4), len(mesh.owner)).astype(float)
        mass *= old.mass.sum() / mass.sum()
        return replace(
            old,
            rest=finest.points,
            mass=scale_tet_masses(finest.points, mesh.tets, volumes, mass),
            cells={"tetra": mesh.tets, "triangle": boundary_triangles(mesh.tets)},
            groups={name: np.flatnonzero(np.isin(parents, ids)) for name, ids in old.groups.items()},
            carrier=self.carrier(old.spacing),
            extra=replace(levels, whole=(whole.points, whole.whole), cuts=cuts),
            volume_share=mesh.share,
        )

    def carrier(self, spacing: float) -> Carrier | None:
        """The embedded surface, open along the cuts."""
        if self.uncut_carrier is None or not self.any:
            return self.uncut_carrier
        return VirtualNodeCarrier(self.uncut_carrier, self.cut_meshes[-1], self.virtual_meshes[-1], spacing)


def _separated(mesh: CutMesh, sides: IntArray) -> CutMesh:
    found = mesh.with_sides(sides)
    return found.part(found.sides[:, -1], None) or found


def _middle_tets(hierarchy: Hierarchy) -> list[IntArray]:
    """For every tet of each level but the finest, the tet of the next finer one that contains its middle."""
    return [
        containing_on_same_side(
            coarse.points[coarse.tets].mean(axis=1), coarse.tet_sides, fine.points, fine.tets, fine.tet_sides
        )
        for coarse, fine in pairwise(hierarchy.levels)
    ]


def restrict_to_levels(hierarchy: Hierarchy, values: Array) -> list[Array]:
    """Values (n, ...) of the finest nodes, interpolated at the nodes of every level, the coarsest first."""
    found = [values]
    for transfer in reversed(hierarchy.transfers):
        found.insert(0, np.einsum("nq,nq...->n...", transfer.child_weights, found[0][transfer.child_corners]))
    return found


def flag_crossed(hierarchy: Hierarchy, values: list[Array], split: list[BoolArray]) -> None:
    """Flag the corners of tets with ``values`` of both signs in ``split``, at all levels but the finest."""
    for level, flags, here in zip(hierarchy.levels[:-1], split, values, strict=False):
        signs = np.sign(here[level.tets])
        flags[level.tets[signs.min(axis=1) * signs.max(axis=1) <= 0.0].ravel()] = True
