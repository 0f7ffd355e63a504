"""Child processes that draw pictures, each every n-th one; the parent takes them in order.

Programs, not forks of this process: scripts need no ``__main__`` guard, and a crash in a graphics library is
an error message. A child waits while its pictures are not taken, so memory stays flat.
"""

import os
import pickle
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import IO, TYPE_CHECKING, Self

import numpy as np

from pliant.core.environment import LIBRARIES, environment, installed, need
from pliant.core.errors import MissingExtra, PliantError
from pliant.core.typing import AnyArray
from pliant.render.worker import HEAD

if TYPE_CHECKING:
    from pliant.render.plan import Plan, Shot

PACKAGES = ("pyvista", "PIL", "matplotlib")
EACH = 6  # pictures that make a further process worth its start


def workers_for(pictures: int, wanted: int | None) -> int:
    """How many processes draw: as many as there are cores, fewer for a few pictures."""
    if wanted is not None:
        return max(1, min(wanted, pictures))
    return max(1, min(os.process_cpu_count() if hasattr(os, "process_cpu_count") else os.cpu_count() or 1,
                      pictures // EACH))  # fmt: skip


def drawable() -> bool:
    """Whether the packages that draw pictures are installed."""
    return installed(*PACKAGES)


def pictures(
    plan: "Plan", shots: Sequence["Shot"], workers: int | None = None, team: "DrawingTeam | None" = None
) -> Iterator[AnyArray]:
    """The pictures (h, w, 3) of the shots, in order; MissingExtra where nothing can be drawn.

    team: processes that were started earlier; without, ``workers`` of them are started and stopped here.
    """
    need("Drawing pictures", *PACKAGES)
    if team is not None:
        yield from team.draw(plan, shots)
        return
    with DrawingTeam(workers_for(len(shots), workers)) as started:
        yield from started.draw(plan, shots)


class DrawingTeam:
    """Processes that draw one plan. They load the graphics libraries as soon as they exist: started before a
    simulation, they are ready when it ends."""

    def __init__(self, count: int) -> None:
        self._members = [_WorkerProcess(alone=count == 1) for _ in range(count)]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for member in self._members:
            member.stop()

    def draw(self, plan: "Plan", shots: Sequence["Shot"]) -> Iterator[AnyArray]:
        """The pictures of the shots, in order; once in the life of a team."""
        count = len(self._members)
        for first, member in enumerate(self._members):
            member.send(plan, shots[first::count])
        for number in range(len(shots)):
            yield self._members[number % count].take()


def _last_words(log: str) -> str:
    """The last line that a child wrote, without colours and without what VTK puts before it."""
    lines = [re.sub(r"\x1b\[[\d;]*m", "", line).rpartition("| ")[2].strip() for line in log.splitlines()]
    return next((line[:300] for line in reversed(lines) if line), "")


class _WorkerProcess:
    def __init__(self, alone: bool) -> None:
        self._log: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 (stop() closes it)
        self._taken = 0
        surroundings = environment()
        if not alone:
            surroundings.setdefault("LP_NUM_THREADS", "1")  # of software drawing: there are several of us
        self._process = subprocess.Popen(
            [sys.executable, "-m", "pliant.render.worker"],
            env=surroundings,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
        )

    def send(self, plan: "Plan", shots: Sequence["Shot"]) -> None:
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):  # it ended early: take() says why
            self._process.stdin.write(pickle.dumps((plan, list(shots))))
            self._process.stdin.close()

    def take(self) -> AnyArray:
        head = self._read(HEAD.size)
        height, width = HEAD.unpack(head)
        if height == 0:
            error = pickle.loads(self._read(width))
            raise error
        data = self._read(3 * height * width)
        self._taken += 1
        return np.frombuffer(data, np.uint8).reshape(height, width, 3)

    def _read(self, size: int) -> bytes:
        assert self._process.stdout is not None
        data = self._process.stdout.read(size)
        if len(data) < size:
            code = self._process.wait()
            self._log.seek(0)
            last = _last_words(self._log.read().decode(errors="replace")) or f"exit code {code}"
            if self._taken:
                raise PliantError(f"The drawing process ended early: {last}")
            raise MissingExtra(f"Nothing can be drawn here: {last}", hint=LIBRARIES)
        return data

    def stop(self) -> None:
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with suppress(BrokenPipeError):
                    pipe.close()
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()
        self._log.close()
