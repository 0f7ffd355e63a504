"""The words of the interface that a user is in: options of the command line, or arguments of Python."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_COMMAND_LINE = ContextVar("command line", default=False)


@contextmanager
def command_line() -> Iterator[None]:
    """Errors in here name options of the command line."""
    before = _COMMAND_LINE.set(True)
    try:
        yield
    finally:
        _COMMAND_LINE.reset(before)


def option(name: str, value: object = "", key: str = "") -> str:
    """``--vary KEY=VALUE`` on the command line, ``vary={'KEY': 'VALUE'}`` in Python; key: for options that
    take a value for each scene key."""
    if _COMMAND_LINE.get():
        given = f"{key}={value}" if key and value != "" else f"{key}{value}"
        return f"--{name} {given}".rstrip()
    name = name.replace("-", "_")
    if key:
        return f"{name}={{{key!r}: {'...' if value == '' else repr(value)}}}"
    return name if value == "" else f"{name}={value!r}"
