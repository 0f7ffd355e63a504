"""The search of a fit: Sobol starts, the best ones refined by bounded least squares, the noise estimated."""

from collections.abc import Callable
from typing import Literal

import numpy as np

from pliant.calibration.evaluation import frozen_time
from pliant.calibration.parameters import values_at
from pliant.calibration.problem import FAR, CalibrationProblem
from pliant.campaign.points import label, sobol
from pliant.core.errors import InputError
from pliant.core.option_names import option
from pliant.core.tables import Table
from pliant.core.typing import Array

MARGIN = 0.5  # of the automatic explicit step: room for a body that is four times as stiff
ROBUST = 3.0  # residuals beyond so many standard deviations count less (soft_l1)
OUTLIERS = 0.1  # share of residuals beyond three standard deviations above which they are no outliers
PASSES = 2  # of estimating the noise and fitting again
POOR, ROUNDS = 0.1, 3  # median residual over the size of the curves that asks for more starts; how often
CLIPS = 3  # rounds of leaving outliers out of the noise
Show = Callable[[str], object]
Loss = Literal["linear", "soft_l1"]


def best_refined(
    problem: CalibrationProblem, starts: int, refine: int, show: Show
) -> tuple[Array, list[Table], Table]:
    """The best of the refined starts, all that were refined, and the frozen step and integrator.

    Where even the best one misses the curves by more than ``POOR`` of their size, it may be a local minimum
    (a vibration that is one period off): the sequence of starts goes on, twice as long each time.
    """
    parameters, tried, frozen = problem.parameters, list[Table](), Table()
    best, lowest, done = np.empty(0), np.inf, 0
    while done < starts * 2**ROUNDS:
        count = starts if done == 0 else 2 * done
        rows = sobol(len(parameters), count)[done:]
        first = [
            np.array([p.at_share(share) for p, share in zip(parameters, row, strict=True)]) for row in rows
        ]
        show(f"{count} starts")
        costs = [float(np.mean(r**2)) for r in problem.residuals(first)]
        order = np.argsort(costs)
        if not frozen:
            if costs[order[0]] >= FAR**2:
                raise InputError(
                    f"No start of the fit runs to its end: {problem.last_failure}",
                    hint=f"Narrow the ranges of {option('vary')}.",
                )
            frozen = _frozen(problem, first[order[0]])
            problem.freeze(dict(frozen))
        for number in order[: max(1, refine)]:
            show(f"refining from {label(values_at(parameters, first[number]))}")
            place, cost = refined(problem, first[number])
            tried.append({**values_at(parameters, place), "cost": cost})
            if cost < lowest:
                best, lowest = place, cost
        done = count
        if float(np.median(np.abs(problem.residual(best)))) < POOR:
            break
    return best, tried, frozen


def _frozen(problem: CalibrationProblem, place: Array) -> Table:
    """Step and integrator of the best start."""
    item = {"text": problem.text, "values": values_at(problem.parameters, place)}
    (found,) = problem.executor.gather(frozen_time, [item])
    if found.pop("explicit"):
        found["time.step"] *= MARGIN
    known: Table = found
    return known


def loss_for(residual: Array) -> Loss:
    """The robust loss, except where so many residuals are far off that the model misses the data: the fit is
    then the plain least squares one, which a model with more parameters never makes worse."""
    usual = 1.4826 * float(np.median(np.abs(residual)))
    far = float(np.mean(np.abs(residual) > 3.0 * usual))
    return "linear" if far > OUTLIERS and usual > 0 else "soft_l1"


def refined(problem: CalibrationProblem, start: Array, loss: Loss = "soft_l1") -> tuple[Array, float]:
    """Bounded trust-region least squares; place and cost."""
    from scipy.optimize import least_squares

    low, high = np.array([p.bounds for p in problem.parameters]).T
    inside = np.clip(start, low + 1e-6 * (high - low), high - 1e-6 * (high - low))
    weighted = bool(np.any(problem.weights != 1.0))
    found = least_squares(
        problem.residual, inside, problem.jacobian, bounds=(low, high), method="trf", loss=loss,
        f_scale=ROBUST if weighted else 0.3, xtol=1e-5, ftol=1e-7, gtol=1e-8, max_nfev=30, x_scale=1.0,
    )  # fmt: skip
    return np.asarray(found.x, float), float(found.cost)


def noise_share_of(problem: CalibrationProblem, place: Array, loss: Loss) -> Array:
    """Standard deviation of the weighted residuals, for each curve.

    The noise is taken to be the same share of every curve's size: with a noise for each curve a law that
    cannot describe all of them would fit one and give up the others. Outliers count as three standard
    deviations.
    """
    residual = problem.residual(place)
    freedom = max(1, len(residual) - len(place))
    share = 1.4826 * float(np.median(np.abs(residual)))
    if loss == "soft_l1" and share > 0:
        for _ in range(CLIPS):  # the median of few residuals may be far too small: judge by what follows
            clipped = np.clip(residual, -3.0 * share, 3.0 * share)
            share = float(np.sqrt(np.sum(clipped**2) / freedom))
    else:
        share = float(np.sqrt(np.sum(residual**2) / freedom))
    found: Array = np.maximum(share, 1e-5 * problem.weights)  # no finer than runs repeat each other
    return found
