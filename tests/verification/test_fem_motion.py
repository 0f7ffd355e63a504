"""Finite elements in motion, with explicit steps: sudden loads, recovery, conservation."""

from typing import Any

import numpy as np
import pytest
from bodies import MATERIAL, block, shaken, simulate, values
from scipy.optimize import minimize

import pliant as pl
from pliant.core.where import plane


def test_suddenly_loaded_bar_overshoots_to_twice_its_static_stretch() -> None:
    """The wave comes back from the clamp: the end reaches 2 F L / (E A) at t = 2 L / c, and 0 at 4 L / c."""
    length, force = 2.0, 1.0
    body = block((20, 2, 2), model="fem", material=MATERIAL | {"poisson": 0.0})
    actions = [
        pl.Fix(body, plane("x", "min"), axes="x"),
        pl.Force(body, plane("x", "max"), value=(force, 0, 0)),
    ]
    simulation = simulate([body], actions, seconds=0.005, fps=200.0)
    world = simulation.system.world
    end = world.rest[:, 0] > length - 1e-9
    stretch = []
    for _ in range(180):
        simulation.advance()
        stretch.append((world.x[end, 0] - world.rest[end, 0]).mean())
    static = force * length / (1e5 * 0.2**2)
    assert max(stretch) / static == pytest.approx(2.0, rel=0.03)
    assert np.argmax(stretch[:100]) * 0.005 == pytest.approx(2 * length / 10.0, rel=0.03)
    assert min(stretch[100:]) < 0.05 * static


@pytest.mark.parametrize("law", ["corotational", "st-venant-kirchhoff", "neo-hookean"])
def test_a_free_spinning_body_keeps_momenta_and_energy(law: str) -> None:
    body = block((4, 2, 2), model={"type": "fem", "law": law}, velocity=(1, 0.5, 0), spin=(5, 8, 20))
    simulation = simulate([body], [], seconds=0.02, step=1e-4)
    start = values(simulation)
    for _ in range(50):
        simulation.advance()
    end = values(simulation)
    for kind in ("momentum", "angular"):
        before = np.array([start[f"{kind}.{axis}"] for axis in "xyz"])
        after = np.array([end[f"{kind}.{axis}"] for axis in "xyz"])
        assert np.abs(after - before).max() < 1e-10 * np.linalg.norm(before)
    total = [row["energy.kinetic"] + row["energy.elastic"] for row in (start, end)]
    assert total[1] == pytest.approx(total[0], rel=1e-4)


def moved(mechanics: Any, structure: Any, x: Any) -> Any:
    """Where leapfrog steps with damping lead."""
    v, f, mass = np.zeros_like(x), np.zeros_like(x), structure.mass[:, None]
    dt = 0.3 * mechanics.stable_step().seconds
    for _ in range(8000):
        f.fill(0.0)
        mechanics.add_forces(x, v, f)
        v = (v + dt * f / mass) / (1.0 + 4.0 * dt)
        x = x + dt * v
    return x


def minimised(mechanics: Any, structure: Any, x: Any) -> Any:
    """Where the energy alone leads, downhill."""
    still, scale = np.zeros_like(x), mechanics.energy(x)

    def energy(u: Any) -> tuple[float, Any]:
        out = np.zeros_like(x)
        mechanics.add_forces(u.reshape(-1, 3), still, out)
        return mechanics.energy(u.reshape(-1, 3)) / scale, -out.ravel() / scale

    options = {"maxiter": 5000, "maxfun": 10000, "ftol": 0.0, "gtol": 1e-11}
    return minimize(energy, x.ravel(), jac=True, method="L-BFGS-B", options=options).x.reshape(-1, 3)


def recovered(law: str, start: Any) -> float:
    """How far from its rest shape, moved and turned as it likes, a block ends up, over its size."""
    material, model = MATERIAL | {"poisson": 0.4}, {"type": "fem", "law": law}
    body = block((3, 2, 2), model=model, material=material, split="uniform")
    structure = body.structure()
    mechanics = body.model.prepare(structure, body.resolved_material)
    follow = moved if law == "corotational" else minimised  # neo-Hookean: too stiff far from rest
    x = follow(mechanics, structure, start(structure.rest))
    a, b = x - x.mean(axis=0), structure.rest - structure.rest.mean(axis=0)
    u, _, w = np.linalg.svd(a.T @ b)
    turn = u @ np.diag([1, 1, np.linalg.det(u @ w)]) @ w
    return float(np.abs(a - b @ turn.T).max() / 0.3)


STARTS: dict[str, Any] = {
    "upside down": lambda x: -x,
    "mirrored": lambda x: x * [1, 1, -1],
    "flat": lambda x: x * [1, 1, 0],
    "thrown about": lambda x: shaken(x, 0.3),
}


@pytest.mark.parametrize("law", ["corotational", "neo-hookean"])
@pytest.mark.parametrize("start", list(STARTS))
def test_a_body_recovers_its_rest_shape(law: str, start: str) -> None:
    for seed in range(3):
        assert recovered(law, lambda x, seed=seed: STARTS[start](shaken(x, 1e-3, seed=seed))) < 1e-3
