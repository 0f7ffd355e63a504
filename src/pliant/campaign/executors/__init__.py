"""Where the points of a sweep run: a table of executors, one file each."""

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any

from pliant.core.errors import InputError
from pliant.core.option_names import option
from pliant.core.registry import nearest

if TYPE_CHECKING:
    from pliant.campaign.executors.base import Executor

_MODULES = {"local": "local", "dask": "dask_cluster", "slurm": "slurm"}
LIST = "list"
"""Not an executor: the points are printed as shell lines, for job arrays and make-like tools."""
FORMS = "local:N, dask, dask:tcp://HOST:PORT, dask:SCHEDULER.json, slurm:CLUSTER.toml or list"


def executor(text: str, threads: int | None = None) -> "Executor":
    """The executor that ``--on`` names; threads: of each point, None for an even share of the cores."""
    if text == LIST:
        raise InputError(
            f"{option('on', LIST)}: only the points of sweeps and data sets are printed as lines."
        )
    connect: Callable[[str, int | None], Executor] = _module(text).connect
    return connect(text.partition(":")[2], threads)


def check_place(text: str) -> None:
    """InputError where ``--on`` names no executor, or one that lacks its file or package; nothing starts."""
    if text != LIST:
        _module(text).check(text.partition(":")[2])


def _module(text: str) -> Any:
    kind = text.partition(":")[0]
    if kind not in _MODULES:
        raise InputError(f"{option('on', text)}: {nearest(kind, [*_MODULES, LIST])}", hint=f"Write {FORMS}.")
    return import_module(f"pliant.campaign.executors.{_MODULES[kind]}")
