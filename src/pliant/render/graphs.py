"""``plot``: graphs of series, readable in a paper and on a slide."""

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from pliant.core.environment import need
from pliant.core.errors import InputError, RunError
from pliant.core.registry import nearest
from pliant.core.tables import Table
from pliant.core.typing import Array
from pliant.mesh.io.atomic import replacing
from pliant.render.files import check_free
from pliant.render.render_options import pair
from pliant.render.render_run import AnyRun, opened
from pliant.run.series_units import units_of
from pliant.run.store import Run

SUFFIXES = (".png", ".svg", ".pdf")
COLOURS = ("#1F5F8B", "#D1495B", "#3B8E5A", "#E09F3E", "#7A5195", "#4B9CA6", "#8C6D46", "#5C6770")
DASHES: tuple[Any, ...] = ("-", (0, (5, 2)), (0, (1, 1.5)), (0, (6, 2, 1, 2)))
MILLIMETRE = 1.0 / 25.4
INSIDE = 4  # lines whose legend finds room among them
STYLE: Table = {
    "font.family": "DejaVu Sans",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": "#444B54",
    "axes.labelcolor": "#22272E",
    "axes.titlelocation": "left",
    "axes.titleweight": "bold",
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.formatter.useoffset": False,
    "axes.formatter.limits": (-3, 4),
    "axes.formatter.use_mathtext": True,
    "grid.color": "#D9DDE2",
    "grid.linewidth": 0.6,
    "xtick.color": "#444B54",
    "ytick.color": "#444B54",
    "legend.frameon": False,
    "svg.fonttype": "none",
    "svg.hashsalt": "pliant",
    "pdf.fonttype": 42,
    "savefig.dpi": 200,
}
PAPER = {"font.size": 8.5, "lines.linewidth": 1.5, "axes.titlesize": 9.5, "legend.fontsize": 8}
SLIDE = {"font.size": 15, "lines.linewidth": 3.0, "axes.titlesize": 17, "legend.fontsize": 14}


def plot(
    runs: AnyRun | Sequence[AnyRun],
    series: str | Iterable[str],
    out: str | os.PathLike[str] | None = None,
    *,
    x: str = "time",
    title: str = "",
    labels: Sequence[str] | None = None,
    slide: bool = False,
    size: str | Sequence[int] | None = None,
    force: bool = False,
) -> Any:
    """Draw series of one run or several, over time or over the series ``x``; gives the file.

    ``series``: names, or the part before a dot for all that share it ("energy", "tip"). Series with
    different units get graphs of their own, one below the other. ``labels``: names of the runs (default: of
    their folders). ``size``: millimetres, for the whole (default: a column of a paper, or a slide).
    Without ``out`` it gives matplotlib's Figure.
    """
    path = None if out is None else Path(out)
    if path is not None and path.suffix.lower() not in SUFFIXES:
        wish = path.suffix.lower() or path.name
        raise InputError(f"Cannot draw a graph as '{path.name}'; {nearest(wish, list(SUFFIXES))}")
    need("Drawing graphs", "matplotlib")
    found = opened(runs)
    names = _expanded(found[0], [series] if isinstance(series, str) else list(series))
    titles = [run.path.stem for run in found] if labels is None else list(labels)
    if len(titles) != len(found):
        raise InputError(f"{len(titles)} labels for {len(found)} runs.")
    columns = [[_pair(run, x, name) for name in names] for run in found]
    shape = None if size is None else pair("size", size)
    if path is None:
        return _figure(found[0], names, x, columns, titles, title, slide, shape)
    check_free(path, force)
    import matplotlib

    style: Any = STYLE | (SLIDE if slide else PAPER)
    with matplotlib.rc_context(style), replacing(path) as temporary:
        figure = _figure(found[0], names, x, columns, titles, title, slide, shape)
        dates = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}
        figure.savefig(temporary, metadata=dates.get(path.suffix.lower()))
    return path


def _expanded(run: Run, wanted: Sequence[str]) -> list[str]:
    """Names of series; a part before a dot stands for all that share it."""
    names: list[str] = []
    for name in wanted:
        parts = [known for known in run.series if known.startswith(f"{name}.")]
        if name in run.series:
            names.append(name)
        elif parts:
            names += parts
        else:
            raise RunError(f"The run has no series '{name}'; {nearest(name, list(run.series))}")
    if not names:
        raise InputError("No series were chosen.")
    return list(dict.fromkeys(names))


def _pair(run: Run, x: str, name: str) -> tuple[Array, Array]:
    """Abscissa and ordinate; where one is per step and the other per frame, at the coarser times."""
    y, times = run.series[name], run.series.time_of(name)
    if x == "time":
        return times, y
    across, when = run.series[x], run.series.time_of(x)
    if len(when) == len(times):
        return across, y
    if len(when) > len(times):
        return np.interp(times, when, across), y
    return across, np.interp(when, times, y)


def _figure(
    run: Run, names: Sequence[str], x: str, columns: Sequence[Sequence[tuple[Array, Array]]],
    titles: Sequence[str], title: str, slide: bool, size: tuple[int, int] | None,
) -> Any:  # fmt: skip
    from matplotlib.figure import Figure

    units = units_of(run)
    groups: dict[str, list[int]] = {}
    for number, name in enumerate(names):
        groups.setdefault(units.get(name, ""), []).append(number)
    width, height = size or ((254, 60 + 83 * len(groups)) if slide else (120, 18 + 55 * len(groups)))
    figure = Figure(figsize=(width * MILLIMETRE, height * MILLIMETRE), layout="constrained")
    axes = figure.subplots(len(groups), 1, sharex=True, squeeze=False)[:, 0]
    for axis, (unit, members) in zip(axes, groups.items(), strict=True):
        for k, own in enumerate(columns):
            for j, number in enumerate(members):
                several = len(members) > 1
                colour = COLOURS[(j if several else k) % len(COLOURS)]
                dash = DASHES[(k if several else k // len(COLOURS)) % len(DASHES)]
                label = " ".join(
                    part for part in (names[number] * several, titles[k] * (len(columns) > 1)) if part
                )
                axis.plot(*own[number], color=colour, linestyle=dash, label=label or None)
        shared = names[members[0]].partition(".")[0] if len(members) > 1 else names[members[0]]
        same = all(names[number].partition(".")[0] == shared for number in members)
        label = shared if same or len(members) == 1 else ""
        axis.set_ylabel(f"{label} [{unit}]".strip() if unit else label)
        lines = len(members) * len(columns)
        if lines > INSIDE:
            axis.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), handlelength=1.6)
        elif lines > 1:
            axis.legend(loc="best", handlelength=2.2)
        axis.margins(x=0.01)
    unit = units.get(x, "")
    axes[-1].set_xlabel(f"{x} [{unit}]" if unit else x)
    if title:
        axes[0].set_title(title)
    return figure
