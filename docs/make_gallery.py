"""Draw the gallery: run every shipped example and large scene; write their pictures, movies and pages.

python docs/make_gallery.py --runs FOLDER            what is out of date; runs are kept, so that the same
                                                     command continues after an interruption
python docs/make_gallery.py --runs FOLDER --jobs 4   the same, four scenes at a time, at low priority
python docs/make_gallery.py --runs FOLDER wind poke  only these
python docs/make_gallery.py --stale                  list the pictures that are out of date; nothing is drawn
python docs/make_gallery.py --page                   only write the pages from docs/gallery.json

Each entry of ``docs/gallery.json`` names the commit and the digests of the scene and of its models' code with
which the picture was drawn.
"""

import argparse
import json
import math
import multiprocessing
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any

from gallery_record import DOCS, Drawn, entry_of, flagships, outdated, place_of, read, table_of, write
from PIL import Image

from pliant import examples
from pliant.run.store import Run, load

PICTURES = DOCS / "pictures"
MOVIES = PICTURES / "movies"
SIZE = (640, 400)
MOVIE_SIZE = "320x208"
LONGEST = 60  # frames of a movie
LARGEST = 300_000  # bytes of a movie
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
    "character": {"sheet": "3x2"},
    "chocolate": {"style": "cracks", "zoom": 0.9},
    "dough": {"colour": "plastic"},
    "goblet": {"sheet": "3x2", "style": "cracks"},
    "organ": {"style": "levels"},
    "wall": {"sheet": "3x2"},
}
GIF = ("hello", {"ground": 0.0, "frames": slice(0, 41), "size": "320x208"})


def run_of(name: str, folder: Path) -> tuple[Run, dict[str, float]]:
    """The run of a scene, made or continued by ``pliant run`` in a process of its own, and what it cost."""
    path, cost = folder / f"{name}.pliant", folder / f"{name}.cost.json"
    spent = json.loads(cost.read_text()) if cost.exists() else {"cpu": 0.0, "memory": 0.0}
    digest = entry_of(name).scene
    if path.exists() and spent.get("scene") == digest and load(path).state == "done":
        return load(path), spent
    again = path.exists() and spent.get("scene") == digest and load(path).state == "interrupted"
    words = ["resume", str(path)] if again else ["run", str(place_of(name)), "-o", str(path), "--force"]
    print(f"{name}: pliant {words[0]}", flush=True)
    if not again:
        spent = {"cpu": 0.0, "memory": 0.0}
    cost.write_text(json.dumps(spent | {"scene": digest}))
    child = subprocess.Popen([sys.executable, "-m", "pliant", *words, "--quiet"], stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise RuntimeError(f"pliant {words[0]} ended with exit code {child.returncode}")
    spent["cpu"] += used.ru_utime + used.ru_stime
    spent["memory"] = max(spent["memory"], used.ru_maxrss / 1e3)
    cost.write_text(json.dumps(spent | {"scene": digest}))
    return load(path), spent


def drawn(run: Run, name: str, size: tuple[int, int]) -> Image.Image:
    """The picture of a scene, about so many pixels."""
    look = LOOKS.get(name, {})
    columns, rows = (int(part) for part in look.get("sheet", "1x1").split("x"))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "drawn.png"
        run.render(path, size=(size[0] // columns, size[1] // rows), title="", workers=1, **look)
        with Image.open(path) as image:
            return image.convert("RGB")


def save(image: Image.Image, name: str) -> None:
    """As JPEG: pages stay small."""
    image.save(PICTURES / f"{name}.jpg", quality=88, optimize=True)


def film(run: Run, name: str) -> float:
    """Write the movie of a scene, 2 to 6 s long; how fast it plays (1: real time)."""
    import imageio_ffmpeg

    look = {key: value for key, value in LOOKS.get(name, {}).items() if key not in ("frame", "sheet")}
    count = len(run.frames)
    every = math.ceil(count / LONGEST)
    shown = math.ceil(count / every)
    duration = float(run.info()["duration"])
    length = min(max(duration, 2.0), 6.0)
    rate = min(max(shown / length, 5.0), 30.0)
    out = MOVIES / f"{name}.mp4"
    with tempfile.TemporaryDirectory() as folder:
        raw, small = Path(folder) / "raw.mp4", Path(folder) / "small.mp4"
        run.render(raw, every=every, fps=rate, size=MOVIE_SIZE, title="", time=False, workers=1, **look)
        for quality in (27, 33, 39):
            words = ["-c:v", "libx264", "-crf", str(quality), "-preset", "slow", "-pix_fmt", "yuv420p"]
            ffmpeg = [
                imageio_ffmpeg.get_ffmpeg_exe(),
                "-y",
                "-loglevel",
                "error",
                "-threads",
                "1",
                "-i",
                str(raw),
            ]
            subprocess.run([*ffmpeg, *words, "-movflags", "+faststart", str(small)], check=True)
            if small.stat().st_size < LARGEST:
                break
        MOVIES.mkdir(exist_ok=True)
        out.write_bytes(small.read_bytes())
    return duration * rate / shown if shown > 1 else 1.0


def command(name: str) -> str:
    """The command line that draws the same picture."""
    words = [f"--{key}={value}" for key, value in LOOKS.get(name, {}).items()]
    return " ".join(["pliant render", f"{name}.pliant", f"{name}.png", *words])


def commit() -> str:
    """The commit of the code, with + where files of it have changed."""
    git = ["git", "-C", str(DOCS)]
    head = subprocess.run(
        [*git, "rev-parse", "--short=10", "HEAD"], capture_output=True, text=True, check=False
    )
    state = subprocess.run(
        [*git, "status", "--porcelain", "../src"], capture_output=True, text=True, check=False
    )
    return head.stdout.strip() + ("+" if state.stdout.strip() else "")


def draw(name: str, folder: Path) -> Drawn:
    """Run and draw one scene; its entry of the record."""
    entry = entry_of(name)
    entry.commit = commit()
    run, cost = run_of(name, folder)
    facts = run.info()["bodies"]
    entry.particles = sum(body["particles"] for body in facts)
    entry.cells = sum(body["cells"] for body in facts)
    entry.cpu, entry.memory = round(cost["cpu"], 1), round(cost["memory"])
    save(drawn(run, name, SIZE), name)
    entry.speed = float(f"{film(run, name):.2g}")
    print(f"{name}: drawn", flush=True)
    return entry


def draw_all(names: Iterable[str], folder: Path, jobs: int) -> list[str]:
    """Run and draw scenes in processes of low priority; each picture enters record and pages when it is done.
    The failures, one line each."""
    failed = []
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, spawn, initializer=os.nice, initargs=(10,)) as pool:
        drawing = {pool.submit(draw, name, folder): name for name in names}
        for future in as_completed(drawing):
            name = drawing[future]
            try:
                entry = future.result()
            except Exception as error:  # the others go on
                failed.append(f"{name}: {error}")
                continue
            write(read() | {name: entry})
            pages()
    return failed


def cost_of(entry: Drawn) -> str:
    """Tags and cost in one line."""
    cells = f", {entry.cells} cells" if entry.cells else ""
    speed = "real time" if abs(entry.speed - 1) < 0.05 else f"{entry.speed:g} times real time"
    what = ", ".join([*(f"`{name}`" for name in entry.models), *entry.tags])
    cost = f"{entry.particles} particles{cells}, {entry.cpu:.0f} CPU s, {entry.memory} MB"
    return f"{what}. {cost}. The movie plays at {speed}. Drawn at commit `{entry.commit}`."


HEAD = """# Gallery

All shipped examples. `pliant examples NAME --run` runs one, and the command below its picture draws it. The
[large scenes](flagships.md) have a page of their own.

`python docs/make_gallery.py --runs FOLDER --jobs 2` runs and draws what is out of date, two at a time. The
cost is the CPU time of one core and the largest memory of `pliant run`, start-up included, measured for the
picture.

```{toctree}
:hidden:

flagships
```

| example | model | tags | particles | CPU s |
| --- | --- | --- | --- | --- |"""


def gallery_page(entries: dict[str, Drawn]) -> str:
    """``docs/gallery.md``: every example with its picture, movie, tags and cost."""
    parts = [HEAD]
    for name in examples.names():
        one = entries.get(name) or entry_of(name)
        cost = (one.particles, f"{one.cpu:.0f}") if name in entries else ("", "")
        row = (f"[{name}](#{name})", ", ".join(one.models), ", ".join(one.tags), *cost)
        parts.append("| " + " | ".join(str(cell) for cell in row) + " |")
    for name in examples.names():
        parts.append(
            f"\n## {name}\n\n{examples.title(name)}\n\n![{examples.title(name)}](pictures/{name}.jpg)\n"
        )
        if name in entries:
            parts.append(f"{cost_of(entries[name])} [Movie](pictures/movies/{name}.mp4)\n")
        parts.append(f"```sh fragment: needs the run of the example\n{command(name)}\n```\n")
    return "\n".join(parts).replace("\n\n\n", "\n\n")


def flagship_block(name: str, entries: dict[str, Drawn]) -> str:
    """Picture and cost of a large scene, or that it was not drawn yet."""
    if name not in entries:
        return (
            "Not drawn yet, and not run at this resolution with the present code. "
            f"`python docs/make_gallery.py {name}` runs and draws it."
        )
    title = table_of(name)["title"]
    cost = f"{cost_of(entries[name])} [Movie](pictures/movies/{name}.mp4)"
    return f"![{title}](pictures/{name}.jpg)\n\n{cost}"


def fill_flagships(entries: dict[str, Drawn]) -> None:
    """Write pictures and costs into ``docs/flagships.md``, between its marks."""
    page = DOCS / "flagships.md"
    text = page.read_text(encoding="utf-8")
    for name in flagships():
        before, start, after = text.partition(f"<!-- drawn {name} -->\n")
        if after:
            text = f"{before}{start}{flagship_block(name, entries)}\n{after[after.index('<!-- end -->') :]}"
    page.write_text(text, encoding="utf-8")


def strip(folder: Path) -> None:
    """Four pictures side by side, and the moving picture of the README."""
    whole = Image.new("RGB", (4 * 400 + 3 * 6, 300), "white")
    for number, name in enumerate(STRIP):
        whole.paste(drawn(run_of(name, folder)[0], name, (400, 300)), (number * 406, 0))
    save(whole, "strip")
    name, look = GIF
    run_of(name, folder)[0].render(PICTURES / f"{name}.gif", force=True, title="", time=False, **look)


def pages() -> None:
    """Write the pages from the record."""
    entries = read()
    (DOCS / "gallery.md").write_text(gallery_page(entries), encoding="utf-8")
    fill_flagships(entries)


def main() -> int:
    options = argparse.ArgumentParser(description="Draw the gallery and write its pages.")
    options.add_argument("names", nargs="*", help="scenes to draw (default: all that are out of date)")
    options.add_argument("--runs", type=Path, help="where runs are kept (default: a temporary folder)")
    options.add_argument("--jobs", type=int, default=1, help="scenes at a time (default: %(default)s)")
    options.add_argument("--stale", action="store_true", help="list the pictures that are out of date")
    options.add_argument("--page", action="store_true", help="only write the pages")
    options.add_argument("--all", action="store_true", help="draw also what is up to date")
    chosen = options.parse_args()
    changed, unsure = outdated()
    if chosen.stale:
        print(
            "\n".join(
                [
                    *(f"{name}: the scene changed" for name in changed),
                    *(f"{name}: the model changed" for name in unsure),
                ]
            )
        )
        return 0
    if not chosen.page:
        PICTURES.mkdir(exist_ok=True)
        names = chosen.names or ([*examples.names(), *flagships()] if chosen.all else [*changed, *unsure])
        with tempfile.TemporaryDirectory() as temporary:
            folder = chosen.runs or Path(temporary)
            folder.mkdir(parents=True, exist_ok=True)
            failed = draw_all(names, folder, chosen.jobs)
            if set(STRIP) <= set(names) and not failed:
                strip(folder)
        if failed:
            print("\n".join(failed), file=sys.stderr)
            return 1
    pages()
    return 0


if __name__ == "__main__":
    sys.exit(main())
