"""A small scene that sweeps vary."""

from pathlib import Path

import pytest

SCENE = """
schema = 1
title = "Beam"
[time]
duration = 0.1
fps = 50
step = 0.001
integrator = "leapfrog"
[[bodies]]
name = "beam"
shape = { box = { size = [1.0, 0.2, 0.2], divisions = [5, 1, 1] } }
model = "fem"
material = { young = "1 MPa", poisson = 0.3, density = 1000 }
[[actions]]
type = "gravity"
[[actions]]
type = "fix"
select = { body = "beam", plane = { axis = "x", at = "min" } }
[[measures]]
type = "probe"
name = "tip"
select = { body = "beam", plane = { axis = "x", at = "max" } }
what = "displacement"
"""


@pytest.fixture
def beam(tmp_path: Path) -> Path:
    """The scene file, in a folder whose name has spaces."""
    folder = tmp_path / "a folder"
    folder.mkdir()
    (folder / "beam.toml").write_text(SCENE)
    return folder / "beam.toml"
