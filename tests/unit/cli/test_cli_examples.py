"""Every shipped scene runs, stays finite and bounded, and has the warnings that it deserves and no others."""

import numpy as np
import pytest
from command_line import Pliant

import pliant as pl
from pliant import examples

LOCKS, COARSE = "its tets lock from 0.45 on", "across the"
EXPECTED = {
    "cairns-bar": (LOCKS, COARSE),  # as published: linear tets at nu 0.45, three edges across
    "dented-clay": (LOCKS,),
    "hanging-beam": (LOCKS,),
    "inflate": (LOCKS,),
    "poke": (LOCKS,),
    "pressed-dough": (LOCKS,),
    "projectile": (LOCKS,),
    "spinning": (LOCKS,),
    "squeeze-cube": (LOCKS,),
    "twist-and-release": (LOCKS,),
    "wind": (COARSE,),  # a strip of one cell
}


@pytest.mark.parametrize("name", examples.names())
def test_every_example_runs_and_has_the_warnings_that_are_listed(pliant: Pliant, name: str) -> None:
    assert pliant("examples", name, "--copy", f"{name}.toml").code == 0
    found = pliant("check", f"{name}.toml", "--json")
    assert (found.code, found.err) == (0, "")
    warnings, expected = found.json["warnings"], EXPECTED.get(name, ())
    assert len(warnings) == len(expected), warnings
    assert all(part in text for part, text in zip(expected, warnings, strict=True)), warnings
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
