"""Models from elsewhere, with no more than a model must have."""

from typing import Any, ClassVar

import pliant as pl
from pliant.core.parameters import parameters
from pliant.interfaces import Mechanics, Model, StableStep
from pliant.models import MODELS
from pliant.structure.samplers.tets import TetSampler


@parameters
class Dust(Model):
    """Particles that do not feel each other."""

    kind: ClassVar[str] = "dust"
    references: ClassVar[tuple[str, ...]] = ()
    sampler: ClassVar[TetSampler] = TetSampler()

    def prepare(self, structure: Any, material: Any) -> "DustMechanics":
        return DustMechanics()


class DustMechanics(Mechanics):
    def add_elastic_forces(self, x: Any, out: Any) -> None: ...

    def stable_step(self) -> StableStep:
        return StableStep(0.01, "nothing vibrates")

    def fields(self, x: Any, v: Any, names: Any) -> dict[str, Any]:
        return {}


def test_a_model_without_energy_runs_and_says_what_that_means(monkeypatch: Any) -> None:
    monkeypatch.setitem(MODELS._table, "dust", Dust)
    body = pl.Body(pl.shapes.box(1.0, 1.0, 1.0, divisions=(1, 1, 1)), model="dust", name="cloud")
    simulation = pl.Scene([body], [pl.Gravity()]).simulation()
    simulation.start()
    simulation.advance()
    (note,) = simulation.diagnostics.texts()
    assert note == "body 'cloud': its model has no energy, so energy.total does not balance"
