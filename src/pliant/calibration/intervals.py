"""Intervals of 95 % by profile likelihood: how far a parameter may move while the others follow.

The bound is where the sum of squares, in variances of the noise, has risen by the square of Student's t. The
others follow by chord steps with the Jacobian of the optimum, so that each try is one run; all parameters and
both sides go at the same time.
"""

from dataclasses import dataclass

import numpy as np

from pliant.calibration.identifiability import covariance
from pliant.calibration.problem import CalibrationProblem
from pliant.core.typing import Array

LEVEL = 0.95
TRIES, CHORDS = 5, 2
CLOSE = 0.05  # of the rise that counts as reached


@dataclass
class _Side:
    """One bound of one parameter while it is searched."""

    index: int
    sign: float
    distance: float
    start: Array
    place: Array
    end: float = 0.0
    found: bool = False
    open: bool = False


def profile_intervals(
    problem: CalibrationProblem, best: Array, jacobian: Array, residual: Array
) -> list[tuple[float | None, float | None]]:
    """Lower and upper place of each parameter; None where the range ends before the bound."""
    from scipy.stats import t as student

    count = len(best)
    freedom = max(1, len(residual) - count)
    rise = float(student.ppf(0.5 + LEVEL / 2, freedom)) ** 2
    spread = covariance(jacobian, problem.parameters)
    lowest = float(residual @ residual)
    sides = [
        _Side(k, sign, float(np.sqrt(rise * spread[k, k])), best, best)
        for k in range(count)
        for sign in (-1.0, 1.0)
    ]
    for _ in range(TRIES):
        active = [side for side in sides if not side.found and not side.open]
        if not active:
            break
        _follow(problem, active, best, jacobian, spread)
        for side, found in zip(active, problem.residuals([s.place for s in active]), strict=True):
            risen = max(float(found @ found) - lowest, 1e-12)
            side.end = side.distance
            if abs(risen / rise - 1.0) < CLOSE:
                side.found = True
            else:
                side.distance *= float(np.clip(np.sqrt(rise / risen), 0.3, 3.0))
                low, high = problem.parameters[side.index].bounds
                if not low <= best[side.index] + side.sign * side.distance <= high:
                    side.open = risen < rise
                    side.distance = min(side.distance, (high if side.sign > 0 else low) * side.sign
                                        - best[side.index] * side.sign)  # fmt: skip
    bounds = {(s.index, s.sign): None if s.open else best[s.index] + s.sign * s.distance for s in sides}
    return [(bounds[k, -1.0], bounds[k, 1.0]) for k in range(count)]


def _follow(
    problem: CalibrationProblem, sides: list[_Side], best: Array, jacobian: Array, spread: Array
) -> None:
    """Move the parameter of each side and let the others follow."""
    low = np.array([p.bounds[0] for p in problem.parameters])
    high = np.array([p.bounds[1] for p in problem.parameters])
    for side in sides:
        shift = spread[:, side.index] / spread[side.index, side.index] * side.sign * side.distance
        side.place = np.clip(best + shift, low, high)
    if len(best) == 1:
        return
    widths = np.array([p.width for p in problem.parameters])
    for _ in range(CHORDS):
        for side, found in zip(sides, problem.residuals([s.place for s in sides]), strict=True):
            others = np.arange(len(best)) != side.index
            part = jacobian[:, others]
            normal = part.T @ part + np.diag(12.0 / widths[others] ** 2)
            moved = side.place.copy()
            moved[others] -= np.linalg.solve(normal, part.T @ found)
            side.place = np.clip(moved, low, high)
