"""The simulation's end of the pipe to the server: commands in, events and what went wrong out."""

import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from typing import Any

from pliant.core.diagnostics import Diagnostic
from pliant.core.errors import PliantError
from pliant.core.tables import Table
from pliant.studio.words import in_words, plain

URGENT = ("ask", "steer", "pause", "speed", "quit")  # answered while a frame is being computed
Command = Table


class Stop(Exception):
    """The server has gone."""


ENDS = (Stop, EOFError, BrokenPipeError, KeyboardInterrupt)


class WorkerPipe:
    """Commands come as dicts with ``do``, and ``reply`` where somebody waits for an answer; events go as
    dicts with ``event``. ``carry_out`` does what a command asks, and gives its answer."""

    def __init__(self, pipe: Connection, carry_out: Callable[[Command], Any]) -> None:
        self._pipe, self._carry_out = pipe, carry_out
        self._later: list[Command] = []  # came while a frame was being computed

    @property
    def waiting(self) -> bool:
        """Whether there are commands that were put off."""
        return bool(self._later)

    @property
    def spoken_to(self) -> bool:
        """Whether there are commands at all."""
        return self.waiting or self._pipe.poll(0)

    def receive(self, timeout: float | None) -> None:
        """Carry out what has come; waits for ``timeout`` seconds (None: for ever) where nothing has."""
        if self._later:
            waiting, self._later = self._later, []
            for command in waiting:
                self._do(command)
        elif self._pipe.poll(timeout):
            self._do(self._pipe.recv())
        while self._pipe.poll(0):
            self._do(self._pipe.recv())

    def between_steps(self) -> None:
        """What can be answered while a frame is being computed; the rest waits for its end."""
        while self._pipe.poll(0):
            command = self._pipe.recv()
            if command["do"] in URGENT:
                self._do(command)
            else:
                self._later.append(command)

    def _do(self, command: Command) -> None:
        to = command.get("reply")
        with self.telling(to):
            answer = self._carry_out({key: value for key, value in command.items() if key != "reply"})
            if to is not None:
                self.tell("reply", to=to, value=answer)

    @contextmanager
    def telling(self, to: Any = None) -> Iterator[None]:
        """Turns what goes wrong into a notice; ``to`` is whoever waits for an answer."""
        try:
            yield
        except PliantError as error:
            message, hint = in_words(error)
            self.tell("notice", level="error", message=message, hint=hint, to=to)
        except ENDS:
            raise
        except Exception as error:
            traceback.print_exc(file=sys.stderr)
            self.tell(
                "notice",
                level="error",
                message=f"Internal error: {type(error).__name__}: {str(error)[:200]}",
                hint="The terminal has the details. The scene is safe.",
                to=to,
            )

    def tell(self, event: str, **values: Any) -> None:
        self._pipe.send({"event": event, **values})

    def show(self, picture: bytes) -> None:
        """A message for the page."""
        self._pipe.send_bytes(picture)

    def progress(self, share: float | None, text: str) -> None:
        self.tell("progress", share=share, text=text)

    def report(self, entry: Diagnostic) -> None:
        """Tell the page what a user should know."""
        self.tell("notice", level="info", message=plain(str(entry)), hint=None, to=None)
