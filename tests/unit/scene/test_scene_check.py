"""What ``check`` reports, against numbers that can be worked out by hand."""

import json
import re

import numpy as np
import pytest
from scene_texts import ACTION, BODY

from pliant.core.errors import MeshError, SceneError, SelectionError
from pliant.scene.check import check
from pliant.scene.load import parse

GRAVITY = ACTION.format("gravity")


def test_the_report_has_the_numbers_of_the_scene() -> None:
    report = check(parse("title = 'A cube'\n" + BODY + "position = [0, 0, 2]\n" + GRAVITY))
    (body,) = report.bodies
    assert report.title == "A cube"
    assert (body.name, body.model, body.particles, body.cells) == ("cube", "mass-spring", 27, 48)
    assert body.mass == pytest.approx(1200.0)
    assert body.volume == pytest.approx(1.0)
    assert (body.low, body.high) == ((0, 0, 2), (1, 1, 3))
    assert (body.material["young"], body.material["density"]) == (3e6, 1200)
    assert report.frames == 51
    assert report.steps * report.step == pytest.approx(report.duration)
    assert "stable" in report.step_reason
    assert 0 < report.wall < 60
    assert report.disk > 51 * 27 * 3 * 8
    (locking,) = report.warnings  # springs at the ratio of rubber, 0.45
    assert "Poisson's ratio 0.45" in locking
    assert json.loads(json.dumps(report.to_dict()))["bodies"][0]["particles"] == 27


def test_checking_does_not_change_the_scene() -> None:
    scene = parse(BODY + GRAVITY)
    before = scene.simulation().system.world.x.copy()
    check(scene)
    assert np.array_equal(scene.simulation().system.world.x, before)


@pytest.mark.parametrize(
    ("text", "warning"),
    [
        (BODY, "nothing acts on the bodies and they are at rest: nothing will happen"),
        (
            BODY + GRAVITY + ACTION.format("ground") + "level = 0.1",
            "body 'cube' starts 0.1 m below the ground (act",
        ),
        (
            BODY + ACTION.format("obstacle") + "sphere = { radius = 0.4 }\nposition = [1, 1, 1]",
            "body 'cube' starts 0.4 m inside action 1 ('obstacle')",
        ),
        (BODY + GRAVITY + "from = 1", "action 1 ('gravity') starts at 1 s, after the end at 1 s"),
        (BODY + "scale = 1000\n" + GRAVITY, "body 'cube' is 1000 m long: if its mesh is in millimetres"),
        (BODY + "scale = 1e-4\n" + GRAVITY, "body 'cube' is only 0.0001 m long"),
        (BODY + "material = { preset = 'rubber', young = 3 }\n" + GRAVITY, "did you mean 3 MPa?"),
        (BODY + "edge = 0.2\n" + GRAVITY, "edge = 0.2 m is not used: the body's tets are given"),
        (BODY + GRAVITY + "[time]\nstep = 0.01", "s: the run may diverge"),
        (
            BODY + "[[bodies]]\nshape = { box = { size = [1, 1, 1], divisions = [1, 1, 1] } }",
            "start closer than contact keeps them, by up to",
        ),
    ],
)
def test_what_looks_wrong_is_said(text: str, warning: str) -> None:
    assert any(warning in said for said in check(parse(text)).warnings)


def test_an_action_that_does_nothing_is_named() -> None:
    report = check(parse(BODY + GRAVITY + ACTION.format("force") + "select = { all = true }\n"))
    assert any("'force'" in text and "does nothing" in text for text in report.warnings)


def test_particles_by_number_need_a_body_where_there_are_two() -> None:
    second = BODY.replace("schema = 1\n", "").replace("cube", "other") + "position = [3, 0, 0]\n"
    two = BODY + second
    scene = parse(two + GRAVITY + ACTION.format("fix") + "select = { ids = [0] }\n")
    with pytest.raises(SelectionError, match="ids without a body"):
        check(scene)


def test_no_axes_are_an_error_rather_than_all_of_them() -> None:
    with pytest.raises(SceneError, match="at least one axis"):
        parse(BODY + ACTION.format("fix") + "select = { all = true }\naxes = []\n")


@pytest.mark.parametrize(("damping", "costly"), [(1e-7, False), (0.1, True)])
def test_damping_that_costs_many_steps_says_so(damping: float, costly: bool) -> None:
    """Vibrations omega damped at c take sqrt(1 + z^2) + z times the steps, z = c / omega."""
    report = check(parse(BODY + f"material = {{ preset = 'rubber', damping = {damping} }}\n" + GRAVITY))
    said = re.search(r"frequency (\S+) rad/s, damped at (\S+) /s(.*)", report.step_reason)
    assert said is not None
    z = float(said[2]) / float(said[1])
    times = (1.0 + z * z) ** 0.5 + z
    assert (times > 3.0) == costly
    assert said[3].startswith(f", which takes {times:.0f} times the steps" if costly else "), ")


def test_messages_about_an_edge_are_in_the_metres_of_the_scene() -> None:
    """A mesh in millimetres: the edge is given in metres, and so is what is said of it."""
    text = BODY.replace("box = { size = [1, 1, 1], divisions = [2, 2, 2] }", "sphere = { radius = 50 }")
    assert "sphere" in text
    with pytest.raises(MeshError, match=r"edge of 0\.5 m is larger than the whole body \(0\.17"):
        check(parse(text + "scale = 0.001\nedge = 0.5\n" + GRAVITY))


def test_estimate_of_a_scene_that_the_trial_covers() -> None:
    report = check(parse(BODY + GRAVITY + "\n[time]\nduration = 0.04\n"))
    assert report.covered == report.duration
    assert report.uncounted == ()


def test_estimate_names_what_it_does_not_count() -> None:
    report = check(parse(BODY + GRAVITY + "\n[time]\nduration = 5000\n"))
    assert 0.0 < report.covered < report.duration
    assert "steps that are shortened where energy would rise" in report.uncounted


def test_estimate_counts_writing_frames() -> None:
    few, many = (check(parse(BODY + GRAVITY + f"\n[time]\nfps = {n}\nstep = 1e-3\n")) for n in (1, 1000))
    assert few.steps == many.steps
    assert many.wall > few.wall + 0.02
