"""The page of a fit: what the test determines, parameters, curves, residuals."""

import html
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.calibration.measurements import branches
from pliant.core.environment import need
from pliant.core.errors import InputError, PliantError
from pliant.core.tables import Table
from pliant.validation.html import Page

if TYPE_CHECKING:
    from pliant.calibration.fit import FitResult


def parameter_rows(result: "FitResult") -> list[tuple[str, str, str]]:
    """Key, value and interval of each parameter, in words; no number for what is not determined."""
    rows = []
    for parameter in result.parameters:
        unit = f" {parameter.unit}" if parameter.unit else ""
        if not parameter.determined:
            rows.append((parameter.key, "not determined by this test", ""))
            continue
        low = "the range's end" if parameter.low is None else f"{parameter.low:.4g}"
        high = "the range's end" if parameter.high is None else f"{parameter.high:.4g}"
        rows.append((parameter.key, f"{parameter.value:.4g}{unit}", f"{low} to {high}"))
    return rows


def write_fit_report(results: Sequence["FitResult"], path: Path) -> Path:
    """One page for a fit, or for several models side by side."""
    if path.suffix.lower() not in (".html", ".htm"):
        raise InputError(f"{path}: expected a name that ends in .html.")
    page = Page("Fit" if len(results) == 1 else f"Fit of {len(results)} models")
    if len(results) > 1:
        page.heading("Models")
        page.text("The lower Akaike's criterion (AIC), the better a model describes the data.", note=True)
        rows = [
            (r.model, len(r.parameters), *map(_percent, (r.noise_share, r.rms, r.held_out_rms())), r.aic)
            for r in results
        ]
        head = ("model", "parameters", "noise [%]", "root mean square [%]", "held-out error [%]", "AIC")
        page.table(head, rows)
        page.text("Noise: standard deviation of the residuals, with outliers bounded.", note=True)
    for result in results:
        if len(results) > 1:
            page.heading(result.model)
        for sentence in (*result.identifiability.sentences, *result.at_ends):
            page.text(sentence)
        page.table(("parameter", "value", "95 % interval"), parameter_rows(result))
        values = ", ".join(f"{value:.3g}" for value in result.identifiability.singular_values)
        page.text(
            f"Residual {100 * result.rms:.3g} % of the curves' size after {result.evaluations} runs; "
            f"singular values of the Jacobian, in noise over ranges: {values}. Frozen: step "
            f"{result.frozen.get('time.step', 0.0):.4g} s, integrator {_integrator(result.frozen)}.",
            note=True,
        )
        try:
            with tempfile.TemporaryDirectory() as place:
                page.picture(
                    draw_fit(result, Path(place) / "fit.png"), "measured and fitted curves, residuals"
                )
        except PliantError as error:
            page.text(f"No graphs: {error}", note=True)
        page.text("To paste into a scene:")
        page.drawing(f"<pre>{html.escape(result.toml)}</pre>")
    page.write(path)
    return path


def _percent(share: float | None) -> float | None:
    return None if share is None else 100.0 * share


def _integrator(frozen: Table) -> str:
    return str(frozen.get("time.integrator", {}).get("type", "as the scene says"))


def draw_fit(result: "FitResult", path: Path) -> Path:
    """Curves above, residuals in standard deviations of the noise below, a column for each curve."""
    need("Graphs of a fit", "matplotlib")
    import matplotlib
    from matplotlib.figure import Figure

    from pliant.render.graphs import COLOURS, PAPER, STYLE

    style: Any = STYLE | PAPER
    with matplotlib.rc_context(style):
        every = [*result.curves, *result.held_out]
        figure = Figure(figsize=(3.6 * len(every), 4.4), layout="constrained")
        axes = figure.subplots(2, len(every), squeeze=False, height_ratios=(3, 1), sharex="col")
        for column, (curve, fitted) in enumerate(zip(every, result.predicted, strict=True)):
            held = column >= len(result.curves)
            top, bottom = axes[0, column], axes[1, column]
            top.plot(curve.x, curve.y, "o", ms=3, color=COLOURS[0], label="measured")
            words = "predicted" if held else "fitted"
            for part in branches(curve.x):  # loading and unloading are lines of their own
                order = np.argsort(curve.x[part], kind="stable")
                line = curve.x[part][order], fitted[part][order]
                top.plot(*line, "-", color=COLOURS[1], label=words if part.start == 0 else None)
            top.set_title(curve.formula + (" (held out)" if held else ""))
            top.set_ylabel(curve.unit)
            top.legend()
            noise = result.noise[column] if not held else result.noise[0]
            bottom.axhline(0.0, color="#444B54", lw=0.8)
            bottom.plot(curve.x, (fitted - curve.y) / (noise or 1.0), ".", ms=4, color=COLOURS[0])
            bottom.set_ylabel("residual / noise")
            unit = "s" if curve.abscissa == "time" else curve.x_unit
            bottom.set_xlabel(f"{curve.abscissa} [{unit}]" if unit else curve.abscissa)
        figure.savefig(path, dpi=160)
    return path
