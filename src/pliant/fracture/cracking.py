r"""When and where a body on tets cracks: stress at its particles against the strength of its material.

The Cauchy stress around a particle is the mean over its tets, weighted by volume. Where its largest principal
value exceeds the strength, the tets there are parted along the plane through the particle across that
direction (``planes.py``) [MuellerGross2004]_ [OBrienHodgins1999]_.

Differs: both texts break whatever exceeds the strength. Stress waves of a break would then leave a trail of
cracks, so in a step the worst particle alone may start a crack, particles on the front of one go first, and
for a while after a break (five times the wave's way through the body) others need 1.3 times the strength.
Pieces of fewer than 24 tets stay whole: their stress is no more than noise.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from pliant.fracture.planes import Planes
from pliant.fracture.tets import TetEdit, pieces
from pliant.protocols import Structure
from pliant.typing import AnyArray, Array, IntArray

if TYPE_CHECKING:
    from pliant.materials import Resolved as Material

MOST = 16  # particles that are split in a step
CALM = 5.0  # wave transits after a break during which new cracks need more
RAISED = 1.3  # times the strength
WHOLE = 24  # tets: pieces of fewer do not break any further


class Cracking:
    """The cracks of one body: which particles are on a front, since when others may break."""

    def __init__(self, structure: Structure, material: "Material", strength: Array) -> None:
        count = len(structure.rest)
        extent = float(np.linalg.norm(np.ptp(structure.rest, axis=0)))
        self.calm = CALM * extent / material.wave_speed
        self.speed = material.crack_speed
        self.spacing = structure.spacing
        self.front: AnyArray = np.zeros(count, bool)
        self.ready = np.full(count, -np.inf)  # time from which a particle may break
        self.made: AnyArray = np.zeros(count, bool)  # on an edge that a crack divided
        self.last = -np.inf  # time of the last break
        self.broken = 0
        self.set_strength(structure, strength)

    def set_strength(self, structure: Structure, strength: Array) -> None:
        """Strength of each particle [Pa], the least of its tets' (m,), and which are in pieces too small to
        break."""
        tets = structure.cells["tetra"]
        piece = pieces(tets)[1]
        self.whole = np.zeros(len(structure.rest), bool)  # in a piece that does not break any further
        self.whole[tets[np.bincount(piece)[piece] < WHOLE]] = len(tets) > WHOLE
        self.strength = np.full(len(structure.rest), np.inf)
        np.minimum.at(self.strength, structure.cells["tetra"].ravel(), np.repeat(strength, 4))

    def planes(self, time: float, x: Array, tets: IntArray, stress: Array) -> Planes | None:
        """The planes along which particles are to be parted in this step; None where none is.

        x (n, 3) [m]; stress (n, 6) [Pa], xx, yy, zz, yz, xz, xy, around each particle.
        """
        shear = stress[:, 3:]
        size = np.sqrt((stress[:, :3] ** 2).sum(axis=1) + 2.0 * (shear**2).sum(axis=1))
        may = np.flatnonzero((size > self.strength) & (self.ready <= time) & ~self.whole)
        if not len(may):
            return None
        values, vectors = np.linalg.eigh(stress[may][:, [[0, 5, 4], [5, 1, 3], [4, 3, 2]]])
        excess = values[:, 2] / self.strength[may]
        limit = np.where(self.front[may] | (time - self.last > self.calm), 1.0, RAISED)
        over = np.flatnonzero(excess > limit)
        over = over[np.lexsort((may[over], -excess[over], ~self.front[may[over]]))]
        return self._choose(x, tets, may[over], vectors[over, :, 2]) if len(over) else None

    def _choose(self, x: Array, tets: IntArray, nodes: IntArray, normals: Array) -> Planes | None:
        mine = np.zeros(len(x), bool)
        mine[nodes] = True
        near = np.flatnonzero(mine[tets].any(axis=1))
        local = tets[near]
        taken = np.zeros(len(x), bool)
        found = Planes(tets, x, self.spacing, self.made)
        for node, normal in zip(nodes.tolist(), normals, strict=True):
            if taken[node] or (found.around and not self.front[node]):
                continue  # one new crack a step, and none beside what breaks now
            own = near[(local == node).any(axis=1)]
            if found.add(node, own, normal):
                taken[tets[own]] = True
                if len(found.around) == MOST:
                    break
        return found if found.around else None

    def advance(self, time: float, x: Array, edit: TetEdit, rims: IntArray, split: IntArray) -> None:
        """Take over an edit that split particles ``split``; ``rims``: old particles on the opened faces. New
        ones on edges that were divided are on the front, unless they came apart already."""
        self.last, self.broken = time, self.broken + len(split)
        copies = np.bincount(edit.parents[:, 0], minlength=len(x))
        tips = rims[copies[rims] == 1]
        self.front[rims] = False
        self.front[tips] = True
        self.ready[rims] = np.maximum(self.ready[rims], time + self.calm)
        self.ready[tips] = time
        if self.speed is not None:
            gap = np.min(np.linalg.norm(x[tips][:, None] - x[split][None], axis=2), axis=1, initial=np.inf)
            self.ready[tips] = time + gap / self.speed
        self.follow(edit)
        between = edit.weights[:, 0] != 1.0
        pair = edit.parents[:, 0] * len(x) + edit.parents[:, 1]
        _, inverse, uses = np.unique(pair[between], return_inverse=True, return_counts=True)
        fresh = uses[inverse.reshape(-1)] == 1
        self.made[between] = True
        self.front[between] = fresh
        self.ready[between] = np.where(fresh, time, time + self.calm)

    def follow(self, edit: TetEdit) -> None:
        """Keep up with an edit of the tets."""
        first = edit.parents[:, 0]
        self.front, self.ready, self.made = self.front[first], self.ready[first], self.made[first]

    def state(self) -> dict[str, AnyArray]:
        kept: dict[str, AnyArray] = {"front": self.front, "ready": self.ready, "made": self.made}
        return {**kept, "breaks": np.array([self.last, self.broken])}

    def restore(self, state: Mapping[str, AnyArray]) -> None:
        self.front, self.ready, self.made = (np.array(state[name]) for name in ("front", "ready", "made"))
        self.last, self.broken = float(state["breaks"][0]), int(state["breaks"][1])
