"""The audit of intersections: planted crossings are found, however small; free states are called free."""

import json
from pathlib import Path

import numpy as np
import pytest

import pliant as pl
from pliant.audit import certify
from pliant.audit.auditor import audit_state
from pliant.audit.exact import edges_meet_triangles
from pliant.audit.surface_frames import SurfaceFrame, joined
from pliant.cli.main import run as command
from pliant.contact import Contact
from pliant.core.errors import InputError
from pliant.core.typing import Array
from pliant.mesh.io import write_surface
from pliant.mesh.mesh import Surface
from pliant.mesh.shapes import box

CUBE = box(1.0, 1.0, 1.0, divisions=(2, 2, 2)).surface()
SPIKE = np.array([[0, 0, 0], [0.1, 0, 1], [-0.1, 0.1, 1], [-0.1, -0.1, 1]], float)
FACES = np.array([[0, 2, 1], [0, 3, 2], [0, 1, 3], [1, 2, 3]])


def state(tip: Array) -> SurfaceFrame:
    """The unit cube and a spike from above whose tip is at ``tip``."""
    return joined("planted", [("cube", CUBE.points, CUBE.triangles), ("spike", SPIKE + tip, FACES)])


def test_planted_crossings_down_to_a_billionth_are_all_found() -> None:
    random = np.random.default_rng(7)
    for depth in np.logspace(-9, -1, 1000):
        place = random.uniform(0.05, 0.95, 2)
        found = audit_state(state(np.array([*place, 1.0 - depth])))
        assert found.crossings > 0, depth
        assert {pair.bodies for pair in found.pairs} <= {("spike", "cube"), ("cube", "spike")}
        assert not found.ok


def test_free_states_down_to_a_billionth_are_free_and_the_distance_is_told() -> None:
    random = np.random.default_rng(8)
    for gap in np.logspace(-9, -2, 100):
        top = 1.0 + gap
        found = audit_state(state(np.array([*random.uniform(0.05, 0.95, 2), top])))
        assert found.ok
        assert found.distance == pytest.approx(top - 1.0, rel=1e-5, abs=1e-15)


def test_a_tip_that_touches_exactly_counts() -> None:
    assert audit_state(state(np.array([0.3, 0.4, 1.0]))).crossings > 0


def test_edges_in_the_plane_of_a_triangle() -> None:
    a, b, c = (np.array([p], float) for p in ([0, 0, 0], [1, 0, 0], [0, 1, 0]))
    cases = {  # edge: whether it has a point in common with the triangle
        ((-1.0, 0.2, 0.0), (2.0, 0.2, 0.0)): True,
        ((0.2, 0.2, 0.0), (0.3, 0.2, 0.0)): True,
        ((0.8, 0.8, 0.0), (2.0, 0.2, 0.0)): False,
        ((-0.5, -0.1, 0.0), (1.5, -0.1, 0.0)): False,
        ((0.5, 0.0, 0.0), (0.5, -1.0, 0.0)): True,
        ((1.0, 0.0, 0.0), (2.0, 0.0, 0.0)): True,
        ((0.2, 0.2, 0.0), (0.2, 0.2, 1.0)): True,
        ((0.9, 0.9, 0.0), (0.9, 0.9, 1.0)): False,
    }
    for (p, q), expected in cases.items():
        found = edges_meet_triangles(np.array([p]), np.array([q]), a, b, c)
        assert bool(found[0]) is expected, (p, q)


def test_a_body_that_passes_through_itself_is_found() -> None:
    points, triangles = CUBE.points.copy(), CUBE.triangles
    (corner,) = np.flatnonzero((points == 1.0).all(axis=1))
    assert audit_state(joined("folded", [("cube", points, triangles)])).ok
    points[corner] = [0.5, 0.5, -0.5]  # pulled through the bottom
    found = audit_state(joined("folded", [("cube", points, triangles)]))
    assert found.crossings > 0
    assert all(pair.bodies == ("cube", "cube") for pair in found.pairs)


def test_a_straight_way_through_is_found_between_free_states() -> None:
    above, below = state(np.array([0.3, 0.4, 1.5])), state(np.array([0.3, 0.4, -2.5]))
    assert audit_state(above).ok
    assert audit_state(below).ok
    assert audit_state(below, above).path is False
    assert audit_state(state(np.array([0.3, 0.4, 1.01])), above).path is True


@pytest.fixture(scope="module")
def colliding_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A soft block that flies through another: contact between bodies is off."""
    block = {"model": "fem", "material": {"young": 1e5, "poisson": 0.3, "density": 1000.0}}
    bodies = [
        pl.Body(pl.shapes.box(0.1, 0.1, 0.1, divisions=(2, 2, 2)), name="still", **block),
        pl.Body(
            pl.shapes.box(0.1, 0.1, 0.1, divisions=(2, 2, 2)), name="fast", position=(0.03, 0.02, 0.15),
            velocity=(0, 0, -1), **block,
        ),
    ]  # fmt: skip
    folder = tmp_path_factory.mktemp("audit") / "fly.pliant"
    pl.Scene(bodies, contact=Contact(between=False)).run(duration=0.1, fps=50, to=folder)
    return folder


def test_every_state_of_a_run_is_audited(colliding_run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = certify(colliding_run)
    assert len(found.states) == 6
    # the block's lower face is at 0.15 - t: it enters the other's upper face, at 0.1, after 0.05 s
    assert [state.ok for state in found.states] == [True, True, True, False, False, False]
    assert found.states[2].distance == pytest.approx(0.01, rel=1e-6)
    assert command(["certify", str(colliding_run), "-q"]) == 1
    assert "6 states audited, 3 with intersections" in capsys.readouterr().out
    told = json.loads((colliding_run / "certificate.json").read_text())
    assert told["verdict"] == "intersections"
    assert told["failing_states"] == 3
    assert "intersections" in (colliding_run / "certificate.html").read_text()


def test_files_of_other_programs_give_the_same_verdicts(colliding_run: Path, tmp_path: Path) -> None:
    run = pl.load(colliding_run)
    expected = [True, True, True, False, False, False]
    for name in ("blocks_%02d.obj", "blocks.usd", "blocks.vtkhdf"):
        run.export(tmp_path / name)
        found = certify(tmp_path / name)
        assert [state.ok for state in found.states] == expected, name
        # files in single precision move points by some 1e-8 m
        assert found.states[2].distance == pytest.approx(0.01, rel=1e-5), name


def test_a_free_sequence_exits_with_0_and_bad_input_with_2(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_surface(tmp_path / "cube_1.obj", Surface(CUBE.points, CUBE.triangles))
    assert command(["certify", str(tmp_path / "cube_%d.obj"), "-q", "-o", str(tmp_path / "a/b")]) == 0
    assert (tmp_path / "a/b/certificate.json").is_file()
    assert "1 states audited, 0 with" in capsys.readouterr().out
    assert command(["certify", str(tmp_path / "none_%d.obj"), "-q"]) == 2
    assert command(["certify", str(tmp_path / "cube_1.obj"), "-q", "--surface", "inner"]) == 2
    with pytest.raises(InputError, match="no surface 'inner'"):
        certify(tmp_path / "cube_1.obj", "inner")


@pytest.mark.parametrize(("depth", "free"), [(1e-7, True), (1e-9, True), (-1e-9, False), (-1e-7, False)])
def test_paths_are_decided_below_the_tolerance_of_ipctk(depth: float, free: bool) -> None:
    """A tetrahedron that sinks from 5e-9 m and more above another one to ``depth`` above it, or through it:
    ipctk's tolerance of 1e-6 m alone would call all of these hits."""
    corners = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.3, 0.3, -1.0]])
    faces = np.array([[0, 1, 2], [0, 3, 1], [1, 3, 2], [2, 3, 0]])
    tip = np.array([[0.3, 0.3, 0.0], [0.2, 0.2, 1.0], [0.5, 0.2, 1.0], [0.2, 0.5, 1.0]])

    def state(height: float) -> SurfaceFrame:
        up = np.array([0.0, 0.0, height])
        return joined("", [("low", corners, faces), ("high", tip + up, faces)])

    found = audit_state(state(depth), state(5.0 * abs(depth)))
    assert found.path is free
