"""Importing the modules that register their cases: ``cases_*`` of validation, ``bench_*`` of benchmarks."""

from importlib import import_module
from pkgutil import iter_modules


def import_all(package: str, prefix: str) -> None:
    """Import every module of ``package`` whose name begins with ``prefix``."""
    for module in iter_modules(import_module(package).__path__):
        if module.name.startswith(prefix):
            import_module(f"{package}.{module.name}")
