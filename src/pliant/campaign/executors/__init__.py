"""Where the points of a sweep run: a table of executors, one file each."""

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING

from pliant.core.errors import InputError
from pliant.core.registry import nearest

if TYPE_CHECKING:
    from pliant.campaign.executors.base import Executor

_MODULES = {"local": "local", "dask": "dask_cluster", "slurm": "slurm"}
LIST = "list"
"""Not an executor: the points are printed as shell lines, for job arrays and make-like tools."""
FORMS = "local:N, dask, dask:tcp://HOST:PORT, dask:SCHEDULER.json, slurm:CLUSTER.toml or list"


def executor(text: str, threads: int | None = None) -> "Executor":
    """The executor that ``--on`` names; threads: of each point, None for an even share of the cores."""
    kind, _, rest = text.partition(":")
    if kind not in _MODULES:
        raise InputError(f"--on {text}: {nearest(kind, [*_MODULES, LIST])}", hint=f"Write {FORMS}.")
    module = import_module(f"pliant.campaign.executors.{_MODULES[kind]}")
    connect: Callable[[str, int | None], Executor] = module.connect
    return connect(rest, threads)
