"""Make the comparative study: run it, and fill the tables and pictures of docs/study.md from its result.

python docs/make_study.py [--runs FOLDER]      scenes that are there already are not run again
python docs/make_study.py --runs FOLDER --there   nothing is run: the page has the scenes that are there
"""

import argparse
import json
import re
import tempfile
from pathlib import Path
from typing import Any

from PIL import Image

from pliant.validation import study
from pliant.validation.compare import compare
from pliant.validation.html import shown
from pliant.validation.study import SHOWN, labels_of, value

DOCS = Path(__file__).resolve().parent
PAGE, PICTURES = DOCS / "study.md", DOCS / "pictures"
WIDTH = 1024


def results(runs: Path, there: bool) -> list[dict[str, Any]]:
    """What every scene of the study came to, run where that is missing, or left out if only those count that
    are ``there``."""
    found = []
    for name in study.NAMES:
        kept = runs / name / "compare.json"
        if not kept.is_file() and there:
            continue
        if not kept.is_file():
            scene = runs / f"{name}.toml"
            scene.write_text(study.text(name), encoding="utf-8")
            compare(scene, runs / name, show=print, keys=study.KEYS)
        found.append(json.loads(kept.read_text(encoding="utf-8")))
    return found


def figure(entry: Any, key: str) -> str:
    """A value as the tables have it: shares in percent."""
    if isinstance(entry, float) and key in ("error", "energy_drift", "volume_change"):
        return f"{100 * entry:.2g} %" if entry < 0.995 else f"{100 * entry:.0f} %"
    return f"{entry:.3g}" if isinstance(entry, float) else shown(entry)


def table(found: list[dict[str, Any]], key: str) -> str:
    """A table of Markdown: scenes down, models across."""
    labels = labels_of(found)
    lines = [["scene", *labels], ["---"] * (len(labels) + 1)]
    for result in found:
        lines.append([result["scene"], *(figure(value(result, label, key), key) for label in labels)])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def said(found: list[dict[str, Any]]) -> str:
    """What models said that did not come to their end."""
    lines = [
        f"- {result['scene']}, {entry['label']} ({entry['state']}): {entry['message']}"
        for result in found
        for entry in result["attempts"]
        if entry["state"] != "done"
    ]
    return "\n".join(lines) or "None: every model completed every scene."


def references(found: list[dict[str, Any]]) -> str:
    """How large the references are, in a sentence."""
    sizes = [f"{result['scene']} {result['reference'].rpartition(', ')[2].split()[0]}" for result in found]
    return f"Particles of the references: {', '.join(sizes)}."


def filled(text: str, name: str, inside: str) -> str:
    """The page with what stands between the marks of ``name`` replaced."""
    pattern = rf"(<!-- {name} -->\n).*?(<!-- end -->)"
    changed, count = re.subn(pattern, lambda m: f"{m[1]}{inside}\n{m[2]}", text, flags=re.DOTALL)
    if count != 1:
        raise SystemExit(f"{PAGE.name} should have one mark <!-- {name} -->")
    return changed


def keep_picture(path: Path, name: str) -> None:
    """The side-by-side picture of a scene, small enough for a page."""
    image = Image.open(path).convert("RGB")
    image = image.resize((WIDTH, round(image.height * WIDTH / image.width)), Image.Resampling.LANCZOS)
    image.save(PICTURES / f"study-{name}.jpg", quality=82, optimize=True)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--runs", type=Path, help="where runs are kept (a temporary folder if not given)")
    options.add_argument("--there", action="store_true", help="leave out scenes that have not been run")
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        runs = chosen.runs or Path(temporary)
        runs.mkdir(parents=True, exist_ok=True)
        found = results(runs, chosen.there)
        for result in found:
            keep_picture(runs / result["scene"] / "end.png", result["scene"])
    text = PAGE.read_text(encoding="utf-8")
    for result in found:
        words = f"![{result['title']}: every model and the reference](pictures/study-{result['scene']}.jpg)"
        text = filled(text, f"picture {result['scene']}", words)
    for key in SHOWN:
        text = filled(text, key, table(found, key))
    text = filled(filled(text, "said", said(found)), "references", references(found))
    PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
