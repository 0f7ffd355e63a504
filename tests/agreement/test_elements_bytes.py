"""Connections and contacts come and go, and a resumed run is the same to the byte."""

from pathlib import Path

import numpy as np
import pytest

import pliant as pl
from pliant.mesh.shapes import box
from stopping import assert_same, stopped_and_resumed

BRITTLE = {"young": 1e6, "poisson": 0.25, "density": 1000.0, "damping": 1e-4, "strength": 1e4}


def scene() -> pl.Scene:
    """A bar drops across a block, breaks, and the pieces fall on the ground."""
    bar = pl.Body(
        box(0.8, 0.2, 0.2), edge=0.1, model="lattice", material=BRITTLE, name="bar",
        position=(-0.3, 0.0, 0.35), velocity=(0, 0, -3),
    )  # fmt: skip
    block = pl.Body(
        box(0.2, 0.2, 0.3), edge=0.1, model="lattice", name="block", position=(0, 0, 0.0),
        material={key: value for key, value in BRITTLE.items() if key != "strength"},
    )  # fmt: skip
    actions = [pl.Gravity(), pl.Ground(), pl.actions.Renormalise("block", pl.where.all(), at=0.1)]
    return pl.Scene([bar, block], actions, time=pl.TimeSettings(duration=0.24, fps=50))


@pytest.mark.parametrize("stop", [pytest.param(2, marks=pytest.mark.slow), 7])
def test_a_resumed_run_with_breaking_and_touching_is_the_same(tmp_path: Path, stop: int) -> None:
    whole = scene().run(to=tmp_path / "whole.pliant", threads=1)
    assert whole.frames[-1].version > 1  # it broke, more than once
    assert_same(whole, stopped_and_resumed(scene(), tmp_path / "broken.pliant", stop))


def growing() -> pl.Scene:
    """A brittle bar that loses elements, gets others, is fused with a cap, breaks on the ground, and gets
    more."""
    bar = pl.Body(
        box(0.8, 0.2, 0.2), edge=0.1, model="lattice", material=BRITTLE, name="bar",
        position=(0.0, 0.0, 0.1), velocity=(0, 0, -4),
    )  # fmt: skip
    actions = [
        pl.Gravity(),
        pl.Ground(),
        pl.actions.Fuse(bodies=("bar", "cap"), at=0.005),
        pl.actions.Remove("bar", pl.where.box((-1, -1, -1), (0.1, 0.1, 1)), at=0.01),
        pl.actions.Add("bar", shape=box(0.2, 0.2, 0.3), position=(0.4, 0.0, 0.2), at=0.02),
        pl.actions.Add("bar", shape=box(0.2, 0.2, 0.2), position=(0.8, 0.0, 0.1), at=0.12),
    ]
    cap = pl.Body(
        box(0.2, 0.2, 0.1), edge=0.1, model="lattice", material=BRITTLE, name="cap",
        position=(0.2, 0.0, 0.33), velocity=(0, 0, -4),
    )  # fmt: skip
    return pl.Scene([bar, cap], actions, time=pl.TimeSettings(duration=0.2, fps=50))


@pytest.mark.slow
@pytest.mark.parametrize("stop", [3, 7])
def test_a_resumed_run_with_added_elements_is_the_same(tmp_path: Path, stop: int) -> None:
    whole = growing().run(to=tmp_path / "whole.pliant", threads=1)
    again = stopped_and_resumed(growing(), tmp_path / "broken.pliant", stop)
    assert_same(whole, again)
    sizes = [len(frame.body("bar")) for frame in whole.frames]
    assert (sizes[0], sizes[3]) == (32, 42)
    assert sizes[-1] > 46
    for a, b in zip(whole.frames, again.frames, strict=True):
        for body in ("bar", "cap"):
            assert np.array_equal(a.surface(body).points, b.surface(body).points)
        assert np.isfinite(a.field("stress", "bar").values).all()


def sticking() -> pl.Scene:
    """A sticky tool presses on a bar, lifts it, and lets it go at 0.2 s."""
    plain = {key: value for key, value in BRITTLE.items() if key != "strength"}
    bar, tool = (
        pl.Body(
            box(0.4, 0.2, 0.1), edge=0.1, model="lattice", material=plain, name=name, position=(0, 0, height)
        )
        for name, height in (("bar", 0.0), ("tool", 0.1))
    )
    keys = [{"time": t, "value": [0, 0, z]} for t, z in ((0, 0), (0.06, -0.002), (0.18, 0.05))]
    lift = pl.actions.Manipulator(body="tool", displacement={"keys": keys}, sticky=True, release=0.2)
    actions = [pl.Gravity(), pl.Ground(), lift]
    return pl.Scene([bar, tool], actions, time=pl.TimeSettings(duration=0.3, fps=50))


@pytest.mark.parametrize("stop", [8, 12])
def test_a_resumed_run_with_a_sticky_tool_is_the_same(tmp_path: Path, stop: int) -> None:
    whole = sticking().run(to=tmp_path / "whole.pliant", threads=1)
    heights = [frame.body("bar")[:, 2].mean() for frame in whole.frames]
    assert heights[9] > 0.08  # it was lifted
    assert heights[-1] < heights[10] - 0.01  # and let go
    assert_same(whole, stopped_and_resumed(sticking(), tmp_path / "broken.pliant", stop))
