r"""When and where a body on tets cracks: stress at its particles against the strength of its material.

The Cauchy stress around a particle is the mean over its tets, weighted by volume. Where its largest principal
value exceeds the strength, the tets there are parted along a plane across it (``crack_planes.py``)
[MuellerGross2004]_ [OBrienHodgins1999]_. The particles on the front remember the plane, in the rest shape,
and a crack runs on along it, turning a little where stress comes from more than 20 degrees off.

Differs: both texts break whatever exceeds the strength, each particle across its own stress. Cracks would
then fork at every particle, and the waves of a break would leave a trail of others. So in a step the worst
particle alone may start a crack, particles on the front of one go first, none starts near another of about
the same direction nor in the plane of one that runs, and for a while after a break (five times the wave's
way through the body) others need 1.3 times the strength. Pieces smaller than 24 of the first tets stay whole:
their stress is no more than noise. None smaller than 12 comes off.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from pliant.core.typing import AnyArray, Array, IntArray
from pliant.fracture.crack_planes import CrackOpening, CrackPlane, CrackPlanes
from pliant.fracture.tet_topology import pieces
from pliant.interfaces import Structure
from pliant.mesh.mesh import tet_volumes

if TYPE_CHECKING:
    from pliant.fracture.tet_topology import TetEdit
    from pliant.materials import ResolvedMaterial as Material

MOST = 16  # particles that are split in a step
LOOK = 0.1  # of the time in which a wave crosses a spacing: how often stress is looked at, at most
CALM = 5.0  # wave transits after a break during which new cracks need more
RAISED = 1.3  # times the strength
WAIT = 0.04  # of that time: when what could not break tries again
WHOLE, SMALLEST = 24.0, 12.0  # mean tets: smaller pieces do not break any further; do not come off
STRAIGHT, TURN = 0.94, 0.15  # cosine to the stress from which a crack goes straight on; else how it turns
SHIELD = 3.0  # spacings: no crack starts this near to another of about the same direction
ALIKE = 0.5  # cosine: cracks that look more alike have about the same direction
TENSOR = ((0, 5, 4), (5, 1, 3), (4, 3, 2))


class CrackGrowth:
    """The cracks of one body: which particles are on a front, in which planes, since when others may break.

    crack (n,): number of the crack that a particle is on, or -1; plane (n, 4): its normal and offset there.
    """

    def __init__(self, structure: Structure, material: "Material", strength: Array) -> None:
        count = len(structure.rest)
        extent = float(np.linalg.norm(np.ptp(structure.rest, axis=0)))
        self.calm = CALM * extent / material.wave_speed
        self.look = LOOK * structure.spacing / material.wave_speed
        self.speed = material.crack_speed
        self.spacing = structure.spacing
        self.grain = float(tet_volumes(structure.rest, structure.cells["tetra"]).mean())
        self.front: AnyArray = np.zeros(count, bool)
        self.ready = np.full(count, -np.inf)  # time from which a particle may break
        self.made: AnyArray = np.zeros(count, bool)  # on an edge that a crack divided
        self.crack: AnyArray = np.full(count, -1)
        self.plane = np.zeros((count, 4))
        self.last = self.next = -np.inf  # time of the last break, and of the next look at the stress
        self.broken, self.begun = 0, 0
        self.set_strength(structure, strength)

    def set_strength(self, structure: Structure, strength: Array) -> None:
        """Strength of each particle [Pa], the least of its tets' (m,), and which are in pieces too small to
        break."""
        tets, self.rest = structure.cells["tetra"], structure.rest
        count, piece = pieces(tets)
        small = np.bincount(piece, tet_volumes(self.rest, tets)) < WHOLE * self.grain
        self.whole = np.zeros(len(self.rest), bool)  # in a piece that does not break any further
        self.whole[tets[small[piece]]] = count > 1
        self.strength = np.full(len(self.rest), np.inf)
        np.minimum.at(self.strength, tets.ravel(), np.repeat(strength, 4))

    # ------------------------------------------------------------------------------------- where it breaks

    def due(self, time: float) -> bool:
        """Whether the stress at ``time`` is to be looked at: not in each of the short steps after a break."""
        if time < self.next:
            return False
        self.next = time + self.look
        return True

    def planes(self, time: float, x: Array, tets: IntArray, stress: Array) -> CrackPlanes | None:
        """The planes along which particles are to be parted in this step; None where none is.

        x (n, 3) [m]; stress (n, 6) [Pa], xx, yy, zz, yz, xz, xy, around each particle.
        """
        shear = stress[:, 3:]
        size = np.sqrt((stress[:, :3] ** 2).sum(axis=1) + 2.0 * (shear**2).sum(axis=1))
        may = np.flatnonzero((size > self.strength) & (self.ready <= time) & ~self.whole)
        if not len(may):
            return None
        excess = np.linalg.eigvalsh(stress[may][:, TENSOR])[:, 2] / self.strength[may]
        limit = np.where(self.front[may] | (time - self.last > self.calm), 1.0, RAISED)
        over = np.flatnonzero(excess > limit)
        over = over[np.lexsort((may[over], -excess[over], ~self.front[may[over]]))]
        return self._choose(time, x, tets, may[over], stress) if len(over) else None

    def _choose(
        self, time: float, x: Array, tets: IntArray, nodes: IntArray, stress: Array
    ) -> CrackPlanes | None:
        mine = np.zeros(len(x), bool)
        mine[nodes] = True
        near = np.flatnonzero(mine[tets].any(axis=1))
        local = tets[near]
        taken = np.zeros(len(x), bool)
        found = CrackPlanes(tets, self.rest, self.spacing, self.made, self.crack, SMALLEST * self.grain)
        for node in nodes.tolist():
            if taken[node] or (found.around and not self.front[node]):
                continue  # one new crack a step, and none beside what breaks now
            own = near[(local == node).any(axis=1)]
            if self.front[node]:
                plane: CrackPlane | None = self._going_on(node, self._normal(x, tets[own], stress[node]))
            else:
                around = stress[np.unique(tets[own])].mean(axis=0)  # single ones scatter
                plane = self._beginning(time, node, self._normal(x, tets[own], around))
            if plane is None:
                self.wait(time, node)
            elif found.add(node, own, plane):
                taken[tets[own]] = True
                if len(found.around) == MOST:
                    break
        return found if found.around else None

    def _normal(self, x: Array, tets: IntArray, stress: Array) -> Array:
        """The direction of the largest principal ``stress`` (6,) in the rest shape: ``F^T n``, with the mean
        deformation gradient of ``tets``."""
        rest = (self.rest[tets[:, 1:]] - self.rest[tets[:, :1]]).transpose(0, 2, 1)
        now = (x[tets[:, 1:]] - x[tets[:, :1]]).transpose(0, 2, 1)
        volumes = np.linalg.det(rest)
        mean = np.einsum("t,tij->ij", volumes, now @ np.linalg.inv(rest))
        normal = np.linalg.eigh(stress[np.array(TENSOR)])[1][:, 2] @ mean
        return np.asarray(normal / np.linalg.norm(normal))

    def _going_on(self, node: int, normal: Array) -> CrackPlane:
        """The plane of the front at ``node``, turned a little where stress pulls across another one."""
        kept, offset = self.plane[node, :3], float(self.plane[node, 3])
        cosine = float(kept @ normal)
        if abs(cosine) < STRAIGHT:
            kept = kept + TURN * np.sign(cosine) * normal
            kept = kept / np.linalg.norm(kept)
            offset = float(kept @ self.rest[node])
        return CrackPlane(kept, offset, int(self.crack[node]))

    def _beginning(self, time: float, node: int, normal: Array) -> CrackPlane | None:
        """A new crack at ``node``; None where another of about its direction is near or runs in the same
        plane."""
        at, reach = self.rest[node], SHIELD * self.spacing
        alike = (self.crack >= 0) & (np.abs(self.plane[:, :3] @ normal) > ALIKE)
        near = np.linalg.norm(self.rest - at, axis=1) < reach
        if time - self.last <= self.calm:
            near |= self.front & (np.abs(self.plane[:, :3] @ at - self.plane[:, 3]) < reach)
        return None if (alike & near).any() else CrackPlane(normal, float(normal @ at), self.begun)

    # -------------------------------------------------------------------------------------- how it continues

    def advance(self, time: float, opened: CrackOpening, planes: CrackPlanes) -> None:
        """Take over what ``planes`` opened. Particles on the faces that have not separated are the front,
        and so are new ones on edges that were divided."""
        edit, rims, x = opened.edit, opened.rims, self.rest
        self.last = time
        self.begun = max(self.begun, 1 + max(plane.crack for plane in planes.planes))
        copies = np.bincount(edit.parents[:, 0], minlength=len(x))
        apart, tips = rims[copies[rims] > 1], rims[copies[rims] == 1]
        split = np.intersect1d(planes.nodes, apart)
        self.broken += len(split)
        self.front[rims] = False
        self.front[tips] = True
        self.ready[rims] = np.maximum(self.ready[rims], time + self.calm)
        self.ready[tips] = time
        if self.speed is not None:
            gap = np.min(np.linalg.norm(x[tips][:, None] - x[split][None], axis=2), axis=1, initial=np.inf)
            self.ready[tips] = time + np.where(np.isfinite(gap), gap, 0.0) / self.speed
        self.wait(time, np.setdiff1d(planes.nodes, split))
        self.follow(edit)
        between = edit.weights[:, 0] != 1.0
        pair = edit.parents[:, 0] * len(x) + edit.parents[:, 1]
        _, inverse, uses = np.unique(pair[between], return_inverse=True, return_counts=True)
        fresh = uses[inverse.reshape(-1)] == 1
        self.made[between] = True
        self.crack[between] = -1
        self.front[between] = fresh
        self.ready[between] = np.where(fresh, time, time + self.calm)
        mine = np.flatnonzero((opened.owner >= 0) & (self.crack < 0))
        of = opened.owner[mine]
        self.crack[mine] = np.array([plane.crack for plane in planes.planes])[of]
        self.plane[mine] = np.array([[*plane.normal, plane.offset] for plane in planes.planes])[of]

    def wait(self, time: float, nodes: IntArray | int) -> None:
        """Particles that could not separate try again a while later."""
        self.ready[nodes] = time + WAIT * self.calm

    def follow(self, edit: "TetEdit") -> None:
        """Keep up with an edit of the tets."""
        first = edit.parents[:, 0]
        self.front, self.ready, self.made = self.front[first], self.ready[first], self.made[first]
        self.crack, self.plane = self.crack[first], self.plane[first]

    def state(self) -> dict[str, AnyArray]:
        own = vars(self)
        return {
            **{name: own[name] for name in KEPT},
            "breaks": np.array([self.last, self.broken, self.begun, self.next]),
        }

    def restore(self, state: Mapping[str, AnyArray]) -> None:
        for name in KEPT:
            setattr(self, name, np.array(state[name]))
        last, broken, begun, following = state["breaks"]
        self.last, self.broken, self.begun, self.next = float(last), int(broken), int(begun), float(following)


KEPT = ("front", "ready", "made", "crack", "plane")
