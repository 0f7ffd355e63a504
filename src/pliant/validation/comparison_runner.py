"""The runs of a comparison, several at the same time."""

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

from pliant.validation.comparison_run import ComparisonCase, Ended, RunResult, described, run_child


@dataclass(frozen=True)
class Task:
    """A scene file, how to run it, the folder it goes to, and changes as ``--set`` has them."""

    scene: Path
    variation: ComparisonCase
    folder: Path
    changes: Sequence[str] = ()

    @property
    def label(self) -> str:
        return f"{self.scene.stem}: {self.folder.stem}"


def shared_cores(tasks: int, jobs: int | None = None) -> tuple[int, int]:
    """How many tasks go at once, and the threads of each; None: as many as there are cores."""
    from pliant.kernels.jit import core_count

    cores = core_count()
    at_once = max(1, min(jobs or cores, tasks))
    return at_once, max(1, cores // at_once)


def attempt_all(
    tasks: Sequence[Task], at_once: int, threads: int, show: Callable[[str], object]
) -> list[RunResult]:
    """Run all tasks, ``at_once`` at the same time, each in a child process with ``threads`` threads.

    What a run came to is read here while the next ones go on.
    """
    found: dict[int, RunResult] = {}
    with ThreadPoolExecutor(at_once) as pool:
        waiting: dict[Future[Ended], int] = {
            pool.submit(run_child, task.scene, task.variation, task.folder, task.changes, threads): number
            for number, task in enumerate(tasks)
        }
        try:
            for done in as_completed(waiting):
                task = tasks[waiting[done]]
                entry = found[waiting[done]] = described(task.variation, task.folder, done.result())
                took = f", {entry.wall:.1f} s" if entry.wall is not None else ""
                show(f"{task.label}: {entry.state}{took} ({len(found)} of {len(tasks)})")
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return [found[number] for number in range(len(tasks))]
