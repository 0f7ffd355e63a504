"""``fit``: parameters of a scene from measured curves, and how well the test determines them."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from pliant.calibration.identifiability import Identifiability, identifiability
from pliant.calibration.intervals import profile_intervals
from pliant.calibration.measurements import MeasuredCurve, Measurements
from pliant.calibration.parameters import FitParameter, fit_parameters, values_at
from pliant.calibration.problem import CalibrationProblem
from pliant.calibration.search import PASSES, Show, best_refined, loss_for, noise_share_of, refined
from pliant.campaign.executors import executor
from pliant.campaign.executors.base import Executor
from pliant.campaign.plan import AnyScene, base_scene
from pliant.campaign.points import Variation
from pliant.campaign.points import vary as read_range
from pliant.campaign.resolved_scene import scene_at, units_of_keys
from pliant.core.errors import InputError
from pliant.core.option_names import option
from pliant.core.tables import Table, TableView
from pliant.core.typing import Array
from pliant.run.series_units import units_in_scene
from pliant.scene.override import Override
from pliant.scene.to_toml import to_table_of, toml_value


@dataclass(frozen=True)
class FittedParameter:
    """A parameter after a fit, in SI; low, high: the interval of 95 %, None where the range ends before.

    determined: whether the test determines it; if not, ``value`` is only where the search ended.
    """

    key: str
    value: float
    low: float | None
    high: float | None
    unit: str
    determined: bool


@dataclass
class FitResult:
    """The result of a fit.

    curves: measured ones; predicted: the fit at the same places, the held-out ones last; noise: standard
    deviation of each curve's residual, in its unit; rms: of the residual over the size of all curves.
    """

    parameters: list[FittedParameter]
    curves: list[MeasuredCurve]
    held_out: list[MeasuredCurve]
    predicted: list[Array]
    noise: list[float]
    rms: float
    identifiability: Identifiability
    evaluations: int
    starts: list[Table]
    toml: str
    model: str = ""
    frozen: Table = field(default_factory=dict)

    def __getitem__(self, key: str) -> FittedParameter:
        """A parameter by its key or the last part of it."""
        for parameter in self.parameters:
            if key in (parameter.key, parameter.key.rpartition(".")[2]):
                return parameter
        raise KeyError(key)

    @property
    def at_ends(self) -> list[str]:
        """Sentences on parameters that are at an end of their range."""
        found = []
        for each in self.parameters:
            if each.determined and (each.low is None or each.high is None):
                found.append(f"{each.key} reaches the end of its range: widen it.")
        return found

    @property
    def noise_share(self) -> float:
        """Standard deviation of the residuals over the size of the curves; outliers count as three of it."""
        return self.noise[0] / self.curves[0].scale

    @property
    def aic(self) -> float:
        """Akaike's criterion ``n ln(s^2) + 2 p``, s the noise share: of two models the lower one describes
        the data better. (The root mean square of all residuals is not what a robust fit makes small.)"""
        count = sum(len(curve.y) for curve in self.curves)
        return float(count * np.log(max(self.noise_share, 1e-15) ** 2) + 2 * len(self.parameters))

    def held_out_rms(self) -> float | None:
        """Root mean square error of the held-out curves over their size; None where there is none."""
        if not self.held_out:
            return None
        pairs = zip(self.held_out, self.predicted[len(self.curves) :], strict=True)
        squares = [((y - curve.y) / curve.scale) ** 2 for curve, y in pairs]
        return float(np.sqrt(np.mean(np.concatenate(squares))))

    def table(self) -> Any:
        """The parameters as a pandas DataFrame."""
        import pandas

        return pandas.DataFrame([vars(parameter) for parameter in self.parameters])

    def to_dict(self) -> Table:
        """Plain numbers and texts, for JSON."""
        return {
            "model": self.model,
            "parameters": [dict(vars(parameter)) for parameter in self.parameters],
            "not_determined": list(self.identifiability.sentences),
            "singular_values": self.identifiability.singular_values.tolist(),
            "noise": {curve.text: noise for curve, noise in zip(self.curves, self.noise, strict=True)},
            "rms": self.rms,
            "noise_share": self.noise_share,
            "held_out_rms": self.held_out_rms(),
            "aic": self.aic,
            "evaluations": self.evaluations,
            "frozen": self.frozen,
            "starts": self.starts,
            "toml": self.toml,
        }

    def report(self, path: str | os.PathLike[str]) -> Path:
        """Write one HTML page: what is determined, parameters, curves, residuals; gives its path."""
        from pliant.calibration.report import write_fit_report

        return write_fit_report([self], Path(path))


def fit(
    scene: AnyScene,
    data: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] | Measurements,
    match: str | Sequence[str],
    vary: Sequence[Variation] | TableView = (),
    *,
    held_out: str | Sequence[str] = (),
    model: Any = None,
    starts: int | None = None,
    refine: int = 2,
    on: str | Executor = "local",
    threads: int | None = None,
    changes: Sequence[Override] = (),
    progress: Show | None = None,
) -> FitResult:
    """Find the parameters with which ``scene`` reproduces measured curves.

    data: CSV files; match: "grip.x=F@t" compares the series grip.x with column F over column t (time),
    "grip.x=F@u:tip.x" over another series. vary: ranges by scene key, "10 kPa..10 MPa:log". held_out: curves
    that are predicted only. model: for all bodies, instead of the scene's. starts: points of a Sobol sequence
    to begin with, of which the best ``refine`` are refined.
    """
    show = progress or (lambda text: None)
    measured = data if isinstance(data, Measurements) else Measurements(_paths(data))
    curves = [measured.curve(text) for text in ([match] if isinstance(match, str) else match)]
    beside = [
        measured.curve(text, "held-out") for text in ([held_out] if isinstance(held_out, str) else held_out)
    ]
    if not curves:
        raise InputError("Nothing to match.", hint=f"Add {option('match', 'SERIES=COLUMN@COLUMN')}")
    named = [
        *changes,
        *([Override("bodies.*.model", model, option("model", model))] if model is not None else []),
    ]
    if isinstance(scene, (str, os.PathLike)):
        base = base_scene(scene, named)
    else:
        base = base_scene(scene)
        if named:
            base.text = base_scene_text(base.text, named)
    ranges = _variations(vary)
    units = units_of_keys(base.text, {each.key: float(each.low) for each in ranges})
    parameters = fit_parameters(ranges, units)
    for share in (0.5, 0.37):  # wrong keys first, and those that take whole numbers
        scene_at(base.text, {p.key: p.value(p.at_share(share)) for p in parameters}, base.name)
    _check_data(base.text, [*curves, *beside], parameters)
    place = on if isinstance(on, Executor) else executor(on, threads)
    try:
        problem = CalibrationProblem(base.text, parameters, curves, place, beside)
        result = _search(problem, starts or max(8, 8 * len(parameters)), refine, show)
        result.model = "" if model is None else model if isinstance(model, str) else toml_value(model)
        return result
    finally:
        if place is not on:
            place.close()


def base_scene_text(text: str, changes: Sequence[Override]) -> str:
    """A resolved scene with more changes."""
    from pliant.campaign.resolved_scene import resolved_text
    from pliant.scene.load import parse

    return resolved_text(parse(text, Path(), "scene", overrides=changes))


def _check_data(text: str, curves: Sequence[MeasuredCurve], parameters: Sequence[FitParameter]) -> None:
    """InputError where a column has another unit than its series, or goes on after the scene ends."""
    time = scene_at(text, {}).time
    lasts = not any(parameter.key.startswith("time.") for parameter in parameters)
    for curve in curves:
        for formula, unit in ((curve.formula, curve.unit), (curve.abscissa, curve.x_unit)):
            own = units_in_scene(text, [formula]).get(formula, "")
            if unit and own and unit != own:
                raise InputError(
                    f"{curve.text}: the data is in {unit}, {formula} in {own}.",
                    hint=f"Convert one of them with a formula, as in {formula} / 4e-4 for a face of 4 cm2.",
                )
        end = float(curve.x.max())
        if curve.abscissa == "time" and lasts and end > time.duration + 1.0 / time.fps:
            raise InputError(
                f"{curve.text}: the data ends at {end:g} s, the scene at {time.duration:g} s.",
                hint="Lengthen time.duration, or give the column of times its unit: t [ms].",
            )


def _paths(data: str | os.PathLike[str] | Sequence[str | os.PathLike[str]]) -> list[Path]:
    return [Path(data)] if isinstance(data, (str, os.PathLike)) else [Path(file) for file in data]


def _variations(given: Sequence[Variation] | TableView) -> list[Variation]:
    if isinstance(given, Mapping):
        return [read_range(key, value) for key, value in given.items()]
    return list(given)


def _search(problem: CalibrationProblem, starts: int, refine: int, show: Show) -> FitResult:
    """Sobol starts, the best of them refined with frozen steps, noise estimated, intervals."""
    best, tried, frozen = best_refined(problem, starts, refine, show)
    loss = loss_for(problem.residual(best))
    for _ in range(PASSES):
        problem.weights = problem.weights / noise_share_of(problem, best, loss)
        best, _ = refined(problem, best, loss)
    problem.weights = problem.weights / noise_share_of(problem, best, loss)
    jacobian, residual = problem.jacobian(best), problem.residual(best)
    found = identifiability(jacobian, problem.parameters)
    for sentence in found.sentences:
        show(sentence)
    show("intervals")
    intervals = profile_intervals(problem, best, jacobian, residual)
    return _result(problem, best, found, intervals, tried, frozen)


def _result(
    problem: CalibrationProblem, best: Array, found: Identifiability,
    intervals: Sequence[tuple[float | None, float | None]], tried: list[Table], frozen: Table,
) -> FitResult:  # fmt: skip
    fitted = []
    for k, parameter in enumerate(problem.parameters):
        low, high = (None if z is None else parameter.value(float(z)) for z in intervals[k])
        value = parameter.value(float(best[k]))
        fitted.append(FittedParameter(parameter.key, value, low, high, parameter.unit, found.determined[k]))
    (predicted,) = problem.predictions([best])
    assert predicted is not None
    curves = list(problem.curves)
    plain = [(y - c.y) / c.scale for c, y in zip(curves, predicted, strict=False)]
    noise = [float(c.scale / w) for c, w in zip(curves, problem.weights, strict=True)]
    return FitResult(
        parameters=fitted, curves=curves, held_out=list(problem.held_out), predicted=predicted, noise=noise,
        rms=float(np.sqrt(np.mean(np.concatenate(plain) ** 2))), identifiability=found,
        evaluations=problem.evaluations, starts=tried, toml=_toml(problem, best, fitted), frozen=frozen,
    )  # fmt: skip


def _toml(problem: CalibrationProblem, best: Array, fitted: Sequence[FittedParameter]) -> str:
    """The bodies' materials and models to paste into a scene; what is not determined is a comment."""
    found = values_at(problem.parameters, best)
    values = {p.key: float(f"{found[p.key]:.5g}") for p in fitted if p.determined}
    before = to_table_of(scene_at(problem.text, {}))["bodies"]
    lines = []
    for body, old in zip(to_table_of(scene_at(problem.text, values))["bodies"], before, strict=True):
        changed = [key for key in ("material", "model") if body.get(key) != old.get(key)]
        if changed:
            lines.append(f"# body {body['name']}")
            lines += [f"{key} = {toml_value(body[key])}" for key in changed]
    lines += [f"# not determined by this test: {p.key}" for p in fitted if not p.determined]
    others = [key for key in values if not key.startswith("bodies.")]
    lines += [f"# --set {key}={values[key]!r}" for key in others]
    return "\n".join(lines) + "\n"


def compare_models(models: Sequence[Any], **given: Any) -> list[FitResult]:
    """Fits of several models to the same data, the best description of it (lowest AIC) first."""
    return sorted((fit(model=model, **given) for model in models), key=lambda result: result.aic)
