"""``python -m pliant_benchmarks.many_runs CAMPAIGN FOLDER``; of the contact suite, also names of scenes."""

import json
import sys
from collections.abc import Callable
from pathlib import Path

from pliant.core.errors import PliantError
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
    if len(sys.argv) < 3 or sys.argv[1] not in CAMPAIGNS or (len(sys.argv) > 3 and sys.argv[1] != "contact"):
        usage = f"python -m pliant_benchmarks.many_runs {'|'.join(CAMPAIGNS)} FOLDER"
        sys.exit(f"{usage}\npython -m pliant_benchmarks.many_runs contact FOLDER SCENE ...")
    place = Path(sys.argv[2])
    try:
        table = contact(place, sys.argv[3:]) if len(sys.argv) > 3 else CAMPAIGNS[sys.argv[1]](place)
    except PliantError as error:
        sys.exit(str(error))
    print(json.dumps(table, indent=1))
