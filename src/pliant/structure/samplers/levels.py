"""A hierarchy of independent tet meshes of one shape, the edge length halved from level to level."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from pliant.core.typing import AnyArray, Array, IntArray
from pliant.interfaces import Geometry, Structure
from pliant.mesh.mesh import TetMesh, boundary_triangles, tet_edges, tet_volumes
from pliant.mesh.smooth_interior import relaxed
from pliant.structure.samplers.tets import density_of_tets, sample_tets

if TYPE_CHECKING:
    from pliant.materials import ResolvedMaterial as Material

SHRINKS = 0.6  # a coarser level has at most this share of the nodes of the next one
FEWEST = 8  # nodes of a level
THIN = 0.75  # share of a level's volume in tets without a corner inside of the body: that is one cell across


@dataclass(frozen=True)
class LevelSampler:
    """Particles at the vertices of the finest level, whose edge is the body's; coarser levels in ``extra``.

    Levels that the mesher cannot make coarser are left out, and so are those that are one cell across: such a
    beam is twice as stiff as it should be, or more, and its strain says nothing of that. Corners of flat tets
    have some of their neighbours' mass, so that they do not rule the step.
    """

    levels: int

    def sample(self, geometry: Geometry, material: "Material") -> Structure:
        from pliant.structure.mass_scaling import evened_tets

        finest = geometry.remeshed(None)
        mesh = relaxed(finest.tets())
        density = density_of_tets(mesh, material)
        structure = sample_tets(mesh, geometry.shown(), density)
        amounts = density * tet_volumes(mesh.points, mesh.tets)
        mass = evened_tets(mesh.points, mesh.tets, amounts, structure.mass)
        coarser = _coarser(geometry, mesh, self.levels - 1)
        return replace(structure, mass=mass, extra=_named(coarser))


def _coarser(geometry: Geometry, finest: TetMesh, most: int) -> list[TetMesh]:
    """Up to ``most`` coarser meshes, the coarsest first."""
    edge = geometry.edge or _edge(finest)
    found, last = list[TetMesh](), len(finest.points)
    for halving in range(1, most + 1):
        mesh = relaxed(geometry.remeshed(edge * 2**halving).tets())
        if len(mesh.points) > SHRINKS * last or len(mesh.points) < FEWEST or _shell(mesh) > THIN:
            break
        last = len(mesh.points)
        found.insert(0, mesh)
    return found


def _shell(mesh: TetMesh) -> float:
    """Share of the volume that is in tets with all corners on the boundary."""
    outside = np.zeros(len(mesh.points), bool)
    outside[boundary_triangles(mesh.tets)] = True
    volumes = tet_volumes(mesh.points, mesh.tets)
    return float(volumes[outside[mesh.tets].all(axis=1)].sum() / volumes.sum())


def _edge(mesh: TetMesh) -> float:
    """A typical edge length [m]; of a structured mesh, the side of its cells."""
    edges = tet_edges(mesh.tets)
    lengths = np.linalg.norm(mesh.points[edges[:, 1]] - mesh.points[edges[:, 0]], axis=1)
    return float(np.quantile(lengths, 0.2))


def _named(meshes: list[TetMesh]) -> Mapping[str, AnyArray]:
    points = {f"level-{k}-points": mesh.points for k, mesh in enumerate(meshes)}
    return points | {f"level-{k}-tets": mesh.tets for k, mesh in enumerate(meshes)}


def level_meshes(structure: Structure) -> list[tuple[Array, IntArray]]:
    """Points and tets of every level as they were sampled, the coarsest first."""
    extra = structure.extra
    count = sum(1 for name in extra if name.startswith("level-") and name.endswith("-points"))
    found = [(extra[f"level-{k}-points"], extra[f"level-{k}-tets"]) for k in range(count)]
    finest = (structure.rest, structure.cells["tetra"])
    return [*found, (extra["whole-points"], extra["whole-tets"]) if "whole-points" in extra else finest]
