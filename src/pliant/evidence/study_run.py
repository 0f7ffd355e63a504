"""The comparative study: every model on every scene of the set, as one page."""

import json
from pathlib import Path
from typing import Any

from pliant import __version__
from pliant.evidence import study
from pliant.evidence.compare import compare
from pliant.evidence.page import Page

SHOWN = ("error", "real_time_factor", "volume_change")


def compare_study(out: Path, **options: Any) -> list[dict[str, Any]]:
    """Compare on each scene of the set; ``out``/index.html has the tables, and a page for each scene."""
    out.mkdir(parents=True, exist_ok=True)
    found = []
    for name in study.NAMES:
        scene = out / f"{name}.toml"
        scene.write_text(study.text(name), encoding="utf-8")
        found.append(compare(scene, out / name, **options))
    (out / "compare.json").write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
    page = Page("The models side by side")
    page.text(f"pliant {__version__}: each model on {', '.join(study.NAMES)}. Made by pliant compare.")
    labels = list(dict.fromkeys(entry["label"] for result in found for entry in result["attempts"]))
    for key, title in zip(SHOWN, ("Error", "Times real time", "Volume change"), strict=True):
        page.heading(title)
        page.table(
            ("scene", *labels), [[r["scene"], *(_value(r, label, key) for label in labels)] for r in found]
        )
    page.heading("Scenes")
    for result in found:
        page.heading(result["title"], 3)
        page.drawing(f'<p><a href="{result["scene"]}/index.html">pictures, movie, graphs</a></p>')
        for entry in result["attempts"]:
            if entry["message"]:
                page.text(f"{entry['label']}: {entry['message']}", note=True)
    page.write(out / "index.html")
    return found


def _value(result: dict[str, Any], label: str, key: str) -> Any:
    entry = next((entry for entry in result["attempts"] if entry["label"] == label), None)
    if entry is None or entry["state"] == "refused":
        return None
    return entry["state"] if entry["state"] != "done" else entry[key]
