"""Warnings about meshes, elements, supports and steps: each once, with its number and a remedy."""

import pytest

from pliant.core.diagnostics import Diagnostics
from pliant.scene.check import check, examine
from pliant.scene.load import parse

BEAM = """\
schema = 1
[time]
duration = 0.1
integrator = "{integrator}"
[[bodies]]
name = "beam"
shape = {{ box = {{ size = [1, 0.1, 0.1], divisions = [{along}, {across}, {across}]{split} }} }}
model = {model}
material = {{ young = "1 MPa", poisson = {poisson}, density = 1000 }}
{more}
[[actions]]
type = "gravity"
"""
FIXED = '[[actions]]\ntype = "fix"\nselect = { plane = { axis = "x", at = "min" } }\n'
FEM = '{ type = "fem" }'


def beam(
    model: str = FEM,
    across: int = 4,
    poisson: float = 0.3,
    split: str = "",
    more: str = "",
    actions: str = FIXED,
    integrator: str = "implicit-euler",
) -> tuple[str, ...]:
    """Warnings of a beam under its weight."""
    values = {"model": model, "across": across, "poisson": poisson, "split": split, "more": more}
    text = BEAM.format(along=10 * across, integrator=integrator, **values)
    return check(parse(text + actions)).warnings


def only(warnings: tuple[str, ...], *parts: str) -> None:
    """There is one warning, with these parts."""
    assert len(warnings) == 1, warnings
    for part in parts:
        assert part in warnings[0]


def test_a_fine_beam_of_linear_tets_has_none() -> None:
    assert beam() == ()


def test_a_quadratic_beam_has_none() -> None:
    assert beam('{ type = "fem", elements = "quadratic" }', across=1, poisson=0.49) == ()


@pytest.mark.parametrize("model", [FEM, '"mass-spring"'])
def test_locking_is_reported_from_045_on(model: str) -> None:
    only(beam(model, poisson=0.45), "Poisson's ratio 0.45", 'model = { type = "fem"')
    assert beam(model, poisson=0.44) == ()


def test_averaged_pressures_do_not_lock() -> None:
    assert beam('{ type = "fem", locking = "averaged-pressure" }', poisson=0.48) == ()


@pytest.mark.parametrize("model", [FEM, '"mass-spring"', '"cpm1"'])
def test_few_cells_across_a_bent_section_are_counted(model: str) -> None:
    only(beam(model, across=2), "only 2 cells across the 0.1 m", "where 4 are needed", "Use ")


def test_a_hanging_bar_is_not_bent() -> None:
    upright = 'rotation = { axis = "y", degrees = 90 }'
    top = FIXED.replace('"x", at = "min"', '"z", at = "max"')
    assert beam(across=2, more=upright + "\nposition = [0, 0, 3]", actions=top) == ()


def test_a_bar_that_lies_on_a_held_side_is_not_bent() -> None:
    assert beam(across=2, actions=FIXED.replace('"x"', '"z"')) == ()


def test_a_uniform_split_prefers_a_direction() -> None:
    """Of the edges of the six tets of a cube, weighted by their tets, sums of e e^T have the eigenvalue 20
    along the diagonal and 8 across it."""
    warnings = beam(split=', split = "uniform"')
    only(warnings, "(0.58, 0.58, 0.58)", "2.5 times as many", 'split = "alternating"')
    quadratic = beam('{ type = "fem", elements = "quadratic" }', split=', split = "uniform"')
    assert quadratic == ()


@pytest.mark.parametrize(
    ("axes", "select", "count"),
    [
        ("xyz", "nearest = { to = [0, 0, 0], count = 1 }", 3),
        ("z", 'plane = { axis = "x", at = "min" }', 4),  # may move along x and y, and turn about y and z
    ],
)
def test_rigid_modes_in_statics_are_counted(axes: str, select: str, count: int) -> None:
    """Three particles of a line and more hold rotations; a point holds none of them."""
    fix = f'[[actions]]\ntype = "fix"\naxes = "{axes}"\nselect = {{ {select} }}\n'
    parts = BEAM.format(along=40, across=4, integrator="static", model=FEM, poisson=0.3, split="", more="")
    scene = parse(parts + fix)
    found = Diagnostics()
    examine(scene, scene.simulation(), found)
    only(tuple(found.texts()), f"{count} of its 6 rigid motions", "Use fix")


def test_a_held_beam_in_statics_has_no_rigid_modes() -> None:
    assert beam(integrator="static") == ()


BALL = """\
schema = 1
[time]
duration = 1.5
step = {step}
integrator = "implicit-euler"
[[bodies]]
name = "ball"
shape = {{ box = {{ size = [0.1, 0.1, 0.1], divisions = [2, 2, 2] }} }}
model = "fem"
material = {{ young = "500 kPa", poisson = 0.3, density = 1000 }}
position = [0, 0, 5]
[[actions]]
type = "gravity"
acceleration = 10
[[actions]]
type = "ground"
"""


def test_a_step_that_misses_an_impact_is_reported() -> None:
    """From 5 m at 10 m/s2: 10 m/s, 0.2 m in 20 ms."""
    only(check(parse(BALL.format(step=0.02))).warnings, "at 10 m/s", "moves 0.2 m", "Use step = 0.00")
    assert check(parse(BALL.format(step=0.002))).warnings == ()


def test_a_fall_that_does_not_end_in_time_is_no_impact() -> None:
    assert check(parse(BALL.format(step=0.02).replace("1.5", "0.5"))).warnings == ()


def test_bodies_that_fly_at_each_other_are_looked_at() -> None:
    ball = BALL.format(step=0.02)
    second = ball[ball.index("[[bodies]]") : ball.index("[[actions]]")]
    second = second.replace('"ball"', '"other"').replace("[0, 0, 5]", "[0, 0, 6]\nvelocity = [0, 0, -20]")
    text = ball[: ball.index("[[actions]]")] + second
    warnings = check(parse(text)).warnings
    assert len(warnings) == 2
    assert "hits body 'other' at 20 m/s" in warnings[0]


THROWN = """\
schema = 1
[time]
duration = 0.4
fps = 50
step = {step}
integrator = "implicit-euler"
[contact]
method = "{method}"
[[bodies]]
name = "ball"
shape = {{ sphere = {{ radius = 0.1 }} }}
edge = 0.06
model = "fem"
material = {{ young = "100 kPa", poisson = 0.3, density = 1000 }}
position = [0, 0, 0.12]
velocity = [0, 0, -2.4]
[[actions]]
type = "ground"
"""


def test_barrier_contact_misses_no_impact_but_steps_shorten_rebounds() -> None:
    """Hertz: a ball of 0.1 m and 100 kPa touches a wall at 2.4 m/s for 2.94 (15 m / (16 E' sqrt R))^(2/5)
    v^(-1/5) = 0.065 s, within what the facets of its mesh take away: steps of 20 ms are too long for its
    rebound, a tenth of that time is not."""
    mass, modulus = 1000.0 * 4.0 / 3.0 * 3.14159 * 0.1**3, 1e5 / 0.91
    lasts = 2.94 * (0.9375 * mass / (modulus * 0.1**0.5)) ** 0.4 * 2.4**-0.2

    def told(step: float, method: str) -> list[str]:
        found = check(parse(THROWN.format(step=step, method=method))).warnings
        return [text for text in found if "rebound" in text]

    (text,) = told(0.02, "barrier")
    assert float(text.split("for about ")[1].split(" s: steps of 0.02 s lose part")[0]) == pytest.approx(
        lasts, rel=0.08
    )
    assert "missed" not in text
    assert told(0.1 * lasts, "barrier") == []
    (text,) = told(0.02, "penalty")
    assert "missed" in text
