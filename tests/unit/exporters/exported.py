"""Runs to export."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "recording"))

import sample_run as sample

from pliant.recording import Run, load


def two_bodies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Three frames of a textured body and a plain one."""
    sample.stand_in(monkeypatch)
    bodies = [sample.body("soft beam", 0, textured=True), sample.body("ball", 8, 3.0)]
    return load(sample.finished_run(tmp_path / "two.pliant", bodies, 3))


def cracking_body(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Two frames of one body, then two frames of two."""
    sample.stand_in(monkeypatch)
    one, two = [sample.body("beam", 0)], [sample.body("beam", 0), sample.body("shard", 8, 2.0)]
    writer = sample.create(tmp_path / "crack.pliant", one, 4)
    writer.write_topology(0, one, 0)
    sample.write_frames(writer, one, 0, range(2))
    writer.write_topology(1, two, 2)
    sample.write_frames(writer, two, 1, range(2, 4))
    writer.finish("done")
    return load(writer.path)
