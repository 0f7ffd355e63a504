"""One HTML page that holds everything in itself: tables, pictures, graphs."""

import base64
import html
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

STYLE = """
:root { color-scheme: light dark; --paper: #ffffff; --ink: #2d323c; --quiet: #5b6370; --line: #dde1e6;
  --bad: #fdeeea; --off: #767d88; --good: #1d7a6f; --wrong: #b8431f; --link: #1d5fa8; }
@media (prefers-color-scheme: dark) { :root { --paper: #1b1e24; --ink: #e3e6eb; --quiet: #a4abb6;
  --line: #3a3f49; --bad: #43281f; --off: #8d94a0; --good: #52c2b3; --wrong: #f0906f; --link: #7fb4ee; } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); margin: 2rem auto;
  max-width: 74rem; padding: 0 1rem; }
a { color: var(--link); }
h1 { font-size: 1.6rem; } h2 { font-size: 1.2rem; margin-top: 2.2rem; } h3 { font-size: 1rem; }
table { border-collapse: collapse; margin: .8rem 0; font-variant-numeric: tabular-nums; font-size: .9rem; }
th, td { padding: .25rem .7rem; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; }
th:first-child, td:first-child { position: sticky; left: 0; background: var(--paper); padding-left: .2rem; }
th { vertical-align: bottom; } td.words { min-width: 18rem; } td.mark { white-space: nowrap; }
td.number { text-align: right; white-space: nowrap; }
td.good { color: var(--good); } td.wrong { color: var(--wrong); font-weight: 600; }
tr.bad td { background: var(--bad); } tr.off td { color: var(--off); }
img, video { max-width: 100%; height: auto; border-radius: 4px; background: #ffffff; }
img.half { width: 49%; }
p.note { color: var(--quiet); font-size: .9rem; }
.wide { overflow-x: auto; }
.wide > svg { min-width: 34rem; }
@media (max-width: 44rem) { body { margin: 1rem auto; } img.half { width: 100%; }
  th, td { padding: .25rem .45rem; } }
svg text { fill: var(--ink); } svg text.quiet { fill: var(--quiet); }
svg line { stroke: var(--line); } svg line.one { stroke: var(--ink); }
svg rect { fill: var(--wrong); } svg rect.good { fill: var(--good); }
"""

LEAST, MOST = 1e-4, 10.0  # ends of the scale of bars
LONG = 40  # characters of a cell that wants room


@dataclass(frozen=True)
class ChartMark:
    """A cell of a table in the colour of its kind: good, wrong, or "" for none."""

    text: str
    kind: str = ""


@dataclass(frozen=True)
class ChartBar:
    """A cell of a table that shows a share on the scale of ``bars``."""

    share: float
    good: bool


@dataclass(frozen=True)
class PageLink:
    """A cell of a table that leads to the heading of the same words."""

    to: str


class Page:
    """Parts of a page, added one after the other."""

    def __init__(self, title: str) -> None:
        self.title = title
        self._parts = [f"<h1>{html.escape(title)}</h1>"]

    def heading(self, text: str, level: int = 2) -> None:
        """A heading; links to ``#`` and its words find it."""
        name = html.escape(text.replace(" ", "-"), quote=True)
        self._parts.append(f'<h{level} id="{name}">{html.escape(text)}</h{level}>')

    def text(self, text: str, note: bool = False) -> None:
        self._parts.append(f"<p{' class=note' if note else ''}>{html.escape(text)}</p>")

    def table(self, head: Sequence[str], rows: Sequence[Sequence[Any]], kinds: Sequence[str] = ()) -> None:
        """Rows under a head; ``kinds`` ("", "bad" or "off") mark rows."""
        top = "".join(f"<th>{html.escape(str(name))}</th>" for name in head)
        body = []
        for number, row in enumerate(rows):
            kind = kinds[number] if kinds else ""
            body.append(f'<tr class="{kind}">{"".join(_cell(value) for value in row)}</tr>')
        inner = f"<thead><tr>{top}</tr></thead><tbody>{''.join(body)}</tbody>"
        self._parts.append(f'<div class="wide"><table>{inner}</table></div>')

    def picture(self, path: Path, words: str, half: bool = False) -> None:
        """A PNG or GIF, or an MP4 that plays, inside the page; ``half``: two to a row."""
        data = base64.b64encode(path.read_bytes()).decode()
        what = html.escape(words, quote=True)
        if path.suffix == ".mp4":
            self._parts.append(
                f'<video controls muted loop playsinline aria-label="{what}" '
                f'src="data:video/mp4;base64,{data}"></video>'
            )
        else:
            kind = path.suffix.lstrip(".")
            width = ' class="half"' if half else ""
            self._parts.append(f'<img{width} alt="{what}" src="data:image/{kind};base64,{data}">')

    def drawing(self, svg: str) -> None:
        """SVG text, as it is; it may be wider than a narrow window."""
        self._parts.append(f'<div class="wide">{svg}</div>')

    def write(self, path: Path) -> None:
        from pliant.mesh.io.atomic import replacing

        text = (
            f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
            f'<meta name="viewport" content="width=device-width, initial-scale=1">'
            f"<title>{html.escape(self.title)}</title><style>{STYLE}</style></head>\n<body>"
            + "\n".join(self._parts)
            + "\n</body></html>\n"
        )
        with replacing(path) as temporary:
            temporary.write_text(text, encoding="utf-8")


def shown(value: object) -> str:
    """A value for people: numbers with four digits."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _cell(value: object) -> str:
    if isinstance(value, ChartMark):
        return f'<td class="mark {value.kind}">{html.escape(value.text)}</td>'
    if isinstance(value, PageLink):
        return f'<td><a href="#{html.escape(value.to, quote=True)}">{html.escape(value.to)}</a></td>'
    if isinstance(value, ChartBar):
        return f"<td>{_small_bar(value)}</td>"
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    long = isinstance(value, str) and len(value) > LONG
    kind = " class=number" if number or value is None else " class=words" if long else ""
    return f"<td{kind}>{html.escape(shown(value))}</td>"


def _small_bar(bar: ChartBar) -> str:
    """A bar 100 wide, its line at 1."""
    size, one = (100.0 * _along(value) for value in (bar.share, 1.0))
    kind = ' class="good"' if bar.good else ""
    return (
        f'<svg width="100" height="12" role="img" aria-label="{bar.share:.2g} of the tolerance">'
        f'<rect y="2" width="{max(size, 1.0):.1f}" height="8"{kind}/>'
        f'<line x1="{one:.1f}" x2="{one:.1f}" y1="0" y2="12" class="one"/></svg>'
    )


def _along(value: float) -> float:
    """Where a value lies on the logarithmic scale from LEAST to MOST, 0 to 1; beyond its ends at them."""
    low, high = math.log10(LEAST), math.log10(MOST)
    return (math.log10(min(max(value, LEAST), MOST)) - low) / (high - low)


def bars(rows: Sequence[tuple[str, float, bool]], words: str) -> str:
    """Horizontal bars on a logarithmic scale, a line at 1: (name, value, good) each."""
    left, width, height = 260, 560, 17

    def place(value: float) -> float:
        return left + width * _along(value)

    total = height * len(rows) + 34
    parts = [
        f'<svg viewBox="0 0 {left + width + 20} {total}" width="100%" role="img" '
        f'aria-label="{html.escape(words, quote=True)}" font-family="sans-serif" font-size="11">'
    ]
    for exponent in range(round(math.log10(LEAST)), round(math.log10(MOST)) + 1):
        x = place(10.0**exponent)
        parts.append(f'<line x1="{x}" x2="{x}" y1="20" y2="{total - 10}"/>')
        parts.append(f'<text x="{x}" y="14" text-anchor="middle" class="quiet">{10.0**exponent:g}</text>')
    for number, (name, value, good) in enumerate(rows):
        y = 24 + height * number
        size = max(place(value) - left, 1.0)
        kind = ' class="good"' if good else ""
        parts.append(f'<text x="{left - 6}" y="{y + 11}" text-anchor="end">{html.escape(name)}</text>')
        parts.append(f'<rect x="{left}" y="{y + 2}" width="{size:.1f}" height="{height - 5}"{kind}/>')
    x = place(1.0)
    parts.append(f'<line x1="{x}" x2="{x}" y1="20" y2="{total - 10}" class="one"/></svg>')
    return "".join(parts)
