"""The largest stable explicit step of a body, measured on its own forces."""

from collections.abc import Callable
from typing import Any

import numpy as np

from pliant.core.typing import Array
from pliant.interfaces import Mechanics, StableStep, Structure

COSTLY = 3.0  # times the steps of an undamped body: reported from here on


def highest_frequency(mechanics: Mechanics, structure: Structure) -> float:
    """Highest angular frequency [rad/s] of small vibrations about the rest shape.

    Products with K are differences of forces, so any model has one.
    """
    x = structure.rest
    root = 1.0 / np.sqrt(structure.mass)[:, None]
    still = np.zeros_like(x)
    ahead, behind = np.zeros_like(x), np.zeros_like(x)

    def product(u: Array) -> Array:
        step = root * u
        scale = 1e-5 * structure.spacing / max(float(np.abs(step).max()), 1e-300)
        ahead.fill(0.0)
        behind.fill(0.0)
        mechanics.add_forces(x + scale * step, still, ahead)
        mechanics.add_forces(x - scale * step, still, behind)
        return np.asarray(root * (behind - ahead) / (2.0 * scale))

    return float(np.sqrt(max(_largest(product, len(x)), 0.0)))


def highest_damping(mechanics: Mechanics, structure: Structure) -> float:
    """Highest rate [1/s] at which internal damping slows motion down in the rest shape."""
    x = structure.rest
    root = 1.0 / np.sqrt(structure.mass)[:, None]
    out, still = np.zeros_like(x), np.zeros_like(x)
    mechanics.add_forces(x, np.zeros_like(x), still)

    def product(u: Array) -> Array:
        out.fill(0.0)
        mechanics.add_forces(x, root * u, out)
        return np.asarray(root * (still - out))

    return max(_largest(product, len(x)), 0.0)


def _largest(product: Callable[[Array], Array], count: int) -> float:
    """Largest eigenvalue of a symmetric operator on (count, 3), by Lanczos iteration.

    The start vector is fixed: the same body gives the same number.
    """
    from scipy.sparse.linalg import LinearOperator, eigsh

    n = 3 * count

    def flat(u: Any) -> Any:
        return product(np.asarray(u, float).reshape(-1, 3)).ravel()

    if n < 30:
        matrix = np.column_stack([flat(row) for row in np.eye(n)])
        return float(np.linalg.eigvalsh(0.5 * (matrix + matrix.T))[-1])
    start = np.random.default_rng(0).standard_normal(n)
    operator: Any = LinearOperator((n, n), matvec=flat, dtype=np.float64)
    return float(eigsh(operator, k=1, which="LA", v0=start, tol=1e-2, ncv=20, return_eigenvectors=False)[0])


def explicit_limit(mechanics: Mechanics, structure: Structure, damping_time: float = 0.0) -> StableStep:
    r"""Where leapfrog's fastest vibration changes its sign from step to step without decaying.

    .. math:: \omega^2 dt^2 + 4 c\,dt = 4, \qquad
              dt = \tfrac2\omega (\sqrt{1 + z^2} - z), \quad z = c / \omega,

    for vibrations of frequency :math:`\omega` damped at the rate c (:math:`\beta \omega^2` with stiffness
    damping beta), damping forces being taken at the velocity that the last force predicts.
    """
    omega = highest_frequency(mechanics, structure)  # at rest, where damping forces vanish
    if omega <= 0.0:
        return StableStep(float("inf"), "the body has no stiffness")
    if not damping_time:
        return StableStep(2.0 / omega, f"highest frequency {omega:.4g} rad/s")
    rate = highest_damping(mechanics, structure)
    z = rate / omega
    seconds = 2.0 / (omega * (np.sqrt(1.0 + z * z) + z))
    reason = f"highest frequency {omega:.4g} rad/s, damped at {rate:.4g} /s"
    more = 2.0 / omega / float(seconds)
    if more >= COSTLY:
        reason += f", which takes {more:.0f} times the steps; implicit steps or the action damping do not"
    return StableStep(float(seconds), reason)


def element_limit(stiffness: Array, structure: Structure, damping_time: float) -> StableStep:
    """``explicit_limit`` of the quickest tet alone: no assembly of them vibrates faster [Hughes1987]_.

    stiffness (m, 12, 12) [N/m] of the tets; each has a quarter of its mass at its corners.
    """
    from pliant.mesh.mesh import tet_volumes

    tets = structure.cells["tetra"]
    volumes = tet_volumes(structure.rest, tets)
    quarters = np.bincount(tets.ravel(), np.repeat(0.25 * volumes, 4), len(structure.rest))
    lightest = (structure.mass / quarters)[tets].min(axis=1) * 0.25 * volumes
    top = 0.0
    for start in range(0, len(tets), 4096):
        rows = slice(start, start + 4096)
        highest = np.linalg.eigvalsh(stiffness[rows])[:, -1]
        top = max(top, float((highest / lightest[rows]).max()))
    omega = float(np.sqrt(top))
    z = damping_time * omega
    seconds = 2.0 / omega * (np.sqrt(1.0 + z * z) - z)
    return StableStep(float(seconds), f"the fastest tet, {omega:.4g} rad/s, which may break loose")
