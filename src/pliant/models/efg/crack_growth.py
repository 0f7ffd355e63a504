r"""Cracks through phyxel bodies: where they start and how they run.

A crack is a sheet of faces between the phyxels' cells (``cells.py``) in the rest shape. Each open face
remembers the plane that it stands for. Where the largest principal stress of a phyxel exceeds the strength, a
plane across it starts: it divides the phyxel (``split.py``), or the faces of its cell that the plane parts
open. Where the stress beside an edge of the front exceeds the strength and pulls the crack open, the plane
continues, turned a little towards the stress: it divides the phyxels that it passes through, and faces
between cells on its two sides open. So cracks are smooth although cells are not, and keep to their plane.

Source: [Stegmayr2008]_ 4.1.3, which describes and does not do it. Differs: one new crack a step, none close
to another of about the same direction, and after a break others need 1.3 times the strength while its waves
cross the body five times.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pliant.core.typing import AnyArray, Array, BoolArray, IntArray
from pliant.kernels.csr import take_rows
from pliant.models.efg.crack_faces import CrackFaces
from pliant.models.efg.split import CellPlane, PhyxelSplitter
from pliant.models.efg.support import SIX

if TYPE_CHECKING:
    from pliant.materials import ResolvedMaterial as Material

LOOK = 1.0  # spacings that a wave goes between two looks at the stress: so far a front may run meanwhile
STRETCHED, BREAKING_STRAINS = 1.2, 4.0  # pairs part at this stretch and as many breaking strains
MOST = 64  # edges of the front that may advance in a step
CALM, RAISED = 5.0, 1.3
ACROSS = 0.5  # cosine: cracks that look more alike have about the same direction
SHIELD = 3.0  # spacings: no crack starts this near to another of about the same direction
STRAIGHT, TURN = 0.94, 0.15  # cosine to the stress from which a crack goes straight on; else how it turns


class StressState(NamedTuple):
    """x (n, 3): positions [m]; stress (n, 3, 3): Cauchy's [Pa]; F (n, 3, 3): deformation gradients; sound
    (n,): phyxels whose stress counts."""

    x: Array
    stress: Array
    F: Array
    sound: BoolArray

    def divided(self, parents: IntArray, offset: Array) -> "StressState":
        """That of phyxels which continue ``parents`` (m,), ``offset`` (m, 3) from these in the rest shape."""
        F = self.F[parents]
        x = self.x[parents] + np.einsum("nij,nj->ni", F, offset)
        return StressState(x, self.stress[parents], F, self.sound[parents])


def bound(stress: Array) -> Array:
    """What no principal stress exceeds: ``tr / 3 + 2 sqrt(J2 / 3)``."""
    mean = np.trace(stress, axis1=1, axis2=2) / 3.0
    square = np.einsum("nij,nij->n", stress, stress)
    return np.asarray(mean + 2.0 * np.sqrt(np.maximum(square - 3.0 * mean * mean, 0.0) / 6.0))


def carried(F: Array, normals: Array) -> Array:
    """Unit normals (m, 3) of surfaces in the rest shape, where F (m, 3, 3) has taken them: ``cof(F) n``."""
    a, b, c = F[:, :, 0], F[:, :, 1], F[:, :, 2]
    n = normals[:, 0:1] * np.cross(b, c) + normals[:, 1:2] * np.cross(c, a) + normals[:, 2:] * np.cross(a, b)
    return np.asarray(n / np.maximum(np.linalg.norm(n, axis=1), 1e-300)[:, None])


def principal(stress: Array, F: Array) -> Array:
    """The direction in the rest shape across which the largest principal stress pulls, (3,)."""
    normal = F.T @ np.linalg.eigh(stress)[1][:, 2]
    return np.asarray(normal / np.linalg.norm(normal))


class PhyxelCrackGrowth:
    """Where the cracks of a body start and how they run; ``cracks`` and ``splitter`` hold the result.

    most_stretch: of a pair, at which it parts; bodies that yield have none.
    last: time of the last break; next: when the stress is looked at again [s]; broken: faces that opened.
    """

    def __init__(self, cracks: CrackFaces, splitter: PhyxelSplitter, material: "Material") -> None:
        self.cracks, self.splitter = cracks, splitter
        self.strength = np.inf if material.strength is None else material.strength
        self.young = material.young if material.yield_ is None else 0.0
        self.most_stretch = (
            STRETCHED + BREAKING_STRAINS * self.strength / self.young if self.young else np.inf
        )
        self.wave_speed = material.wave_speed
        self.calm = CALM * float(np.linalg.norm(np.ptp(splitter.sites, axis=0))) / self.wave_speed
        self._start()

    def _start(self) -> None:
        self.last, self.next, self.broken = -np.inf, -np.inf, 0.0

    # ----------------------------------------------------------------------------------- where it breaks

    def break_at(self, time: float, tension: StressState) -> bool:
        """Open faces, and divide phyxels, where the stress exceeds the strength; whether any did."""
        self.next = time + LOOK * self.cracks.spacing / self.wave_speed
        opened, tension = self._divide_ahead(time, tension)
        opened += self._go_on(time, tension)
        opened = self._begin(time, tension, opened)
        kept = self.cracks.drop_small_pieces(opened + self.cracks.slivers(opened))
        if kept:
            self.last, self.broken = time, self.broken + kept
        return bool(kept) or self.splitter.since is not None

    def _mean(self, stress: Array) -> Array:
        """Means of the stresses of each phyxel and those whose cells touch its own, by volume: phyxels near
        crooked surfaces scatter."""
        a, b = self.cracks.cells.pairs[~self.cracks.opened].T
        v = self.splitter.volumes
        out = np.empty_like(stress)
        total = v + np.bincount(a, v[b], len(v)) + np.bincount(b, v[a], len(v))
        for c, d in SIX:
            own = v * stress[:, c, d]
            around = np.bincount(a, own[b], len(v)) + np.bincount(b, own[a], len(v))
            out[:, c, d] = out[:, d, c] = (own + around) / total
        return out

    def _divide_ahead(self, time: float, tension: StressState) -> tuple[list[int], StressState]:
        """Divide the phyxels through which fronts advance; the faces that opened, and the tension of what is
        there then."""
        wanted = []
        for e, i in self._pulled(time, tension) if self.splitter.enabled else ():
            if (plane := self._ahead(e, principal(tension.stress[i], tension.F[i]))) is not None:
                own, at, m = plane
                pairs = self.cracks.cells.pairs
                beyond = np.setdiff1d(pairs[self.cracks.at(e)], pairs[own])
                wanted += [CellPlane(c, at, m) for c in beyond.tolist()]
        opened = self.splitter.divide(wanted, [], time, self.next)
        new = self.splitter.since
        return opened, tension if new is None else tension.divided(new.parents, new.offset)

    def _go_on(self, time: float, tension: StressState) -> list[int]:
        """Let the fronts run; the faces that opened."""
        opened: list[int] = []
        for e, i in self._pulled(time, tension):
            opened += self._extend(time, e, principal(tension.stress[i], tension.F[i]))
        return opened

    def _pulled(self, time: float, tension: StressState) -> list[tuple[int, int]]:
        """Edges of fronts that advance, each with the phyxel whose stress decides. A front runs where stress
        pulls its plane apart, or where the line from phyxel to phyxel across it is stretched as much as that
        stress would: what is left in front of a crack that has nearly passed is too little for a stress."""
        x, stress, F, sound = tension
        edges = self.cracks.cells.edges
        rim = self.cracks.rim()
        rim = rim[self.cracks.ready[rim] <= time]
        if not len(rim):
            return []
        ends, faces = take_rows(edges.starts, edges.faces, rim)
        of = np.repeat(np.arange(len(rim)), np.diff(ends))
        own = np.zeros(len(rim), np.int64)
        own[of[self.cracks.opened[faces]]] = faces[self.cracks.opened[faces]]
        normal = self.cracks.normals(own)
        stretch = np.repeat(self._stretch(x, faces, normal[of]), 2)
        cell, of = self.cracks.cells.pairs[faces].ravel(), np.repeat(of, 2)
        across = carried(F[cell], normal[of])
        pull = np.einsum("mi,mij,mj->m", across, stress[cell], across)
        pull = np.where(sound[cell], np.maximum(pull, stretch), 0.0) / self.strength
        order = np.lexsort((cell, -pull, of))
        first = order[np.searchsorted(of[order], np.arange(len(rim)))]
        over = np.flatnonzero(pull[first] > 1.0)
        over = over[np.lexsort((rim[over], -pull[first[over]]))][:MOST]
        return list(zip(rim[over].tolist(), cell[first[over]].tolist(), strict=True))

    def _stretch(self, x: Array, faces: IntArray, normals: Array) -> Array:
        """Young's modulus times the strain of the lines across closed ``faces``, if they go along
        ``normals``; nothing of a body that flows."""
        a, b = self.cracks.cells.pairs[faces].T
        d = self.cracks.rest[b] - self.cracks.rest[a]
        length = np.linalg.norm(d, axis=1)
        along = np.abs(np.einsum("mi,mi->m", d, normals)) > ACROSS * length
        strain = np.linalg.norm(x[b] - x[a], axis=1) / length - 1.0
        return np.where(along & ~self.cracks.opened[faces], self.young * strain, 0.0)

    def _ahead(self, e: int, normal: Array) -> tuple[int, Array, Array] | None:
        """The open face at edge ``e`` of a front, and point and normal of the plane in which it continues,
        its own turned a little towards ``normal``; None where another edge has taken the crack past it."""
        own = self.cracks.open_at(e)
        if len(own) != 1:
            return None
        point, m = self.cracks.planes[own[0], :3], self.cracks.normals(own)[0]
        cosine = float(normal @ m)
        at = self.cracks.cells.points[self.cracks.cells.edges.pairs[e]].mean(axis=0)
        at = at - (at - point) @ m * m
        if abs(cosine) < STRAIGHT:
            m = m + TURN * np.sign(cosine) * normal
            m = m / np.linalg.norm(m)
        return int(own[0]), at, m

    def _extend(self, time: float, e: int, normal: Array) -> list[int]:
        """Open the faces at edge ``e`` between the two sides of the plane in which the crack continues."""
        plane = self._ahead(e, normal)
        if plane is None:
            return []
        cells, faces, (own, at, m) = self.cracks.cells, self.cracks.at(e), plane
        around = np.unique(cells.pairs[faces])
        side = dict(zip(around.tolist(), ((self.cracks.rest[around] - at) @ m > 0.0).tolist(), strict=True))
        a, b = cells.pairs[own].tolist()
        along = float((self.cracks.rest[b] - self.cracks.rest[a]) @ m)
        side[a], side[b] = along < 0.0, along >= 0.0
        opened = []
        for f in faces[~self.cracks.opened[faces]].tolist():
            i, j = cells.pairs[f].tolist()
            if side[i] != side[j]:
                if self.cracks.may_open(f, m):
                    self.cracks.open_one(time, f, at, m, at)
                    opened.append(f)
                else:
                    self.cracks.ready[e] = time + 0.2 * self.calm
        return opened

    def _begin(self, time: float, tension: StressState, opened: list[int]) -> list[int]:
        """Start a crack at the phyxel with the largest stress that may; all that opened in this step."""
        limit = 1.0 if time - self.last > self.calm else RAISED
        stress, F = self._mean(tension.stress), tension.F
        rested = self.cracks.retry <= time
        may = np.flatnonzero(tension.sound & rested & (bound(stress) > limit * self.strength))
        excess = np.zeros(len(self.cracks.rest))
        excess[may] = np.linalg.eigvalsh(stress[may])[:, 2] / self.strength
        over = np.flatnonzero(excess > limit)
        for i in over[np.lexsort((over, -excess[over]))][:MOST].tolist():
            n = principal(stress[i], F[i])
            n = n * np.sign(n[np.argmax(np.abs(n))])
            if not self._shielded(i, n):
                found = self.splitter.divide([CellPlane(i, self.cracks.rest[i], n)], opened, time, self.next)
                if len(found) > len(opened):
                    return found
                for way in self._sides(i, n, excess):
                    at = self.cracks.rest[i] + way * 0.5 * self.cracks.spacing * n
                    chosen = [f for f in self._across(i, way * n).tolist() if self.cracks.may_open(f, n)]
                    if chosen:
                        for f in chosen:
                            self.cracks.open_one(time, f, at, n, self.cracks.rest[i])
                        return opened + chosen
            self.cracks.retry[i] = time + 0.2 * self.calm
        return opened

    def _shielded(self, i: int, n: Array) -> bool:
        """Whether a crack of about the direction ``n`` passes close by phyxel i."""
        cracks = self.cracks
        faces = np.flatnonzero(cracks.opened)
        gap = np.linalg.norm(cracks.cells.middle[faces] - cracks.rest[i], axis=1)
        near = faces[gap < SHIELD * cracks.spacing]
        return bool((np.abs(cracks.planes[near, 3:] @ n) > ACROSS).any())

    def _sides(self, i: int, n: Array, excess: Array) -> tuple[float, float]:
        """The side of phyxel i with more stress first; cracks in one plane take the same side."""
        more = [float(excess[self.cracks.others(self._across(i, way * n), i)].sum()) for way in (1.0, -1.0)]
        return (1.0, -1.0) if more[0] >= (1.0 - 1e-6) * more[1] else (-1.0, 1.0)

    def _across(self, i: int, n: Array) -> IntArray:
        """The closed faces of cell i whose other cell is beyond a plane half a spacing along ``n``."""
        faces = self.cracks.faces_of(i)
        faces = faces[~self.cracks.opened[faces]]
        d = self.cracks.rest[self.cracks.others(faces, i)] - self.cracks.rest[i]
        gap = np.linalg.norm(d, axis=1)
        return np.asarray(faces[(d @ n > 0.45 * self.cracks.spacing) | (d @ n > 0.8 * gap)])

    # ------------------------------------------------------------------------------------------ restart

    def state(self) -> dict[str, AnyArray]:
        return self.cracks.state() | {"breaks": np.array([self.last, self.next, float(self.broken)])}

    def restore(self, state: Mapping[str, AnyArray]) -> None:
        self._start()
        if self.cracks.restore(state):
            self.last, self.next, self.broken = (float(value) for value in state["breaks"])
