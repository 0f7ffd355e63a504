"""Meshless bodies that break, or flow and are sampled anew: the same bytes from fresh processes, whatever the
number of threads, and after an interruption."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import pliant as pl
from stopping import assert_same, stopped_and_resumed

SCENE = """
schema = 1
[time]
duration = 0.07
fps = 100
[[bodies]]
name = "bar"
shape = {{ box = {{ size = [0.6, 0.3, 0.2] }} }}
edge = 0.06
model = {model}
material = {material}
[[actions]]
type = "fix"
select = {{ body = "bar", plane = {{ axis = "x", at = "min" }} }}
[[actions]]
type = "move"
select = {{ body = "bar", plane = {{ axis = "x", at = "max" }} }}
velocity = {velocity}
[[actions]]
type = "gravity"
"""
BREAKS = {
    "model": '"efg"',
    "material": '{ young = "1 MPa", poisson = 0.3, density = 1000, strength = "15 kPa", crack-speed = 20 }',
    "velocity": "[0.5, 0.1, 0]",
}
FLOWS = {
    "model": '{ type = "efg", resample = true }',
    "material": '{ young = "1 MPa", poisson = 0.4, density = 1000, yield = "20 kPa" }',
    "velocity": "[8, 0, 0]",
}


@pytest.mark.slow
@pytest.mark.parametrize("what", [BREAKS, FLOWS], ids=["breaks", "flows"])
def test_the_same_bytes_from_fresh_processes_and_after_an_interruption(
    tmp_path: Path, what: dict[str, str]
) -> None:
    scene = tmp_path / "scene.toml"
    scene.write_text(SCENE.format(**what))
    out = tmp_path / "whole.pliant"
    command = [sys.executable, "-m", "pliant", "run", str(scene), "-o", str(out), "--threads", "2"]
    environment = {**os.environ, "NUMBA_NUM_THREADS": "2", "OMP_WAIT_POLICY": "passive"}
    subprocess.run(command, check=True, capture_output=True, timeout=300, env=environment)
    whole = pl.load(out)
    assert whole.frames[-1].version > 2  # cracks opened, or phyxels came, more than once
    assert_same(whole, stopped_and_resumed(pl.read(scene), tmp_path / "broken.pliant", 4, threads=1))
