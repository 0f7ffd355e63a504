"""What pliant finds around itself: optional packages, and the environment of its child processes."""

import os
from importlib.util import find_spec
from pathlib import Path

import pliant
from pliant.core.errors import MissingExtra

LIBRARIES = (
    "Without a screen it needs EGL or OSMesa; on Debian and Ubuntu: "
    "apt-get install libegl1 libegl-mesa0 libgl1-mesa-dri (or libosmesa6)."
)


def installed(*modules: str) -> bool:
    """Whether all these modules are installed; nothing is loaded."""
    return all(find_spec(name) is not None for name in modules)


def need(what: str, *modules: str, extra: str = "render") -> None:
    """MissingExtra where a module is not installed; ``what`` is what needs it."""
    missing = [name for name in modules if find_spec(name) is None]
    if missing:
        raise MissingExtra(
            f"{what} needs {' and '.join(missing)}, not installed here.",
            hint=f"pip install 'pliant[{extra}]'",
        )


def environment() -> dict[str, str]:
    """This process' environment, with pliant's own folder importable."""
    home = str(Path(pliant.__path__[0]).resolve().parent)
    path = os.pathsep.join(p for p in (home, os.environ.get("PYTHONPATH", "")) if p)
    return os.environ | {"PYTHONPATH": path}
