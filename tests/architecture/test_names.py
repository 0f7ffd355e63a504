"""Everything that has a name in a scene has a class of the same name in its family's module."""

import pytest

import pliant as pl
from pliant.actions import ACTIONS
from pliant.integrators import INTEGRATORS
from pliant.measures import MEASURES
from pliant.mesh.shapes.scene_form import SHAPES
from pliant.models import MODELS

FAMILIES = [
    (pl.models, MODELS),
    (pl.actions, ACTIONS),
    (pl.measures, MEASURES),
    (pl.integrators, INTEGRATORS),
    (pl.shapes, SHAPES),
]
NAMED = [(module, name, table[name]) for module, table in FAMILIES for name in table]


@pytest.mark.parametrize(
    ("module", "name", "cls"), NAMED, ids=lambda value: value if isinstance(value, str) else ""
)
def test_a_name_in_scenes_is_a_class_in_python(module: object, name: str, cls: type) -> None:
    assert getattr(module, "".join(word.capitalize() for word in name.split("-"))) is cls


@pytest.mark.parametrize("name", [*ACTIONS, *MEASURES])
def test_actions_and_measures_are_at_the_top_too(name: str) -> None:
    called = "".join(word.capitalize() for word in name.split("-"))
    assert getattr(pl, called) is {**ACTIONS, **MEASURES}[name]


def test_earlier_names_of_measures_still_work() -> None:
    assert pl.FluxMeasure is pl.measures.FluxMeasure is pl.Flux
    assert pl.measures.EnergyMeasure is pl.Energy
    assert pl.measures.FractureMeasure is pl.Fracture
