"""Notice of compilations. Kept apart from ``jit``, whose text names the folders of all compiled kernels."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from numba.core import event


class _Listener(event.Listener):  # type: ignore[misc]
    """Calls a function whenever a kernel is compiled rather than read from disk."""

    def __init__(self, call: Callable[[], object]) -> None:
        self._call = call

    def on_start(self, event: Any) -> None:
        self._call()

    def on_end(self, event: Any) -> None:
        pass


@contextmanager
def when_compiling(call: Callable[[], object]) -> Iterator[None]:
    """Call ``call`` at the start of each compilation; kernels that are read from disk do not count."""
    with event.install_listener("numba:compile", _Listener(call)):
        yield
