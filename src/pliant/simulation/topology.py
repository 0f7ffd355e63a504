"""Particles that come and go: from the models that make them to the World and everybody who holds rows."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pliant.core.errors import IncompatibleError
from pliant.core.typing import AnyArray
from pliant.interfaces import IndexMap, Rebuilding, Remappable, Structure, Topology
from pliant.state.world import World


class TopologyTracker:
    """Watches the bodies whose particles may change, and tells the followers of each change."""

    def __init__(self, world: World, followers: Sequence[Any]) -> None:
        self.world = world
        self.followers = list(followers)
        self._changing = [p for p in world.bodies if isinstance(p.mechanics, Topology)]
        self.mark_current()

    @property
    def possible(self) -> bool:
        """Whether any body can change by itself."""
        return bool(self._changing)

    def mark_current(self) -> None:
        """What the bodies are now is known to everybody."""
        self._versions = [p.mechanics.topology_version for p in self._changing]  # type: ignore[attr-defined]

    def apply_changes(self) -> bool:
        """Give the World the particles that models made or removed; True if any did."""
        changed = bool(self.world.replaced)
        for part, structure in self.world.replaced:
            self._announce(self.world.resize(part, structure, np.arange(part.count)))
        self.world.replaced = []
        for k, part in enumerate(self._changing):
            mechanics: Any = part.mechanics
            if mechanics.topology_version != self._versions[k]:
                self._versions[k] = mechanics.topology_version
                weights = getattr(mechanics, "parent_weights", None)
                moved, newcomers = getattr(mechanics, "moved", None), getattr(mechanics, "newcomers", None)
                change = self.world.resize(
                    part, mechanics.structure, mechanics.parents, weights, moved, newcomers
                )
                self._announce(change)
                changed = True
        return changed

    def restore_topology(self, structures: Sequence[Structure], state: Mapping[str, AnyArray]) -> None:
        """Bring a World that was built for topology 0 to that of ``state`` (for resumed runs)."""
        first = [part.rows.start for part in self.world.bodies]
        start = 0
        for part, structure, origin in zip(self.world.bodies, structures, first, strict=True):
            rows = slice(start, start + len(structure.rest))
            start = rows.stop
            parents, weights = state["ancestors"][rows] - origin, state["ancestor-weights"][rows]
            if isinstance(part.mechanics, Rebuilding):
                part.mechanics.rebuild(structure)
            newcomers = getattr(part.mechanics, "newcomers", None)
            self._announce(self.world.resize(part, structure, parents, weights, newcomers=newcomers))
        self.world.topology_version = int(state["topology_version"])

    def _announce(self, change: IndexMap) -> None:
        for follower in self.followers:
            if isinstance(follower, Remappable):
                follower.remap(change, self.world)
            elif hasattr(follower, "rows"):
                raise IncompatibleError(
                    f"{type(follower).__name__} holds particles of a body whose particles come and go, "
                    "and has no 'follow' to keep up with them."
                )
