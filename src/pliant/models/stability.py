"""The largest stable explicit step of a body, measured on its own forces."""

from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.protocols import StableStep, Structure
from pliant.typing import Array

if TYPE_CHECKING:
    from pliant.protocols import Mechanics


def highest_frequency(mechanics: "Mechanics", structure: Structure) -> float:
    """Highest angular frequency [rad/s] of small vibrations about the rest shape.

    Lanczos iteration on ``M^-1/2 K M^-1/2``; products with K are differences of forces, so any model
    has one. The start vector is fixed: the same body gives the same number.
    """
    from scipy.sparse.linalg import LinearOperator, eigsh

    x, n = structure.rest, 3 * len(structure.rest)
    root = 1.0 / np.sqrt(structure.mass)[:, None]
    still = np.zeros_like(x)
    ahead, behind = np.zeros_like(x), np.zeros_like(x)

    def product(u: Any) -> Any:
        step = root * np.asarray(u).reshape(-1, 3)
        scale = 1e-5 * structure.spacing / max(float(np.abs(step).max()), 1e-300)
        ahead.fill(0.0)
        behind.fill(0.0)
        mechanics.add_forces(x + scale * step, still, ahead)
        mechanics.add_forces(x - scale * step, still, behind)
        return (root * (behind - ahead) / (2.0 * scale)).ravel()

    if n < 30:
        matrix = np.column_stack([product(row) for row in np.eye(n)])
        top = float(np.linalg.eigvalsh(0.5 * (matrix + matrix.T))[-1])
    else:
        start = np.random.default_rng(0).standard_normal(n)
        operator: Any = LinearOperator((n, n), matvec=product, dtype=np.float64)
        top = float(
            eigsh(operator, k=1, which="LA", v0=start, tol=1e-2, ncv=20, return_eigenvectors=False)[0]
        )
    return float(np.sqrt(max(top, 0.0)))


def explicit_limit(mechanics: Any, structure: Structure, damping_time: float) -> StableStep:
    """``2/omega (sqrt(1 + z^2) - z)`` with ``z = beta omega`` for stiffness damping beta [s].

    That is the limit of leapfrog, whose velocity-dependent forces see a predicted velocity: overdamped modes
    go at ``beta omega^2 dt = 1``, at half the step that symplectic Euler would bear.
    """
    kept, mechanics.damping_time = mechanics.damping_time, 0.0
    try:
        omega = highest_frequency(mechanics, structure)
    finally:
        mechanics.damping_time = kept
    if omega <= 0.0:
        return StableStep(float("inf"), "the body has no stiffness")
    z = damping_time * omega
    seconds = 2.0 / omega * (np.sqrt(1.0 + z * z) - z)
    return StableStep(float(seconds), f"highest frequency {omega:.4g} rad/s")


def rest_force_scale(mechanics: "Mechanics", structure: Structure) -> float:
    """Largest internal force in the rest shape [N]: zero for a body that is at rest there."""
    out: Array = np.zeros_like(structure.rest)
    mechanics.add_forces(structure.rest, np.zeros_like(out), out)
    return float(np.abs(out).max())
