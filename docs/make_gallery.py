"""Make the gallery: run every shipped example, draw it, and write docs/gallery.md and README's strip.

python docs/make_gallery.py                          everything, in about half an hour
python docs/make_gallery.py --runs FOLDER            runs are kept: what is done stays, what was
                                                     interrupted goes on
python docs/make_gallery.py --runs FOLDER wind poke  only these pictures are drawn
"""

import argparse
import tempfile
from pathlib import Path
from typing import Any

from PIL import Image

from pliant import examples
from pliant.run.runner import resume
from pliant.run.store import Run, load
from pliant.scene.load import parse

DOCS = Path(__file__).resolve().parent
PICTURES = DOCS / "pictures"
SIZE = (640, 400)
STRIP = ("hello", "drop-on-table", "twist-and-release", "poke")
LOOKS: dict[str, dict[str, Any]] = {  # beyond the usual look: what shows an example best
    "break-bar": {"style": "cracks"},
    "break-goblet": {"frame": 8, "style": "cracks"},
    "cairns-bar": {"colour": "strain", "zoom": 0.8},
    "cairns-cube": {"colour": "strain"},
    "cairns-cylinder": {"colour": "strain"},
    "cairns-prism": {"style": "tets"},
    "cairns-sphere": {"frame": 25, "colour": "strain"},
    "cairns-torus": {"colour": "strain"},
    "cantilever": {"frame": 40, "colour": "stress"},
    "cut-turning": {"frame": 22, "style": "cracks"},
    "dented-clay": {"colour": "plastic"},
    "dough-pull": {"colour": "plastic", "zoom": 0.8},
    "drop-on-table": {"frame": 70},
    "elements-break": {"style": "cracks", "zoom": 0.9},
    "elements-drum": {"frame": 60, "view": "front"},
    "elements-frozen-bar": {"colour": "strain", "zoom": 0.8},
    "elements-load": {"colour": "stress", "zoom": 0.9},
    "elements-resolution": {"sheet": "2x2", "style": "particles", "colour": "strain"},
    "everts-compress": {"colour": "stress", "style": "edges"},
    "everts-hanging-beam": {"colour": "stress"},
    "everts-shear": {"colour": "stress", "style": "edges"},
    "everts-pulled-paws": {"frame": 30, "colour": "strain"},
    "everts-sine-beam": {"colour": "displacement", "zoom": 0.8},
    "everts-stretch": {"colour": "stress", "style": "edges"},
    "everts-stretch-fine": {"colour": "stress", "style": "edges"},
    "everts-twist": {"frame": 25, "colour": "stress"},
    "everts-volume": {"colour": "stress", "style": "edges"},
    "hanging-beam": {"frame": 30, "colour": "stress"},
    "hello": {"frame": 19, "ground": 0.0},
    "inflate": {"frame": 30, "colour": "strain", "style": "edges"},
    "listing-8-1": {"style": "wireframe"},
    "multires-cube-poke": {"style": "levels"},
    "multires-gravity": {"colour": "displacement"},
    "multires-organ": {"colour": "level"},
    "multires-sphere-poke": {"colour": "displacement"},
    "poke": {"frame": 35, "colour": "strain", "ground": 0.0},
    "pressed-dough": {"colour": "plastic", "style": "edges"},
    "projectile": {"sheet": "3x3", "view": "front"},
    "spinning": {"frame": 40, "style": "tets"},
    "squeeze-cube": {"colour": "stress", "section": "y=0.5"},
    "stegmayr-clay-cube": {"colour": "plastic"},
    "stegmayr-jelly-cube": {"frame": 33, "colour": "strain"},
    "stegmayr-sampled-figure": {"frame": 11, "style": "surfels"},
    "twist-and-release": {"frame": 60, "colour": "stress", "ground": 0.0},
    "wind": {"frame": 45, "colour": "displacement.y", "map": "coolwarm", "range": "-0.8:0.8"},
}
MOVIE = ("hello", {"ground": 0.0, "frames": slice(0, 41), "size": "320x208"})


def run_of(name: str, folder: Path) -> Run:
    """The example's run, made where it is not there, and gone on with where it was interrupted."""
    path = folder / f"{name}.pliant"
    if not path.exists():
        print(f"running {name}", flush=True)
        return parse(examples.text(name), examples.folder(), f"{name}.toml").run(to=path)
    run = load(path)
    return resume(path) if run.state == "interrupted" else run


def drawn(run: Run, name: str, size: tuple[int, int]) -> Image.Image:
    """The picture of an example, about so many pixels."""
    look = LOOKS.get(name, {})
    columns, rows = (int(part) for part in look.get("sheet", "1x1").split("x"))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "drawn.png"
        run.render(path, size=(size[0] // columns, size[1] // rows), title="", **look)
        print(f"{name} drawn")
        with Image.open(path) as image:
            return image.convert("RGB")


def save(image: Image.Image, name: str) -> None:
    """As JPEG: pages stay small."""
    image.save(PICTURES / f"{name}.jpg", quality=88, optimize=True)


def command(name: str) -> str:
    """The command line that draws the same picture."""
    words = [f"--{key}={value}" for key, value in LOOKS.get(name, {}).items()]
    return " ".join(["pliant render", f"{name}.pliant", f"{name}.png", *words])


def page() -> str:
    parts = [
        "# Gallery\n\nAll shipped examples, made by `python docs/make_gallery.py`.",
        "`pliant examples NAME --run` runs one; the command below each picture draws it.\n",
    ]
    for name in examples.names():
        parts.append(f"\n## {name}\n\n{examples.title(name)}\n\n![{name}](pictures/{name}.jpg)\n")
        parts.append(f"```sh fragment\n{command(name)}\n```\n")
    return "\n".join(parts).replace("\n\n\n", "\n\n")


def strip(folder: Path) -> None:
    """Four pictures side by side, for the README, and the movie."""
    whole = Image.new("RGB", (4 * 400 + 3 * 6, 300), "white")
    for number, name in enumerate(STRIP):
        whole.paste(drawn(run_of(name, folder), name, (400, 300)), (number * 406, 0))
    save(whole, "strip")
    name, look = MOVIE
    run_of(name, folder).render(PICTURES / f"{name}.gif", force=True, title="", time=False, **look)


def main() -> None:
    options = argparse.ArgumentParser(description="Make docs/gallery.md and its pictures.")
    options.add_argument("names", nargs="*", help="examples to draw (default: all, and README's strip)")
    options.add_argument("--runs", type=Path, help="where runs are kept (default: a temporary folder)")
    chosen = options.parse_args()
    PICTURES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as temporary:
        folder = chosen.runs or Path(temporary)
        for name in chosen.names or examples.names():
            save(drawn(run_of(name, folder), name, SIZE), name)
        if not chosen.names:
            strip(folder)
    (DOCS / "gallery.md").write_text(page(), encoding="utf-8")
    total = sum(path.stat().st_size for path in PICTURES.iterdir())
    print(f"docs/gallery.md written; {total / 1e6:.2f} MB of pictures")


if __name__ == "__main__":
    main()
