"""``python -m pliant_benchmarks.many_runs CAMPAIGN FOLDER``."""

import json
import sys
from collections.abc import Callable
from pathlib import Path

from pliant.core.tables import Table
from pliant_benchmarks.many_runs.contact_suite import contact
from pliant_benchmarks.many_runs.fits import fits, unknowns
from pliant_benchmarks.many_runs.samples import samples
from pliant_benchmarks.many_runs.under_fire import cluster

CAMPAIGNS: dict[str, Callable[[Path], Table]] = {
    "fits": fits,
    "unknowns": unknowns,
    "cluster": cluster,
    "samples": samples,
    "contact": contact,
}

if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] not in CAMPAIGNS:
        sys.exit(f"python -m pliant_benchmarks.many_runs {'|'.join(CAMPAIGNS)} FOLDER")
    print(json.dumps(CAMPAIGNS[sys.argv[1]](Path(sys.argv[2])), indent=1))
