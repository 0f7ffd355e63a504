"""Draws docs/pictures/meshless-speed.png: time of a step over the numbers of phyxels and of neighbours.

Stegmayr 2008, figures 5.1 and 5.2, and table 5.1 as rows of Markdown, in processor time of one thread on this
machine (`pliant bench efg` has the figures too, and the table with all threads):

    python docs/pictures/meshless_speed.py
"""

from pathlib import Path

import matplotlib
import numpy as np

from pliant_benchmarks.bench_efg import (
    TABLE,
    brick,
    cells_of,
    pairs,
    processor_times,
    radius_for,
    series,
    straightness,
)

matplotlib.use("Agg")
import matplotlib.pyplot as plt


def main() -> None:
    figure, panels = plt.subplots(1, 2, figsize=(7.2, 2.8), dpi=100, constrained_layout=True)
    names = {
        "phyxels": "phyxels (56 neighbours inside)",
        "neighbours": "mean number of neighbours (1728 phyxels)",
    }
    for panel, (kind, label) in zip(panels, names.items(), strict=True):
        x, y = series(kind)
        slope, base = np.polyfit(x, y, 1)
        ends = np.array([0.0, max(x)])
        panel.plot(ends, 1e3 * (base + slope * ends), color="#9aa4ad")
        panel.plot(x, 1e3 * np.array(y), "o", color="#c8553d")
        line = f"{1e3 * base:.2f} + {1e3 * slope:.3g} {kind}"
        panel.set(xlabel=label, ylim=(0, None), xlim=(0, None))
        panel.set_title(f"{line}, R² = {straightness(x, y):.4f}", fontsize=9)
        print(kind, [f"{a:.0f}: {1e3 * t:.3f} ms" for a, t in zip(x, y, strict=True)], straightness(x, y))
    panels[0].set_ylabel("time of a step [ms]")
    figure.savefig(Path(__file__).parent / "meshless-speed.png")
    table()


def table() -> None:
    runs = [brick(cells_of(count), radius_for(cells_of(count), around)) for count, around, _ in TABLE]
    for (count, around, rate), run, time in zip(TABLE, runs, processor_times(runs), strict=True):
        print(
            f"| {count} x {around} | {pairs(run)[1]:.1f} | {rate} | {1 / time:.0f} | {1 / time / rate:.0f} |"
        )


if __name__ == "__main__":
    main()
