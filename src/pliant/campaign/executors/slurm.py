"""``slurm:CLUSTER.toml``: Dask workers as Slurm jobs, through dask-jobqueue.

The file has the keys of ``dask_jobqueue.SLURMCluster`` (queue, account, cores, memory, walltime, ...) and
``jobs``, how many jobs to ask for. ``cores`` is the number of points at the same time in a job.
"""

import shutil
import tomllib
from pathlib import Path

from pliant.campaign.executors.dask_cluster import DaskExecutor
from pliant.core.environment import need
from pliant.core.errors import InputError
from pliant.core.option_names import option
from pliant.core.tables import Table

NEEDED = ("cores", "memory")


def read_settings(path: Path) -> tuple[int, Table]:
    """The number of jobs and the keys of a job."""
    place = option("on", f"slurm:{path}")
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{place}: {error.strerror}.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{place}: not valid TOML: {error}.") from None
    jobs = table.pop("jobs", 1)
    if not isinstance(jobs, int) or jobs < 1:
        raise InputError(f"{place}: jobs is a number above 0, not {jobs!r}.")
    missing = [key for key in NEEDED if key not in table]
    if missing:
        raise InputError(
            f"{place}: {' and '.join(missing)} missing.",
            hint='For example cores = 8, memory = "32GB", walltime = "02:00:00", queue = "batch", jobs = 4',
        )
    return jobs, table


def check(text: str) -> None:
    """InputError where the file ``text`` does not describe jobs, or no job can be submitted from here."""
    need(option("on", "slurm"), "dask", "distributed", "dask_jobqueue", extra="cluster")
    read_settings(Path(text))
    if shutil.which("sbatch") is None:
        raise InputError(
            f"{option('on', f'slurm:{text}')}: this machine has no sbatch.",
            hint="Run it where jobs are submitted.",
        )


def job_cluster(settings: Table) -> object:
    """The cluster, its scheduler started here and no job submitted yet."""
    from dask_jobqueue import SLURMCluster

    given = {"processes": 1, "scheduler_options": {"dashboard_address": ":0"}, **settings}
    try:
        return SLURMCluster(**given)
    except (TypeError, ValueError) as error:
        raise InputError(f"{option('on', 'slurm')}: {error}.") from None


def connect(text: str, threads: int | None) -> DaskExecutor:
    """Ask for the jobs that the file ``text`` describes; points start as soon as the first one runs."""
    check(text)
    from distributed import Client

    jobs, settings = read_settings(Path(text))
    cluster = job_cluster(settings)
    cluster.scale(jobs=jobs)  # type: ignore[attr-defined]
    return DaskExecutor(Client(cluster), cluster, threads or 1)
