"""Conversions between the isotropic constants."""

import pytest

from pliant.materials import elastic

CONSTANTS = [(young, nu) for young in (1e3, 3e6, 2e11) for nu in (-0.9, -0.3, 0.1, 0.25, 0.45, 0.499)]


@pytest.mark.parametrize(("young", "poisson"), CONSTANTS)
def test_every_pair_leads_back_to_young_and_poisson(young: float, poisson: float) -> None:
    shear = elastic.shear_modulus(young, poisson)
    bulk = elastic.bulk_modulus(young, poisson)
    assert elastic.poisson_from_young_shear(young, shear) == pytest.approx(poisson, rel=1e-12)
    assert elastic.young_from_shear_poisson(shear, poisson) == pytest.approx(young, rel=1e-12)
    pair = elastic.young_poisson_from_bulk_shear(bulk, shear)
    assert pair == pytest.approx((young, poisson), rel=1e-12)


@pytest.mark.parametrize(("young", "poisson"), CONSTANTS)
def test_the_identities_between_the_moduli_hold(young: float, poisson: float) -> None:
    """K = lambda + 2/3 mu, M = K + 4/3 G, M = E (1 - nu) / ((1 + nu) (1 - 2 nu))."""
    first, mu = elastic.lame_parameters(young, poisson)
    bulk = elastic.bulk_modulus(young, poisson)
    modulus = elastic.p_wave_modulus(young, poisson)
    assert mu == elastic.shear_modulus(young, poisson)
    assert bulk == pytest.approx(first + 2 * mu / 3, rel=1e-12)
    assert modulus == pytest.approx(bulk + 4 * mu / 3, rel=1e-12)
    assert modulus == pytest.approx(young * (1 - poisson) / ((1 + poisson) * (1 - 2 * poisson)), rel=1e-12)


def test_textbook_values() -> None:
    """nu = 1/4 makes lambda = mu = 0.4 E, M = 1.2 E."""
    assert elastic.lame_parameters(1.0, 0.25) == pytest.approx((0.4, 0.4), rel=1e-15)
    assert elastic.p_wave_modulus(1.0, 0.25) == pytest.approx(1.2, rel=1e-15)
