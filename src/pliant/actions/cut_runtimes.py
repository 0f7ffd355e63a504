"""Runtimes of cuts: at once, along a seam, or with a blade that moves."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from pliant.core.errors import IncompatibleError
from pliant.core.typing import AnyArray, Array, BoolArray
from pliant.interfaces import ActionRuntime, BetweenSteps, BodyChange, ChangingTopology, Cuttable, Event
from pliant.models import models_offering

if TYPE_CHECKING:
    from pliant.state.world import BodyState, World

Level = Callable[[Array], Array]


def _missed(parts: Sequence["BodyState"]) -> str:
    """What to say of a cut that meets none of the bodies."""
    names = ", ".join(f"'{part.name}'" for part in parts)
    return f"it meets nothing of {names}: it is made where the body is at that moment, in world coordinates"


def cuttable(part: "BodyState") -> Cuttable:
    """The mechanics of a body that can be cut; IncompatibleError for others."""
    found = part.mechanics.offer(Cuttable)
    if found is None:
        raise IncompatibleError(
            f"model '{part.model.kind}' of body '{part.name}' cannot be cut.",
            hint=f"Use {models_offering(Cuttable)}.",
        )
    return found


class CutRuntime(ActionRuntime):
    """A cut at once along the zero of ``level``."""

    capabilities = frozenset({Event})
    account = "fracture"

    def __init__(self, parts: Sequence["BodyState"], level: Level, at: float) -> None:
        self.parts, self.level, self.at = parts, level, at

    def apply(self, world: "World") -> Sequence[BodyChange]:
        met = False
        for part in self.parts:
            x, mechanics = world.x[part.rows], cuttable(part)
            level = self.level(x)
            met |= bool(level.min() < 0.0 < level.max())
            mechanics.cut(x, level)
        if not met:
            self.diagnostics.warn(_missed(self.parts))
        return ()


class SeamRuntime(ActionRuntime):
    """A seam along the faces next to the zero of ``level``."""

    capabilities = frozenset({Event})
    account = "fracture"

    def __init__(self, parts: Sequence["BodyState"], level: Level, at: float) -> None:
        self.parts, self.level, self.at = parts, level, at

    def apply(self, world: "World") -> Sequence[BodyChange]:
        met = False
        for part in self.parts:
            mechanics = cuttable(part)
            x, tets = world.x[part.rows], part.structure.cells.get("tetra")
            centres = x if tets is None else x[tets].mean(axis=1)  # phyxels have no tets
            above = self.level(centres) > 0.0
            met |= bool(above.any() and not above.all())
            mechanics.open_faces(above.astype(np.int64))
        if not met:
            self.diagnostics.warn(_missed(self.parts))
        return ()


class BladePath(Protocol):
    """Where a blade goes, at points x (n, 3) [m]."""

    def level(self, x: Array) -> Array:
        """Signed distances from its way (n,) [m]."""

    def beside(self, x: Array) -> Array | None:
        """How far they are beside its rim (n,) [m]; None: it has none."""

    def passed(self, x: Array, time: float) -> BoolArray:
        """Whether the edge has been there."""


@dataclass(frozen=True)
class PlanarBlade:
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


class BladeRuntime(ActionRuntime):
    """A moving blade: cells are subdivided along its path when it begins, and separated behind its edge.

    marks: rest positions of each body's particles on its path, which identify them whatever else changes.
    """

    capabilities = frozenset({BetweenSteps})

    def __init__(self, parts: Sequence["BodyState"], way: BladePath) -> None:
        self.parts, self.way = parts, way
        self.marks: dict[str, Array] = {}
        self._seen: dict[str, bytes] = {}  # what it had passed when it last parted something

    def between_steps(self, time: float, world: "World") -> bool:
        changed, begins = False, not self.marks
        for part in self.parts:
            x, mechanics = world.x[part.rows], cuttable(part)
            if part.name not in self.marks:
                count = len(x)
                beside = self.way.beside(x)
                past = None if beside is None else beside - 0.5 * part.structure.spacing
                self.marks[part.name] = mechanics.mark_cut(x, self.way.level(x), past)
                changing = part.mechanics.offer(ChangingTopology)
                more = changing is not None and len(changing.topology_change().structure.rest) > count
                changed |= len(self.marks[part.name]) > 0 and more
                continue
            behind = _among(part.structure.rest, self.marks[part.name])
            behind[behind] = self.way.passed(x[behind], time)
            seen = np.packbits(behind).tobytes()
            if behind.any() and self._seen.get(part.name) != seen:
                self._seen[part.name] = seen
                changed |= mechanics.open_faces(None, behind)
        if begins and not any(len(points) for points in self.marks.values()):
            self.diagnostics.warn(_missed(self.parts))
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
