"""A hierarchy of independent tet meshes of one shape, the edge length halved from level to level."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import count
from typing import TYPE_CHECKING, Self

import numpy as np

from pliant.core.typing import AnyArray, Array, IntArray
from pliant.interfaces import Geometry, Structure, StructureExtra
from pliant.mesh.mesh import TetMesh, boundary_triangles, tet_edges, tet_volumes
from pliant.mesh.smooth_interior import relaxed
from pliant.structure.samplers.tets import density_of_tets, sample_tets

if TYPE_CHECKING:
    from pliant.materials import ResolvedMaterial as Material

SHRINKS = 0.6  # a coarser level has at most this share of the nodes of the next one
FEWEST = 8  # nodes of a level
THIN = 0.75  # share of a level's volume in tets without a corner inside of the body: that is one cell across


LevelMeshArrays = tuple[Array, IntArray]  # points (n, 3) [m] and tets (m, 4)


@dataclass(frozen=True)
class LevelCutArrays:
    """How cuts have left a level: vertices (q, 3) [m], tets (s, 4), the whole tet of each (s,), and its side
    (s, c), -1 or 1, of each cut."""

    rest: Array
    tets: IntArray
    origin: IntArray
    sides: IntArray


@dataclass(frozen=True)
class Levels(StructureExtra):
    """The levels of a body, the coarsest first.

    coarser: all but the finest, as they were sampled; whole: the finest as it was sampled, None while the
    structure itself is that; cuts: of all levels, empty where nothing has cut them.
    """

    coarser: tuple[LevelMeshArrays, ...]
    whole: LevelMeshArrays | None = None
    cuts: tuple[LevelCutArrays, ...] = ()

    def arrays(self) -> dict[str, AnyArray]:
        found: dict[str, AnyArray] = {}
        found |= {f"level-{k}-points": points for k, (points, _) in enumerate(self.coarser)}
        found |= {f"level-{k}-tets": tets for k, (_, tets) in enumerate(self.coarser)}
        if self.whole is not None:
            found |= {"whole-points": self.whole[0], "whole-tets": self.whole[1]}
        for k, cut in enumerate(self.cuts):
            found |= {f"cut-{k}-{name}": array for name, array in vars(cut).items()}
        return found

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, AnyArray]) -> Self:
        def numbered(name: str, *parts: str) -> list[list[AnyArray]]:
            levels = next(k for k in count() if f"{name}-{k}-{parts[0]}" not in arrays)
            return [[arrays[f"{name}-{k}-{part}"] for part in parts] for k in range(levels)]

        coarser = tuple((points, tets) for points, tets in numbered("level", "points", "tets"))
        whole = (arrays["whole-points"], arrays["whole-tets"]) if "whole-points" in arrays else None
        cuts = numbered("cut", "rest", "tets", "origin", "sides")
        return cls(coarser, whole, tuple(LevelCutArrays(*parts) for parts in cuts))


@dataclass(frozen=True)
class LevelSampler:
    """Particles at the vertices of the finest level, whose edge is the body's; coarser levels in ``extra``.

    Levels that the mesher cannot make coarser are left out, and so are those that are one cell across: such a
    beam is twice as stiff as it should be, or more, and its strain says nothing of that. Corners of flat tets
    have some of their neighbours' mass, so that they do not rule the step.
    """

    levels: int

    def sample(self, geometry: Geometry, material: "Material") -> Structure:
        from pliant.structure.mass_scaling import scale_tet_masses

        finest = geometry.remeshed(None)
        mesh = relaxed(finest.tets())
        density = density_of_tets(mesh, material)
        structure = sample_tets(mesh, geometry.shown(), density)
        amounts = density * tet_volumes(mesh.points, mesh.tets)
        mass = scale_tet_masses(mesh.points, mesh.tets, amounts, structure.mass)
        coarser = _coarser(geometry, mesh, self.levels - 1)
        return replace(structure, mass=mass, extra=Levels(tuple((m.points, m.tets) for m in coarser)))


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


def level_meshes(structure: Structure) -> list[LevelMeshArrays]:
    """Points and tets of every level as they were sampled, the coarsest first."""
    levels = Levels.of(structure) or Levels(())
    return [*levels.coarser, levels.whole or (structure.rest, structure.cells["tetra"])]
