"""Cuts at work: at once, along a seam, or with a blade that moves."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from pliant.protocols import Acting, Cuttable
from pliant.typing import AnyArray, Array, BoolArray

if TYPE_CHECKING:
    from pliant.simulation.world import Part, World

Level = Callable[[Array], Array]


class Slice(Acting):
    """A cut at once along the zero of ``level``."""

    def __init__(self, parts: Sequence["Part"], level: Level, at: float) -> None:
        self.parts, self.level, self.at = parts, level, at

    def happen(self, world: "World") -> None:
        for part in self.parts:
            x, mechanics = world.x[part.rows], part.mechanics
            assert isinstance(mechanics, Cuttable)
            mechanics.cut(x, self.level(x))


class Opening(Acting):
    """A seam along the faces next to the zero of ``level``."""

    def __init__(self, parts: Sequence["Part"], level: Level, at: float) -> None:
        self.parts, self.level, self.at = parts, level, at

    def happen(self, world: "World") -> None:
        for part in self.parts:
            mechanics = part.mechanics
            assert isinstance(mechanics, Cuttable)
            x, tets = world.x[part.rows], part.structure.cells.get("tetra")
            centres = x if tets is None else x[tets].mean(axis=1)  # phyxels have no tets
            mechanics.part_faces((self.level(centres) > 0.0).astype(np.int64))


class Way(Protocol):
    """Where a blade goes, at points x (n, 3) [m]."""

    def level(self, x: Array) -> Array:
        """Signed distances from its way (n,) [m]."""

    def beside(self, x: Array) -> Array | None:
        """How far they are beside its rim (n,) [m]; None: it has none."""

    def passed(self, x: Array, time: float) -> BoolArray:
        """Whether the edge has been there."""


@dataclass(frozen=True)
class Guillotine:
    """A blade in a plane, its edge at ``edge`` [m] along ``direction``."""

    plane: Any
    direction: Array
    edge: Any

    def level(self, x: Array) -> Array:
        return np.asarray(self.plane.level(x))

    def beside(self, x: Array) -> None:
        return None

    def passed(self, x: Array, time: float) -> BoolArray:
        return np.asarray(x @ self.direction <= float(self.edge.at(time)))


class Blade(Acting):
    """A moving blade at work: tets are cut up along its way when it begins, and parted behind its edge.

    marks: rest positions of each body's particles on its way, which name them whatever else happens.
    """

    def __init__(self, parts: Sequence["Part"], way: Way) -> None:
        self.parts, self.way = parts, way
        self.marks: dict[str, Array] = {}
        self._seen: dict[str, bytes] = {}  # what it had passed when it last parted something

    def between_steps(self, time: float, world: "World") -> bool:
        changed = False
        for part in self.parts:
            x, mechanics = world.x[part.rows], part.mechanics
            assert isinstance(mechanics, Cuttable)
            if part.name not in self.marks:
                count = len(x)
                beside = self.way.beside(x)
                past = None if beside is None else beside - 0.5 * part.structure.spacing
                self.marks[part.name] = mechanics.imprint(x, self.way.level(x), past)
                changed |= len(self.marks[part.name]) > 0 and len(mechanics.structure.rest) > count  # type: ignore[attr-defined]
                continue
            behind = _among(part.structure.rest, self.marks[part.name])
            behind[behind] = self.way.passed(x[behind], time)
            seen = np.packbits(behind).tobytes()
            if behind.any() and self._seen.get(part.name) != seen:
                self._seen[part.name] = seen
                changed |= mechanics.part_faces(None, behind)
        return changed

    def state(self) -> dict[str, AnyArray]:
        return dict(self.marks)

    def restore(self, state: Mapping[str, AnyArray]) -> None:
        self.marks, self._seen = {name: np.array(points) for name, points in state.items()}, {}


def _among(points: Array, marks: Array) -> Any:
    """Which of ``points`` are exactly one of ``marks``."""
    row = np.dtype((np.void, 24))
    return np.isin(
        np.ascontiguousarray(points).view(row).ravel(), np.ascontiguousarray(marks).view(row).ravel()
    )
