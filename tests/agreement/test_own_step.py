"""Bodies that own their step, beside bodies that integrators move: drives, contacts, ledger, restarts."""

from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from bodies import MATERIAL, block

import pliant as pl
from pliant.core.errors import IncompatibleError
from pliant.core.parameters import parameters
from pliant.core.selection import Plane, Select
from pliant.interfaces import Mechanics, SelfStepping, StableStep, StepContext, Structure
from pliant.models import MODELS
from pliant.structure.samplers.tets import TetSampler
from stopping import assert_same, stopped_and_resumed


@parameters
class Dust:
    """Particles that do not feel each other: each flies its own parabola, at any step."""

    kind: ClassVar[str] = "dust"
    references: ClassVar[tuple[str, ...]] = ()
    sampler: ClassVar[TetSampler] = TetSampler()

    def prepare(self, structure: Structure, material: Any) -> "DustMechanics":
        return DustMechanics(structure.mass)


class DustMechanics(Mechanics):
    capabilities = frozenset({SelfStepping})
    inversion_safe = True

    def __init__(self, mass: Any) -> None:
        self.mass, self.steps = mass, 0

    def add_elastic_forces(self, x: Any, out: Any) -> None: ...

    def add_internal_forces(self, out: Any) -> None: ...

    def add_holding_forces(self, out: Any) -> None: ...

    def advance(self, ctx: StepContext) -> None:
        a = ctx.external * ctx.inverse_mass
        free = ctx.inverse_mass > 0
        ctx.x[free] += (ctx.dt * ctx.v + 0.5 * ctx.dt * ctx.dt * a)[free]
        ctx.v[free] += (ctx.dt * a)[free]
        self.steps += 1

    def finish_step(self, ctx: StepContext) -> None: ...

    def stored(self, x: Any, v: Any) -> tuple[float, float]:
        return 0.5 * float(np.sum(self.mass[:, None] * v**2)), 0.0

    def stable_step(self) -> StableStep:
        return StableStep(np.inf, "dust is free")

    def fields(self, x: Any, v: Any, names: Any) -> dict[str, Any]:
        return {}

    def state(self) -> dict[str, Any]:
        return {"steps": np.array(self.steps)}

    def restore(self, state: Any) -> None:
        self.steps = int(state["steps"])


@pytest.fixture(autouse=True)
def registered() -> Any:
    MODELS.register(Dust)
    yield
    del MODELS._table["dust"]


def dust(**options: Any) -> pl.Body:
    return block((2, 1, 1), model="dust", name="dust", **options)


def stone(**options: Any) -> pl.Body:
    return block((2, 1, 1), model="mass-spring", name="stone", position=(1.0, 0.0, 0.0), **options)


def advanced(scene: pl.Scene, frames: int) -> Any:
    simulation = scene.simulation()
    simulation.start()
    for _ in range(frames):
        simulation.advance()
    return simulation


@pytest.mark.parametrize("integrator", ["leapfrog", "verlet", "symplectic-euler", "rk4", "explicit-euler"])
def test_it_flies_its_parabola_beside_a_body_that_the_integrator_moves(integrator: Any) -> None:
    """Dust is first in the scene and last in the World; the other body moves as it does alone."""
    time = pl.TimeSettings(duration=0.2, fps=50, step=1e-3, integrator=integrator)
    both = advanced(pl.Scene([dust(velocity=(1, 0, 2)), stone()], [pl.Gravity(9.81)], time=time), 10)
    alone = advanced(pl.Scene([stone()], [pl.Gravity(9.81)], time=time), 10)
    world = both.system.world
    assert [part.name for part in world.bodies] == ["stone", "dust"]
    flown = world.x[world.bodies[1].rows] - world.bodies[1].structure.rest
    assert np.abs(flown - [0.2, 0.0, 0.4 - 0.5 * 9.81 * 0.04]).max() < 1e-13
    assert np.array_equal(world.x[: both.system.integrated_rows], alone.system.world.x)
    if integrator in ("leapfrog", "verlet", "rk4"):  # second order: the other body keeps its energy too
        row = dict(zip(both.columns, both.row(), strict=True))
        assert row["energy.total"] - row["energy.scheme"] == pytest.approx(
            0.5 * 2.0 * 5.0 + 9.81 * 4.0 * 0.05, rel=1e-9
        )


def test_alone_it_takes_one_step_a_frame_and_keeps_to_drives_and_contacts() -> None:
    held = pl.where.plane("x", "min")
    moved = pl.Move(dust_ref := dust(), pl.where.plane("x", "max"), velocity=(0.0, 1.0, 0.0))
    probe = pl.Reaction(select=Select(body="dust", plane=Plane(axis="x", at="min")), name="hold")
    scene = pl.Scene([dust_ref], [pl.Gravity(9.81), pl.Fix(dust_ref, held), moved, pl.Ground()], [probe])
    simulation = advanced(scene, 25)
    world = simulation.system.world
    x, rest = world.x, world.rest
    assert simulation.plan.per_frame == 1
    assert simulation.system.world.bodies[0].mechanics.steps == 25
    left, right = rest[:, 0] < 1e-9, rest[:, 0] > 0.2 - 1e-9
    assert np.array_equal(x[left], rest[left])
    assert np.abs(x[right] - rest[right] - [0, 0.5, 0]).max() < 1e-12
    assert np.abs(x[~left & ~right][:, 2]).max() < 1e-12  # lies on the ground
    row = dict(zip(simulation.columns, simulation.row(), strict=True))
    assert row["hold.z"] == pytest.approx(9.81 * world.mass[left].sum(), rel=1e-12)


def test_implicit_integrators_are_refused() -> None:
    with pytest.raises(IncompatibleError, match="steps of its own"):
        pl.Scene([dust()], [], integrator="implicit-euler").simulation()


def test_a_resumed_run_has_the_same_bytes(tmp_path: Path) -> None:
    def scene() -> pl.Scene:
        acting = [pl.Gravity(9.81), pl.Ground(restitution=0.5), pl.Drag(density=1.2)]
        material = MATERIAL | {"damping": 1e-4}
        bodies = [dust(position=(0, 0, 0.1)), stone(material=material, rotation=None)]
        return pl.Scene(bodies, acting, time=pl.TimeSettings(duration=0.3, fps=50))

    whole = scene().run(to=tmp_path / "whole.pliant")
    assert_same(whole, stopped_and_resumed(scene(), tmp_path / "broken.pliant", 6))
