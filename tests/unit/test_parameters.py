"""Values given from Python are refused in the words that scene files get."""

import subprocess
import sys
from collections.abc import Callable

import pytest

import pliant as pl
from pliant.core.errors import ParameterError, PliantError

BOX = pl.shapes.box(1.0, 1.0, 1.0)
WRONG: list[tuple[Callable[[], object], str]] = [
    (lambda: pl.Gravity("3 kg"), "Gravity: acceleration: '3 kg' is not a quantity in m/s2"),
    (lambda: pl.Gravity(accelration=3), "Gravity: accelration: unknown key; did you mean 'acceleration'?"),
    (lambda: pl.Gravity(9.81, 1.62, 3.71), "Gravity: value 2: is one value too many"),
    (lambda: pl.models.Efg(volume_stiffness=-1), "Efg: volume_stiffness: must be at least 0, got -1"),
    (pl.Body, "Body: a body needs one of shape, mesh"),
    (lambda: pl.Body(BOX, edge=-1), "Body: edge: must be greater than 0, got -1"),
    (
        lambda: pl.Body(BOX, model={"type": "efg", "count": 1}),
        "Body: model.count: must be at least 8, got 1",
    ),
    (lambda: pl.Body(BOX, position=(0, 0)), "Body: position: expected 3 values, got 2"),
    (
        lambda: pl.Body(BOX, position=(0, 0, "1 kg")),
        "Body: position[2]: '1 kg' is not a quantity in m",
    ),
    (lambda: pl.where.plane("q", "min"), "Plane: axis: expected 'x', 'y' or 'z', got 'q'"),
    (
        lambda: pl.Ground(level="1 kg", friction=-1),
        "Ground: friction: must be at least 0, got -1.0; level: '1 kg' is not a quantity in m",
    ),
]


@pytest.mark.parametrize(("make", "words"), WRONG, ids=[words.split(":")[0] for _, words in WRONG])
def test_wrong_values_are_told_in_one_line(make: Callable[[], object], words: str) -> None:
    for _ in range(2):  # pydantic builds a class at its first use, and replaces its __init__ then
        with pytest.raises(ParameterError) as caught:
            make()
        assert str(caught.value).removesuffix(".0") == words
        assert isinstance(caught.value, PliantError)
        assert isinstance(caught.value, ValueError)


def test_the_first_value_in_a_process_may_be_a_wrong_one() -> None:
    """The class is built while it refuses; the next wrong value is told as well."""
    program = """
import pliant as pl
for good in (None, 9.81, None):
    try:
        pl.Gravity(acceleration=good or "x")
    except pl.errors.ParameterError as error:
        print(error)
"""
    out = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert (
        out.splitlines()
        == ["Gravity: acceleration: expected a number with a unit such as '1 m/s2', got 'x'"] * 2
    )
