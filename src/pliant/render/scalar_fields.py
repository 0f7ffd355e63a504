"""Numbers behind the colours: a field of a body as one number per particle or cell, and its range."""

import re
from collections.abc import Sequence

import numpy as np

from pliant.core.errors import InputError
from pliant.core.typing import AnyArray, Array
from pliant.interfaces import FieldData, Structure
from pliant.render.colour_maps import WHOLE
from pliant.run.store import Frame, Run

SAMPLES = 24  # frames looked at for a range
_PERCENT = re.compile(r"^\s*([\d.]+)\s*%\s*:\s*([\d.]+)\s*%\s*$")


def scalar_field(frame: Frame, colour: str, body: str) -> FieldData:
    """The field ``colour`` of a body as numbers (n,): ``NAME``, where vectors give their length and
    ``principal`` its largest, or ``NAME.x`` and ``NAME.xy`` for parts of vectors and tensors."""
    return as_scalars(frame.field(colour.partition(".")[0], body), colour)


def as_scalars(data: FieldData, colour: str) -> FieldData:
    """What ``colour`` says of the field ``data``: the field, or a part of it, as numbers (n,)."""
    name, _, part = colour.partition(".")
    values = np.asarray(data.values, float)
    width = values.shape[1:]
    if part:
        if not re.fullmatch(r"[xyz]+", part) or width != (3,) * len(part) or name == "principal":
            raise InputError(f"The field '{name}' has no part '{part}'.")
        for letter in part:
            values = values[:, "xyz".index(letter)]
    elif name == "principal" and width:
        values = values[:, 0]
    elif width == (3,):
        values = np.linalg.norm(values, axis=1)
    elif width:
        raise InputError(
            f"The field '{name}' has {' x '.join(map(str, width))} numbers each.",
            hint=f"Choose one: {name}.xx, {name}.xy, ..." if width == (3, 3) else None,
        )
    return FieldData(values, data.per, data.unit)


def on_particles(data: FieldData, structure: Structure) -> Array:
    """Values per particle (n,): cells hand theirs to their particles, which take the mean."""
    values: Array = np.asarray(data.values, float)
    if data.per != "cell":
        return values
    cells = next((c for c in structure.cells.values() if len(c) == len(values)), None)
    count = len(structure.rest)
    if cells is None:
        return np.full(count, np.nan)
    flat = cells.ravel()
    total = np.bincount(flat, np.repeat(values, cells.shape[1]), count)
    times = np.bincount(flat, minlength=count)
    mean: Array = np.divide(total, times, out=np.full(count, np.nan), where=times > 0)
    return mean


def on_surface(values: Array, structure: Structure) -> Array:
    """Values per particle, taken to the points of the carried surface as positions are."""
    assert structure.carrier is not None
    return structure.carrier.positions(np.repeat(values[:, None], 3, axis=1))[:, 0]


def chosen_range(
    runs: Sequence[Run], frames: Sequence[int], colour: str, wanted: str, bodies: Sequence[str] | None
) -> tuple[float, float]:
    """The range of colours, from some frames of all runs: "full" (all that occurs), "1%:99%", "0:5e4", or
    "auto": all but the half percent at either end, so that a few outliers do not hide the rest."""
    fixed = _fixed(wanted)
    if fixed is not None:
        return fixed
    low, high = _percentiles("full" if colour in WHOLE else wanted)
    picked = [frames[k] for k in np.unique(np.linspace(0, len(frames) - 1, SAMPLES).round().astype(int))]
    found: list[AnyArray] = []
    for run in runs:
        for number in dict.fromkeys(min(number, len(run) - 1) for number in picked):
            found += _finite(run.frames[number], colour, bodies)
    values = np.concatenate(found) if found else np.zeros(0)
    if not len(values):
        raise InputError(f"The field '{colour}' has no finite value in these frames.")
    first, last = np.percentile(values, [low, high])
    if colour in WHOLE:  # each number in the middle of its colour
        return float(np.floor(first)) - 0.5, float(np.ceil(last)) + 0.5
    if last - first <= 1e-12 * max(abs(first), abs(last), 1e-300):
        first, last = first - 0.5 * max(abs(first), 1e-9), last + 0.5 * max(abs(last), 1e-9)
    return float(first), float(last)


def _finite(frame: Frame, colour: str, bodies: Sequence[str] | None) -> list[AnyArray]:
    found = []
    for record in frame.bodies:
        if bodies is None or record.name in bodies:
            values = on_particles(scalar_field(frame, colour, record.name), record.structure)
            found.append(values[np.isfinite(values)])
    return found


def _fixed(wanted: str) -> tuple[float, float] | None:
    if wanted in ("auto", "full") or _PERCENT.match(wanted):
        return None
    try:
        low, high = (float(part) for part in wanted.split(":"))
    except ValueError:
        raise InputError(f"range = {wanted!r}: expected auto, full, MIN:MAX or 1%:99%.") from None
    if not low < high or not np.isfinite([low, high]).all():
        raise InputError(f"range = {wanted!r}: the first number must be below the second.")
    return low, high


def _percentiles(wanted: str) -> tuple[float, float]:
    match = _PERCENT.match(wanted)
    if not match:
        return (0.0, 100.0) if wanted == "full" else (0.5, 99.5)
    low, high = float(match[1]), float(match[2])
    if not 0.0 <= low < high <= 100.0:
        raise InputError(f"range = {wanted!r}: percentages go from 0 to 100, the smaller first.")
    return low, high
