"""The correction for nonlinear forces: nothing for linear ones, fourth order for others."""

import numpy as np
import pytest

from pliant.core.typing import Array
from pliant.simulation.nonlinear_correction import NonlinearCorrection


def test_linear_forces_need_none() -> None:
    """For a symmetric stiffness the sum vanishes, however the particles are moved."""
    random = np.random.default_rng(3)
    half = random.normal(size=(30, 30))
    stiffness, x = half + half.T, random.normal(size=(10, 3))
    found = NonlinearCorrection()
    found.open(x, (stiffness @ x.ravel()).reshape(-1, 3))
    size = 0.0
    for _ in range(50):
        step = random.normal(size=(10, 3))
        x = x + step
        force = (stiffness @ x.ravel()).reshape(-1, 3)
        found.add_step(x, force)
        size += abs(float(np.sum(step * force)))
    assert abs(found.energy) < 1e-12 * size


def forces(x: Array) -> tuple[Array, float]:
    """Those of a chain of stiffening springs between fixed ends, and its energy."""
    stretch = np.diff(x, axis=0, prepend=0.0, append=0.0)
    tension = stretch + 4.0 * stretch**3
    return np.diff(tension, axis=0), float(np.sum(0.5 * stretch**2 + stretch**4))


def drift(dt: float, corrected: bool) -> float:
    """Largest change of the total over ten periods of the slowest motion, from when sums have settled on."""
    sites = np.arange(1, 17)[:, None]
    x = np.sin(np.pi * sites / 17.0) * np.array([[1.0, 0.6, -0.8]])
    v = np.zeros_like(x)
    found, totals = NonlinearCorrection(), []
    f, _ = forces(x)
    found.open(x, f)
    for _ in range(round(400.0 / dt)):
        v = v + 0.5 * dt * f
        x = x + dt * v
        f, stored = forces(x)
        v = v + 0.5 * dt * f
        found.add_step(x, f)
        total = 0.5 * float(np.sum(v**2)) + stored - dt**2 / 8.0 * float(np.sum(f**2))
        totals.append(total + (found.energy if corrected else 0.0))
    later = np.array(totals[round(10.0 / dt) :])
    return float(np.abs(later - later[0]).max() / later[0])


def test_what_is_left_is_of_high_order() -> None:
    """Half the step leaves a quarter of the drift without the correction, and a sixteenth with it."""
    assert drift(0.4, corrected=False) / drift(0.2, corrected=False) == pytest.approx(4.0, rel=0.2)
    assert drift(0.4, corrected=True) / drift(0.2, corrected=True) == pytest.approx(16.0, rel=0.2)
    assert drift(0.2, corrected=True) < 0.003 * drift(0.2, corrected=False)
