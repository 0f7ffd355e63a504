"""Layers of USD on the disk: saved, and turned into text."""

import errno
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

SHORT = 16_000_000  # bytes that are turned into text in a second or so
_AS_TEXT = """import sys
from pxr import Sdf

sys.exit(not Sdf.Layer.FindOrOpen(sys.argv[1]).Export(sys.argv[2]))
"""


def save(layer: Any) -> None:
    """Write what a layer has got since the last time; OSError where the disk does not take it."""
    with _refusals():
        layer.Save()


def write_text(binary: Path, text: Path) -> None:
    """A binary file as text.

    That is one call that does not listen: where it takes long, a process of its own makes it, which is ended
    when we are interrupted.
    """
    from pxr import Sdf

    if binary.stat().st_size < SHORT:
        with _refusals():
            Sdf.Layer.FindOrOpen(str(binary)).Export(str(text))
        return
    words = [sys.executable, "-c", _AS_TEXT, str(binary), str(text)]
    with subprocess.Popen(words, stderr=subprocess.PIPE) as process:
        try:
            _, said = process.communicate()
        finally:
            process.kill()
            process.wait()
    if process.returncode:
        raise _refusal(said.decode(errors="replace"))


@contextmanager
def _refusals() -> Iterator[None]:
    from pxr import Tf

    try:
        yield
    except Tf.ErrorException as error:
        raise _refusal(str(error)) from error


def _refusal(said: str) -> OSError:
    """What the system said, out of the words in which USD passes it on."""
    found = [number for number in errno.errorcode if os.strerror(number) in said]
    return OSError(found[0], os.strerror(found[0])) if found else OSError(errno.EIO, said.strip())
