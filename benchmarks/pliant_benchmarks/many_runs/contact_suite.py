"""The contact suite: every scene is run, and every recorded state and every move between them is audited."""

import json
import shutil
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from pliant.audit import certify
from pliant.core.errors import InputError, Interrupted, PliantError
from pliant.core.registry import nearest
from pliant.core.tables import Table
from pliant.run.store import load
from pliant_benchmarks.many_runs.contact_scenes import SCENES, ContactScene

FREE, CROSSED, STOPPED = "free", "intersections", "stopped"


def contact(folder: Path, names: Sequence[str] = ()) -> Table:
    """Run and certify the scenes, or those with ``names``, that ``folder`` has no result of yet, one by one:
    a table of all results, which is also written as ``suite.md`` and ``suite.json``."""
    folder.mkdir(parents=True, exist_ok=True)
    results: dict[str, Table] = {}
    for each in _chosen(names):
        place = folder / f"{each.name}.json"
        if not place.is_file():
            found = run_and_certify(each, folder / f"{each.name}.pliant")
            unfinished = place.with_suffix(".part")
            unfinished.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
            unfinished.replace(place)
            print(f"{each.name}: {_line(found)}", flush=True)
        results[each.name] = json.loads(place.read_text(encoding="utf-8"))
    table = {
        "scenes": len(results),
        **{
            word: sum(each["verdict"] == word for each in results.values())
            for word in (FREE, CROSSED, STOPPED)
        },
        "states": sum(each["states"] for each in results.values()),
        "moves": sum(each["moves"] for each in results.values()),
        "results": results,
    }
    (folder / "suite.json").write_text(json.dumps(table, indent=1) + "\n", encoding="utf-8")
    (folder / "suite.md").write_text(markdown(results), encoding="utf-8")
    return table


def _chosen(names: Sequence[str]) -> list[ContactScene]:
    known = {each.name: each for each in SCENES}
    for name in names:
        if name not in known:
            raise InputError(f"The contact suite has no scene '{name}'; {nearest(name, list(known))}")
    return [known[name] for name in names or known]


def run_and_certify(each: ContactScene, place: Path) -> Table:
    """Run a scene of the suite into ``place``, audit it and say how it went; an earlier run is replaced."""
    scene, begin, error = each.scene(), time.process_time(), ""
    scene = replace(scene, record=replace(scene.record, paths=True), integrator=None, step=None)
    try:
        scene.run(duration=each.duration, fps=round(1.0 / each.step), to=place, progress=False, force=True)
    except Interrupted:  # the scene is run again the next time
        raise
    except PliantError as problem:
        error = str(problem)
    seconds = time.process_time() - begin
    found: Table = {"verdict": STOPPED, "states": 0, "moves": 0, "cpu_seconds": seconds}
    if place.is_dir() and len(load(place).frames) > 1:
        found |= _audited(place, seconds)
    if error:
        found |= {"error": error} | {"verdict": CROSSED if found["verdict"] == CROSSED else STOPPED}
    return found


def _audited(place: Path, seconds: float) -> Table:
    certificate, run = certify(place, paths=True), load(place)
    certificate.write(place)
    shutil.rmtree(place / "paths", ignore_errors=True)  # they take most of the space
    table, series = certificate.table(), run.series
    steps = len(run.frames) - 1
    return {
        "verdict": FREE if certificate.ok else CROSSED,
        "states": table["checked"]["states"],
        "moves": table["checked"]["moves"],
        "failing_states": table["failing_states"],
        "smallest_distance": table["smallest_distance"],
        "particles": len(run.frames[0].positions),
        "steps": steps,
        "iterations": float(np.mean(series["solver.iterations"][1:])),
        "most_iterations": float(np.max(series["solver.iterations"])),
        "cpu_ms_per_step": 1e3 * seconds / steps,
        "unexplained": float(np.abs(series["energy.unexplained"]).max()),
    }


def _line(found: Table) -> str:
    if "iterations" not in found:
        return f"stopped: {found['error']}"
    text = (
        f"{found['verdict']}, {found['states']} states and {found['moves']} moves, "
        f"{found['iterations']:.1f} iterations, {found['cpu_ms_per_step']:.0f} CPU ms a step"
    )
    return text + (f"; stopped: {found['error']}" if "error" in found else "")


def markdown(results: dict[str, Table]) -> str:
    """The results as a table for the documentation."""
    lines = [
        "| scene | particles | steps | moves | iterations a step, mean / most | CPU ms a step | "
        "smallest distance [mm] | verdict |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for name, each in results.items():
        if "iterations" not in each:
            lines.append(f"| {name} | | | | | | | {each['verdict']} |")
            continue
        near = each["smallest_distance"]
        lines.append(
            f"| {name} | {each['particles']} | {each['steps']} | {each['moves']} | "
            f"{each['iterations']:.1f} / {each['most_iterations']:.0f} | {each['cpu_ms_per_step']:.0f} | "
            f"{'' if near is None else f'{1e3 * near:.3g}'} | {each['verdict']} |"
        )
    return "\n".join(lines) + "\n"
