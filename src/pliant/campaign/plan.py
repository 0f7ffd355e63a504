"""Which points a sweep has: the scene it varies, new points beside old ones, and what they will cost."""

import json
import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pliant.campaign.child import estimate, task
from pliant.campaign.folder import PointEntry, SweepFolder
from pliant.campaign.points import Point, Variation, from_table, grid, sample, vary
from pliant.campaign.resolved_scene import resolved_text, scene_at, scene_hash, units_of_keys
from pliant.core.errors import InputError, PliantError
from pliant.core.option_names import option
from pliant.core.tables import Table, TableView
from pliant.scene.load import read
from pliant.scene.override import Override
from pliant.scene.scene import Scene

TRIED = 4  # points of a dry run that are looked at closely
GROUPS = 8  # sets of kernels that are compiled before the points start
AnyScene = Scene | str | os.PathLike[str]


@dataclass
class BaseScene:
    """The scene that is varied, written out in full."""

    text: str
    name: str
    meshes: dict[str, str] = field(default_factory=dict)  # hashes of mesh files by path
    origin: str = "vary"  # where the values of points come from, for errors

    @property
    def digest(self) -> str:
        return scene_hash(self.text, self.meshes)

    def at(self, values: TableView) -> tuple[str, str]:
        """Resolved text and hash of the scene with ``values``; PliantError where it is not valid."""
        text = resolved_text(scene_at(self.text, values, self.name, self.origin))
        return text, scene_hash(text, self.meshes)


def base_scene(scene: AnyScene, changes: Sequence[Override] = ()) -> BaseScene:
    """From a Scene or a scene file, with ``--set`` changes."""
    if isinstance(scene, Scene):
        return BaseScene(resolved_text(scene), scene.title or "scene")
    return BaseScene(resolved_text(read(scene, changes)), os.fspath(scene))


def wanted_points(
    variations: Sequence[Variation] | TableView = (),
    sampled: str | None = None,
    table: str | os.PathLike[str] | Sequence[Point] | None = None,
) -> list[Point]:
    """The points that ``--vary``, ``--sample`` and ``--points`` ask for."""
    if isinstance(variations, Mapping):
        variations = [vary(key, given) for key, given in variations.items()]
    keys = [each.key for each in variations]
    if len(set(keys)) < len(keys):
        twice = next(key for key in keys if keys.count(key) > 1)
        raise InputError(f"{option('vary', key=twice)} is given twice.", hint="Put its values into one list.")
    points: list[Point] = []
    if table is not None:
        points += (
            from_table(Path(table)) if isinstance(table, (str, os.PathLike)) else [dict(p) for p in table]
        )
        if variations:
            raise InputError(
                f"{option('points')} and {option('vary')} do not go together.", hint="Give one of them."
            )
    if sampled is not None:
        points += sample(variations, sampled)
    elif variations:
        points += grid(variations)
    return points


def merge(
    base: BaseScene, known: Sequence[PointEntry], wanted: Sequence[Point]
) -> tuple[list[PointEntry], dict[str, str]]:
    """Old points as they are, then those of ``wanted`` that are new; and the scenes of the new ones by run.

    Two points whose resolved scenes are the same are one point. PliantError where no wanted point is valid.
    """
    entries, scenes = list(known), dict[str, str]()
    runs = {entry.run for entry in known if entry.run}
    seen = {json.dumps(entry.values, sort_keys=True) for entry in known}
    errors: list[PliantError] = []
    for values in wanted:
        mark = json.dumps(values, sort_keys=True)
        if mark in seen:
            continue
        seen.add(mark)
        try:
            text, run = base.at(values)
        except PliantError as error:
            errors.append(error)
            entries.append(PointEntry(len(entries) + 1, dict(values), "", str(error)))
            continue
        if run not in runs:
            runs.add(run)
            scenes[run] = text
            entries.append(PointEntry(len(entries) + 1, dict(values), run))
    if errors and len(errors) == len(wanted):
        raise errors[0]
    return entries, scenes


def keys_of(entries: Sequence[PointEntry]) -> list[str]:
    """The varied keys of all points, in the order in which they came."""
    return list(dict.fromkeys(key for entry in entries for key in entry.values))


def units_of(base: BaseScene, entries: Sequence[PointEntry]) -> dict[str, str]:
    """The unit of each varied key whose values are numbers."""
    numbers = {}
    for entry in entries:
        for key, value in entry.values.items():
            parts = value if isinstance(value, list) else [value]
            if entry.run and all(isinstance(part, (int, float)) for part in parts):
                numbers[key] = value
    return units_of_keys(base.text, numbers)


def kernel_group(text: str) -> str:
    """Scenes of one group need the same compiled kernels, as far as can be told without building them: they
    differ in numbers only."""
    import tomllib

    table = tomllib.loads(text)
    bodies = [{key: body.get(key) for key in ("model", "material")} for body in table.get("bodies", ())]
    kinds = [[entry.get("type") for entry in table.get(family, ())] for family in ("actions", "measures")]
    return json.dumps([_words(bodies), kinds, _words(table.get("time", {}).get("integrator"))])


def _words(value: Any) -> Any:
    """``value`` with its numbers left out."""
    if isinstance(value, dict):
        return {key: _words(entry) for key, entry in sorted(value.items())}
    if isinstance(value, list):
        return [_words(entry) for entry in value]
    return value if isinstance(value, (str, bool)) else None


def first_of_groups(folder: SweepFolder, pending: Sequence[PointEntry]) -> list[PointEntry]:
    """A point for each set of kernels that pending points need, ``GROUPS`` of them at most: the kernels of
    others are compiled by their first point, while those that need them too wait for it."""
    found: dict[str, PointEntry] = {}
    for entry in pending:
        found.setdefault(kernel_group(folder.scene_file(entry.run).read_text(encoding="utf-8")), entry)
    return list(found.values())[:GROUPS]


def cost(scenes: Mapping[str, str], threads: int, slots: int) -> Table:
    """What running ``scenes`` takes: wall [s] of a point on average and of all; disk and memory [bytes].

    A few of them, spread over the list, are built and their first steps timed.
    """
    runs = list(scenes)
    chosen = sorted({round(k * (len(runs) - 1) / max(1, TRIED - 1)) for k in range(TRIED)} if runs else [])
    tried = []
    with tempfile.TemporaryDirectory() as place:
        active = Path(place) / "active"
        active.touch()
        for number in chosen:
            file = Path(place) / f"{runs[number]}.toml"
            file.write_text(scenes[runs[number]], encoding="utf-8")
            tried.append(estimate(task("", file, Path(place) / "run", active, threads, 0, None, None)))
    good = [entry for entry in tried if entry["state"] == "done"]
    if not good:
        return {"looked_at": len(tried), "reasons": [entry["reason"] for entry in tried]}
    means = {key: sum(entry[key] or 0 for entry in good) / len(good) for key in ("wall", "disk")}
    start = 1.5  # s to start Python and load pliant
    return {
        "looked_at": len(tried),
        "wall_per_point": means["wall"] + start,
        "wall": (means["wall"] + start) * len(runs) / max(1, min(slots, len(runs))),
        "disk": means["disk"] * len(runs),
        "memory_per_point": max(entry["memory"] or 0 for entry in good),
        "slots": slots,
        "reasons": [entry["reason"] for entry in tried if entry["state"] != "done"],
    }
