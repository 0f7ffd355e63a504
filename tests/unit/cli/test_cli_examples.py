"""Every shipped scene is clean, runs, and stays finite and bounded."""

import numpy as np
import pytest
from command_line import Pliant

import pliant as pl
from pliant import examples


@pytest.mark.parametrize("name", examples.names())
def test_every_example_is_clean_and_runs(pliant: Pliant, name: str) -> None:
    assert pliant("examples", name, "--copy", f"{name}.toml").code == 0
    found = pliant("check", f"{name}.toml", "--json")
    assert (found.code, found.err) == (0, "")
    assert found.json["warnings"] == []
    whole = found.json["frames"] - 1
    frames = max(1, min(3, 200 * whole // found.json["steps"]))  # some hundred steps of every scene
    fps = whole / found.json["duration"]
    ran = pliant("run", f"{name}.toml", "--json", "--duration", str(frames / fps))
    assert (ran.code, ran.err) == (0, "")
    run = pl.load(f"{name}.pliant")
    assert (run.state, len(run)) == ("done", frames + 1)
    size = float(np.ptp(run.frames[0].positions, axis=0).max())
    for frame in run.frames:
        assert np.isfinite(frame.positions).all()
        assert np.ptp(frame.positions, axis=0).max() < 1.5 * size
