"""Implicit runs give the same bytes for any number of threads, and after a restart."""

from typing import Any

import numpy as np
import pytest

from pliant.actions import Damping, Fix, Gravity, Impulse, Move
from pliant.core.curves import Curve
from pliant.core.where import plane
from pliant.integrators import INTEGRATORS
from pliant.mesh.shapes import box
from pliant.scene import Body, Scene
from pliant.simulation.simulation import Simulation

IMPLICIT = ("tr-bdf2", "energy-momentum", "implicit-euler", "implicit-midpoint", "newmark", "bdf2", "static")
FRAMES = 8


def scene(name: str, divisions: tuple[int, int, int] = (24, 6, 6)) -> Simulation:
    """A beam of 5184 tets (kernels run in parallel from 5000 rows on), with memory in every corner."""
    body = Body(
        box(1.0, 0.25, 0.25, divisions=divisions),
        material={"young": 1e5, "poisson": 0.3, "density": 1000.0},
        model="fem",
    )
    path = Curve([0.0, 0.2], [(0, 0, 0), (0.0, 0.05, 0)], "smooth")
    actions: list[Any] = [
        Gravity(),
        Fix(None, plane("x", "min")),
        Move(None, plane("x", "max"), displacement=path, from_=0.06),
    ]
    if name != "static":
        actions += [Damping(rate=1.0), Impulse(None, plane("y", "max"), value=(0.0, 1.0, 0.0), at=0.04)]
    options = {"kinetic_damping": True} if name == "implicit-euler" else {}
    integrator: Any = INTEGRATORS[name](**options)
    simulation = Scene([body], actions, integrator=integrator, step="auto").simulation()
    simulation.start()
    return simulation


def digest(simulation: Simulation) -> list[Any]:
    world = simulation.system.world
    return [world.x.tobytes(), world.v.tobytes(), world.f.tobytes(), simulation.row()]


@pytest.mark.parametrize(
    "name",
    [
        n
        if n in ("static", "implicit-euler", "tr-bdf2", "energy-momentum")
        else pytest.param(n, marks=pytest.mark.slow)
        for n in IMPLICIT
    ],
)
def test_threads_do_not_change_a_byte(name: str) -> None:
    from pliant.kernels import jit

    found, before = [], jit.threads_in_use()
    try:
        for threads in (1, 2):
            jit.set_threads(threads)
            simulation = scene(name)
            for _ in range(FRAMES):
                simulation.advance()
            found.append(digest(simulation))
    finally:
        jit.use_threads(before)
    assert found[0] == found[1]


@pytest.mark.slow
def test_threads_do_not_change_a_byte_of_the_two_level_cycle(monkeypatch: pytest.MonkeyPatch) -> None:
    from pliant.integrators.implicit.preconditioners import rest

    monkeypatch.setattr(rest, "BAND_BYTES", 0.0)
    test_threads_do_not_change_a_byte("implicit-midpoint")


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(n, marks=pytest.mark.slow) if n in ("newmark", "implicit-midpoint") else n
        for n in IMPLICIT
    ],
)
def test_a_restart_does_not_change_a_byte(name: str) -> None:
    whole = scene(name)
    states = []
    for _ in range(FRAMES):
        states.append({key: np.array(value) for key, value in whole.state().items()})
        whole.advance()
    for frame in (1, 3, 5):
        resumed = scene(name)
        resumed.restore(frame, states[frame])
        for _ in range(FRAMES - frame):
            resumed.advance()
        assert digest(resumed) == digest(whole), frame
