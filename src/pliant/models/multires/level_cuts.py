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
from pliant.structure.mass_scaling import evened_tets
from pliant.structure.samplers.levels import LevelCutArrays, Levels, level_meshes


class LevelCuts:
    """The meshes of all levels, the coarsest first, as cuts have left them.

    shadows: their cut geometry; meshes: the virtual tets that follow from it; parents: after a change, the
    node of each level before it that every node continues. All of it is in the structure that ``edited``
    gives, for a run that is resumed.
    """

    def __init__(self, structure: Structure) -> None:
        self.shadows: list[CutMesh] = []
        levels = Levels.of(structure)
        cuts = () if levels is None else levels.cuts
        self.any = bool(cuts)
        for k, (points, tets) in enumerate(level_meshes(structure)):
            shadow = CutMesh.of(points, tets)
            if cuts:
                cut = cuts[k]
                shadow = replace(shadow, rest=cut.rest, tets=cut.tets, origin=cut.origin, sides=cut.sides)
            self.shadows.append(shadow)
        self.meshes: list[VirtualMesh] = [virtual_mesh(shadow) for shadow in self.shadows] if self.any else []
        self.parents: list[IntArray] = []
        whole = [LevelMesh(shadow.points, shadow.whole) for shadow in self.shadows]
        self.homes = [Containment.of(coarse, fine) for coarse, fine in pairwise(whole)]

    def level_meshes(self) -> list[LevelMesh]:
        """What the levels are simulated with."""
        if not self.any:
            return [LevelMesh(shadow.points, shadow.whole) for shadow in self.shadows]
        return [
            LevelMesh(shadow.points[mesh.owner], mesh.tets, mesh)
            for shadow, mesh in zip(self.shadows, self.meshes, strict=True)
        ]

    def _change(self, change: Callable[[int, CutMesh, VirtualMesh], CutMesh | None]) -> bool:
        """Change every level's shadow; whether any did (None: it stays)."""
        whole = not self.meshes
        old = self.meshes or [virtual_mesh(shadow) for shadow in self.shadows]
        made = [
            change(k, shadow, mesh) for k, (shadow, mesh) in enumerate(zip(self.shadows, old, strict=True))
        ]
        if not any(shadow is not None for shadow in made):
            return False
        self.meshes, self.parents = [], []
        for k, shadow in enumerate(made):
            mesh = old[k] if shadow is None else virtual_mesh(shadow)
            rows = np.arange(len(mesh.owner)) if shadow is None else mesh.parents(old[k], shadow)
            self.parents.append(old[k].owner[rows] if whole else rows)
            self.shadows[k] = shadow or self.shadows[k]
            self.meshes.append(mesh)
        self.any = True
        return True

    def _at_vertices(self, shadow: CutMesh, mesh: VirtualMesh, values: Array) -> Array:
        """Nodes' values at the vertices of a shadow. A whole level has one node where parts of it touch in a
        point or an edge alone; its virtual mesh has one for each part."""
        return mesh.at_vertices(shadow, values if self.meshes else values[mesh.owner])

    def cut(self, levels: list[Array]) -> bool:
        """Cut through where the nodes' values of every level are zero."""

        def through(k: int, shadow: CutMesh, mesh: VirtualMesh) -> CutMesh:
            there = self._at_vertices(shadow, mesh, levels[k])
            whole = np.where(there[shadow.tets].sum(axis=1) < 0.0, -1, 1)
            return shadow.cut(there) or shadow.with_sides(whole)

        sides = {bool(side) for values in levels for side in np.unique(values > 0.0)}
        return len(sides) > 1 and self._change(through)

    def mark_cut(self, levels: list[Array]) -> None:
        """Prepare for a blade along the zero of the nodes' values; nothing comes apart."""
        self._change(lambda k, shadow, mesh: shadow.mark_cut(self._at_vertices(shadow, mesh, levels[k])))

    def part(self, sides: list[IntArray] | None, behind: list[BoolArray] | None) -> bool:
        """Part tets of different ``sides``, or along imprints; only where all nodes are ``behind``."""

        def apart(k: int, shadow: CutMesh, mesh: VirtualMesh) -> CutMesh | None:
            if sides is not None:
                found = shadow.with_sides(sides[k][mesh.of])
                return found.part(found.sides[:, -1], None) or found
            code = np.unique(shadow.sides, axis=0, return_inverse=True)[1].reshape(-1)
            assert behind is not None
            where = self._at_vertices(shadow, mesh, behind[k].astype(float)) > 1.0 - 1e-6
            return shadow.part(code, where)

        return self._change(apart)

    def touched(self) -> list[BoolArray]:
        """Nodes of every level at tets that are cut or imprinted, and at open faces."""
        found = []
        for mesh in self.meshes:
            flags = np.bincount(mesh.owner)[mesh.owner] > 1
            flags[mesh.tets[(mesh.share < 1.0 - 1e-9) | (mesh.below & mesh.above).any(axis=1)].ravel()] = True
            found.append(flags)
        return found

    def area(self) -> float:
        """Area [m2] of the cuts through the finest level, at rest."""
        shadow = self.shadows[-1]
        triangles = boundary_triangles(shadow.tets)
        torn = triangles[boundary_twins(shadow.rest, triangles)]
        return 0.25 * float(double_areas(shadow.rest, torn).sum()) if len(torn) else 0.0

    def tet_homes(self, hierarchy: Hierarchy) -> list[IntArray]:
        """For every tet of each level but the finest, a tet of the next finer one in its middle."""
        found = []
        for coarse, fine in pairwise(hierarchy.levels):
            middle = coarse.points[coarse.tets].mean(axis=1)
            found.append(
                containing_on_same_side(middle, coarse.tet_sides, fine.points, fine.tets, fine.tet_sides)
            )
        return found

    def edited(self, old: Structure, whole: Carrier | None) -> Structure:
        """The structure of the finest level as it is now; a quarter of each tet's mass at its corners."""
        shadow, mesh, parents = self.shadows[-1], self.meshes[-1], self.parents[-1]
        levels = Levels.of(old) or Levels(())
        cuts = tuple(LevelCutArrays(each.rest, each.tets, each.origin, each.sides) for each in self.shadows)
        finest = self.level_meshes()[-1]
        volumes = finest.volumes()
        mass: Array = np.bincount(mesh.tets.ravel(), np.repeat(volumes, 4), len(mesh.owner)).astype(float)
        mass *= old.mass.sum() / mass.sum()
        return replace(
            old,
            rest=finest.points,
            mass=evened_tets(finest.points, mesh.tets, volumes, mass),
            cells={"tetra": mesh.tets, "triangle": boundary_triangles(mesh.tets)},
            groups={name: np.flatnonzero(np.isin(parents, ids)) for name, ids in old.groups.items()},
            carrier=self.carried(whole, old.spacing),
            extra=replace(levels, whole=(shadow.points, shadow.whole), cuts=cuts),
            volume_share=mesh.share,
        )

    def carried(self, whole: Carrier | None, spacing: float) -> Carrier | None:
        """The shown surface, open along the cuts."""
        return whole and VirtualNodeCarrier(whole, self.shadows[-1], self.meshes[-1], spacing)


def down_to_coarsest(hierarchy: Hierarchy, values: Array) -> list[Array]:
    """Values (n, ...) of the finest nodes, and from these at the nodes of every coarser level."""
    found = [values]
    for link in reversed(hierarchy.links):
        found.insert(0, np.einsum("nq,nq...->n...", link.down_weights, found[0][link.down]))
    return found
