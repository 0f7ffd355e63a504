r"""Faces of cracks that take the toughness of the material before they let go.

Where faces of tets open, each pair of corners that lay on each other is held together by a third of the
area A of their face, with the traction law of two straight lines [CamachoOrtiz1996]_: it rises to the
strength at a small opening :math:`\delta_0` and falls to nothing at
:math:`\delta_f = 2 G_c / \mathrm{strength}`, so that a face takes :math:`G_c A` whatever its size. With m the
largest opening so far, the force is :math:`k(m)` times the present vector between the corners: it unloads to
zero, faces begin without a force; what a growing m takes of :math:`\tfrac12 k \delta^2` is fracture energy.

Differs: the law of Camacho and Ortiz begins at the strength and springs back along a line only once it has
opened; a rise keeps forces finite without a sudden jump.
"""

from collections.abc import Mapping

import numpy as np

from pliant.core.typing import AnyArray, Array, IntArray
from pliant.fracture.tet_topology import TetEdit

ONSET = 0.05, 0.5  # least and largest share of the opening at which faces let go that the rise takes
SOFT = 0.25  # the rise is as stiff as this part of an edge of material, within those shares
_KEPT = ("corners", "area", "strength", "end", "onset", "opening")


class CohesiveFaces:
    """Pairs of corners ``4 t + k`` of tets (c, 2) with their area [m2], strength [Pa], openings [m] at which
    the traction is largest (onset) and gone (end), and the largest opening so far."""

    def __init__(self) -> None:
        self.corners: IntArray = np.empty((0, 2), np.int64)
        self.area, self.strength, self.end, self.onset, self.opening = (np.empty(0) for _ in range(5))
        self._ends: IntArray = self.corners
        self._stiffness: Array = np.empty(0)

    def __len__(self) -> int:
        return len(self.corners)

    def add(
        self, corners: IntArray, area: Array, strength: Array, toughness: Array, soft: Array, tets: IntArray
    ) -> None:
        """Hold pairs of ``corners`` (c, 2) that are not held yet; soft (c,): the opening [m] of an edge of
        material at its strength."""
        known = {tuple(sorted(pair)) for pair in self.corners.tolist()}
        new = np.array([tuple(sorted(pair)) not in known for pair in corners.tolist()], bool)
        end = 2.0 * toughness / strength
        onset = np.clip(SOFT * soft, ONSET[0] * end, ONSET[1] * end)
        more = (corners, area, strength, end, onset, np.zeros(len(corners)))
        for name, values in zip(_KEPT, more, strict=True):
            setattr(self, name, np.concatenate([getattr(self, name), values[new]]))
        self.attach(tets)

    def attach(self, tets: IntArray) -> None:
        """Take the particles from the present ``tets``."""
        self._ends = tets.ravel()[self.corners]
        rising = self.strength / self.onset
        falling = self.strength * (self.end - self.opening) / (self.end - self.onset)
        beyond = np.maximum(falling, 0.0) / np.maximum(self.opening, self.onset)
        self._stiffness = self.area * np.where(self.opening <= self.onset, rising, beyond)

    def follow(self, edit: TetEdit, count: int) -> None:
        """Keep up with an edit of ``count`` tets; corners of tets that were divided let go."""
        uses = np.bincount(edit.origin, minlength=count)
        child = np.zeros(count, np.int64)
        child[edit.origin] = np.arange(len(edit.origin))
        old = self.corners // 4
        kept = (uses[old] == 1).all(axis=1)
        corners = 4 * child[old] + self.corners % 4
        for name in _KEPT:
            setattr(self, name, (corners if name == "corners" else getattr(self, name))[kept])
        self.attach(edit.tets)

    def advance(self, x: Array, tets: IntArray) -> float:
        """Bring the openings up to particles at ``x``; the energy [J] that this takes."""
        if not len(self):
            return 0.0
        now = np.linalg.norm(self._gaps(x), axis=1)
        if not (now > self.opening).any():
            return 0.0
        before = self.energy(x)
        self.opening = np.maximum(self.opening, now)
        self.attach(tets)
        taken = before - self.energy(x)
        if (self.opening >= self.end).any():
            holds = self.opening < self.end
            for name in _KEPT:
                setattr(self, name, getattr(self, name)[holds])
            self.attach(tets)
        return taken

    def _gaps(self, x: Array) -> Array:
        return x[self._ends[:, 1]] - x[self._ends[:, 0]]

    def energy(self, x: Array) -> float:
        """Energy [J] that comes back when the faces close."""
        return 0.5 * float(self._stiffness @ (self._gaps(x) ** 2).sum(axis=1)) if len(self) else 0.0

    def add_forces(self, x: Array, out: Array) -> None:
        """Add the forces [N] with particles at ``x``: linear in x, as energy and stiffness are exact."""
        if len(self):
            pull = self._stiffness[:, None] * self._gaps(x)
            np.add.at(out, self._ends[:, 0], pull)
            np.add.at(out, self._ends[:, 1], -pull)

    def frequency(self, mass: Array) -> float:
        """An upper bound of the angular frequency [1/s] of the faces alone, between particles of ``mass``."""
        if not len(self):
            return 0.0
        total = np.bincount(self._ends.ravel(), np.repeat(self._stiffness, 2), len(mass))
        return float(np.sqrt(2.0 * (total / mass).max()))

    def state(self) -> dict[str, AnyArray]:
        return {f"cohesive-{name}": getattr(self, name) for name in _KEPT}

    def restore(self, state: Mapping[str, AnyArray], tets: IntArray) -> None:
        for name in _KEPT:
            setattr(self, name, np.array(state[f"cohesive-{name}"]))
        self.attach(tets)
