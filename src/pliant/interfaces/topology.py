"""Changes of topology: particles and cells that appear and disappear."""

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from pliant.core.typing import Array, BoolArray, IntArray
from pliant.interfaces.structure import Structure


@dataclass(frozen=True)
class NewParticles:
    """Particles that continue no older one: rows (q,) of their body, positions and velocities, (q, 3)."""

    rows: IntArray
    x: Array
    v: Array


@dataclass(frozen=True)
class TopologyChange:
    """The structure of a body after a change, and what its particles continue.

    parents (n,): the old particle that each new one continues; or (n, k) with ``weights`` (n, k) where new
    ones lie between old ones. moved (n, 3): how far beside that its position is [m]. new: particles that
    continue none. velocities (n, 3) [m/s]: of a body that was sampled again. Its particles stand for the same
    material as the old ones nearest to them, their ``parents``, and selections are looked up among them.
    """

    structure: Structure
    parents: IntArray
    weights: Array | None = None
    moved: Array | None = None
    new: NewParticles | None = None
    velocities: Array | None = None


class ChangingTopology(Protocol):
    """Mechanics whose particles or cells appear and disappear.

    A raised version makes the loop apply ``topology_change()``, and the recorder write the new structure.
    """

    topology_version: int

    def topology_change(self) -> TopologyChange:
        """The latest change."""

    def rebuild(self, structure: Structure) -> None:
        """Set up for a structure that came of an earlier one, when a run is resumed."""


@dataclass(frozen=True)
class SelectionMap:
    """A selection that was looked up again in a body that was sampled again: ``old`` rows, ``new`` ones
    (ascending), the places (f,) in ``old`` of what these stand for, and how far they are from there (f, 3)
    [m].
    """

    old: IntArray
    new: IntArray
    source: IntArray
    moved: Array


@dataclass(frozen=True)
class IndexMap:
    """New rows of the World and the old rows that each continues.

    parents, weights (n, k): a new row is ``sum_k weights old[parents]``; its main parent comes first, and
    unused places have weight 0 and repeat it. moved (n, 3): how far beside that its position is [m]. fresh:
    new rows that continue none; they have a parent nearby all the same, and belong to no selection.
    resampled: the body that was sampled again, if any; selections: those that were looked up in it again.
    """

    parents: IntArray
    weights: Array
    moved: Array | None = None
    fresh: IntArray = field(default_factory=lambda: np.empty(0, np.int64))
    resampled: str | None = None
    selections: tuple[SelectionMap, ...] = ()

    def _places(self, rows: IntArray) -> tuple[IntArray, IntArray]:
        """New rows all of whose parents are in ``rows``, and the places of these parents there (f, k)."""
        if known := self._looked_up(rows):
            return known.new, np.repeat(known.source[:, None], self.parents.shape[1], axis=1)
        place = np.full(int(max(self.parents.max(), rows.max(initial=0))) + 1, -1)
        place[rows] = np.arange(len(rows))
        source = place[self.parents]
        old: BoolArray = np.asarray((source >= 0).all(axis=1))
        old[self.fresh] = False
        found = np.flatnonzero(old)
        return found, source[found]

    def _looked_up(self, rows: IntArray) -> SelectionMap | None:
        return next((each for each in self.selections if np.array_equal(each.old, rows)), None)

    def shifts(self, rows: IntArray) -> Array | None:
        """How far (f, 3) [m] the new rows of what were ``rows`` are beside the old ones; None: not at all."""
        if known := self._looked_up(rows):
            return known.moved
        return None if self.moved is None else self.moved[self._places(rows)[0]]

    def remap_rows(self, rows: IntArray) -> tuple[IntArray, IntArray]:
        """The new rows of what were ``rows``, and for each its place in ``rows``.

        A row between several old ones belongs to a selection if all of them do.
        """
        found, source = self._places(rows)
        return found, source[:, 0]

    def remap_values(self, rows: IntArray, values: Array) -> Array:
        """Values (rows, ...) of what were ``rows``, at the new rows that ``remap_rows`` gives."""
        found, source = self._places(rows)
        return blend(values, source, self.weights[found])


def blend(values: Array, parents: IntArray, weights: Array) -> Array:
    """``sum_k weights[:, k] values[parents[:, k]]``; exact copies where there is one parent."""
    out = np.asarray(values[parents[:, 0]])
    mixed = np.flatnonzero(weights[:, 0] != 1.0)
    if len(mixed):
        out[mixed] = np.einsum("nk,nk...->n...", weights[mixed], values[parents[mixed]])
    return out
