"""Messages to the user that are no errors: one sink, in which all parts of a scene report."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

Listener = Callable[["Diagnostic"], None]


@dataclass(frozen=True)
class Diagnostic:
    """A message: a "note" explains the result, a "warning" says that it may be wrong.

    label: names the body or action that it is about.
    """

    level: Literal["note", "warning"]
    text: str
    label: str = ""

    def __str__(self) -> str:
        return f"{self.label}: {self.text}" if self.label else self.text


def see(symptom: str) -> str:
    """Where the guide explains ``symptom`` (an anchor of its page), with a bad scene and a good one."""
    return f"See docs/tune.md#{symptom}."


class Diagnostics:
    """Collects messages and hands them to listeners as they come.

    Bodies and actions have a sink each; a simulation collects those of its own, and whoever runs it listens:
    the command line, a run's log, the studio.
    """

    def __init__(self, listener: Listener | None = None) -> None:
        self.entries: list[Diagnostic] = []
        self._listeners: list[Listener] = [] if listener is None else [listener]

    def note(self, text: str, label: str = "") -> None:
        """Report something that explains the result."""
        self._add(Diagnostic("note", text, label))

    def warn(self, text: str, label: str = "") -> None:
        """Report something by which the result may be wrong."""
        self._add(Diagnostic("warning", text, label))

    def listen(self, listener: Listener, past: bool = True) -> None:
        """Call ``listener`` with each message from now on, and with those that have come where ``past``."""
        for entry in self.entries if past else ():
            listener(entry)
        self._listeners.append(listener)

    def collect(self, source: "Diagnostics", label: str = "", past: bool = True) -> None:
        """Take over the messages of ``source`` as they come; those without a label get ``label``."""
        source.listen(lambda entry: self._add(entry if entry.label else replace(entry, label=label)), past)

    def texts(self) -> list[str]:
        """All messages so far, with their labels."""
        return [str(entry) for entry in self.entries]

    def _add(self, entry: Diagnostic) -> None:
        self.entries.append(entry)
        for listener in self._listeners:
            listener(entry)
