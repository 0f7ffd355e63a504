"""Benchmarks of the studio with a page that draws slowly: pace of the simulation, and memory."""

import asyncio
import json
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pliant_benchmarks.bench import BenchResult, bench
from pliant_benchmarks.bench_studio import grid

SECONDS = 6.0  # of running that are measured
SLOW = 1.0  # seconds that the slow page takes for a picture
SCENE = """
schema = 1
title = "A block"
[time]
duration = 1000.0
fps = 1000
[[bodies]]
name = "block"
shape = {{ box = {{ size = [1, 1, 1], divisions = {divisions} }} }}
model = "mass-spring"
material = {{ young = 1e5, poisson = 0.3, density = 1000 }}
[[actions]]
type = "gravity"
"""


class _Page:
    """A page without a browser: takes ``patience`` seconds for a picture, then acknowledges it."""

    def __init__(self, patience: float) -> None:
        self._patience = patience
        self._said: asyncio.Queue[str] = asyncio.Queue()
        self.pictures = 0
        self.events: list[dict[str, Any]] = []

    def say(self, **message: Any) -> None:
        self._said.put_nowait(json.dumps(message))

    async def receive_text(self) -> str:
        text = await self._said.get()
        if not text:
            raise RuntimeError("gone")
        return text

    def leave(self) -> None:
        self._said.put_nowait("")

    async def send_text(self, data: str) -> None:
        self.events.append(json.loads(data))

    async def send_bytes(self, data: bytes) -> None:
        self.pictures += 1
        asyncio.get_running_loop().call_later(self._patience, lambda: self.say(do="ack"))

    async def until(self, event: str, **values: Any) -> None:
        """Wait for an event with these values."""
        for _ in range(20_000):
            await asyncio.sleep(0.005)
            for each in self.events:
                if each["event"] == event and all(each.get(key) == value for key, value in values.items()):
                    return
        raise TimeoutError(event)


@dataclass
class PageRun:
    """Frames and pictures a second, and how much larger the processes became [MB]."""

    frames: float
    pictures: float
    grown: float
    particles: int


def _resident(*pids: int) -> float:
    """Resident memory of processes [MB]; 0 where the system does not tell."""
    total = 0.0
    for pid in pids:
        status = Path(f"/proc/{pid}/status")
        if status.exists():
            line = next(line for line in status.read_text().splitlines() if line.startswith("VmRSS"))
            total += int(line.split()[1]) / 1024
    return total


async def _run(vertices: int, patience: float, seconds: float) -> PageRun:
    import os

    from pliant.studio.session import Session
    from pliant.studio.workspace import Workspace

    with tempfile.TemporaryDirectory() as folder:
        divisions = grid(vertices)
        session, page = Session(Workspace(Path(folder))), _Page(patience)
        session.document.open(SCENE.format(divisions=list(divisions)), "")
        serving = asyncio.create_task(session.serve(page))  # type: ignore[arg-type]
        try:
            page.say(do="look", colour="displacement", particles=True)
            page.say(do="speed", speed=0)
            page.say(do="build")
            await page.until("status", built=True)
            page.say(do="play")
            await asyncio.sleep(2.0)
            pids = (os.getpid(), session.engine.pid or 0)
            page.events.clear()
            page.say(do="pause")
            await page.until("status", playing=False)
            first, pictures, memory = session.status["frame"], page.pictures, _resident(*pids)
            page.events.clear()
            page.say(do="play")
            start = time.perf_counter()
            await asyncio.sleep(seconds)
            page.say(do="pause")
            await page.until("status", playing=False)
            spent = time.perf_counter() - start
            frames, count = session.status["frame"] - first, page.pictures - pictures
            grown = _resident(*pids) - memory
        finally:
            page.leave()
            await serving
            session.close()
    particles = (divisions[0] + 1) * (divisions[1] + 1) * (divisions[2] + 1)
    return PageRun(frames / spent, count / spent, grown, particles)


@bench("studio/slow-page")
def slow_page() -> list[BenchResult]:
    """How fast a simulation goes on while a page takes a second for a picture, beside one that is quick."""
    figures = []
    for vertices in (10_000, 50_000):
        quick = asyncio.run(_run(vertices, 0.0, SECONDS))
        slow = asyncio.run(_run(vertices, SLOW, SECONDS))
        share = slow.frames / quick.frames
        note = (
            f"{slow.particles} particles: {slow.frames:.3g} frames/s with {slow.pictures:.2g} pictures/s, "
            f"{quick.frames:.3g} with {quick.pictures:.3g}; {slow.grown:+.1f} MB in {SECONDS:g} s"
        )
        name = f"studio/slow-page-{vertices // 1000}k"
        figures.append(BenchResult(name, share, "of the pace", 1.0, share, note=note))
    return figures


@bench("studio/memory")
def memory() -> list[BenchResult]:
    """How much larger server and simulation become in a minute with a slow page [MB]."""
    ran = asyncio.run(_run(10_000, SLOW, 60.0))
    note = f"{ran.particles} particles, {60 * ran.frames:.0f} frames, {60 * ran.pictures:.0f} pictures"
    return [BenchResult("studio/memory", ran.grown, "MB/min", note=note)]
