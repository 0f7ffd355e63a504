"""Modules that enter themselves in a table: ``cases_...`` of validation, ``bench_...`` of benchmarks."""

from importlib import import_module
from pkgutil import iter_modules

import pliant.evidence


def import_all(prefix: str) -> None:
    """Import every module of this folder whose name begins with ``prefix``."""
    for module in iter_modules(pliant.evidence.__path__):
        if module.name.startswith(prefix):
            import_module(f"pliant.evidence.{module.name}")
