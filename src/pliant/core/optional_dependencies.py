"""The optional packages behind pictures and graphs."""

from importlib.util import find_spec

from pliant.core.errors import MissingExtra

LIBRARIES = (
    "Without a screen it needs EGL or OSMesa; on Debian and Ubuntu: "
    "apt-get install libegl1 libegl-mesa0 libgl1-mesa-dri (or libosmesa6)."
)


def available(*modules: str) -> bool:
    """Whether all these modules are installed."""
    return all(find_spec(name) is not None for name in modules)


def need(what: str, *modules: str, extra: str = "render") -> None:
    """MissingExtra where a module is not installed; ``what`` is what needs it."""
    missing = [name for name in modules if find_spec(name) is None]
    if missing:
        raise MissingExtra(
            f"{what} needs {' and '.join(missing)}, not installed here.",
            hint=f"pip install 'pliant[{extra}]'",
        )
