"""The pace of a simulation that is watched: when the next frame is due, and how fast it goes."""

import time
from collections import deque

TOLD = 40  # frames whose pace is told
BEHIND = 0.25  # seconds after which lost time is not made up for


class PlaybackClock:
    """``speed`` 1 is real time, 0.1 slow motion, 0 as fast as it goes."""

    def __init__(self) -> None:
        self.speed = 1.0
        self._due = 0.0
        self._done: deque[float] = deque(maxlen=TOLD)  # when the last frames were done

    def start(self) -> None:
        """From now on."""
        self._due = time.perf_counter()
        self._done.clear()

    @property
    def left(self) -> float:
        """Seconds until the next frame is due."""
        return max(0.0, self._due - time.perf_counter())

    def frame_done(self, seconds: float) -> None:
        """A frame of so many simulated seconds is done."""
        now = time.perf_counter()
        self._done.append(now)
        if self.speed > 0:
            self._due = max(self._due + seconds / self.speed, now - BEHIND)

    def factor(self, fps: float) -> float | None:
        """Simulated seconds a second; None before there is enough to tell."""
        if len(self._done) < 5:
            return None
        wall = self._done[-1] - self._done[0]
        return (len(self._done) - 1) / fps / wall if wall > 0 else None
