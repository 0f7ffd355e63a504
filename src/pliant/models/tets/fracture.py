"""Cuts and cracks of bodies of tets: an object that mechanics own."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from pliant.core.typing import AnyArray, Array, BoolArray, IntArray
from pliant.fracture.cohesive_faces import CohesiveFaces
from pliant.fracture.crack_growth import CrackGrowth
from pliant.fracture.crack_planes import CrackOpening
from pliant.fracture.cut_carrier import CutTetCarrier
from pliant.fracture.tet_cut import cut_through, imprinted, parted
from pliant.fracture.tet_topology import TetEdit, boundary_twins, pieces
from pliant.interfaces import Carrier, FractureStatistics, IndexMap, Structure, TopologyChange
from pliant.mesh.mesh import TetMesh, boundary_triangles, tet_volumes
from pliant.mesh.triangles import double_areas
from pliant.models.regions import per_cell
from pliant.structure.samplers.tets import density_of_tets

if TYPE_CHECKING:
    from pliant.materials import ResolvedMaterial as Material


class TetFracture:
    """The topology of a body of tets, and its cracks: what mechanics offer as ``Cuttable`` and
    ``ChangingTopology``.

    structure: the present one. replace_body(structure, origin): sets the mechanics up for a new structure;
    origin (m,): the old tet that each tet is a part of, None if the structure comes from a checkpoint.
    breaks: whether the body cracks by itself, where its material has a strength.
    """

    def __init__(
        self,
        structure: Structure,
        material: "Material",
        replace_body: Callable[[Structure, IntArray | None], None],
        breaks: bool = False,
    ) -> None:
        self.structure, self._material, self._replace_body = structure, material, replace_body
        self._whole = structure.carrier
        self._parents: IntArray = np.arange(len(structure.rest))
        self._weights: Array | None = None
        self.topology_version = 0
        self.taken = 0.0  # energy that cracks took since the last report [J]
        self.faces = CohesiveFaces()
        self.cracking: CrackGrowth | None = None
        if breaks and np.isfinite(strength := self._strength(structure)).any():
            self.cracking = CrackGrowth(structure, material, strength)

    def _strength(self, structure: Structure) -> Array:
        """Strength of each tet [Pa], infinite where it has none."""
        return per_cell(
            structure, self._material, lambda own: np.inf if own.strength is None else own.strength
        )

    # ----------------------------------------------------------------------------- cracks and cuts

    def crack(
        self, time: float, x: Array, stress: Callable[[Array], Array], energy: Callable[[Array], float] | None
    ) -> bool:
        """Let the body crack where the nodal ``stress`` (n, 6) [Pa] at ``x`` exceeds the strength; whether it
        did. What that takes of the ``energy`` [J] at given positions, that of the faces included, adds to
        ``taken``."""
        if self.cracking is None:
            return False
        taken = self.faces.advance(x, self.structure.cells["tetra"])
        self.taken += taken
        return self._crack(time, x, stress, energy) or taken > 0.0

    def _crack(
        self, time: float, x: Array, stress: Callable[[Array], Array], energy: Callable[[Array], float] | None
    ) -> bool:
        assert self.cracking is not None
        if not self.cracking.due(time):
            return False
        planes = self.cracking.planes(time, x, self.structure.cells["tetra"], stress(x))
        if planes is None:
            return False
        opened = planes.edit()
        if opened is None:
            self.cracking.wait(time, planes.nodes)
            return False
        before = 0.0 if energy is None else energy(x)
        self.cracking.advance(time, opened, planes)
        self._apply(opened.edit)
        self._hold(opened)
        self.taken += before - (0.0 if energy is None else energy(opened.edit.blended(x)))
        return True

    def _hold(self, opened: CrackOpening) -> None:
        """Let faces that open in a material with a toughness take that before they let go."""
        toughness = self._of_tets(lambda own: np.inf if own.toughness is None else own.toughness)
        tough = toughness[opened.corners // 4].min(axis=1)
        held = np.isfinite(tough)
        if held.any():
            corners = opened.corners[held]
            strength = self._strength(self.structure)[corners // 4].min(axis=1)
            young = self._of_tets(lambda own: own.young)[corners[:, 0] // 4]
            soft = strength / young * self.structure.spacing
            tets = self.structure.cells["tetra"]
            self.faces.add(corners, opened.area[held], strength, tough[held], soft, tets)

    def _of_tets(self, value: Callable[["Material"], float]) -> Array:
        return per_cell(self.structure, self._material, value)

    def cut(self, x: Array, level: Array) -> bool:
        """Cut through tets where ``level`` (n,) is zero, and separate the two sides."""
        found = cut_through(self.structure.cells["tetra"], level)
        return found is not None and self._edit(found[0])

    def mark_cut(self, x: Array, level: Array, past: Array | None = None) -> Array:
        """Subdivide tets where ``level`` is zero and separate nothing; rest positions (k, 3) on the cut,
        where ``past`` (n,) is not positive."""
        edit, made = imprinted(self.structure.cells["tetra"], level)
        if len(made.ends):
            self._edit(edit)
        on = made.on_cut if past is None else made.on_cut & (edit.blended(past) <= 0.0)
        return np.asarray(self.structure.rest[on])

    def open_faces(
        self, sides: IntArray | None, where: BoolArray | None = None, x: Array | None = None
    ) -> bool:
        """Separate neighbouring tets of different ``sides`` (m,), only at faces of particles ``where``."""
        edit = parted(self.structure.cells["tetra"], len(self.structure.rest), sides, where)
        return edit is not None and self._edit(edit)

    def _edit(self, edit: TetEdit) -> bool:
        if self.cracking is not None:
            self.cracking.follow(edit)
        self._apply(edit)
        return True

    def _apply(self, edit: TetEdit) -> None:
        if len(self.faces):
            self.faces.follow(edit, len(self.structure.cells["tetra"]))
        self._replace(edited(self.structure, edit, self._material, self._whole), edit.origin)
        self._parents, self._weights = edit.parents, edit.weights
        self.topology_version += 1

    def _replace(self, structure: Structure, origin: IntArray | None) -> None:
        self.structure = structure
        self._replace_body(structure, origin)
        if self.cracking is not None:
            self.cracking.set_strength(structure, self._strength(structure))

    # ------------------------------------------------------------------------- topology and restart

    def topology_change(self) -> TopologyChange:
        """The latest change: structure, and what its particles continue."""
        return TopologyChange(self.structure, self._parents, self._weights)

    def rebuild(self, structure: Structure) -> None:
        """Become the body of ``structure``, which came of this one in an earlier run."""
        if self._whole is not None:
            spacing = self.structure.spacing
            cut = CutTetCarrier(self._whole, structure.rest, structure.cells["tetra"], spacing)
            structure = replace(structure, carrier=cut)
        self._replace(structure, None)

    def state(self) -> dict[str, AnyArray]:
        """State that a restart needs."""
        cracks = self.cracking.state() | self.faces.state() if self.cracking is not None else {}
        return {"topology-version": np.array(self.topology_version), **cracks}

    def restore(self, state: Mapping[str, AnyArray]) -> None:
        self.topology_version = int(state["topology-version"])
        if self.cracking is not None:
            self.cracking.restore(state)
            if "cohesive-corners" in state:
                self.faces.restore(state, self.structure.cells["tetra"])

    def statistics(self) -> FractureStatistics:
        """Number of pieces, area of all cracks and cuts in the rest shape [m2], particles that cracked."""
        tets, rest = self.structure.cells["tetra"], self.structure.rest
        triangles = self.structure.cells["triangle"]
        open_ = triangles[boundary_twins(rest, triangles)]
        area = 0.25 * float(double_areas(rest, open_).sum()) if len(open_) else 0.0
        return FractureStatistics(pieces(tets)[0], area, 0 if self.cracking is None else self.cracking.broken)


def edited(old: Structure, edit: TetEdit, material: "Material", whole: Carrier | None) -> Structure:
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
