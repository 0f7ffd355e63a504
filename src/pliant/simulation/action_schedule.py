"""Which actions act now, and which events have happened."""

from collections.abc import Mapping, Sequence

import numpy as np

from pliant.core.errors import IncompatibleError
from pliant.core.typing import AnyArray
from pliant.interfaces import ActionRuntime, Event, PrescribedMotion, offered
from pliant.simulation.protocol_check import check_capabilities
from pliant.state.world import World

SAME = 1e-12  # times this near each other are one step boundary [s]


class ActionSchedule:
    """The actions of a System in their order, each with whether it acts, and the events in order of time."""

    def __init__(self, actions: Sequence[tuple[str, ActionRuntime]]) -> None:
        self.actions = list(actions)  # (label, runtime)
        self._acting = [False] * len(self.actions)
        self._next_change = -np.inf
        self._events = sorted(offered([a for _, a in self.actions], Event), key=lambda e: e.at)
        self._happened = 0
        for label, action in self.actions:
            check_capabilities(label, action, ActionRuntime)
        self._refuse_double_drives()

    def _refuse_double_drives(self) -> None:
        drives = [(label, found) for label, a in self.actions if (found := a.offer(PrescribedMotion))]
        for k, (label, a) in enumerate(drives):
            for other, b in drives[:k]:
                together = a.start < b.until and b.start < a.until
                if together and (a.axes & b.axes).any() and np.intersect1d(a.rows, b.rows).size:
                    raise IncompatibleError(
                        f"{label} and {other} prescribe the same particles along the same axes at once.",
                        hint="Give them other selections, axes, or times (from, until).",
                    )

    # -------------------------------------------------------------------------------- what acts now

    def active(self) -> list[ActionRuntime]:
        """The actions that act now, in order."""
        return [a for (_, a), on in zip(self.actions, self._acting, strict=True) if on]

    def changes_at(self, time: float) -> bool:
        """Whether the set of acting actions may change at ``time``."""
        return time >= self._next_change

    def activate_at(self, time: float, world: World) -> bool:
        """Let those act that are active in a step from ``time`` on; True if the set changed."""
        before = list(self._acting)
        for k, (_, action) in enumerate(self.actions):
            on = action.active(time)
            if on and not self._acting[k]:
                action.begin(world, time)
            self._acting[k] = on
        edges = [edge for _, a in self.actions for edge in (a.start, a.until)]
        self._next_change = min((e - SAME for e in edges if e - SAME > time), default=np.inf)
        return before != self._acting

    def next_event(self, time: float) -> Event | None:
        """The event that is due at ``time`` and has not happened; asking for it counts it as happened."""
        if self._happened < len(self._events) and self._events[self._happened].at <= time + SAME:
            self._happened += 1
            return self._events[self._happened - 1]
        return None

    def next_change(self) -> float:
        """When the set of acting actions changes or an event happens next [s]."""
        events = self._events[self._happened :]
        return min(self._next_change, events[0].at - SAME if events else np.inf)

    # ------------------------------------------------------------------- actions that come and leave

    def add_action(self, label: str, action: ActionRuntime, time: float, place: int) -> None:
        """Enter ``action`` at ``place``, to act from the step boundary ``time`` on."""
        check_capabilities(label, action, ActionRuntime)
        action.start = time
        self.actions.insert(place, (label, action))
        try:
            self._refuse_double_drives()
        except IncompatibleError:
            self.actions.pop(place)
            raise
        self._acting.insert(place, False)
        if event := action.offer(Event):
            waiting = [*self._events[self._happened :], event]
            self._events[self._happened :] = sorted(waiting, key=lambda event: event.at)
        self._next_change = -np.inf

    def cancel_action(self, action: ActionRuntime) -> None:
        """Undo ``add_action`` of an action that has done nothing yet."""
        place = next(k for k, (_, each) in enumerate(self.actions) if each is action)
        del self.actions[place], self._acting[place]
        event = action.offer(Event)
        self._events = [each for each in self._events if each is not event]
        self._next_change = -np.inf

    def end_action(self, action: ActionRuntime, time: float) -> None:
        """Let ``action`` end at the step boundary ``time``."""
        action.until = time
        self._next_change = -np.inf

    # -------------------------------------------------------------------------------------- restart

    def state(self) -> dict[str, AnyArray]:
        """What a restart needs beyond the actions themselves."""
        return {
            "happened": np.array(self._happened),
            "acting": np.array(self._acting),
            "next_change": np.array(self._next_change),
        }

    def restore(self, state: Mapping[str, AnyArray]) -> None:
        """Continue from ``state``."""
        self._happened = int(state["happened"])
        self._acting = [bool(on) for on in state["acting"]]
        self._next_change = float(state["next_change"])
