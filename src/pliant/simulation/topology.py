"""Applies changes of topology: from the models that make them to the World and everything that holds rows."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from pliant.core.typing import AnyArray
from pliant.interfaces import (
    ActionRuntime,
    BodyChange,
    ChangingTopology,
    IndexMap,
    MeasureSampler,
    Structure,
    TopologyChange,
)
from pliant.simulation.requests import apply_requests
from pliant.state.world import BodyState, World

Follower = ActionRuntime | MeasureSampler


class TopologyTracker:
    """Watches the bodies whose particles may change, and passes each change on to the followers."""

    def __init__(self, world: World, followers: Sequence[Follower]) -> None:
        self.world = world
        self.followers: list[Follower] = list(followers)
        self._changing: list[tuple[BodyState, ChangingTopology]] = [
            (body, found) for body in world.bodies if (found := body.mechanics.offer(ChangingTopology))
        ]
        self.resampled: list[str] = []  # bodies that were, since the stable step was looked at
        self.mark_current()

    @property
    def possible(self) -> bool:
        """Whether any body can change by itself."""
        return bool(self._changing)

    @property
    def outdated(self) -> bool:
        """Whether a body has changed since."""
        now = (mechanics.topology_version for _, mechanics in self._changing)
        return any(version != known for version, known in zip(now, self._versions, strict=True))

    @property
    def booked(self) -> bool:
        """Whether all bodies that have changed since report the energy that this takes."""
        pairs = zip(self._changing, self._versions, strict=True)
        return all(b.mechanics.books_fracture or m.topology_version == known for (b, m), known in pairs)

    def mark_current(self) -> None:
        """The World and all followers know the present topology."""
        self._versions = [mechanics.topology_version for _, mechanics in self._changing]

    def apply_changes(self, created_or_removed: Sequence[BodyChange] = ()) -> bool:
        """Give the World the particles that models made or removed; True if there were any."""
        changed = bool(created_or_removed)
        for body, structure in created_or_removed:
            self._announce(self.world.resize(body, TopologyChange(structure, np.arange(body.count))))
        for k, (body, mechanics) in enumerate(self._changing):
            if mechanics.topology_version != self._versions[k]:
                self._versions[k] = mechanics.topology_version
                self._announce(self.world.resize(body, mechanics.topology_change()))
                changed = True
        return changed

    def restore_topology(self, structures: Sequence[Structure], state: Mapping[str, AnyArray]) -> None:
        """Bring a World that was built for topology 0 to that of ``state`` (for resumed runs)."""
        first = [body.rows.start for body in self.world.bodies]
        start = 0
        for body, structure, origin in zip(self.world.bodies, structures, first, strict=True):
            rows = slice(start, start + len(structure.rest))
            start = rows.stop
            parents, weights = state["ancestors"][rows] - origin, state["ancestor-weights"][rows]
            changing = body.mechanics.offer(ChangingTopology)
            change = TopologyChange(structure, parents, weights)
            if changing is not None:
                changing.rebuild(structure)
                latest = changing.topology_change()
                change = replace(change, new=latest.new, velocities=latest.velocities)
            self._announce(self.world.resize(body, change))
        self.world.topology_version = int(state["topology_version"])

    def _announce(self, change: IndexMap) -> None:
        for follower in self.followers:
            follower.remap(change, self.world)
        if change.resampled is not None:
            self.resampled.append(change.resampled)
            apply_requests(self.world, [each for each in self.followers if isinstance(each, ActionRuntime)])
