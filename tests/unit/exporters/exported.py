"""Runs to export."""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "recording"))

import sample_run as sample

from pliant.embedding.barycentric import boundary_carrier
from pliant.embedding.mls import carried_by_elements
from pliant.interfaces import Structure
from pliant.mesh.mesh import Surface
from pliant.run.store import BodyRecord, Run, load


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


def row_of_elements(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Three frames of three elements in a row, whose surface keeps offsets that turn with them."""
    sample.stand_in(monkeypatch)
    rest = np.array([[0.0, 0.0, 0.0], [0.1, 0.0, 0.0], [0.2, 0.01, 0.0]])
    edges = np.array([[0, 1], [1, 2]])
    corners = np.array([[x, y, z] for x in (-0.05, 0.25) for y in (-0.05, 0.05) for z in (-0.05, 0.05)])
    carrier = carried_by_elements(
        Surface(corners, np.array([[0, 1, 2], [3, 4, 5], [5, 6, 7]])), rest, 0.1, edges
    )
    cells = {"edge": edges, "tetra": np.zeros((0, 4), np.int64)}
    structure = Structure(rest, np.ones(3), cells, {}, 0.1, carrier)
    body = BodyRecord("row", (0, 3), {"type": "test"}, {"preset": "rubber"}, structure)
    return load(sample.finished_run(tmp_path / "row.pliant", [body], 3))


def splitting_body(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Two frames of a body, then two in which its last tet has come loose, with particles of its own."""
    sample.stand_in(monkeypatch)
    whole = sample.body("beam", 0)
    tets = whole.structure.cells["tetra"].copy()
    rest = np.concatenate([whole.structure.rest, whole.structure.rest[tets[-1]]])
    tets[-1] = 8 + np.arange(4)
    structure = replace(
        whole.structure,
        rest=rest,
        mass=np.full(12, 2.0 / 12),
        cells={"tetra": tets},
        carrier=boundary_carrier(rest, tets),
    )
    loose = replace(whole, rows=(0, 12), structure=structure)
    writer = sample.create(tmp_path / "split.pliant", [whole], 4)
    writer.write_topology(0, [whole], 0)
    sample.write_frames(writer, [whole], 0, range(2))
    writer.write_topology(1, [loose], 2)
    sample.write_frames(writer, [loose], 1, range(2, 4))
    writer.finish("done")
    return load(writer.path)
