"""``--report`` and ``--sheet``: a sweep as one page that holds everything, and as pictures side by side."""

import html
import math
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.campaign.points import label
from pliant.campaign.reductions import BESIDE
from pliant.core.errors import InputError, PliantError
from pliant.core.option_names import option
from pliant.core.tables import Table
from pliant.validation.html import Page

if TYPE_CHECKING:
    from pliant.campaign.sweeps import Sweep

AXES, EFFECTS, THUMBNAILS, LEVELS, NAMES, NAMES_UP = 9, 4, 64, 7, 6, 12
"""Largest numbers: axes, results with main effects, thumbnails, levels of an effect, names on an axis across
and up."""
THUMBNAIL = (352, 256)
STYLE = """<style>
.parallel a path { fill: none; stroke-width: 1.4; stroke-opacity: .55; }
.parallel a:hover path, .parallel a:focus path { stroke-width: 4; stroke-opacity: 1; }
.parallel a:hover, .parallel a:focus { outline: none; }
.dots rect.frame { fill: none; stroke: var(--line); }
svg text.halo { paint-order: stroke; stroke: var(--paper); stroke-width: 4px; }
.dots circle { fill: var(--link); fill-opacity: .75; } .dots a:hover circle { fill: #d1495b; r: 6px; }
.dots polyline { fill: none; stroke: #d1495b; stroke-width: 2; }
.thumbs { display: flex; flex-wrap: wrap; gap: .6rem; } .thumbs figure { margin: 0; width: 11rem; }
.thumbs figcaption { font-size: .75rem; color: var(--quiet); overflow-wrap: anywhere; }
.effects { display: flex; flex-wrap: wrap; gap: .5rem; }
</style>"""


def write_report(sweep: "Sweep", path: Path, pictures: bool = True) -> Path:
    """Parallel coordinates, main effects, thumbnails and tables of a sweep; runs are linked from the page."""
    if path.suffix.lower() not in (".html", ".htm"):
        raise InputError(f"{option('report', path)}: expected a name that ends in .html.")
    rows = sweep.results
    counts = sweep.status()
    page = Page(f"{sweep.path.stem}: {counts['points']} points")
    page.text(
        f"Scene {Path(sweep.manifest['scene']).name}; {counts['done']} done, {counts['failed']} failed. "
        "Lines and dots lead to run folders."
    )
    page.drawing(STYLE)
    links = {row["point"]: _link(sweep, path, row["run"]) for row in rows}
    keys = [key for key in sweep.keys if len({str(row.get(key)) for row in rows}) > 1]
    results = varying(
        rows, [name for name in (rows[0] if rows else {}) if name not in BESIDE | {*sweep.keys}]
    )
    units = sweep.units
    if rows and keys and results:
        page.heading("Parallel coordinates")
        page.drawing(parallel_coordinates(rows, [*keys, *results][:AXES], keys, units, links))
        page.heading("Main effects")
        page.text("Dots are points, the line is the mean of each level of the parameter.", note=True)
        drawn = [
            main_effect(rows, key, name, keys, units, links) for name in results[:EFFECTS] for key in keys
        ]
        page.drawing(f'<div class="effects">{"".join(drawn)}</div>')
    if pictures and rows:
        page.heading("Last frames")
        try:
            page.drawing(_thumbnails(sweep, rows[:THUMBNAILS], links))
            if len(rows) > THUMBNAILS:
                page.text(f"The first {THUMBNAILS} of {len(rows)} points.", note=True)
        except PliantError as error:
            page.text(f"No pictures: {error}", note=True)
    page.heading("Points")
    head = ["point", *sweep.keys, *results]
    page.table([_titled(name, units) for name in head], [[row.get(name) for name in head] for row in rows])
    if failures := sweep.failures:
        page.heading("Failures")
        head = ["point", *sweep.keys, "state", "reason", "last_good_frame"]
        page.table(head, [[row.get(name) for name in head] for row in failures], ["bad"] * len(failures))
    page.write(path)
    return path


def varying(rows: Sequence[Table], names: Sequence[str]) -> list[str]:
    """Results whose numbers differ by more than rounding; of four reductions of a series the last value."""
    chosen = []
    for name in names:
        values = np.array([math.nan if row[name] is None else float(row[name]) for row in rows])
        values = values[np.isfinite(values)]
        if len(values) and np.ptp(values) > 1e-9 * np.abs(values).max():
            chosen.append((name, float(np.abs(values).max())))
    plain = [(name, size) for name, size in chosen if name.endswith(".last")]
    kept = plain if len(chosen) > AXES and plain else chosen
    families = {name.rpartition(".")[0].rpartition(".")[0] for name, _ in kept}
    largest = {f: max(s for n, s in kept if n.startswith(f)) for f in families}
    return [n for n, s in kept if s > 1e-6 * largest[n.rpartition(".")[0].rpartition(".")[0]]]


def _titled(name: str, units: Table) -> str:
    return f"{name} [{units[name]}]" if units.get(name) else name


def _link(sweep: "Sweep", page: Path, run: str) -> str:
    """The address of a run folder as seen from the page."""
    there = os.path.relpath(sweep.path / "runs" / run, page.absolute().parent)
    return html.escape(Path(there).as_posix() + "/", quote=True)


def _words(text: str) -> str:
    return html.escape(text, quote=True)


class _Scale:
    """Places 0 to 1 of the values of a column: numbers by size, others in order."""

    def __init__(self, values: Sequence[Any]) -> None:
        numbers = [v for v in values if isinstance(v, (int, float)) and not isinstance(v, bool)]
        self.names = None if len(numbers) == len(values) else list(dict.fromkeys(map(str, values)))
        if self.names is None:
            self.low, self.high = min(numbers), max(numbers)
            self.log = self.low > 0 and self.high / self.low >= 30
        else:
            self.low, self.high, self.log = 0.0, float(len(self.names) - 1), False

    def at(self, value: Any) -> float:
        number = float(self.names.index(str(value))) if self.names is not None else float(value)
        low, high = float(self.low), float(self.high)
        if self.log:
            number, low, high = math.log(number), math.log(low), math.log(high)
        return (number - low) / (high - low) if high > low else 0.5

    def ticks(self, most: int) -> list[tuple[float, str]]:
        """Places with their words: both ends of numbers and, up to ``most``, all names."""
        if self.names is None:
            ends = [(0.0, f"{self.low:.3g}"), (1.0, f"{self.high:.3g}")]
            return ends if self.high > self.low else [(0.5, f"{self.low:.3g}")]
        chosen = self.names if len(self.names) <= most else [self.names[0], self.names[-1]]
        return [(self.at(name), name if len(name) <= 18 else f"{name[:17]}...") for name in chosen]


def _colour(share: float) -> str:
    """From blue to red through grey."""
    low, middle, high = (52, 128, 190), (140, 140, 150), (214, 80, 96)
    first, last, part = (low, middle, 2 * share) if share < 0.5 else (middle, high, 2 * share - 1)
    return "#" + "".join(f"{round(a + (b - a) * part):02x}" for a, b in zip(first, last, strict=True))


def _short(name: str, units: Table, keys: Sequence[str]) -> str:
    """The title of an axis: the end of a scene key, the whole of a result."""
    return ".".join(_titled(name, units).split(".")[-2:]) if name in keys else _titled(name, units)


def parallel_coordinates(
    rows: Sequence[Table], names: Sequence[str], keys: Sequence[str], units: Table, links: dict[int, str]
) -> str:
    """An axis for each column and a line for each point, coloured by the last column."""
    rows = [row for row in rows if all(row.get(name) is not None for name in names)]
    if not rows:
        return ""
    gap, height, top, left = 150, 260, 66, 80
    scales = [_Scale([row[name] for row in rows]) for name in names]
    width = left * 2 + gap * (len(names) - 1)
    parts = [
        f'<svg class="parallel" viewBox="0 0 {width} {height + top + 30}" width="{width}" role="img" '
        f'aria-label="Parallel coordinates of {len(rows)} points" font-family="sans-serif" font-size="11">'
    ]
    for row in rows:
        shares = [scale.at(row[name]) for name, scale in zip(names, scales, strict=True)]
        places = [(left + gap * k, top + height * (1 - share)) for k, share in enumerate(shares)]
        way = " L ".join(f"{x} {y:.1f}" for x, y in places)
        colour = _colour(scales[-1].at(row[names[-1]]))
        words = html.escape(f"point {row['point']}: " + label({name: row[name] for name in names}))
        parts.append(
            f'<a href="{links[row["point"]]}"><path d="M {way}" stroke="{colour}"/><title>{words}</title></a>'
        )
    for number, (name, scale) in enumerate(zip(names, scales, strict=True)):
        x = left + gap * number
        parts.append(f'<line class="one" x1="{x}" x2="{x}" y1="{top}" y2="{top + height}"/>')
        parts.append(_text(x, 16 + 16 * (number % 2), _short(name, units, keys), "middle"))
        for share, words in scale.ticks(NAMES_UP):
            inside = 0.0 < share < 1.0
            y = top + height * (1 - share) + (4 if inside else 16 if share == 0.0 else -7)
            parts.append(
                _text(x + 6 * inside, y, words, "start" if inside else "middle", "quiet", halo=inside)
            )
    return "".join(parts) + "</svg>"


def _text(x: float, y: float, words: str, anchor: str = "start", kind: str = "", halo: bool = False) -> str:
    classes = f"{kind} halo" if halo else kind
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" class="{classes}">{html.escape(words)}</text>'
    )


def main_effect(
    rows: Sequence[Table], key: str, name: str, keys: Sequence[str], units: Table, links: dict[int, str]
) -> str:
    """A result over a parameter: the points, and the mean at each level."""
    rows = [row for row in rows if row.get(key) is not None and row.get(name) is not None]
    if not rows:
        return ""
    width, height, left, right, top = 330, 210, 66, 16, 24
    across, up = _Scale([row[key] for row in rows]), _Scale([row[name] for row in rows])
    wide, high = width - left - right, height - top - 46

    def place(a: float, b: float) -> tuple[float, float]:
        return left + 8 + (wide - 16) * a, top + 8 + (high - 16) * (1 - b)

    parts = [
        f'<svg class="dots" viewBox="0 0 {width} {height}" width="{width}" role="img" '
        f'font-family="sans-serif" font-size="11" aria-label="{_words(f"{name} over {key}")}">'
        f'<rect class="frame" x="{left}" y="{top}" width="{wide}" height="{high}"/>',
        _text(left, 16, _titled(name, units)),
        _text(left + wide / 2, height - 8, _short(key, units, keys), "middle"),
    ]
    for share, words in across.ticks(NAMES):
        anchor = "start" if share == 0.0 else "end" if share == 1.0 else "middle"
        parts.append(_text(place(share, 0.0)[0], top + high + 15, words, anchor, "quiet"))
    for share, words in up.ticks(NAMES):
        parts.append(_text(left - 6, place(0.0, share)[1] + 4, words, "end", "quiet"))
    levels: dict[int, list[tuple[float, float]]] = {}
    distinct = sorted({across.at(row[key]) for row in rows})
    for row in rows:
        a, b = across.at(row[key]), up.at(row[name])
        level = distinct.index(a) if len(distinct) <= LEVELS else min(int(a * LEVELS), LEVELS - 1)
        levels.setdefault(level, []).append((a, b))
        x, y = place(a, b)
        words = html.escape(f"point {row['point']}: {label({key: row[key], name: row[name]})}")
        parts.append(
            f'<a href="{links[row["point"]]}"><circle cx="{x:.1f}" cy="{y:.1f}" r="3"/>'
            f"<title>{words}</title></a>"
        )
    means = [tuple(np.mean(found, axis=0)) for _, found in sorted(levels.items())]
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in (place(a, b) for a, b in means))
    return "".join(parts) + f'<polyline points="{line}"/></svg>'


def _thumbnails(sweep: "Sweep", rows: Sequence[Table], links: dict[int, str]) -> str:
    """The last frame of each point, inside the page; drawn as one sheet and cut up."""
    import base64
    import io

    from pliant.core.environment import need
    from pliant.render import render
    from pliant.render.pyvista_scene import ABREAST

    need("Thumbnails", "PIL", "pyvista")
    from PIL import Image

    parts = []
    width, height = THUMBNAIL
    with tempfile.TemporaryDirectory() as place:
        runs = [sweep.run(row["point"]) for row in rows]
        options: Table = {"size": f"{width}x{height}", "time": False, "labels": [""] * len(runs)}
        file = render(runs, Path(place) / "all.png", **options)
        sheet = Image.open(file).convert("RGB")
    columns = min(ABREAST, len(rows))
    for number, row in enumerate(rows):
        left, top = number % columns * width, number // columns * height
        data = io.BytesIO()
        sheet.crop((left + 2, top + 2, left + width, top + height)).save(data, "png", optimize=True)
        values = {key: row[key] for key in sweep.keys if row.get(key) is not None}
        words = html.escape(f"{row['point']}: {label(values)}")
        source = f"data:image/png;base64,{base64.b64encode(data.getvalue()).decode()}"
        picture = f'<a href="{links[row["point"]]}"><img alt="{words}" src="{source}"></a>'
        parts.append(f"<figure>{picture}<figcaption>{words}</figcaption></figure>")
    return f'<div class="thumbs">{"".join(parts)}</div>'


def write_sheet(sweep: "Sweep", path: Path, **options: Any) -> Path:
    """All points that are done side by side at the same times, each under its values."""
    from pliant.render import render

    rows = sweep.results
    if not rows:
        raise InputError(f"{sweep.path} has no point that is done.")
    runs = [sweep.run(row["point"]) for row in rows]
    names = [label({k: row[k] for k in sweep.keys if row.get(k) is not None}) for row in rows]
    given = {"size": "480x320", "force": True, **options}
    return render(runs, path, labels=names, **given)
