"""Fracture and cutting of tetrahedral bodies."""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.core.typing import AnyArray, Array, BoolArray, IntArray
from pliant.fracture.crack_growth import CrackGrowth
from pliant.fracture.cut_carrier import CutTetCarrier
from pliant.fracture.tet_cut import cut_through, imprinted, parted
from pliant.fracture.tet_topology import TetEdit, boundary_twins, pieces
from pliant.interfaces import Carrier, FractureStatistics, IndexMap, Mechanics, Structure, TopologyChange
from pliant.mesh.mesh import TetMesh, boundary_triangles, tet_volumes
from pliant.mesh.triangles import double_areas
from pliant.structure.samplers.tets import density_of_tets

if TYPE_CHECKING:
    from pliant.materials import ResolvedMaterial as Material


class TetFracture(Mechanics):
    """Base of mechanics whose tets can be parted.

    The heir has ``set_up(structure)``, which makes all of it for a structure; ``cell_memory()`` and
    ``take_cell_memory(memory, origin)`` where tets have a history; and calls ``crack`` after its steps if it
    is to crack by itself.
    """

    structure: Structure
    material: "Material"
    parents: IntArray
    parent_weights: Array | None = None
    topology_version = 0
    cracking: CrackGrowth | None = None
    _whole: Carrier | None = None

    def start_breaking(self, strength: Array | None) -> None:
        """Begin whole; strength (m,) [Pa] of the tets, infinite where they never break, or None."""
        self.parents = np.arange(len(self.structure.rest))
        self._whole = self.structure.carrier
        if strength is not None and np.isfinite(strength).any():
            self.cracking = CrackGrowth(self.structure, self.material, strength)

    # ------------------------------------------------------------------------- what heirs provide

    @abstractmethod
    def set_up(self, structure: Structure) -> None:
        """Make everything for ``structure``."""

    def cell_strength(self) -> Array | None:
        """Strength of each tet [Pa]."""
        return None

    def cell_memory(self) -> dict[str, Array]:
        """History of the tets, by name, (m, ...)."""
        return {}

    def take_cell_memory(self, memory: Mapping[str, Array], origin: IntArray) -> None:
        """Give the tets of a new structure the history of those that they come from, ``origin`` (m,)."""

    # --------------------------------------------------------------------------------- fracture and cuts

    def crack(self, cracking: CrackGrowth, time: float, x: Array, stress: Array) -> bool:
        """Let the body crack where the nodal ``stress`` (n, 6) [Pa] at ``x`` exceeds the strength; whether it
        did."""
        planes = cracking.planes(time, x, self.structure.cells["tetra"], stress)
        if planes is None:
            return False
        opened = planes.edit()
        if opened is None:
            cracking.wait(time, planes.nodes)
            return False
        cracking.advance(time, opened, planes)
        self._take(opened.edit)
        return True

    def cut(self, x: Array, level: Array) -> bool:
        """Cut through tets where ``level`` (n,) is zero, and part the two sides."""
        found = cut_through(self.structure.cells["tetra"], level)
        if found is None:
            return False
        self._take_and_follow(found[0])
        return True

    def mark_cut(self, x: Array, level: Array, past: Array | None = None) -> Array:
        """Cut up tets where ``level`` is zero and part nothing; rest positions (k, 3) on the cut, where
        ``past`` (n,) is not positive."""
        edit, made = imprinted(self.structure.cells["tetra"], level)
        if len(made.ends):
            self._take_and_follow(edit)
        on = made.on_cut if past is None else made.on_cut & (edit.blended(past) <= 0.0)
        return np.asarray(self.structure.rest[on])

    def open_faces(self, sides: IntArray | None, where: BoolArray | None = None) -> bool:
        """Part neighbouring tets of different ``sides`` (m,); only across faces of particles ``where``."""
        edit = parted(self.structure.cells["tetra"], len(self.structure.rest), sides, where)
        if edit is None:
            return False
        self._take_and_follow(edit)
        return True

    def _take_and_follow(self, edit: TetEdit) -> None:
        if self.cracking is not None:
            self.cracking.follow(edit)
        self._take(edit)

    def _take(self, edit: TetEdit) -> None:
        """Become the body that ``edit`` makes of it."""
        memory = self.cell_memory()
        self._set_up_again(edited(self.structure, edit, self.material, self._whole))
        self.take_cell_memory(memory, edit.origin)
        self.parents, self.parent_weights = edit.parents, edit.weights
        self.topology_version += 1

    def rebuild(self, structure: Structure) -> None:
        """Become the body of ``structure``, which came of this one in an earlier run."""
        if self._whole is not None:
            spacing = self.structure.spacing
            torn = CutTetCarrier(self._whole, structure.rest, structure.cells["tetra"], spacing)
            structure = replace(structure, carrier=torn)
        self._set_up_again(structure)

    def _set_up_again(self, structure: Structure) -> None:
        self.set_up(structure)
        strength = self.cell_strength()
        if self.cracking is not None and strength is not None:
            self.cracking.set_strength(structure, strength)

    # -------------------------------------------------------------------------- restart and series

    def breaking_state(self) -> dict[str, AnyArray]:
        """State that a restart needs, beside the heir's."""
        cracks = self.cracking.state() if self.cracking is not None else {}
        return {"topology-version": np.array(self.topology_version), **cracks}

    def restore_breaking(self, state: Mapping[str, AnyArray]) -> None:
        self.topology_version = int(state["topology-version"])
        if self.cracking is not None:
            self.cracking.restore(state)

    @property
    def can_crack(self) -> bool:  # type: ignore[override]
        return self.cracking is not None

    def topology_change(self) -> TopologyChange:
        """The latest change: structure, and what its particles continue."""
        return TopologyChange(self.structure, self.parents, self.parent_weights)

    def fracture_statistics(self) -> FractureStatistics:
        """Number of pieces, area of all cracks and cuts in the rest shape [m2], particles that cracked."""
        tets, rest = self.structure.cells["tetra"], self.structure.rest
        triangles = self.structure.cells["triangle"]
        torn = triangles[boundary_twins(rest, triangles)]
        area = 0.25 * float(double_areas(rest, torn).sum()) if len(torn) else 0.0
        broken = self.cracking.broken if self.cracking is not None else 0
        return FractureStatistics(pieces(tets)[0], area, broken)


def edited(old: Structure, edit: TetEdit, material: Any, whole: Carrier | None) -> Structure:
    """The structure that ``edit`` makes of ``old``: a quarter of each tet's mass at its corners."""
    rest, tets = edit.blended(old.rest), edit.tets
    regions = None if old.regions is None else old.regions[edit.origin]
    density = density_of_tets(TetMesh(rest, tets, regions=regions), material)
    share = np.repeat(0.25 * density * tet_volumes(rest, tets), 4)
    change = IndexMap(edit.parents, edit.weights)
    return replace(
        old,
        rest=rest,
        mass=np.bincount(tets.ravel(), share, len(rest)).astype(np.float64),
        cells={"tetra": tets, "triangle": boundary_triangles(tets)},
        groups={name: change.remap_rows(np.asarray(ids))[0] for name, ids in old.groups.items() if len(ids)},
        carrier=None if whole is None else CutTetCarrier(whole, rest, tets, old.spacing),
        regions=regions,
    )
