"""The time that ``check`` estimates for the shipped scenes, beside the time that they take."""

import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pliant import examples
from pliant.core.errors import Diverged
from pliant.run.progress import RunProgress
from pliant.run.runner import run_scene
from pliant.scene import Scene
from pliant.scene.check import check
from pliant.scene.load import parse

MOST = 4.0  # CPU s of a run: longer scenes are shortened
FEWEST = 3  # frames of a shortened scene


@dataclass(frozen=True)
class EstimateResult:
    """A scene: its duration here [s], estimated and used CPU time [s] of its loop; ``uncounted`` by check."""

    scene: str
    duration: float
    estimate: float
    taken: float
    uncounted: tuple[str, ...] = ()

    @property
    def factor(self) -> float:
        """How far the estimate is off: 1 for a perfect one."""
        ratio = max(self.taken, 1e-3) / max(self.estimate, 1e-3)
        return max(ratio, 1.0 / ratio)


class _LoopTime(RunProgress):
    """CPU time of the loop of a run."""

    def __init__(self) -> None:
        self.start = self.end = 0.0

    def started(self, frames: int, plan: object) -> None:
        self.start = self.end = time.process_time()

    def frame(self, done: int, frames: int, simulated: float, wall: float) -> None:
        self.end = time.process_time()


def shipped_estimates(
    names: Sequence[str] | None = None,
    most: float = MOST,
    show: Callable[[EstimateResult], object] | None = None,
) -> list[EstimateResult]:
    """Check and run shipped scenes (all of them), each shortened to about ``most`` CPU seconds."""
    found = []
    for name in names or examples.names():
        result = estimate_of(name, parse(examples.text(name), examples.folder(), name), most)
        found.append(result)
        if show is not None:
            show(result)
    return found


def estimate_of(name: str, scene: Scene, most: float = MOST) -> EstimateResult:
    """Check ``scene``, shortened to about ``most`` CPU seconds, and run it."""
    frames = max(FEWEST, round(scene.time.frames() * most / check(scene).cpu))
    if frames < scene.time.frames():
        scene.time = replace(scene.time, duration=(frames - 1) / scene.time.fps)
    report = check(scene)  # the first one loaded the code, which the run in this process finds loaded
    watch = _LoopTime()
    with tempfile.TemporaryDirectory() as place:
        try:
            run_scene(scene, Path(place) / "run.pliant", progress=watch)
        except Diverged:  # judged by what it took until then
            return EstimateResult(name, scene.time.duration, report.cpu, float("inf"), report.uncounted)
    return EstimateResult(name, scene.time.duration, report.cpu, watch.end - watch.start, report.uncounted)
