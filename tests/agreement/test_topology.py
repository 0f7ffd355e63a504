"""Bodies whose particles come and go: everything that holds rows keeps up, and a resumed run does too."""

from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from bodies import MATERIAL

import pliant as pl
from pliant.core.parameters import parameters
from pliant.core.selection import Plane, Select
from pliant.embedding.barycentric import boundary_carrier
from pliant.interfaces import Cuttable, StepHook, Structure, TopologyChange
from pliant.mesh.mesh import boundary_triangles
from pliant.mesh.shapes import box
from pliant.models import MODELS
from pliant.models.mass_spring.mechanics import MassSpringMechanics
from pliant.structure.samplers.tets import TetSampler
from stopping import assert_same, stopped_and_resumed


@parameters
class Splitting:
    """Mass-spring that cuts its last tet loose, once: that tet gets particles of its own."""

    kind: ClassVar[str] = "splitting"
    references: ClassVar[tuple[str, ...]] = ()
    sampler: ClassVar[TetSampler] = TetSampler()

    at: float = 0.1

    def prepare(self, structure: Structure, material: Any) -> "SplittingMechanics":
        return SplittingMechanics(structure, material, self.at)


class SplittingMechanics(MassSpringMechanics):
    capabilities = (MassSpringMechanics.capabilities | {StepHook}) - {Cuttable}

    def __init__(self, structure: Structure, material: Any, at: float) -> None:
        self._begin(structure, material)
        self.at, self.topology_version = at, 0
        self.parents = np.arange(len(structure.rest))

    def _begin(self, structure: Structure, material: Any) -> None:
        MassSpringMechanics.__init__(self, structure, material, None)
        self.components = {}  # it changes its topology by itself

    def topology_change(self) -> TopologyChange:
        return TopologyChange(self.structure, self.parents)

    def rebuild(self, structure: Structure) -> None:
        self._begin(structure, self.material)

    def after_step(self, time: float, dt: float, x: Any, v: Any) -> bool:
        if self.topology_version or time < self.at - 1e-9:
            return False
        self._split()
        return True

    def _split(self) -> None:
        old, n = self.structure, len(self.structure.rest)
        tets = old.cells["tetra"].copy()
        self.parents = np.concatenate([np.arange(n), tets[-1]])
        mass = old.mass[self.parents] * np.where(np.isin(self.parents, tets[-1]), 0.5, 1.0)
        tets[-1] = n + np.arange(4)
        rest = old.rest[self.parents]
        cells = {"tetra": tets, "triangle": boundary_triangles(tets)}
        structure = Structure(rest, mass, cells, {}, old.spacing, boundary_carrier(rest, tets))
        parents = self.parents
        self._begin(structure, self.material)
        self.topology_version, self.parents = 1, parents

    def state(self) -> dict[str, Any]:
        return {"version": np.array(self.topology_version)}

    def restore(self, state: Any) -> None:
        self.topology_version = int(state["version"])


@pytest.fixture(autouse=True)
def registered() -> Any:
    MODELS.register(Splitting)
    yield
    del MODELS._table["splitting"]


def scene() -> pl.Scene:
    first = pl.Body(box(0.2, 0.1, 0.1, divisions=(2, 1, 1)), model="splitting", material=MATERIAL, name="a")
    second = pl.Body(
        box(0.2, 0.1, 0.1, divisions=(2, 1, 1)), material=MATERIAL, name="b", position=(1.0, 0.0, 0.0)
    )
    return pl.Scene(
        [first, second],
        [
            pl.Gravity(),
            pl.Fix("b", pl.where.plane("x", "min")),
            pl.Force("b", pl.where.plane("x", "max"), value=(0.5, 0, 0)),
            pl.Damping(rate=1.0),
            pl.Pressure("a", value=50.0),
        ],
        [pl.Probe(select=Select(body="b", plane=Plane(axis="x", at="max")), name="tip")],
        time=pl.TimeSettings(duration=0.3, fps=50, step=2e-4),
    )


def test_rows_follow_when_a_body_gains_particles(tmp_path: Path) -> None:
    run = scene().run(to=tmp_path / "split.pliant")
    assert [run.frames[k].version for k in (0, 4, 5, 15)] == [0, 0, 1, 1]
    first, last = run.frames[0], run.frames[-1]
    assert len(last.positions) == len(first.positions) + 4
    held = first.body("b")[:, 0] < 1.0 + 1e-9
    assert np.array_equal(last.body("b")[held], first.body("b")[held])
    fallen = 9.81 * (0.3 - (1 - np.exp(-0.3)))  # with damping 1 /s
    assert last.body("a")[:, 2].mean() == pytest.approx(0.05 - fallen, abs=0.03)
    masses = [sum(float(r.structure.mass.sum()) for r in run.topology(v)) for v in (0, 1)]
    assert masses[1] == pytest.approx(masses[0], rel=1e-12)


@pytest.mark.parametrize("stop", [3, 8])
def test_a_run_resumed_on_either_side_of_the_split_is_the_same(tmp_path: Path, stop: int) -> None:
    whole = scene().run(to=tmp_path / "whole.pliant")
    assert_same(whole, stopped_and_resumed(scene(), tmp_path / "broken.pliant", stop))
