"""The gradient behind the volume constraint is the derivative of the enclosed volume."""

import numpy as np
import pytest

from pliant.actions.volume_projections import volume_and_gradient
from pliant.mesh.shapes import icosphere


def test_gradient_is_the_derivative_of_the_volume() -> None:
    surface = icosphere(0.5, subdivisions=1).surface()
    x = surface.points * [1.0, 1.3, 0.8] + [0.2, -0.1, 0.4]
    gradient, other = np.zeros_like(x), np.zeros_like(x)
    volume = volume_and_gradient(surface.triangles, x, 0.1, 0.2, 0.3, gradient)
    h = 1e-6
    for i, c in ((0, 0), (3, 1), (7, 2), (11, 0), (20, 1), (41, 2)):
        ahead, behind = x.copy(), x.copy()
        ahead[i, c] += h
        behind[i, c] -= h
        up = volume_and_gradient(surface.triangles, ahead, 0.1, 0.2, 0.3, other)
        down = volume_and_gradient(surface.triangles, behind, 0.1, 0.2, 0.3, other)
        assert gradient[i, c] == pytest.approx((up - down) / (2 * h), rel=1e-6, abs=1e-9)
    assert np.abs(gradient.sum(axis=0)).max() < 1e-14  # moved as a whole it keeps its volume
    assert np.sum(gradient * (x - [0.1, 0.2, 0.3])) == pytest.approx(3.0 * volume)
