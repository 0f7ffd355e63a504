"""The simulation's process, seen from the server: started when needed, replaced when it dies."""

import asyncio
import itertools
import multiprocessing
import pickle
import shutil
import threading
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection as PipeEnd
from multiprocessing.context import SpawnProcess
from typing import Any

from pliant.core.tables import Table
from pliant.studio.temporary import temporary_folder
from pliant.studio.worker import main

Event = Table | bytes


class Engine:
    """Sends commands, hands events to ``listener`` on the event loop, matches replies."""

    def __init__(self, listener: Callable[[Event], None], on_loss: Callable[[], None]) -> None:
        self._listener, self._on_loss = listener, on_loss
        self._loop = asyncio.get_running_loop()
        self._numbers = itertools.count(1)
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self._process: SpawnProcess | None = None
        self._pipe: PipeEnd | None = None
        self._home = ""
        self.start()

    def start(self) -> None:
        """A new process; the old one, if there is any, is ended."""
        self.stop()
        self._home = str(temporary_folder("takes"))
        context = multiprocessing.get_context("spawn")
        self._pipe, other = context.Pipe()
        self._process = context.Process(target=main, args=(other, self._home), daemon=True)
        self._process.start()
        other.close()
        threading.Thread(target=self._read, args=(self._pipe,), daemon=True).start()

    def stop(self) -> None:
        """End the process."""
        self.send("quit")
        process, self._process, self._pipe = self._process, None, None
        if process is not None:
            process.join(0.5)
            if process.is_alive():
                process.kill()
                process.join(5.0)
            process.close()
            shutil.rmtree(self._home, ignore_errors=True)
        for future in self._waiting.values():
            future.cancel()
        self._waiting.clear()

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process is not None else None

    def send(self, do: str, **values: Any) -> None:
        """A command that needs no answer."""
        if self._pipe is not None:
            with suppress(OSError, ValueError):  # the reader sees the end of the process and says so
                self._pipe.send({"do": do, **values})

    async def ask(self, do: str, **values: Any) -> Any:
        """A command and its answer; RuntimeError with the worker's message where it refuses."""
        number = next(self._numbers)
        future = self._waiting[number] = self._loop.create_future()
        self.send(do, **values, reply=number)
        return await future

    def _read(self, pipe: PipeEnd) -> None:
        """In a thread of its own: everything that the process says."""
        try:
            while True:
                data = pipe.recv_bytes()
                self._loop.call_soon_threadsafe(self._hear, data, pipe)
        except (EOFError, OSError):
            pipe.close()
            with suppress(RuntimeError):  # the loop is closed: the server has ended
                self._loop.call_soon_threadsafe(self._lost, pipe)
        except RuntimeError:
            pipe.close()

    def _hear(self, data: bytes, pipe: PipeEnd) -> None:
        if pipe is not self._pipe:
            return
        if data[:4] == b"PLF1":
            self._listener(data)
            return
        event = pickle.loads(data)
        future = self._waiting.pop(event.get("to") or 0, None)
        if event["event"] == "reply":
            if future is not None and not future.done():
                future.set_result(event["value"])
            return
        if future is not None and not future.done():
            future.set_result(None)
        self._listener(event)

    def _lost(self, pipe: PipeEnd) -> None:
        if pipe is self._pipe:
            self.start()
            self._on_loss()
