"""Beams of finite elements against the elastica: large deflections, and how errors fall with the mesh."""

import numpy as np
import pytest

from pliant.validation.cases_beams import elastica, own_weight, rolled


def test_elastica_has_the_known_deflections() -> None:
    """Own weight: q L^3/EI = 1, 5, 10, 20; a tip load P L^2/EI = 1, 5, 10 (Mattiasson's tables)."""
    for weight, drop in ((1.0, 0.12347), (5.0, 0.49591), (10.0, 0.70020), (20.0, 0.82988)):
        assert elastica(weight=weight)[0] == pytest.approx(drop, abs=1e-5)
    for load, drop, short in ((1.0, 0.30172, 0.05643), (5.0, 0.71379, 0.38763), (10.0, 0.81061, 0.55500)):
        assert elastica(tip=load) == pytest.approx((drop, short), abs=1e-5)


def test_linear_tets_converge_to_the_elastica_at_second_order() -> None:
    """Drop under its own weight at q L^3/EI = 1: halving the tets divides the error by four."""
    exact = elastica(weight=1.0)[0] * (1 + 0.0017)  # with shear and stretch of L / t = 20, as refined
    errors = [1.0 - own_weight("fem", 1.0, fine) / exact for fine in (3, 6)]
    assert errors[1] < 0.08
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.3)


@pytest.mark.parametrize("weight", [1.0, pytest.param(20.0, marks=pytest.mark.slow)])
def test_quadratic_tets_are_on_the_elastica(weight: float) -> None:
    """20 of them along the beam, 1 across: within half a percent, stretch and shear included."""
    assert own_weight("fem/quadratic", weight) == pytest.approx(elastica(weight=weight)[0], rel=5e-3)


@pytest.mark.slow
def test_a_moment_rolls_a_beam_up_to_a_full_circle() -> None:
    """Quadratic tets, 20 x 1 x 1 cells: M = 2 pi EI / L turns the tip by 360 degrees and brings it back to
    the clamp, whose reaction is the moment."""
    torque, angle, tip = rolled("fem/quadratic")
    assert torque == pytest.approx(2.0 * np.pi, rel=1e-4)
    assert angle == pytest.approx(2.0 * np.pi, rel=0.03)
    assert np.linalg.norm(tip - [0.0, 0.025, 0.025]) < 0.02


def test_pure_bending_converges_to_a_quarter_circle_at_second_order() -> None:
    """Linear tets 4 and 8 thick at M = EI / L pi / 2, beside quadratic ones, which are 0.4 % off."""
    exact = rolled("fem/quadratic", 0.25, 2)[1]
    assert exact == pytest.approx(0.5 * np.pi, rel=5e-3)
    errors = [1.0 - rolled("fem", 0.25, 2, fine)[1] / exact for fine in (4, 8)]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.3)
