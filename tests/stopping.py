"""Runs that are broken off and go on."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pliant as pl
from pliant.run import runner


class Stop:
    """Progress that breaks a run off once more than ``after`` frames are done."""

    def __init__(self, after: int) -> None:
        self.after = after

    def note(self, text: str) -> None: ...
    def working(self, fraction: float | None, text: str) -> None: ...
    def started(self, frames: int, plan: Any) -> None: ...
    def finished(self, state: str, message: str) -> None: ...
    def frame(self, done: int, frames: int, simulated: float, wall: float) -> None:
        if done > self.after:
            raise KeyboardInterrupt


def stopped_and_resumed(scene: pl.Scene, folder: Path, after: int, **options: Any) -> pl.Run:
    """The run into ``folder``, broken off after some frames, then resumed; every frame has a checkpoint."""
    before, runner.CHECKPOINT_SECONDS = runner.CHECKPOINT_SECONDS, 0.0
    try:
        with pytest.raises(KeyboardInterrupt):
            scene.run(to=folder, progress=Stop(after), **options)
        again = runner.resume(folder, **options)
    finally:
        runner.CHECKPOINT_SECONDS = before
    assert again.state == "done"
    return again


def assert_same(whole: pl.Run, again: pl.Run) -> None:
    """Frames and series to the byte."""
    for a, b in zip(whole.frames, again.frames, strict=True):
        assert a.version == b.version
        assert np.array_equal(a.positions, b.positions)
    assert whole.series.keys() == again.series.keys()
    for name in whole.series:
        assert np.array_equal(whole.series[name], again.series[name], equal_nan=True), name
