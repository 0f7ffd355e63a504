"""``python -m pliant.campaign.executors.worker THREADS``: calls functions that come on its input, one by one.

A process of ours instead of ``multiprocessing``'s, which would run the user's script again in every worker.
"""

import os
import pickle
import subprocess
import sys
from importlib import import_module

from pliant.campaign.executors.base import Function
from pliant.core.environment import environment
from pliant.core.errors import PliantError
from pliant.core.tables import Table


class WorkerProcess:
    """The parent's end of a worker."""

    def __init__(self, threads: int) -> None:
        command = [sys.executable, "-m", "pliant.campaign.executors.worker", str(threads)]
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment(),
            start_new_session=sys.platform != "win32",
        )

    def call(self, function: Function, item: Table) -> Table:
        """The answer of ``function(item)``; raises what it raised."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            pickle.dump((function.__module__, function.__qualname__, item), self._process.stdin)
            self._process.stdin.flush()
            fine, answer = pickle.load(self._process.stdout)
        except (EOFError, BrokenPipeError):
            raise PliantError(
                f"A worker process ended with exit code {self._process.wait()}.", hint="Out of memory?"
            ) from None
        if not fine:
            raise answer
        found: Table = answer
        return found

    def close(self) -> None:
        """End the worker."""
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()
        self._process.terminate()
        self._process.wait()


def serve() -> None:
    """Answer calls until the input ends."""
    from pliant.kernels.jit import set_threads

    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what functions print does not get between the answers
    set_threads(int(sys.argv[1]))
    while True:
        try:
            module, name, item = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        try:
            answer = True, vars(import_module(module))[name](item)
        except Exception as error:
            answer = False, error
        try:
            pickle.dump(answer, out)
            out.flush()
        except BrokenPipeError:  # whoever asked has gone
            os._exit(1)


if __name__ == "__main__":
    serve()
