"""Where compiled kernels are kept: a folder per state of their sources.

numba looks at the file of a kernel only, not at those of the functions that it calls: an edit there would go
on running the old code. So the folder of a kernel is named after the sources of its module and of all modules
of this package that it imports, directly or not. An edit compiles again what depends on it, and nothing else.
"""

import hashlib
import os
import re
import shutil
import sys
import time
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import numba
from numba.core.caching import UserProvidedCacheLocator

KEPT_DAYS = 14.0  # of folders that nobody used
_IMPORT = re.compile(
    r"""^[ \t]*(?: from \s+ (pliant[\w.]*) \s+ import \s+ (\([^)]*\)|[^\n\#]*)
              | import \s+ (pliant[\w.]*) )""",
    re.M | re.X,
)


class SourceLocator(UserProvidedCacheLocator):  # type: ignore[misc]
    """Tells numba where in ``numba.config.CACHE_DIR`` a kernel is, whatever the path and date of its source.

    The folder stands for the sources: all checkouts and installations of the same sources share kernels.
    """

    @classmethod
    def get_suitable_cache_subpath(cls, py_file: str) -> str:
        """The folder of the kernels of one module."""
        return Path(py_file).stem

    def get_source_stamp(self) -> str:
        """Nothing more has to be the same for a kernel to be up to date."""
        return ""


LOCATOR = f"{SourceLocator.__module__}.{SourceLocator.__name__}"
"""For ``numba.config.CACHE_LOCATOR_CLASSES``."""


@cache
def _base() -> Path | None:
    """The folder of all kernels, after removing what was not used for long; None if it cannot be made."""
    own = os.environ.get("PLIANT_CACHE_DIR") or os.environ.get("NUMBA_CACHE_DIR")
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "pliant"
    base = (Path(own) if own else home) / "kernels"
    try:
        base.mkdir(parents=True, exist_ok=True)
        oldest = time.time() - KEPT_DAYS * 86400
        for folder in base.iterdir():
            if folder.stat().st_mtime < oldest:
                shutil.rmtree(folder, ignore_errors=True)
    except OSError:
        return None
    return base


def kernel_folder(modules: Iterable[str]) -> str:
    """The folder for kernels made from the sources of ``modules``; empty, numba's own choice, where none can
    be made."""
    base = _base()
    if base is None:
        return ""
    digest = hashlib.sha256(numba.__version__.encode())
    for name in sorted(set().union(*(sources_of(module) for module in modules))):
        digest.update(f"\0{name}\0".encode() + _text(name))
    folder = base / digest.hexdigest()[:16]
    try:
        folder.mkdir(exist_ok=True)
        os.utime(folder)
    except OSError:
        return ""
    return str(folder)


@cache
def sources_of(module: str) -> frozenset[str]:
    """Names of the modules of this package that ``module`` is made from: itself and what it imports."""
    found, open_ones = {module}, [module]
    while open_ones:
        for name in _imports(open_ones.pop()):
            if name not in found:
                found.add(name)
                open_ones.append(name)
    return frozenset(found)


@cache
def _imports(module: str) -> tuple[str, ...]:
    """Modules of this package that ``module`` imports by name, in ``from`` lines too."""
    return tuple(_imported(_text(module).decode(errors="replace")))


def _imported(text: str) -> Iterator[str]:
    for package, names, plain in _IMPORT.findall(text):
        module = package or plain
        if _path(module) is not None:
            yield module
        for name in re.findall(r"(\w+)(?:\s+as\s+\w+)?", names):
            if _path(f"{module}.{name}") is not None:
                yield f"{module}.{name}"


@cache
def _text(module: str) -> bytes:
    path = _path(module)
    return path.read_bytes() if path is not None else b""


@cache
def _path(module: str) -> Path | None:
    """The file of a module: of this package by its name, of others (an extension's) by what was imported."""
    top, _, rest = module.partition(".")
    if top != "pliant":
        file = getattr(sys.modules.get(module), "__file__", None)
        return Path(file) if file and Path(file).is_file() else None
    path = Path(__file__).parent.parent.joinpath(*rest.split("."))
    for file in (path.with_suffix(".py"), path / "__init__.py"):
        if rest and file.is_file():
            return file
    return None
