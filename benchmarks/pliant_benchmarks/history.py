"""Earlier benchmarks on this machine: a later run compares itself with the last one."""

import json
import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pliant import __version__
from pliant.mesh.io.atomic import replacing

KEPT = 50  # runs
HIGHER = (  # units of which more is better
    "simulated s/s", "steps/s", "MB/s", "times faster", "frames", "x", "x fewer updates", "%", "R2",
)  # fmt: skip


def default_path() -> Path:
    """Where the history is kept: PLIANT_BENCH_HISTORY, or the user's cache folder."""
    given = os.environ.get("PLIANT_BENCH_HISTORY")
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return Path(given) if given else cache / "pliant" / "bench.json"


def read(path: Path) -> list[dict[str, Any]]:
    """Earlier runs, oldest first; none where the file is missing or damaged."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return []
    return [entry for entry in found if isinstance(entry, dict)] if isinstance(found, list) else []


def compared(rows: Sequence[dict[str, Any]], earlier: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows with ``last``: how many times better than the last undisturbed time (below 1: worse), or None."""
    before = {
        name: value
        for entry in earlier
        for name, value in entry.get("values", {}).items()
        if name not in entry.get("disturbed", ())
    }
    found = []
    for row in rows:
        old, value, last = before.get(row["case"]), row["value"], None
        if isinstance(old, (int, float)) and old > 0 and value > 0:
            last = value / old if row["unit"] in HIGHER else old / value
        found.append({**row, "last": last})
    return found


def append(path: Path, rows: Sequence[dict[str, Any]], machine: dict[str, Any] | None = None) -> None:
    """Add a run to the history, with what the machine could do at most."""
    entry = {
        "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "version": __version__,
        "machine": machine or {},
        "values": {row["case"]: row["value"] for row in rows},
        "disturbed": [row["case"] for row in rows if row.get("disturbed")],
        "spread": {row["case"]: row["spread"] for row in rows if row.get("spread") is not None},
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as temporary:
        temporary.write_text(json.dumps([*read(path), entry][-KEPT:], indent=1) + "\n", encoding="utf-8")
