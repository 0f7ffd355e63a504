"""Fits of simulated tests with noise: how far off they are, and how often their intervals hold.

Every fit is a line of ``fits.jsonl`` or ``unknowns.jsonl``; those that are there are not made again.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from pliant.calibration.fit import FitResult, fit
from pliant.campaign.executors import executor
from pliant.campaign.executors.base import Executor
from pliant.core.tables import Table
from pliant_benchmarks.many_runs.material_tests import (
    BENDING,
    FREE_VIBRATION,
    INDENTATION,
    LOAD_UNLOAD,
    QUICK_TENSION,
    RING_DOWN,
    SLOPE,
    TENSION,
    measure,
    scene,
)

NOISE = 0.02
YOUNG, POISSON, DENSITY, DAMPING, YIELD, STRENGTH = (
    f"bodies.bar.material.{name}" for name in ("young", "poisson", "density", "damping", "yield", "strength")
)
FRICTION = "actions.ground.friction"
E_RANGE, DENSITY_RANGE = "0.2..8 MPa:log", "500..2000:log"
MODELS = ("fem", "mass-spring", "cpm1", "cpm2", "efg")
QUICK = ("lattice", "multires")
"""Models without statics, whose tension test is one in time."""
KINDS = {
    "tension": (TENSION, "grip.x", (*MODELS, *QUICK)),
    "indentation": (INDENTATION, "punch.z", MODELS),
    "ring-down": (RING_DOWN, "tip.z", MODELS),
    "load-unload": (LOAD_UNLOAD, "grip.x", ("fem", "efg")),  # models with a yield stress and statics
}


@dataclass(frozen=True)
class SyntheticTest:
    """A test whose Young's modulus [Pa] is known."""

    number: int
    kind: str
    model: str
    young: float


@dataclass(frozen=True)
class Unknown:
    """A test that tells nothing of ``hidden``; ``known``: another parameter, which it does determine.

    more: keys of the material.
    """

    template: str
    series: str
    hidden: str
    span: str
    known: str = YOUNG
    known_span: str = E_RANGE
    more: str = ""
    model: str = "fem"


UNKNOWN = (
    Unknown(TENSION, "grip.x", POISSON, "0.05..0.45"),  # uniaxial stress: the force is E A e
    Unknown(TENSION, "grip.x", DENSITY, DENSITY_RANGE),  # statics
    Unknown(BENDING, "grip.z", DENSITY, DENSITY_RANGE, model="mass-spring"),
    Unknown(TENSION, "grip.x", DAMPING, "0.1..10 ms:log", more=', damping = "1 ms"'),
    Unknown(BENDING, "grip.z", YIELD, "0.9..9 MPa:log", more=', yield = "2 MPa"'),  # never reached
    Unknown(TENSION, "grip.x", STRENGTH, "3..9 MPa:log", more=', strength = "5 MPa"'),  # never reached
    Unknown(SLOPE, "block.x", YOUNG, "0.5..2 MPa:log", FRICTION, "0.05..0.5"),  # sliding is rigid
    Unknown(SLOPE, "block.x", DENSITY, DENSITY_RANGE, FRICTION, "0.05..0.5"),  # all loads are weights
    Unknown(FREE_VIBRATION, "tip.z", DENSITY, DENSITY_RANGE, YOUNG, "0.5..2 MPa:log"),  # only E / density
    Unknown(INDENTATION, "punch.z", DENSITY, DENSITY_RANGE, model="cpm1"),
)
TOGETHER = (FREE_VIBRATION,)
"""Tests in which the known parameter is found only together with the hidden one."""


def synthetic_tests(count: int) -> list[SyntheticTest]:
    """Kinds in turn, and of each kind its models in turn; moduli at random over most of a decade."""
    found = []
    for number in range(count):
        kind = list(KINDS)[number % len(KINDS)]
        models = KINDS[kind][2]
        young = float(10 ** np.random.default_rng([1, number]).uniform(5.7, 6.5))
        found.append(SyntheticTest(number, kind, models[number // len(KINDS) % len(models)], young))
    return found


def fit_synthetic(test: SyntheticTest, folder: Path, place: Executor) -> Table:
    """Measure and fit one test: error of E and whether its interval covers it."""
    template, series, _ = KINDS[test.kind]
    template = QUICK_TENSION if test.model in QUICK else template
    yields = test.kind == "load-unload"
    values = {YOUNG: test.young} | ({YIELD: 0.08 * test.young} if yields else {})
    measure(folder, scene(template, test.model), values, series, NOISE, test.number)
    found = fitted(folder, series, {YOUNG: E_RANGE} | ({YIELD: "15..300 kPa:log"} if yields else {}), place)
    young = found["young"]
    covered = (young.low or 0.0) <= test.young <= (young.high or np.inf)
    return {
        **vars(test), "found": young.value, "low": young.low, "high": young.high,
        "error": abs(young.value / test.young - 1.0), "covered": bool(covered), "runs": found.evaluations,
    }  # fmt: skip


def fit_unknown(number: int, folder: Path, place: Executor) -> Table:
    """Fit a test of ``UNKNOWN``; recognised: the hidden parameter is reported, and the other one found."""
    test = UNKNOWN[number % len(UNKNOWN)]
    true = 0.22 if test.known == FRICTION else 1e6
    text = scene(test.template, test.model, test.more)
    measure(folder, text, {test.known: true}, test.series, NOISE, 1000 + number)
    found = fitted(folder, test.series, {test.known: test.known_span, test.hidden: test.span}, place)
    together = test.template in TOGETHER
    fine = not found[test.hidden].determined and found[test.known].determined != together
    return {
        "number": number, "hidden": test.hidden, "known": test.known, "recognised": fine,
        "sentences": list(found.identifiability.sentences), "value": found[test.known].value, "true": true,
    }  # fmt: skip


def fitted(folder: Path, series: str, vary: dict[str, str], place: Executor) -> FitResult:
    """The fit of ``vary`` to the test in ``folder``."""
    return fit(folder / "scene.toml", folder / "data.csv", f"{series}=y@t", vary, on=place)


def fits(folder: Path, on: str = "local:2", count: int = 100) -> Table:
    """``count`` synthetic tests: 95th percentile of the error of E, and how many intervals cover it."""
    with executor(on, 1) as place:
        tests = synthetic_tests(count)
        rows = _each(folder, "fits", count, lambda n: fit_synthetic(tests[n], folder / "fit", place))
    kinds = {
        kind: {
            "fits": len(own),
            "worst": max(r["error"] for r in own),
            "covered": sum(r["covered"] for r in own),
        }
        for kind in KINDS
        if (own := [row for row in rows if row["kind"] == kind])
    }
    return {
        "fits": len(rows),
        "error_95": float(np.percentile([row["error"] for row in rows], 95)),
        "coverage": float(np.mean([row["covered"] for row in rows])),
        "kinds": kinds,
    }


def unknowns(folder: Path, on: str = "local:2", count: int = 20) -> Table:
    """``count`` tests that do not determine a parameter, and how many were recognised."""
    with executor(on, 1) as place:
        rows = _each(folder, "unknowns", count, lambda n: fit_unknown(n, folder / "unknown", place))
    return {"tests": len(rows), "recognised": sum(row["recognised"] for row in rows)}


def _each(folder: Path, name: str, count: int, make: Callable[[int], Table]) -> list[Table]:
    """The rows 0 to ``count`` of a campaign; a row that is in its file is not made again."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{name}.jsonl"
    known = [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []
    rows = {row["number"]: row for row in known}
    for number in range(count):
        if number not in rows:
            rows[number] = make(number)
            with file.open("a") as out:
                out.write(json.dumps(rows[number]) + "\n")
            print(json.dumps(rows[number]), flush=True)
    return [rows[number] for number in range(count)]
