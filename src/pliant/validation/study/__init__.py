"""The comparative study, ``pliant compare`` without a scene: every model on every scene of this folder."""

import json
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import Any

from pliant import __version__
from pliant.core.tables import Table, TableView
from pliant.validation import study
from pliant.validation.compare import ABOUT, compare, variations
from pliant.validation.html import Page

KEYS: dict[str, tuple[str, ...]] = {}  # of models whose defaults do not suit these scenes
NAMES = ("cantilever", "drop", "squeeze", "twist", "poke", "break")


def text(name: str) -> str:
    """The scene file of one of ``NAMES``."""
    return (resources.files("pliant.validation.study") / f"{name}.toml").read_text(encoding="utf-8")


SHOWN = {
    "error": "Error",
    "cpu_factor": "Simulated seconds per second of one core",
    "energy_drift": "Energy drift",
    "volume_change": "Volume change",
    "stable_step": "Longest stable step of leapfrog [s]",
    "memory": "Memory [MB]",
}


def compare_study(out: Path, **options: Any) -> list[Table]:
    """Compare on each scene of the set; ``out``/index.html has the tables, and a page for each scene."""
    variations(options.get("models"), options.get("integrators", []), options.get("edges", []), study.KEYS)
    out.mkdir(parents=True, exist_ok=True)
    found = []
    for name in study.NAMES:
        scene = out / f"{name}.toml"
        scene.write_text(study.text(name), encoding="utf-8")
        found.append(compare(scene, out / name, keys=study.KEYS, **options))
    (out / "compare.json").write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
    page = Page("The models side by side")
    page.text(f"pliant {__version__}: each model on {', '.join(study.NAMES)}. Made by pliant compare.")
    page.text(ABOUT, note=True)
    labels = labels_of(found)
    for key, title in SHOWN.items():
        page.heading(title)
        page.table(
            ("scene", *labels), [[r["scene"], *(value(r, name, key) for name in labels)] for r in found]
        )
    page.heading("Scenes")
    for result in found:
        page.heading(result["title"], 3)
        picture = out / result["scene"] / "end.png"
        if picture.is_file():
            page.picture(picture, f"{result['title']}: the last frame of every run")
        page.drawing(f'<p><a href="{result["scene"]}/index.html">movie, graphs, table</a></p>')
        for entry in result["attempts"]:
            if entry["message"]:
                page.text(f"{entry['label']}: {entry['message']}", note=True)
    page.write(out / "index.html")
    return found


def labels_of(found: Sequence[TableView]) -> list[str]:
    """The variations of a study, in their order."""
    return list(dict.fromkeys(entry["label"] for result in found for entry in result["attempts"]))


def value(result: TableView, label: str, key: str) -> object:
    """What a table shows of a variation: a figure, the way it ended, or None where it was refused."""
    entry = next((entry for entry in result["attempts"] if entry["label"] == label), None)
    if entry is None or entry["state"] == "refused":
        return None
    return entry["state"] if entry["state"] != "done" else entry[key]
