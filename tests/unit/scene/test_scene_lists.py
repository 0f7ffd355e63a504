"""A Scene in Python is made of lists of bodies, actions and measures, which may point at Body objects."""

import pytest

import pliant as pl
from pliant.core.errors import SceneError


def cube(**given: object) -> pl.Body:
    return pl.Body(pl.shapes.box(0.2, 0.2, 0.2, divisions=(1, 1, 1)), **given)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ((cube(), [pl.Gravity()]), "bodies are a list, not a Body"),
        (([cube()], pl.Gravity()), "actions are a list, not a Gravity"),
        (([cube()], [cube()]), r"actions\[0\] is a Body"),
        (([cube()], [pl.Gravity(), "fix"]), r"actions\[1\] is 'fix'"),
        (([cube()], [pl.Probe(select=pl.where.all())]), r"actions\[0\] is a Probe"),
        (([cube()], [], [pl.Gravity()]), r"measures\[0\] is a Gravity"),
        (([pl.Gravity()],), r"bodies\[0\] is a Gravity"),
    ],
)
def test_what_is_in_the_wrong_place_is_named(given: tuple[object, ...], words: str) -> None:
    with pytest.raises(SceneError, match=words):
        pl.Scene(*given)  # type: ignore[arg-type]


def test_every_way_to_name_a_body_takes_the_body_itself() -> None:
    one, two = cube(model="lattice"), cube(model="lattice", position=(0.2, 0, 0))
    actions = [
        pl.Fuse(bodies=(one, two), at=0.1),
        pl.Glue(one, pl.where.plane("x", "max"), to=two),
        pl.Manipulator(two),
        pl.Create(two),
        pl.Add(two, shape=pl.shapes.box(0.1, 0.1, 0.1)),
    ]
    scene = pl.Scene([one, two], actions, [pl.Peak(two)])
    fuse, glue, *others = scene.actions
    assert fuse.bodies == ("body", "body-2")  # type: ignore[attr-defined]
    assert glue.to == "body-2"  # type: ignore[attr-defined]
    assert {item.body for item in [*others, *scene.measures]} == {"body-2"}  # type: ignore[attr-defined]


def test_an_action_on_one_body_does_not_take_none() -> None:
    with pytest.raises(ValueError, match="name of a body"):
        pl.Manipulator(None)
