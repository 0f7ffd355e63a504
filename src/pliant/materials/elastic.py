"""Isotropic elasticity: any two of E, nu, G, lambda, K give all the others.

E is Young's modulus [Pa], nu Poisson's ratio, G the shear modulus [Pa] (the same as Lamé's mu), lambda
Lamé's first parameter [Pa], K the bulk modulus [Pa]. Plain functions of plain numbers, no range checks.
"""


def shear_modulus(young: float, poisson: float) -> float:
    """The shear modulus G = E / (2 (1 + nu)) [Pa]."""
    return young / (2.0 * (1.0 + poisson))


def bulk_modulus(young: float, poisson: float) -> float:
    """The bulk modulus K = E / (3 (1 - 2 nu)) [Pa]."""
    return young / (3.0 * (1.0 - 2.0 * poisson))


def lame_parameters(young: float, poisson: float) -> tuple[float, float]:
    """Lamé's parameters lambda = E nu / ((1 + nu) (1 - 2 nu)) and mu = G [Pa]."""
    first = young * poisson / ((1.0 + poisson) * (1.0 - 2.0 * poisson))
    return first, shear_modulus(young, poisson)


def p_wave_modulus(young: float, poisson: float) -> float:
    """The modulus of compression without sideways motion, M = lambda + 2 mu [Pa]."""
    first, mu = lame_parameters(young, poisson)
    return first + 2.0 * mu


def poisson_from_young_shear(young: float, shear: float) -> float:
    """Poisson's ratio nu = E / (2 G) - 1."""
    return young / (2.0 * shear) - 1.0


def young_from_shear_poisson(shear: float, poisson: float) -> float:
    """Young's modulus E = 2 G (1 + nu) [Pa]."""
    return 2.0 * shear * (1.0 + poisson)


def young_poisson_from_bulk_shear(bulk: float, shear: float) -> tuple[float, float]:
    """(E, nu) with E = 9 K G / (3 K + G), nu = (3 K - 2 G) / (2 (3 K + G))."""
    total = 3.0 * bulk + shear
    return 9.0 * bulk * shear / total, (3.0 * bulk - 2.0 * shear) / (2.0 * total)
