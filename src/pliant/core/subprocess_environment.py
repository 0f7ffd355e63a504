"""Processes that we start."""

import os
from pathlib import Path

import pliant


def environment() -> dict[str, str]:
    """This process' environment, with pliant's own folder importable."""
    home = str(Path(pliant.__path__[0]).resolve().parent)
    path = os.pathsep.join(p for p in (home, os.environ.get("PYTHONPATH", "")) if p)
    return os.environ | {"PYTHONPATH": path}
