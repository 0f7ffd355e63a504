"""What every integrator obeys: run over INTEGRATORS."""

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
import pytest
from bodies import block, model_for, simulate, values

from pliant.actions import Damping, Fix, Force, Gravity, Move
from pliant.core.curves import Curve
from pliant.core.parameters import parameters
from pliant.core.where import plane
from pliant.integrators import INTEGRATORS, ExplicitIntegrator, RungeKutta

STEPPING: list[Any] = [name for name in INTEGRATORS if INTEGRATORS[name].order > 0]  # type: ignore[attr-defined]
IMPLICIT = [name for name in STEPPING if np.isinf(INTEGRATORS[name].stability)]  # type: ignore[attr-defined]


def tight(name: str) -> Any:
    """The integrator, with its equations solved to the last digits where it has any to solve."""
    return INTEGRATORS.build({"type": name, "tolerance": 1e-11} if name in IMPLICIT else name)


def error_at_end(name: str, steps: int, damped: bool) -> float:
    """Distance from a converged solution of a stretched, swinging block after 0.02 s."""
    actions: list[Any] = [Gravity(300.0), Fix(None, plane("x", "min"))]
    if damped:
        actions.append(Damping(rate=60.0))
    body = block((2, 1, 1), model=model_for(name))
    coarse = simulate([body], actions, seconds=0.02, fps=50, step=0.02 / steps, integrator=tight(name))
    fine = simulate([body], actions, seconds=0.02, fps=50, step=0.02 / 4096, integrator="rk4")
    return float(np.abs(coarse.system.world.x - fine.system.world.x).max())


@pytest.mark.parametrize("damped", [False, True])
@pytest.mark.parametrize("name", STEPPING)
def test_measured_order_equals_declared_order(name: str, damped: bool) -> None:
    first, second = error_at_end(name, 256, damped), error_at_end(name, 512, damped)
    assert np.log2(first / second) == pytest.approx(INTEGRATORS[name].order, abs=0.15)


@pytest.mark.parametrize("name", list(INTEGRATORS))
def test_driven_particles_are_where_they_should_be(name: str) -> None:
    keys = Curve([0.0, 0.05, 0.1], [(0, 0, 0), (0.02, 0, 0), (0.01, 0.005, 0)], "smooth")
    simulation = simulate(
        [block(model=model_for(name))],
        [Fix(None, plane("x", "min")), Move(None, plane("x", "max"), displacement=keys)],
        seconds=0.08,
        step=2e-4,
        integrator=name,
    )
    world = simulation.system.world
    rest = world.rest
    moved = np.isclose(rest[:, 0], rest[:, 0].max())
    held = np.isclose(rest[:, 0], 0.0)
    assert np.abs(world.x[moved] - rest[moved] - keys.at(0.08)).max() < 1e-15
    assert np.array_equal(world.x[held], rest[held])
    assert np.abs(world.v[moved] - keys.rate(0.08)).max() < 1e-15


@pytest.mark.parametrize("name", [n for n in STEPPING if n != "explicit-euler"])
def test_a_steady_force_gives_uniform_acceleration(name: str) -> None:
    """Newton's second law for the centre of mass: v = F t / m, exact for every consistent scheme."""
    body = block(model=model_for(name))
    simulation = simulate(
        [body], [Force(None, plane("x", "max"), value=(3.0, 0, 0))], seconds=0.1, integrator=name
    )
    mass = simulation.system.world.mass.sum()
    assert values(simulation)["momentum.x"] == pytest.approx(3.0 * 0.1, rel=1e-11)
    assert mass == pytest.approx(0.3 * 0.2 * 0.2 * 1000, rel=1e-12)


# ------------------------------------------------------------------------------------ schemes of one's own


@parameters
class OwnScheme(ExplicitIntegrator):
    """Symplectic Euler, as a user would write it."""

    kind: ClassVar[str] = "own-scheme"
    order: ClassVar[int] = 1
    stability: ClassVar[float] = 2.0

    def update(self, x: Any, v: Any, f: Any, w: Any, dt: float) -> None:
        v += dt * (f * w)
        x += dt * v


@parameters
class OwnTableau(RungeKutta):
    """Heun's method of third order."""

    kind: ClassVar[str] = "own-tableau"
    order: ClassVar[int] = 3
    stability: ClassVar[float] = 1.732
    tableau: ClassVar[tuple[tuple[float, ...], ...]] = ((1 / 3,), (0.0, 2 / 3))
    weights: ClassVar[tuple[float, ...]] = (1.0, 0.0, 3.0)


@pytest.fixture
def own() -> Iterator[None]:
    for scheme in (OwnScheme, OwnTableau):
        INTEGRATORS.register(scheme)
    yield
    for scheme in (OwnScheme, OwnTableau):
        del INTEGRATORS._table[scheme.kind]


@pytest.mark.usefixtures("own")
def test_a_scheme_that_only_writes_its_update_steps_every_kind_of_body() -> None:
    """Beside bodies with steps of their own it has the bytes of the built-in scheme; stones stay rigid."""
    found = []
    for name in ("own-scheme", "symplectic-euler"):
        bodies = [
            block((1, 1, 1), model="rigid", name="stone", position=(1.0, 0, 0.3), spin=(3.0, 0, 1.0)),
            block((4, 4, 2), model="multires", name="slab", position=(0, 1.0, 0)),
            block((2, 1, 1), model="mass-spring", name="soft"),
        ]
        actions: list[Any] = [Gravity(), Fix(bodies[1], plane("y", "max")), Damping(rate=1.0)]
        found.append(simulate(bodies, actions, seconds=0.06, step=1e-3, integrator=name).system.world)
    assert np.array_equal(found[0].x, found[1].x)
    assert np.array_equal(found[0].v, found[1].v)
    stone = next(part for part in found[0].bodies if part.name == "stone")
    x, rest = found[0].x[stone.rows], stone.structure.rest
    apart = [np.linalg.norm(at[:, None] - at[None], axis=2) for at in (x, rest)]
    assert np.abs(apart[0] - apart[1]).max() < 1e-12
    assert np.abs(x - rest - (x - rest).mean(axis=0)).max() > 1e-3


@pytest.mark.usefixtures("own")
@pytest.mark.parametrize("damped", [False, True])
def test_a_tableau_has_its_order(damped: bool) -> None:
    first, second = error_at_end("own-tableau", 128, damped), error_at_end("own-tableau", 256, damped)
    assert np.log2(first / second) == pytest.approx(3, abs=0.15)


def test_checkpoints_hold_what_the_integrator_keeps_under_the_names_of_old_runs() -> None:
    actions: list[Any] = [Gravity(), Fix(None, plane("x", "min"))]
    kept = simulate([block()], actions, seconds=0.1, integrator="bdf2").state()
    own = {name.removeprefix("integrator/") for name in kept if name.startswith("integrator/")}
    assert own == {"scales", "held", "by", "sticks", "friction", "x", "v"}
    explicit = simulate([block()], actions, seconds=0.1).state()
    assert not [name for name in explicit if name.startswith("integrator/")]
