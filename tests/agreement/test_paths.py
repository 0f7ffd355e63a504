"""Paths at many times against each of them."""

import numpy as np
import pytest

from pliant.core.curves import Curve


@pytest.mark.parametrize("ease", ["linear", "smooth"])
def test_a_path_at_many_times_has_the_bytes_of_each(ease: str) -> None:
    some = np.random.default_rng(1)
    curve = Curve(list(np.cumsum(some.random(50) + 0.01)), some.random((50, 3)), ease)
    for times in (np.linspace(-1.0, 40.0, 33), np.linspace(9.0, 9.5, 7), np.array([3.0]), np.zeros(3)):
        np.testing.assert_array_equal(curve.at_all(times), [curve.at(float(t)) for t in times])
