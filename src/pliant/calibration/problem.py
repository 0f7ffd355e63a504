"""Residuals of measured curves and their Jacobian, by runs on an executor."""

from collections.abc import Sequence

import numpy as np

from pliant.calibration.evaluation import evaluate
from pliant.calibration.matching import MeasuredCurve
from pliant.calibration.parameters import FitParameter, values_at
from pliant.campaign.executors.base import Executor
from pliant.core.errors import InputError
from pliant.core.tables import Table
from pliant.core.typing import Array

STEP = 3e-3  # of a central difference, on the scale of the parameters
FAR = 10.0  # residual of a run that diverged, in sizes of the curve


class CalibrationProblem:
    """Residuals ``(simulated - measured) / scale`` of all curves as a function of the parameters' places.

    fixed: overrides of the scene beside the parameters (model, step, integrator). weights: 1 over the
    standard deviation of each curve's noise, in units of its scale.
    """

    def __init__(
        self,
        text: str,
        parameters: Sequence[FitParameter],
        curves: Sequence[MeasuredCurve],
        executor: Executor,
        held_out: Sequence[MeasuredCurve] = (),
    ) -> None:
        self.text, self.parameters, self.curves, self.executor = text, parameters, curves, executor
        self.held_out = held_out
        self.fixed: Table = {}
        self.weights = np.ones(len(curves))
        self.evaluations, self.last_failure = 0, ""
        self._known: dict[bytes, list[Array] | None] = {}

    def freeze(self, fixed: Table) -> None:
        """Use these overrides from now on."""
        self.fixed = fixed
        self._known.clear()

    def predictions(self, places: Sequence[Array]) -> list[list[Array] | None]:
        """Simulated values at the measured places for each curve, the held-out ones last; None where a run
        diverged. What was computed before is not computed again."""
        unknown = {z.tobytes(): z for z in places if z.tobytes() not in self._known}
        every = [*self.curves, *self.held_out]
        pairs = [(curve.formula, curve.abscissa) for curve in every]
        items: list[Table] = [
            {"text": self.text, "values": {**self.fixed, **values_at(self.parameters, z)}, "curves": pairs}
            for z in unknown.values()
        ]
        for key, answer in zip(unknown, self.executor.gather(evaluate, items), strict=True):
            if "wrong" in answer:
                raise InputError(answer["wrong"])
            self.evaluations += 1
            self.last_failure = answer.get("failed", self.last_failure)
            found = answer.get("curves")
            if found is not None:
                found = [curve.predicted(x, y) for curve, (x, y) in zip(every, found, strict=True)]
                found = None if any(not np.isfinite(y).all() for y in found) else found
            self._known[key] = found
        return [self._known[z.tobytes()] for z in places]

    def residuals(self, places: Sequence[Array]) -> list[Array]:
        """Weighted residuals, one array for each set of places."""
        found = []
        for values in self.predictions(places):
            parts = []
            for k, curve in enumerate(self.curves):
                plain = FAR * np.ones(len(curve.y)) if values is None else (values[k] - curve.y) / curve.scale
                parts.append(plain * self.weights[k])
            found.append(np.concatenate(parts))
        return found

    def residual(self, place: Array) -> Array:
        return self.residuals([np.asarray(place, float)])[0]

    def jacobian(self, place: Array) -> Array:
        """Central differences, all columns at the same time."""
        place = np.asarray(place, float)
        low = np.array([p.bounds[0] for p in self.parameters])
        high = np.array([p.bounds[1] for p in self.parameters])
        ends = []
        for k in range(len(place)):
            for sign in (-1.0, 1.0):
                moved = place.copy()
                moved[k] = np.clip(moved[k] + sign * STEP, low[k], high[k])
                ends.append(moved)
        found = self.residuals(ends)
        columns = [
            (found[2 * k + 1] - found[2 * k]) / (ends[2 * k + 1][k] - ends[2 * k][k])
            for k in range(len(place))
        ]
        return np.stack(columns, axis=1)
