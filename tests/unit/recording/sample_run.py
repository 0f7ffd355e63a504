"""Small runs for tests of recording and exporters; run as a program, a writer that can be killed.

python sample_run.py RUN FRAMES PARTICLES     writes, or goes on with, a run; prints each frame that counts
"""

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from pliant.core.typing import AnyArray, Array
from pliant.embedding.barycentric import boundary_carrier, embed
from pliant.interfaces import FieldData, Structure
from pliant.mesh.mesh import Surface, TetMesh
from pliant.run.store import BodyRecord, RunWriter

if TYPE_CHECKING:
    import pytest

COLUMNS = ("time", "volume", "probe.x")
STEP_COLUMNS = ("energy.total", "flux.total")
FPS, STEPS = 25.0, 4
SIX = [[0, 1, 3, 7], [0, 3, 2, 7], [0, 2, 6, 7], [0, 6, 4, 7], [0, 4, 5, 7], [0, 5, 1, 7]]


def cube(shift: float = 0.0) -> TetMesh:
    """A unit cube of six tets."""
    corners = np.array([[i, j, k] for k in (0, 1) for j in (0, 1) for i in (0, 1)], float)
    return TetMesh(corners + np.array([shift, 0, 0]), np.array(SIX))


def textured_square(shift: float = 0.0) -> Surface:
    """Two triangles inside the cube, with a UV seam between them and a group each."""
    points = np.array([[0.1, 0.1, 0.5], [0.9, 0.1, 0.5], [0.9, 0.9, 0.5], [0.1, 0.9, 0.5]])
    uv = np.array([[0, 0], [1, 0], [1, 1], [0, 0.5], [0.5, 1], [0, 1]], float)
    groups = {"left half": np.array([0]), "right": np.array([1])}
    points = points + np.array([shift, 0, 0])
    return Surface(points, np.array([[0, 1, 2], [0, 2, 3]]), uv, np.array([[0, 1, 2], [3, 4, 5]]), groups)


def body(name: str, start: int, shift: float = 0.0, textured: bool = False) -> BodyRecord:
    """A body of eight particles and six tets from row ``start`` on."""
    mesh = cube(shift)
    carrier = (
        embed(textured_square(shift), mesh.points, mesh.tets)
        if textured
        else boundary_carrier(mesh.points, mesh.tets)
    )
    structure = Structure(
        rest=mesh.points,
        mass=np.full(8, 0.25),
        cells={"tetra": mesh.tets},
        groups={"left": np.array([0, 2, 4, 6])},
        spacing=1.0,
        carrier=carrier,
        regions=np.array([0, 0, 0, 1, 1, 1]),
    )
    return BodyRecord(name, (start, start + 8), {"type": "test"}, {"preset": "rubber"}, structure)


def manifest(bodies: list[BodyRecord]) -> dict[str, object]:
    tables = [
        {"name": b.name, "model": "test", "particles": 8, "cells": 6, "mass": 2.0, "volume": 1.0}
        for b in bodies
    ]
    return {
        "fps": FPS, "duration": 1.0, "step": 0.01, "step_reason": "given", "seed": 3, "bodies": tables,
    }  # fmt: skip


def motion(rest: Array, index: int) -> Array:
    """Where the particles are at frame ``index``: stretched, and moved along x."""
    return rest * (1.0 + 0.01 * index) + [0.1 * index, 0.0, 0.0]


def create(path: Path, bodies: list[BodyRecord], frames_total: int = 10, **options: object) -> RunWriter:
    arguments: dict[str, object] = {
        "manifest": manifest(bodies), "scene": "schema = 1\n# äöü\n", "columns": COLUMNS,
        "step_columns": STEP_COLUMNS, "frames_total": frames_total, "steps_per_frame": STEPS,
    }  # fmt: skip
    return RunWriter.create(path, **(arguments | options))  # type: ignore[arg-type]


def frame_arrays(bodies: list[BodyRecord], index: int) -> dict[str, AnyArray]:
    rest = np.concatenate([b.structure.rest for b in bodies])
    arrays: dict[str, AnyArray] = {
        "positions": motion(rest, index),
        "velocities": np.full_like(rest, 0.5 * index),
    }
    for b in bodies:
        arrays[f"memory.{b.name}.plastic"] = np.full((6, 3, 3), float(index))
        arrays[f"memory.{b.name}.broken"] = np.arange(6) < index
    return arrays


def step_rows(index: int) -> AnyArray:
    """Rows of the steps that end with frame ``index``: their number, and its square."""
    first = 0 if index == 0 else (index - 1) * STEPS + 1
    numbers = np.arange(first, index * STEPS + 1, dtype=float)
    return np.stack([numbers, numbers**2], axis=1)


def write_frames(writer: RunWriter, bodies: list[BodyRecord], version: int, frames: range) -> None:
    for index in frames:
        row = [index / FPS, 1.0 + index, -index]
        writer.write_frame(index, version, frame_arrays(bodies, index), row, step_rows(index))


def finished_run(path: Path, bodies: list[BodyRecord], frames: int = 3) -> Path:
    writer = create(path, bodies, frames)
    writer.write_topology(0, bodies, 0)
    write_frames(writer, bodies, 0, range(frames))
    writer.finish("done")
    return path


class StandIn:
    """A stand-in for a model and its mechanics: stress per particle, plastic per cell from its history."""

    field_names = ("stress", "plastic", "velocity")

    def __init__(self, prepared: list[int]) -> None:
        self.prepared = prepared

    def prepare(self, structure: Structure, material: object) -> "StandIn":
        self.prepared.append(len(structure.cells["tetra"]))
        self.history: AnyArray = np.zeros((6, 3, 3))
        return self

    def state(self) -> dict[str, AnyArray]:
        return {"plastic": self.history, "random": np.zeros(4)}

    def restore(self, state: Mapping[str, AnyArray]) -> None:
        assert {"plastic", "random"} <= set(state)
        self.history = state["plastic"]

    def fields(self, x: Array, v: Array, names: Sequence[str]) -> dict[str, FieldData]:
        assert "velocity" not in names
        values = {
            "stress": FieldData(x[:, 0] + v[:, 0], unit="Pa"),
            "plastic": FieldData(self.history, "cell"),
        }
        return {name: values[name] for name in names}


def stand_in(monkeypatch: "pytest.MonkeyPatch") -> list[int]:
    """Make it the model "test"; gives a list that grows by the count of cells when a body is set up."""
    from pliant.models import MODELS

    prepared: list[int] = []
    monkeypatch.setitem(MODELS._table, "test", lambda: StandIn(prepared))
    monkeypatch.setattr(MODELS, "build", lambda table: MODELS[table["type"]]())
    return prepared


def large_frame(particles: int, index: int) -> Array:
    """Positions that tell frames apart in every row."""
    return np.random.default_rng(index).normal(size=(particles, 3))


def main(path: Path, frames: int, particles: int) -> None:
    rest = large_frame(particles, 0)
    structure = Structure(rest, np.ones(particles), {}, {}, 1.0)
    bodies = [BodyRecord("cloud", (0, particles), {"type": "test"}, {}, structure)]
    if path.exists():
        writer = RunWriter.reopen(path)
    else:
        writer = create(path, bodies, frames)
    print("start", writer.frames_done, flush=True)
    if writer.frames_done == 0:
        writer.write_topology(0, bodies, 0)
    for index in range(writer.frames_done, frames):
        x = large_frame(particles, index)
        writer.write_frame(index, 0, {"positions": x}, [index, index, index], step_rows(index))
        print("frame", index, flush=True)
        if index % 3 == 0:
            writer.write_checkpoint(index, {"x": x, "frame": np.array(index)})
    writer.finish("done")


if __name__ == "__main__":
    os.nice(5)
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
