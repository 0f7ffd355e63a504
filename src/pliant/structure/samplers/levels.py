"""The finest mesh of a body with levels of detail; coarser levels are cages around it, which the model
makes."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

from pliant.core.typing import AnyArray, Array, IntArray
from pliant.interfaces import Geometry, Structure, StructureExtra
from pliant.mesh.join_pieces import joined
from pliant.mesh.mesh import tet_volumes
from pliant.mesh.smooth_interior import relaxed
from pliant.structure.samplers.tets import density_of_tets, sample_tets

if TYPE_CHECKING:
    from pliant.materials import ResolvedMaterial as Material


@dataclass(frozen=True)
class CutArrays(StructureExtra):
    """How cuts have left a mesh: its points (n, 3) [m] and tets (m, 4) as they were sampled; vertices (q, 3)
    [m] and tets (s, 4) of the cut mesh, the whole tet of each (s,), and its side (s, c), -1 or 1, of each
    cut; sides_of_cages (k,) [m]: of the coarser levels."""

    points: Array
    whole: IntArray
    rest: Array
    tets: IntArray
    origin: IntArray
    sides: IntArray
    sides_of_cages: Array

    def arrays(self) -> dict[str, AnyArray]:
        return {f"cut-{name}": array for name, array in vars(self).items()}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, AnyArray]) -> Self:
        return cls(**{name: arrays[f"cut-{name}"] for name in cls.__dataclass_fields__})


@dataclass(frozen=True)
class LevelSampler:
    """Particles at the vertices of the finest level, whose edge is the body's. Corners of flat tets have some
    of their neighbours' mass, so that they do not rule the step. joins: whether pieces that are not connected
    are joined."""

    joins: bool = False

    def sample(self, geometry: Geometry, material: "Material") -> Structure:
        from pliant.structure.mass_scaling import scale_tet_masses

        mesh = relaxed(geometry.remeshed(None).tets())
        mesh = joined(mesh) if self.joins else mesh
        density = density_of_tets(mesh, material)
        structure = sample_tets(mesh, geometry.shown(), density)
        amounts = density * tet_volumes(mesh.points, mesh.tets)
        mass = scale_tet_masses(mesh.points, mesh.tets, amounts, structure.mass)
        return replace(structure, mass=mass)
