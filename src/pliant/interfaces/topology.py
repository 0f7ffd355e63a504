"""Particles that come and go."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np

from pliant.core.typing import Array, BoolArray, IntArray
from pliant.interfaces.structure import Structure

if TYPE_CHECKING:
    from pliant.state.world import World


@dataclass(frozen=True)
class IndexMap:
    """New rows of the World and the old rows that each continues.

    parents, weights (n, k): a new row is ``sum_k weights old[parents]``; its main parent comes first, and
    places that are not needed have weight 0 and repeat it. moved (n, 3): how far beside that its position is
    [m]; None: nowhere. fresh: new rows that continue none; they have a parent nearby all the same, and belong
    to no selection.
    """

    parents: IntArray
    weights: Array
    moved: Array | None = None
    fresh: IntArray = field(default_factory=lambda: np.empty(0, np.int64))

    def _places(self, rows: IntArray) -> tuple[IntArray, IntArray]:
        """New rows all of whose parents are in ``rows``, and the places of these parents there (f, k)."""
        place = np.full(int(max(self.parents.max(), rows.max(initial=0))) + 1, -1)
        place[rows] = np.arange(len(rows))
        source = place[self.parents]
        old = np.asarray((source >= 0).all(axis=1))
        old[self.fresh] = False
        found = np.flatnonzero(old)
        return found, source[found]

    def remap_rows(self, rows: IntArray) -> tuple[IntArray, IntArray]:
        """The new rows of what were ``rows``, and for each the place in ``rows`` that it comes from.

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


@dataclass(frozen=True)
class NewParticles:
    """Particles that continue none: rows (q,) of their body, where they appear and how fast, (q, 3)."""

    rows: IntArray
    x: Array
    v: Array


@runtime_checkable
class Topology(Protocol):
    """Mechanics whose particles or cells come and go. A raised version makes the loop take over
    ``structure`` and ``parents``, and the recorder write it.

    parents (n,): the old particle that each new one continues; or (n, k) with ``parent_weights`` (n, k) as
    an attribute beside it, where new ones lie between old ones; or with ``moved`` (n, 3), where they lie
    beside them. ``newcomers`` beside it, if any: those that continue none.
    """

    topology_version: int
    structure: Structure
    parents: IntArray


@runtime_checkable
class Rebuilding(Protocol):
    """Mechanics that can be set up for a structure that came of theirs: told when a run is resumed."""

    def rebuild(self, structure: Structure) -> None: ...


@runtime_checkable
class Cuttable(Protocol):
    """Mechanics on tets or phyxels that can be cut. Each verb returns whether anything was."""

    def cut(self, x: Array, level: Array) -> bool:
        """Cut through tets where ``level`` (n,) is zero, and part the two sides."""

    def mark_cut(self, x: Array, level: Array, past: Array | None = None) -> Array:
        """Cut up tets where ``level`` is zero and part nothing; rest positions of the cut's vertices, only
        those where ``past`` (n,) is not positive: beyond the rim of what cuts it is."""

    def open_faces(self, sides: IntArray | None, where: BoolArray | None = None) -> bool:
        """Part neighbouring tets (or phyxels) of different ``sides`` (m,); only across faces of particles
        ``where``."""


@runtime_checkable
class Remappable(Protocol):
    """Keeps rows of the World, and keeps up with changes of topology."""

    def remap(self, change: IndexMap, world: "World") -> None: ...
