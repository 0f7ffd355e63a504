"""Benchmarks of the studio's stream: what a frame costs the server."""

import asyncio
import time
from typing import Any

import numpy as np

from pliant.interfaces import FieldData
from pliant.scene import Body, Scene
from pliant_benchmarks.bench import BenchResult, bench

LIMIT = 2.0  # ms of server time a frame of 10k vertices may cost


def grid(vertices: int) -> tuple[int, int, int]:
    """Divisions of a box with about this many particles."""
    side = round(vertices ** (1 / 3))
    return side - 1, side - 1, max(1, round(vertices / side**2) - 1)


def _frame(vertices: int) -> tuple[bytes, float, int]:
    """A coloured frame of about ``vertices`` particles, the milliseconds to make it, and their number."""
    from pliant.mesh.shapes import box
    from pliant.studio.frame_messages import pack
    from pliant.studio.view_arrays import ShownBody, frame_arrays

    body = Body(box(1.0, 1.0, 1.0, divisions=grid(vertices)), model="mass-spring", material="rubber")
    scene = Scene([body])
    structure = scene.structures()[0]
    mechanics = body.model.prepare(structure, body.resolved_material)
    shown = ShownBody("body", "mass-spring", slice(0, len(structure.rest)), structure, mechanics)
    x = structure.rest + 0.01

    def field(each: ShownBody, name: str) -> FieldData:
        return FieldData(x - each.structure.rest, unit="m")

    best, message = float("inf"), b""
    for _ in range(20):
        start = time.perf_counter()
        arrays, units = frame_arrays([shown], x, ["displacement"], True, field)
        message = pack({"kind": "frame", "units": units}, arrays)
        best = min(best, time.perf_counter() - start)
    return message, 1e3 * best, len(x)


class _Socket:
    """Takes what a client sends, as a quick page would."""

    def __init__(self) -> None:
        self.sent = 0

    async def send_bytes(self, data: bytes) -> None:
        self.sent += len(data)

    async def send_text(self, data: str) -> None:
        self.sent += len(data)


async def _forwarding(message: bytes, frames: int) -> float:
    """Milliseconds that the server's loop spends on handing one frame to one page."""
    from pliant.studio.client import Client

    socket: Any = _Socket()
    client = Client(socket)
    pump = asyncio.create_task(client.pump())
    start = time.process_time()
    for _ in range(frames):
        client.show(message, whole=False)
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        client.drawn()
    spent = time.process_time() - start
    client.close()
    await pump
    return 1e3 * spent / frames


@bench("studio/frame")
def frame_cost() -> list[BenchResult]:
    """Making and handing on a coloured frame, by the number of particles [ms]."""
    figures = []
    for vertices in (10_000, 50_000):
        message, making, count = _frame(vertices)
        handing = asyncio.run(_forwarding(message, 200))
        total = making + handing
        limit = LIMIT * vertices / 10_000
        note = f"{count} particles, {np.round(len(message) / 1e3):.0f} kB; making {making:.3g} ms"
        figures.append(
            BenchResult(
                f"studio/frame-{vertices // 1000}k", total, "ms/frame", limit, limit / total, note=note
            )
        )
    return figures
