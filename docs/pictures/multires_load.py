"""Draws multires-load.png: a minute of the scene of ``pliant bench multires`` at 60 Hz, frame by frame.

It prints the share of frames that were ready in time, so run it on a quiet machine (a minute). On a busy one
the processor's time of one thread says more:

    python docs/pictures/multires_load.py
    NUMBA_NUM_THREADS=1 python docs/pictures/multires_load.py --processor
"""

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from PIL import Image

from pliant.render.graphs import PAPER, STYLE
from pliant_benchmarks.bench_multires import FPS, SECONDS, TIME, moving_tool

WARM = 30


def measured(clock: Callable[[], float]) -> tuple[dict[str, Any], Any]:
    """The body's own series at all frames, and the seconds that each took."""
    simulation = moving_tool(seconds=TIME).simulation()
    simulation.start()
    tissue = simulation.system.world.bodies[0].mechanics
    rows, seconds = [], []
    for _ in range(int(SECONDS * FPS)):
        begun = clock()
        simulation.advance()
        seconds.append(clock() - begun)
        rows.append([simulation.time, *tissue.series()])
    return dict(zip(("time", *tissue.series_names), np.array(rows).T, strict=True)), np.array(seconds)


def draw(series: dict[str, Any], seconds: Any, out: Path) -> None:
    with matplotlib.rc_context(STYLE | PAPER):
        from matplotlib.figure import Figure

        figure = Figure(figsize=(6.3, 5.0), layout="constrained", dpi=130)
        load, nodes, clock = figure.subplots(3, 1, sharex=True)
        times, wish = series["time"], series["refused"] > 0
        load.plot(times, series["load"], label="load", linewidth=0.8)
        load.fill_between(times, 0, 1, where=wish, step="mid", alpha=0.2, linewidth=0, label="refused")
        load.set_ylabel("share of the budget")
        for k in range(4):
            nodes.plot(times, series[f"active.{k}"], label=f"level {k}", linewidth=0.8)
        nodes.set_ylabel("simulated nodes")
        clock.plot(times[WARM:], 1e3 * seconds[WARM:], ".", markersize=1.5, label="a frame")
        clock.axhline(1e3 / FPS, color="#B0413E", label="60 Hz")
        clock.set(ylabel="time [ms]", xlabel="time [s]", ylim=(0, max(20.0, 1.1e3 * seconds[WARM:].max())))
        for axes in (load, nodes, clock):
            axes.legend(loc="lower right", bbox_to_anchor=(1.0, 0.98), ncols=4, borderaxespad=0.0)
        figure.savefig(out)
    Image.open(out).convert("RGB").quantize(48).save(out, optimize=True)  # a third of the bytes


if __name__ == "__main__":
    found, taken = measured(time.process_time if "--processor" in sys.argv else time.perf_counter)
    middle, late = 1e3 * np.quantile(taken[WARM:], [0.5, 0.995])
    print(f"{100 * np.mean(taken[WARM:] <= 1.0 / FPS):.2f} % of the frames within {1e3 / FPS:.1f} ms;")
    print(f"{middle:.1f} ms in the middle, {late:.1f} ms at 99.5 %; load {found['load'].max():.3f} at most")
    draw(found, taken, Path(__file__).with_name("multires-load.png"))
