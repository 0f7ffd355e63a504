"""The elastica: a slender, inextensible cantilever that bends as far as its loads take it."""

import numpy as np

from pliant.core.typing import Array


def elastica(weight: float = 0.0, tip: float = 0.0) -> tuple[float, float]:
    r"""Drop w and shortening u of the free end, over the length, of a beam clamped level.

    .. math:: \theta''(s) + (q (1 - s) + p) \cos\theta = 0, \qquad \theta(0) = 0,\; \theta'(1) = 0,

    with :math:`q = q_0 L^3 / EI` (``weight``) and :math:`p = P L^2 / EI` (``tip``), both acting downwards;
    then :math:`w/L = \int \sin\theta\,ds` and :math:`u/L = 1 - \int \cos\theta\,ds`.
    """
    from scipy.integrate import solve_bvp

    def slopes(s: Array, y: Array) -> Array:
        return np.stack([y[1], -(weight * (1.0 - s) + tip) * np.cos(y[0]), np.sin(y[0]), np.cos(y[0])])

    def ends(a: Array, b: Array) -> Array:
        return np.array([a[0], b[1], a[2], a[3]])

    s = np.linspace(0.0, 1.0, 101)
    guess = np.stack([np.sin(0.5 * np.pi * s), np.cos(0.5 * np.pi * s), s**2, s])
    found = solve_bvp(slopes, ends, s, guess, tol=1e-8, max_nodes=100000)
    if not found.success:
        raise ArithmeticError(f"no elastica for weight {weight:g}, tip load {tip:g}: {found.message}")
    return float(found.y[2, -1]), 1.0 - float(found.y[3, -1])
