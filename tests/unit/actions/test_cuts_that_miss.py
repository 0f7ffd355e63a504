"""A cut that misses its bodies is reported."""

import pytest

import pliant as pl
from pliant.actions import Cut, Seam


def told(*actions: object) -> list[str]:
    """What is said while two blocks move for three frames."""
    box = pl.shapes.box(0.2, 0.1, 0.1, divisions=(2, 1, 1))
    blocks = [
        pl.Body(box, name=name, model="fem", position=(0, y, 0)) for name, y in (("a", 0.0), ("b", 1.0))
    ]
    simulation = pl.Scene(blocks, list(actions)).simulation()
    for _ in range(3):
        simulation.advance()
    return simulation.diagnostics.texts()


BLADE = {"direction": (0, 0, -1), "edge": {"keys": [{"time": 0, "value": -1}, {"time": 1, "value": 1}]}}
KINDS = [(Cut, {"at": 0.01}), (Seam, {"at": 0.01}), (Cut, BLADE)]


@pytest.mark.parametrize(("kind", "more"), KINDS, ids=["cut", "seam", "blade"])
def test_a_cut_beside_the_body_is_told_once(kind: type, more: dict[str, object]) -> None:
    (text,) = told(kind(body="a", plane={"axis": "y", "at": 1.05}, **more))
    assert text.startswith(f"action 1 ('{kind.kind}'): the cut misses 'a'")  # type: ignore[attr-defined]


@pytest.mark.parametrize(("kind", "more"), KINDS, ids=["cut", "seam", "blade"])
def test_a_cut_that_meets_one_of_the_bodies_is_not(kind: type, more: dict[str, object]) -> None:
    assert told(kind(plane={"axis": "y", "at": 0.041}, **more)) == []
