"""The standing matrix: its bodies, its verdicts, and the part of it that runs in continuous integration."""

import math
import os
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pliant as pl
from pliant.core.errors import InputError
from pliant.core.tables import Table
from pliant.mesh.bvh import Bvh
from pliant.mesh.edge_length import enclosed
from pliant.mesh.io import write_surface
from pliant.mesh.mesh import Surface
from pliant.models import MODELS
from pliant.run.store import load
from pliant.scene.load import parse
from pliant.validation.matrix import FIGURES, MOTIONS, MatrixPlan, matrix_plan, run_matrix
from pliant.validation.matrix.cells import MatrixCell
from pliant.validation.matrix.figures import SIZE, figure_surface
from pliant.validation.matrix.motions import KICKED, placed, upright
from pliant.validation.matrix.pairs import applying, covering, pairs
from pliant.validation.matrix.report import summary, table_rows
from pliant.validation.matrix.verdict import LIMITS, judged, material_points
from pliant.validation.matrix.workers import Outcome, WorkerPool

GOOD = {"state": "done", "gain": 0.0, "surplus": 0.0, "unexplained": 0.0}


@pytest.mark.parametrize("name", FIGURES)
def test_bodies_are_closed_and_stand_on_the_ground(name: str) -> None:
    surface = figure_surface(name)
    low, high = surface.points.min(axis=0), surface.points.max(axis=0)
    assert abs(low[2]) < 1e-12
    assert np.abs(low + high)[:2].max() < 1e-12
    assert 0.5 * SIZE < (high - low).max() < 1.6 * SIZE
    assert enclosed(surface.points, surface.triangles) > 1e-4
    sides = np.sort(surface.triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1)
    assert np.all(np.unique(sides, axis=0, return_counts=True)[1] == 2)


def test_every_scene_of_the_matrix_is_valid() -> None:
    assert len(FIGURES) >= 10
    assert len(MOTIONS) == 8
    for cell in MatrixPlan(bodies=["hand", "leaf"]).cells():
        scene = parse(cell.scene_text(), None, cell.name, meshes=False)
        assert scene.time.duration == 10.0
        assert scene.bodies[0].model.kind == cell.model
    every = {cell.model for cell in MatrixPlan(bodies=["hand"]).cells()}
    assert every == set(MODELS)


def test_a_mesh_file_becomes_a_body_of_the_matrix(tmp_path: Path) -> None:
    """It is scaled to the size of the others and stands on the ground; names that are taken are refused."""
    path = tmp_path / "slab.obj"
    pretzel = figure_surface("pretzel")
    stretched = (pretzel.points + 1.0) * [30.0, 10.0, 20.0]
    write_surface(path, Surface(stretched, pretzel.triangles))
    try:
        cells = matrix_plan({"motions": ["drop"], "models": ["fem"]}, meshes=[str(path)]).cells()
        assert {cell.body for cell in cells} == {"slab"}
        surface = figure_surface("slab")
        sides = np.ptp(stretched, axis=0)
        assert np.ptp(surface.points, axis=0) == pytest.approx(SIZE / sides.max() * sides, rel=1e-5)
        assert surface.points[:, 2].min() == 0.0
        scene = parse(cells[0].scene_text(), None, cells[0].name, meshes=False)
        assert scene.bodies[0].edge == pytest.approx(0.072)
        assert "slab" not in {cell.body for cell in MatrixPlan().cells()}
    finally:
        FIGURES.pop("slab")
    with pytest.raises(InputError, match="has a body 'hand' already"):
        matrix_plan({}, meshes=[str(path.with_name("hand.obj"))])
    with pytest.raises(InputError, match=r"missing\.obj"):
        matrix_plan({}, meshes=[str(path.with_name("missing.obj"))])


@pytest.mark.parametrize(
    ("motion", "figures", "fails"),
    [
        ("drop", {}, None),
        ("drop", {"state": "diverged"}, "ended"),
        ("drop", {"gain": 1.1 * LIMITS.gain}, "energy"),
        ("drop", {"gain": math.nan}, "energy"),
        ("drop", {"surplus": 2 * LIMITS.gain}, "energy"),
        ("drop", {"unexplained": 0.5 * LIMITS.unexplained}, None),
        ("hang", {"unexplained": 0.5 * LIMITS.unexplained}, "energy"),
        ("kick", {"linear": 0.0, "angular": 1e-3}, "momentum"),
        ("drop", {"volume_change": 0.2, "volume_end": 0.2}, "volume"),
        ("drop", {"inverted": 0.005, "inverted_end": 0.001}, "inverted"),
        ("drop", {"inverted": 0.005, "inverted_end": 0.0}, None),
        ("drop", {"model": "cpm2", "inverted": 0.02, "inverted_end": 0.0}, "inverted"),
        ("drop", {"model": "mass-spring", "inverted": 0.02, "inverted_end": 0.02}, None),
        ("stack", {"depth": 0.0, "depth_bodies": 0.6}, "penetration"),
        ("poke", {"depth": 0.3}, "penetration"),
        ("poke", {"model": "rigid", "depth": 0.3}, None),
        ("drop", {"model": "rigid", "depth": 0.3}, "penetration"),
        ("drop", {"time_ratio": 2.1}, "time"),
    ],
)
def test_verdicts(motion: str, figures: Table, fails: str | None) -> None:
    verdict = judged(GOOD | figures, MOTIONS[motion], implicit=False)
    assert [key for key, good in verdict.items() if good is False] == ([fails] if fails else [])


def test_depth_is_that_of_material(tmp_path: Path) -> None:
    """Particles that carry the moments of a rigid mug are below it, and are not looked at."""
    surface = figure_surface("mug")
    write_surface(tmp_path / "mug.obj", surface)
    mug = pl.Body(tmp_path / "mug.obj", edge=0.072, model="rigid")
    frame = pl.Scene([mug]).run(duration=0.02, fps=50, to=tmp_path / "mug.pliant").frames[0]
    lowest = surface.points[:, 2].min()
    assert frame.positions[:, 2].min() < lowest - 0.005
    assert material_points(frame)[:, 2].min() == pytest.approx(lowest, abs=0.001)


def test_what_implicit_steps_gain_counts() -> None:
    gained = GOOD | {"numerical_gain": 0.02}
    assert judged(gained, MOTIONS["drop"], implicit=True)["energy"] is False
    assert judged(gained, MOTIONS["drop"], implicit=False)["energy"] is True


def test_a_small_part_of_the_matrix(tmp_path: Path) -> None:
    plan = matrix_plan({"models": ["mass-spring", "rigid"], "motions": ["hang", "cut"]}, 0.1, quick=True)
    shown: list[str] = []
    rows = run_matrix(plan, tmp_path, 1, lambda row, *_: shown.append(row["name"]))
    by = {(row["motion"], row["model"]): row for row in rows}
    assert len(shown) == len(rows) == 4
    hanging = by["hang", "mass-spring"]
    assert hanging["ok"]
    assert hanging["moved"] > 0.0
    assert hanging["inverted_end"] == 0.0
    assert by["cut", "mass-spring"]["linear"] < LIMITS.momentum
    assert by["cut", "rigid"]["state"] == "refused"
    assert summary(rows)["refused"] == 1
    assert len(table_rows(rows)[1]) == 2
    for name in ("matrix.json", "table.md", "index.html"):
        assert (tmp_path / name).stat().st_size > 100
    shown.clear()
    again = run_matrix(plan, tmp_path, 1, lambda row, *_: shown.append(row["name"]))
    assert not shown
    assert [row["name"] for row in again] == [row["name"] for row in rows]


def test_the_part_for_continuous_integration_is_good(tmp_path: Path) -> None:
    rows = run_matrix(matrix_plan({}, quick=True), tmp_path, 1)
    assert len(rows) == 9
    assert [row["name"] for row in rows if not row["ok"]] == []


def test_pairs_cover_the_matrix_in_the_fewest_runs() -> None:
    """13 bodies x 8 motions are 104 pairs that no two runs share, and 104 runs have all other pairs too, with
    about as many of each integrator. What is refused is replaced by what applies."""
    every = MatrixPlan().cells()
    found = covering(every)
    assert len(found) == len({cell.body for cell in every}) * len(MOTIONS) == 104
    assert {pair for cell in found for pair in pairs(cell)} == {
        pair for cell in every for pair in pairs(cell)
    }
    count = Counter(cell.integrator for cell in found)
    assert max(count.values()) - min(count.values()) <= 2
    assert covering(every) == found
    refused = [cell for cell in every if cell.model == "rigid" and cell.motion == "cut"]
    assert len(applying(every, refused[:1])) == len(every) - 1
    assert len(applying(every, refused[:2])) == len(every) - 13
    left = applying(every, refused[::3])
    assert not set(left) & set(refused)
    taken = [cell for cell in found if cell in set(left)]
    more = covering(left, taken)
    assert {pair for c in [*taken, *more] for pair in pairs(c)} == {pair for c in left for pair in pairs(c)}
    assert len(more) < 10


def test_a_matrix_of_pairs_replaces_runs_that_are_refused(tmp_path: Path) -> None:
    """Rigid bodies cannot be cut: another model takes the place of the body that should have been."""
    names = {"bodies": ["pretzel", "doll"], "motions": ["hang", "cut"], "models": ["rigid", "mass-spring"]}
    rows = run_matrix(matrix_plan({**names, "integrators": ["explicit"]}, 0.04, pairs=True), tmp_path, 1)
    ran = {row["name"] for row in rows if row["state"] == "done"}
    for body in names["bodies"]:
        for motion in names["motions"]:
            assert {f"{body}-{motion}-{model}-explicit" for model in names["models"]} & ran
    for motion, model in (("hang", "rigid"), ("hang", "mass-spring"), ("cut", "mass-spring")):
        assert any(f"-{motion}-{model}-" in name for name in ran)
    assert {row["model"] for row in rows if row["state"] == "refused"} == {"rigid"}


def test_a_run_that_ended_its_process_twice_counts_as_crashed(tmp_path: Path) -> None:
    from pliant.run.store.json_files import write_json
    from pliant.validation.matrix.cells import run_cell

    cell = MatrixCell("pretzel", "hang", "mass-spring", "explicit", 0.1)
    (tmp_path / "results").mkdir()
    begun = {"scene": cell.scene_text(), "state": "begun", "crashes": 2}
    write_json(cell.result_path(tmp_path), begun)
    assert cell.finished(tmp_path) is None
    row = run_cell(cell, tmp_path, 60.0, False)
    assert row["state"] == "crashed"
    assert not row["ok"]


def test_a_run_that_cannot_be_written_is_not_one_that_does_not_apply(tmp_path: Path) -> None:
    from pliant.validation.matrix.cells import run_cell

    cell = MatrixCell("pretzel", "hang", "mass-spring", "explicit", 0.02)
    for name in ("results", "scenes", "meshes"):
        (tmp_path / name).mkdir()
    write_surface(tmp_path / "meshes" / "pretzel.obj", figure_surface("pretzel"))
    (tmp_path / "runs").write_text("a file, where a folder should be", encoding="utf-8")
    row = run_cell(cell, tmp_path, 60.0, False)
    assert (row["state"], row["ok"]) == ("failed", False)


def test_what_auto_chose_is_not_run_twice(tmp_path: Path) -> None:
    """The result of ``auto`` stands for the integrator that it chose, and only for that one; its frames are
    those of the integrator by name."""
    one = MatrixPlan(["leaf"], ["kick"], ["mass-spring"], ["auto", "explicit", "implicit"], 0.06, keep=True)
    rows = {row["integrator"]: row for row in run_matrix(one, tmp_path / "all", 1)}
    assert rows["explicit"]["same_as"] == rows["auto"]["name"]
    assert rows["auto"]["chosen"] == "leapfrog"
    assert rows["implicit"]["chosen"] == "tr-bdf2"
    assert "same_as" not in rows["implicit"]
    alone = replace(one, integrators=["explicit"])
    (named,) = run_matrix(alone, tmp_path / "named", 1)
    assert named["gain"] == rows["explicit"]["gain"]
    found = [
        load(folder / "runs" / f"leaf-kick-mass-spring-{kind}.pliant").frames[-1].positions
        for folder, kind in ((tmp_path / "all", "auto"), (tmp_path / "named", "explicit"))
    ]
    assert found[0].tobytes() == found[1].tobytes()


def test_a_lost_process_is_replaced() -> None:
    """A task that ends its process, and one that takes too long, end nothing else."""

    def done(limit: float, *tasks: tuple[Callable[..., Any], tuple[Any, ...]]) -> list[Outcome]:
        waiting = iter(tasks)
        return list(pool.outcomes(lambda: next(waiting, None), lambda task: task, limit))

    with WorkerPool(1, 1) as pool:
        first = done(120.0, (math.sqrt, (4.0,)), (os._exit, (3,)), (math.sqrt, (9.0,)))
        (late,) = done(2.0, (time.sleep, (60.0,)))
        (last,) = done(120.0, (math.sqrt, (16.0,)))
    assert [outcome.lost for outcome in (*first, late, last)] == [None, "crashed", None, "expired", None]
    assert [outcome.value for outcome in (*first, last)] == [2.0, None, 3.0, 4.0]


def test_a_kick_is_an_ordinary_one() -> None:
    """The part that is kicked has a fifth of the mass, however thin its end: 2.5 m/s."""
    for name in ("hare", "leaf", "doll"):
        body = placed(name, 0.0, upright(name))
        above = body.upper_part(KICKED)["box"]["min"][2]
        random = np.random.default_rng(1).uniform(body.low, body.high, (20000, 3))
        inside = random[Bvh(body.points, body.triangles).inside(random)]
        assert abs(float((inside[:, 2] > above).mean()) - KICKED) < 0.03


def test_unknown_names_are_refused() -> None:
    with pytest.raises(InputError, match="motion 'dropp'"):
        MatrixPlan(motions=["dropp"]).cells()
    with pytest.raises(InputError, match="integrator 'leapfrogg'"):
        MatrixPlan(integrators=["leapfrogg"]).cells()
