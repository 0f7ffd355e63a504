"""Small bodies and simulations that many tests use."""

from typing import Any, Literal

import numpy as np

from pliant.integrators import INTEGRATORS
from pliant.interfaces import ElasticConstraints, Integrator
from pliant.mesh.shapes import box
from pliant.scene import Body, Scene
from pliant.simulation.simulation import Simulation

MATERIAL = {"young": 1e5, "poisson": 0.3, "density": 1000.0}


def block(
    divisions: tuple[int, int, int] = (3, 2, 2),
    split: Literal["alternating", "uniform"] = "alternating",
    **options: Any,
) -> Body:
    """A structured block of 3 : 2 : 2 with an edge of 0.1 m per cell."""
    size = tuple(0.1 * n for n in divisions)
    options.setdefault("material", MATERIAL)
    return Body(box(*size, divisions=divisions, split=split), **options)


def model_for(integrator: str, usual: str = "mass-spring") -> str:
    """A model that the integrator can advance: the ``usual`` one, or what it needs."""
    scheme: Any = INTEGRATORS[integrator]
    return "efg" if ElasticConstraints in scheme.requires else usual


def simulate(
    bodies: list[Body],
    actions: list[Any],
    *,
    seconds: float,
    step: float | str = "auto",
    integrator: str | Integrator = "leapfrog",
    fps: float = 50.0,
    **options: Any,
) -> Simulation:
    """Run a scene in memory and return the Simulation at its last frame."""
    scene = Scene(bodies, actions, integrator=integrator, step=step, **options)
    scene.time = type(scene.time)(
        duration=seconds, fps=fps, step=scene.time.step, integrator=scene.time.integrator
    )
    simulation = scene.simulation()
    simulation.start()
    for _ in range(scene.time.frames() - 1):
        simulation.advance()
    return simulation


def values(simulation: Simulation) -> dict[str, float]:
    """Present values of the frame series."""
    return dict(zip(simulation.columns, simulation.row(), strict=True))


def shaken(x: np.ndarray, size: float, seed: int = 1) -> np.ndarray:  # type: ignore[type-arg]
    """``x`` with every coordinate moved by up to ``size``."""
    return x + np.random.default_rng(seed).uniform(-size, size, x.shape)
