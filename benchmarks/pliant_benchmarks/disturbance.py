"""Whether other jobs took the cores while something was timed."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from pliant.kernels.jit import core_count

STAT = Path("/proc/stat")
OTHERS, IDLE = 0.2, 0.5  # cores: others take at least this many, and no more than this many are idle


@dataclass
class CoreUse:
    """Cores that this process and its children used on average, that others used, and that were idle; None
    where the system does not tell."""

    own: float = 0.0
    others: float | None = None
    idle: float | None = None

    @property
    def disturbed(self) -> bool:
        """Whether others took cores of which this process could have used more."""
        if self.others is None or self.idle is None:
            return False
        return self.others >= OTHERS and self.idle <= IDLE


@contextmanager
def watched_cores() -> Iterator[CoreUse]:
    """Measure the use of the cores while the block runs."""
    use = CoreUse()
    start, own, busy = time.perf_counter(), _own_seconds(), _busy_seconds()
    try:
        yield use
    finally:
        wall = max(time.perf_counter() - start, 1e-9)
        use.own = (_own_seconds() - own) / wall
        now, cores = _busy_seconds(), core_count()
        if busy is not None and now is not None:
            use.others = max(0.0, (now - busy) / wall - use.own)
        elif hasattr(os, "getloadavg"):  # the last minute's average: coarse, but all that there is
            use.others = max(0.0, os.getloadavg()[0] - use.own)
        if use.others is not None:
            use.idle = max(0.0, cores - use.own - use.others)


def _own_seconds() -> float:
    """CPU seconds of this process and of its children that have ended."""
    return sum(os.times()[:4])


def _busy_seconds() -> float | None:
    """CPU seconds of all processes on the cores that this one may use; None where nothing tells."""
    try:
        allowed = {f"cpu{number}" for number in os.sched_getaffinity(0)}
        ticks = os.sysconf("SC_CLK_TCK")
        lines = [line.split() for line in STAT.read_text(encoding="ascii").splitlines()]
        rows = [[int(value) for value in words[1:9]] for words in lines if words and words[0] in allowed]
    except (AttributeError, OSError, ValueError):
        return None
    if not rows:
        return None
    return sum(sum(row) - row[3] - row[4] for row in rows) / ticks  # all but idle and waiting for a disk
