"""A data set of 500 samples by ``pliant dataset``, interrupted twice, and rebuilt in part."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

from pliant.core.environment import environment
from pliant.core.tables import Table
from pliant.training_data import Dataset

STUDIES = Path(__file__).parents[3] / "docs" / "studies"
COUNT, STOPS = 500, (120, 300)
INTERRUPTED = 130


def samples(folder: Path, count: int = COUNT, stops: tuple[int, ...] = STOPS) -> Table:
    """Make the set: SIGINT when so many points are done, and the same command again until it is whole."""
    folder.mkdir(parents=True, exist_ok=True)
    place, file = folder / "beam.dataset", folder / "samples.json"
    found: Table = json.loads(file.read_text()) if file.exists() else {"interrupted_at": []}
    words = ["dataset", str(STUDIES / "beam.toml"), "-o", str(place), "--licence", "CC0-1.0"]
    words += ["--vary", "bodies.beam.material.young=log:0.2..2 MPa"]
    words += ["--vary", "bodies.beam.material.poisson=0.2..0.45", "--sample", f"sobol:{count}"]
    for stop in stops[len(found["interrupted_at"]) :]:
        found["interrupted_at"].append(_interrupted(words, place, stop))
        file.write_text(json.dumps(found))
    _pliant(words)
    made = Dataset(place)
    answer = json.loads(_pliant(["dataset", str(place), "--rebuild", "1%", "--json"]))
    sizes = {name: len(runs) for name, runs in made.index["splits"].items()}
    size = sum(file.stat().st_size for file in (place / "data.zarr").rglob("*") if file.is_file())
    found |= {
        "samples": sum(sizes.values()), "splits": sizes, "failures": made.index["failures"],
        "rebuilt": len(answer), "identical": sum(each["identical"] for each in answer.values()),
        "bytes": size,
    }  # fmt: skip
    file.write_text(json.dumps(found))
    return found


def _pliant(words: list[str]) -> str:
    """The output of a command; CalledProcessError where it fails."""
    command = [sys.executable, "-m", "pliant", *words]
    return subprocess.run(command, check=True, env=environment(), stdout=subprocess.PIPE, text=True).stdout


def _interrupted(words: list[str], place: Path, stop: int) -> int:
    """Start the command and interrupt it when ``stop`` points are done; how many were."""
    process = subprocess.Popen(
        [sys.executable, "-m", "pliant", *words], env=environment(), start_new_session=True
    )
    while (done := _done(place)) < stop and process.poll() is None:
        time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    if process.wait() != INTERRUPTED:
        raise AssertionError(f"exit code {process.returncode} after SIGINT")
    return done


def _done(place: Path) -> int:
    file = place / "study.sweep" / "results.csv"
    return max(0, len(file.read_text().splitlines()) - 1) if file.exists() else 0
