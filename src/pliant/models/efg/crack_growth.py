r"""Cracks through phyxel bodies: where they start and how they run.

A crack is a sheet of faces between the phyxels' cells (``cells.py``) in the rest shape. Each open face
remembers the plane that it stands for. Where the largest principal stress of a phyxel exceeds the strength, a
plane across it starts: it divides the phyxel (``dividing.py``), or the faces of its cell that the plane parts
open. Where the stress beside an edge of the front exceeds the strength and pulls the crack open, the plane
goes on, turned a little towards the stress: it divides the phyxels that it passes through, and faces between
cells on its two sides open. So cracks are smooth although cells are not, and run on along their own plane.

Source: [Stegmayr2008]_ 4.1.3, which describes and does not do it. Differs: one new crack a step, none close
to another of about the same direction, and after a break others need 1.3 times the strength while its waves
cross the body five times.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from pliant.core.typing import AnyArray, Array, BoolArray, IntArray
from pliant.mesh.mesh import Surface
from pliant.models.efg.cells import VoronoiCells
from pliant.models.efg.principal_stress import StressState, bound, carried, principal
from pliant.models.efg.split import CellPlane, PhyxelSplitter
from pliant.models.efg.support import SIX, MlsSupport

if TYPE_CHECKING:
    from pliant.materials import ResolvedMaterial as Material

LOOK = 0.5  # spacings that a wave goes between two looks at the stress
MOST = 64  # edges of the front that may go on in a step
CALM, RAISED = 5.0, 1.3
ACROSS = 0.5  # cosine: cracks that look more alike have about the same direction
SHIELD = 3.0  # spacings: no crack starts this near to another of about the same direction
STRAIGHT, TURN = 0.94, 0.15  # cosine to the stress from which a crack goes straight on; else how it turns


class PhyxelCracks(PhyxelSplitter):
    """The cracks of one body. volumes (n,) [m3]; surface: that of the body; dividing: whether cracks pass
    through phyxels; before: ``sites`` and ``cuts`` if they have done so."""

    def __init__(
        self,
        cells: VoronoiCells,
        whole: MlsSupport,
        rest: Array,
        volumes: Array,
        spacing: float,
        material: "Material",
        surface: Surface,
        dividing: bool,
        before: tuple[Array, Array] | None = None,
    ) -> None:
        self.volumes, self.whole_surface, self.dividing = volumes, surface, dividing
        self.sites, self.cuts = before or (rest, np.zeros((0, 7)))
        self.strength = np.inf if material.strength is None else material.strength
        self.young = material.young if material.yield_ is None else 0.0
        self.wave_speed = material.wave_speed
        self.calm = CALM * float(np.linalg.norm(np.ptp(self.sites, axis=0))) / self.wave_speed
        unit = float(whole.h[: len(self.sites)].mean())
        super().__init__(cells, whole, rest, spacing, material.crack_speed, unit)

    def close_all(self) -> None:
        super().close_all()
        self.rests = np.full(len(self.rest), -np.inf)  # when a phyxel that could not break may try again
        self.last, self.next, self.broken = -np.inf, -np.inf, 0.0

    # ----------------------------------------------------------------------------------- where it breaks

    def break_at(self, time: float, tension: StressState) -> bool:
        """Open faces, and divide phyxels, where the stress exceeds the strength; whether any did."""
        self.next = time + LOOK * self.spacing / self.wave_speed
        opened, tension = self._divide_ahead(time, tension)
        opened += self._go_on(time, tension)
        opened = self._begin(time, tension, opened)
        kept = self.without_crumbs(opened + self.slivers(opened))
        if kept:
            self.last, self.broken = time, self.broken + kept
        return bool(kept) or self.since is not None

    def _mean(self, stress: Array) -> Array:
        """Means of the stresses of each phyxel and those whose cells touch its own, by volume: phyxels near
        crooked surfaces scatter."""
        a, b = self.cells.pairs[~self.opened].T
        v = self.volumes
        out = np.empty_like(stress)
        total = v + np.bincount(a, v[b], len(v)) + np.bincount(b, v[a], len(v))
        for c, d in SIX:
            own = v * stress[:, c, d]
            around = np.bincount(a, own[b], len(v)) + np.bincount(b, own[a], len(v))
            out[:, c, d] = out[:, d, c] = (own + around) / total
        return out

    def _divide_ahead(self, time: float, tension: StressState) -> tuple[list[int], StressState]:
        """Divide the phyxels through which fronts go on; the faces that opened, and the tension of what is
        there then."""
        wanted = []
        for e, i in self._pulled(time, tension) if self.dividing else ():
            if (plane := self._ahead(e, principal(tension.stress[i], tension.F[i]))) is not None:
                own, at, m = plane
                beyond = np.setdiff1d(self.cells.pairs[self.at(e)], self.cells.pairs[own])
                wanted += [CellPlane(c, at, m) for c in beyond.tolist()]
        opened = self.divide(time, wanted, [])
        return opened, tension if self.since is None else tension.divided(
            self.since.parents, self.since.offset
        )

    def _go_on(self, time: float, tension: StressState) -> list[int]:
        """Let the fronts run; the faces that opened."""
        opened: list[int] = []
        for e, i in self._pulled(time, tension):
            opened += self._extend(time, e, principal(tension.stress[i], tension.F[i]))
        return opened

    def _pulled(self, time: float, tension: StressState) -> list[tuple[int, int]]:
        """Edges of fronts that run on, each with the phyxel whose stress says so. A front runs where stress
        pulls its plane apart, or where the line from phyxel to phyxel across it is stretched as much as that
        stress would: what is left in front of a crack that has nearly passed is too little for a stress."""
        x, stress, F, sound = tension
        edges = self.cells.edges
        rim = self.rim()
        rim = rim[self.ready[rim] <= time]
        if not len(rim):
            return []
        start, count = edges.starts[rim], edges.starts[rim + 1] - edges.starts[rim]
        of = np.repeat(np.arange(len(rim)), count)
        faces = edges.faces[np.repeat(start - np.cumsum(count) + count, count) + np.arange(len(of))]
        own = np.zeros(len(rim), np.int64)
        own[of[self.opened[faces]]] = faces[self.opened[faces]]
        normal = self.normals(own)
        stretch = np.repeat(self._stretch(x, faces, normal[of]), 2)
        cell, of = self.cells.pairs[faces].ravel(), np.repeat(of, 2)
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
        a, b = self.cells.pairs[faces].T
        d = self.rest[b] - self.rest[a]
        length = np.linalg.norm(d, axis=1)
        along = np.abs(np.einsum("mi,mi->m", d, normals)) > ACROSS * length
        strain = np.linalg.norm(x[b] - x[a], axis=1) / length - 1.0
        return np.where(along & ~self.opened[faces], self.young * strain, 0.0)

    def _ahead(self, e: int, normal: Array) -> tuple[int, Array, Array] | None:
        """The open face at edge ``e`` of a front, and point and normal of the plane in which it goes on: its
        own, turned a little towards ``normal``. None where another edge has taken the crack past this one."""
        own = self.torn(e)
        if len(own) != 1:
            return None
        point, m = self.planes[own[0], :3], self.normals(own)[0]
        cosine = float(normal @ m)
        at = self.cells.points[self.cells.edges.pairs[e]].mean(axis=0)
        at = at - (at - point) @ m * m
        if abs(cosine) < STRAIGHT:
            m = m + TURN * np.sign(cosine) * normal
            m = m / np.linalg.norm(m)
        return int(own[0]), at, m

    def _extend(self, time: float, e: int, normal: Array) -> list[int]:
        """Open the faces at edge ``e`` between the two sides of the plane in which the crack goes on."""
        plane = self._ahead(e, normal)
        if plane is None:
            return []
        cells, faces, (own, at, m) = self.cells, self.at(e), plane
        around = np.unique(cells.pairs[faces])
        side = dict(zip(around.tolist(), ((self.rest[around] - at) @ m > 0.0).tolist(), strict=True))
        a, b = cells.pairs[own].tolist()
        along = float((self.rest[b] - self.rest[a]) @ m)
        side[a], side[b] = along < 0.0, along >= 0.0
        opened = []
        for f in faces[~self.opened[faces]].tolist():
            i, j = cells.pairs[f].tolist()
            if side[i] != side[j]:
                if self.may_open(f, m):
                    self.open_one(time, f, at, m, at)
                    opened.append(f)
                else:
                    self.ready[e] = time + 0.2 * self.calm
        return opened

    def _begin(self, time: float, tension: StressState, opened: list[int]) -> list[int]:
        """Start a crack at the phyxel with the largest stress that may; all that opened in this step."""
        limit = 1.0 if time - self.last > self.calm else RAISED
        stress, F = self._mean(tension.stress), tension.F
        may = np.flatnonzero(tension.sound & (self.rests <= time) & (bound(stress) > limit * self.strength))
        excess = np.zeros(len(self.rest))
        excess[may] = np.linalg.eigvalsh(stress[may])[:, 2] / self.strength
        over = np.flatnonzero(excess > limit)
        for i in over[np.lexsort((over, -excess[over]))][:MOST].tolist():
            n = principal(stress[i], F[i])
            n = n * np.sign(n[np.argmax(np.abs(n))])
            if not self._shielded(i, n):
                found = self.divide(time, [CellPlane(i, self.rest[i], n)], opened)
                if len(found) > len(opened):
                    return found
                for way in self._sides(i, n, excess):
                    at = self.rest[i] + way * 0.5 * self.spacing * n
                    chosen = [f for f in self._across(i, way * n).tolist() if self.may_open(f, n)]
                    if chosen:
                        for f in chosen:
                            self.open_one(time, f, at, n, self.rest[i])
                        return opened + chosen
            self.rests[i] = time + 0.2 * self.calm
        return opened

    def _shielded(self, i: int, n: Array) -> bool:
        """Whether a crack of about the direction ``n`` passes close by phyxel i."""
        faces = np.flatnonzero(self.opened)
        near = np.linalg.norm(self.cells.middle[faces] - self.rest[i], axis=1) < SHIELD * self.spacing
        return bool((np.abs(self.planes[faces[near], 3:] @ n) > ACROSS).any())

    def _sides(self, i: int, n: Array, excess: Array) -> tuple[float, float]:
        """The side of phyxel i with more stress first; cracks in one plane take the same side."""
        more = [float(excess[self.others(self._across(i, way * n), i)].sum()) for way in (1.0, -1.0)]
        return (1.0, -1.0) if more[0] >= (1.0 - 1e-6) * more[1] else (-1.0, 1.0)

    def _across(self, i: int, n: Array) -> IntArray:
        """The closed faces of cell i whose other cell is beyond a plane half a spacing along ``n``."""
        faces = self.faces_of(i)
        faces = faces[~self.opened[faces]]
        d = self.rest[self.others(faces, i)] - self.rest[i]
        gap = np.linalg.norm(d, axis=1)
        return np.asarray(faces[(d @ n > 0.45 * self.spacing) | (d @ n > 0.8 * gap)])

    # ------------------------------------------------------------------------------------------- seams

    def cut_up(self, level: Array) -> Array:
        """Divide the phyxels through which ``level`` (n,) is zero; it, for those that are there then."""
        slope = self.sight.slopes(level)
        n = len(level)
        self.divide(-np.inf, self._passed(level, slope), [], open_=False)
        if self.since is None or len(self.rest) == n:
            return level
        rows, offset = self.since.parents, self.since.offset
        return np.asarray(level[rows] + np.einsum("ni,ni->n", slope[rows], offset))

    def part(self, sides: IntArray, where: BoolArray | None = None, level: Array | None = None) -> bool:
        """Open all faces between phyxels of different ``sides``, crumbs left aside; whether any did.
        ``level`` (n,): what is zero at the cut, so that its faces become as smooth."""
        a, b = self.cells.pairs[:, 0], self.cells.pairs[:, 1]
        chosen = (sides[a] != sides[b]) & ~self.opened
        if where is not None:
            chosen &= where[a] & where[b]
        faces = np.flatnonzero(chosen)
        if not len(faces):
            return False
        self.opened[faces] = True
        self.planes[faces, :3], self.planes[faces, 3:] = self.cells.middle[faces], 0.0
        if level is not None:
            a, b = a[faces], b[faces]
            share = (level[a] / (level[a] - level[b]))[:, None]
            slope = self.sight.slopes(level)
            slope = slope[a] + slope[b]
            self.planes[faces, :3] = self.rest[a] + share * (self.rest[b] - self.rest[a])
            self.planes[faces, 3:] = slope / np.maximum(np.linalg.norm(slope, axis=1), 1e-300)[:, None]
        self.forget()
        return self.without_crumbs(faces.tolist()) > 0

    def _passed(self, level: Array, slope: Array) -> list[CellPlane]:
        """The phyxels through whose cells a cut passes, and where."""
        steep = np.linalg.norm(slope, axis=1)
        near = np.abs(level) < 0.5 * self.spacing * steep
        rows = np.flatnonzero(near)
        normal = slope[rows] / steep[rows, None]
        at = self.rest[rows] - (level[rows] / steep[rows])[:, None] * normal
        return [CellPlane(int(i), p, n) for i, p, n in zip(rows.tolist(), at, normal, strict=True)]

    # ------------------------------------------------------------------------------------------ restart

    def state(self) -> dict[str, AnyArray]:
        return {
            "opened": self.opened.astype(np.uint8) + 2 * self.refused.astype(np.uint8),
            "planes": self.planes[self.opened],
            "ready": self.ready,
            "rests": self.rests,
            "breaks": np.array([self.last, self.next, float(self.broken)]),
            "hidden": self.sight.hit,
            "hidden-where": self.sight.where,
        }

    def restore(self, state: Mapping[str, AnyArray]) -> None:
        """Continue from ``state``; of a frame only ``opened`` is known."""
        self.close_all()
        self.opened, self.refused = (state["opened"] & 1).astype(bool), (state["opened"] & 2).astype(bool)
        if "planes" not in state or len(state["planes"]) != np.count_nonzero(self.opened):
            self.sight.block(self._corners(np.flatnonzero(self.opened)))
            return
        self.planes[self.opened] = state["planes"]
        self.ready, self.rests = np.array(state["ready"]), np.array(state["rests"])
        self.last, self.next, self.broken = (float(value) for value in state["breaks"])
        # faces that were cut after they had opened have other triangles now
        self.sight.hit, self.sight.where = np.array(state["hidden"]), np.array(state["hidden-where"])
