"""Equilibria: closed forms, and agreement with the rest shape that time stepping reaches."""

from typing import Any

import numpy as np
import pytest
from bodies import simulate, values

from pliant.actions import Damping, Fix, Force, Gravity, Ground, Move
from pliant.core.curves import Curve
from pliant.core.errors import Diverged, IncompatibleError
from pliant.core.where import plane
from pliant.integrators import ImplicitEuler, Static
from pliant.mesh.shapes import box
from pliant.scene import Body, Scene, TimeSettings

LOW = plane("x", "min")
HIGH = plane("x", "max")


def beam(model: Any = "fem", young: float = 3e5) -> Body:
    material = {"young": young, "poisson": 0.3, "density": 1000.0}
    return Body(box(1.0, 0.1, 0.1, divisions=(20, 2, 2)), material=material, model=model)


def drop(simulation: Any) -> float:
    world = simulation.system.world
    tip = np.isclose(world.rest[:, 0], world.rest[:, 0].max())
    return -float((world.x - world.rest)[tip, 2].mean())


def test_a_hanging_bar_stretches_by_its_weight() -> None:
    """u(L) = rho g L^2 / (2 E) for a bar with Poisson's ratio 0 that hangs from one end (small strain)."""
    young, g, length = 1e7, 9.81, 1.0
    body = Body(
        box(0.1, 0.1, length, divisions=(2, 2, 16)),
        material={"young": young, "poisson": 0.0, "density": 1000.0},
        model="fem",
    )
    simulation = simulate(
        [body], [Gravity(g), Fix(None, plane("z", "max"))], seconds=0.02, integrator="static"
    )
    world = simulation.system.world
    low = np.isclose(world.rest[:, 2], 0.0)
    expected = -1000 * g * length**2 / (2 * young)
    assert (world.x - world.rest)[low, 2].mean() == pytest.approx(expected, rel=5e-3)


def test_a_pulled_bar_obeys_hooke_and_every_frame_is_an_equilibrium() -> None:
    """F = E A u / L at nu = 0; the load grows with time, and so does the stretch, frame by frame."""
    body = Body(
        box(1.0, 0.1, 0.1, divisions=(10, 2, 2)),
        material={"young": 1e6, "poisson": 0.0, "density": 1000.0},
        model="fem",
    )
    ramp = Curve([0.0, 1.0], [(0.0, 0.0, 0.0), (10.0, 0.0, 0.0)], "linear")
    actions = [Fix(None, LOW), Force(None, HIGH, value=ramp)]
    for seconds in (0.1, 0.4):
        simulation = simulate([body], actions, seconds=seconds, fps=10, integrator="static")
        world = simulation.system.world
        end = np.isclose(world.rest[:, 0], 1.0)
        stretch = (world.x - world.rest)[end, 0].mean()
        assert stretch == pytest.approx(10.0 * seconds / (1e6 * 0.01), rel=0.02)
        assert np.abs(world.v).max() == 0.0
        assert values(simulation)["solver.residual"] < 1e-5


@pytest.mark.parametrize("model", ["mass-spring", "fem", {"type": "fem", "law": "neo-hookean"}])
def test_equilibrium_is_where_kinetic_damping_comes_to_rest(model: Any) -> None:
    actions = [Gravity(9.81), Fix(None, LOW)]
    still = simulate([beam(model)], actions, seconds=0.02, integrator="static")
    stepped = simulate([beam(model)], actions, seconds=5.0, integrator=ImplicitEuler(kinetic_damping=True))
    assert drop(still) > 0.3
    assert drop(stepped) == pytest.approx(drop(still), rel=2e-4)


def test_equilibrium_is_the_rest_of_a_long_damped_explicit_run() -> None:
    actions: list[Any] = [Gravity(9.81), Fix(None, LOW)]
    still = simulate([beam()], actions, seconds=0.02, integrator="static")
    damped = simulate([beam()], [*actions, Damping(rate=6.0)], seconds=4.0)
    assert drop(damped) == pytest.approx(drop(still), rel=1e-3)


def test_a_driven_end_is_followed_through_large_rotations() -> None:
    """A bar whose end is moved sideways by half its length: reactions balance, frame by frame."""
    path = Curve([0.0, 1.0], [(0, 0, 0), (-0.2, 0, 0.5)], "linear")
    actions = [Fix(None, LOW), Move(None, HIGH, displacement=path)]
    simulation = simulate([beam()], actions, seconds=1.0, fps=5, integrator="static")
    world = simulation.system.world
    free = world.inverse_mass > 0.0
    held = np.abs(world.f[~free]).max()
    assert np.abs(world.f[free]).max() < 1e-4 * held
    assert np.abs(world.f.sum(axis=0)).max() < 1e-4 * held


def test_static_refuses_contacts_and_says_when_nothing_holds() -> None:
    with pytest.raises(IncompatibleError, match="kinetic-damping"):
        simulate([beam()], [Gravity(), Ground()], seconds=0.02, integrator="static")
    with pytest.raises(Diverged, match="no equilibrium"):
        simulate([beam()], [Gravity()], seconds=0.02, integrator=Static(iterations=50))


def test_a_static_run_books_its_work() -> None:
    """A force that grows with time does the work that the bar holds, ``F u / 2``, a sudden one twice that:
    what an equilibrium does not keep of it is numerical. Nothing is unexplained."""
    for keys, share in ((Curve([0.0, 1.0], [(0.0, 0, 0), (5.0, 0, 0)]), 1.0), ((5.0, 0.0, 0.0), 2.0)):
        actions = [Fix(None, LOW), Force(None, HIGH, value=keys)]
        scene = Scene(
            [beam()], actions, time=TimeSettings(duration=1.0, fps=10, step=0.1, integrator=Static())
        )
        simulation = scene.simulation()
        simulation.start()
        rows = [simulation.row()]
        for _ in range(10):
            simulation.advance()
            rows.append(simulation.row())
        end = dict(zip(simulation.columns, rows[-1], strict=True))
        assert end["energy.elastic"] > 0.0
        assert end["energy.work"] == pytest.approx(share * end["energy.elastic"], rel=1e-3)
        lost = (share - 1.0) * end["energy.elastic"]
        assert end["energy.numerical"] == pytest.approx(lost, abs=1e-3 * end["energy.elastic"])
        assert abs(end["energy.unexplained"]) < 1e-9 * end["energy.work"]


@pytest.mark.parametrize("model", ["fem", "efg", "lattice"])
def test_work_of_loading_and_unloading_is_booked(model: str) -> None:
    r"""A bar pulled by a force that rises to F and falls to zero: :math:`W = F^2 L / (2 E A)` at the peak
    (Poisson's ratio 0; the models' own stiffness leaves 5 %, in a lattice two elements wide 10 %), W is the
    elastic energy in each frame, and both are zero when the load is gone, where the shape is an equilibrium
    without any load."""
    young, area, length, force = 1e6, 0.04, 0.8, 200.0
    material = {"young": young, "poisson": 0.0, "density": 1000.0}
    body = Body(box(length, 0.2, 0.2), edge=0.1, material=material, model=model)
    pull = Curve([0.0, 0.5, 1.0], [(0.0, 0.0, 0.0), (force, 0.0, 0.0), (0.0, 0.0, 0.0)], "linear")
    time = TimeSettings(duration=1.0, fps=10, integrator="static")
    simulation = Scene([body], [Fix(None, LOW), Force(None, HIGH, value=pull)], time=time).simulation()
    simulation.start()
    work = []
    for frame in range(11):
        if frame:
            simulation.advance()
        row = values(simulation)
        work.append(row["energy.work"])
        assert work[-1] == pytest.approx(row["energy.elastic"], abs=2e-4 * force**2 * length / young / area)
        assert abs(row["energy.unexplained"]) < 1e-12
    exact = force**2 * length / (2 * young * area)
    assert max(work) == pytest.approx(exact, rel=0.1 if model == "lattice" else 0.05)
    assert work[5] == max(work)
    assert work[10] == pytest.approx(0.0, abs=1e-4 * exact)
    world = simulation.system.world
    assert np.abs(world.x - world.rest).max() < 1e-6


def test_work_of_a_load_on_clay_stays_as_heat() -> None:
    """A bar that yields, stretched to twice its yield strain and pushed back to its length: the work
    that unloading does not return is plastic heat and the stress that is left."""
    material = {"young": 1e6, "poisson": 0.3, "density": 1000.0, "yield": 1e4}
    body = Body(box(0.8, 0.2, 0.2, divisions=(8, 2, 2)), material=material, model="fem")
    push = Curve([0.0, 0.5, 1.0], [(0.0, 0.0, 0.0), (0.016, 0.0, 0.0), (0.0, 0.0, 0.0)], "linear")
    actions = [Fix(None, LOW), Move(None, HIGH, displacement=push)]
    time = TimeSettings(duration=1.0, fps=40, integrator="static")
    simulation = Scene([body], actions, time=time).simulation()
    simulation.start()
    rows = [values(simulation)]
    for _ in range(40):
        simulation.advance()
        rows.append(values(simulation))
    peak, end = rows[20], rows[40]
    assert peak["energy.plastic"] > 0.2 * peak["energy.work"]
    held = end["energy.elastic"] + end["energy.plastic"]
    assert end["energy.work"] == pytest.approx(held, rel=0.02)
    assert end["energy.plastic"] > peak["energy.plastic"]  # it yields backwards too
    assert all(abs(row["energy.unexplained"]) < 1e-10 for row in rows)
