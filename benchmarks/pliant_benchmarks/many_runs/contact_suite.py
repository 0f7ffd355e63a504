"""The contact suite: every scene is run, and every recorded state of it audited."""

import json
import time
from pathlib import Path

import numpy as np

from pliant.audit import certify
from pliant.core.errors import PliantError
from pliant.core.tables import Table
from pliant.run.store import load
from pliant_benchmarks.many_runs.contact_scenes import SCENES, ContactScene


def contact(folder: Path) -> Table:
    """Run and certify the scenes that ``folder`` has no result of yet, one by one; a table of all."""
    folder.mkdir(parents=True, exist_ok=True)
    for each in SCENES:
        place = folder / f"{each.name}.json"
        if place.is_file():
            continue
        found = _one(each, folder / f"{each.name}.pliant")
        place.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
        print(f"{each.name}: {_line(found)}", flush=True)
    results = {each.name: json.loads((folder / f"{each.name}.json").read_text()) for each in SCENES}
    done = [each for each in results.values() if "error" not in each]
    return {
        "scenes": len(results),
        "ended": len(done),
        "with_intersections": sum(each["failing_states"] > 0 for each in done),
        "states": sum(each["states"] for each in done),
        "results": results,
    }


def _one(each: ContactScene, place: Path) -> Table:
    scene, begin = each.scene(), time.process_time()
    fps = round(1.0 / each.step)
    try:
        run = scene.run(duration=each.duration, fps=fps, to=place, progress=False, force=True)
    except PliantError as error:
        found: Table = {"error": str(error), "seconds": time.process_time() - begin}
        if place.is_dir() and len(load(place).frames):
            found["failing_states"] = certify(place).table()["failing_states"]
        return found
    seconds = time.process_time() - begin
    certificate = certify(place)
    certificate.write(place)
    table, series = certificate.table(), run.series
    unexplained = np.abs(series["energy.unexplained"]).max()
    return {
        "states": table["checked"]["states"],
        "failing_states": table["failing_states"],
        "smallest_distance": table["smallest_distance"],
        "particles": len(run.frames[0].positions),
        "iterations": float(np.mean(series["solver.iterations"][1:])),
        "most_iterations": float(np.max(series["solver.iterations"])),
        "ms_per_step": 1e3 * seconds / max(len(run.frames) - 1, 1),
        "unexplained": float(unexplained),
    }


def _line(found: Table) -> str:
    if "error" in found:
        return f"stopped: {found['error']}"
    return (
        f"{found['states']} states, {found['failing_states']} with intersections, "
        f"{found['iterations']:.1f} iterations, {found['ms_per_step']:.0f} ms a step"
    )
