"""The search of a fit, on curves that are written down instead of simulated."""

import pickle
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest

from pliant.calibration import search
from pliant.calibration.evaluation import frozen_time
from pliant.calibration.measurements import MeasuredCurve
from pliant.calibration.parameters import FitParameter
from pliant.calibration.problem import CalibrationProblem
from pliant.campaign.executors.base import Executor, Function
from pliant.core.environment import environment
from pliant.core.typing import Array

TIMES = np.linspace(0.0, 0.8, 81)
FEW = TIMES[:12]
YOUNG = FitParameter("young", 2e5, 8e6, log=True)


class Formula(Executor):
    """Answers with a curve for each value of ``young`` instead of running a scene."""

    def __init__(self, curve: Callable[[float], Array]) -> None:
        self.curve = curve

    def run(self, function: Function, items: Sequence[Any], starts_child: bool) -> Iterator[tuple[int, Any]]:
        for number, item in enumerate(items):
            if function is frozen_time:
                yield number, {"explicit": False, "time.step": 1.0}
            else:
                yield number, {"curves": [(TIMES, self.curve(item["values"]["young"]))]}

    def close(self) -> None: ...


def swing(young: float) -> Array:
    """A bar of 10 Hz at 1 MPa."""
    return np.asarray(np.sin(2.0 * np.pi * 10.0 * np.sqrt(young / 1e6) * TIMES))


def problem(y: Array, curve: Callable[[float], Array]) -> CalibrationProblem:
    measured = MeasuredCurve("y", "y", "time", TIMES, y)
    return CalibrationProblem("", [YOUNG], [measured], Formula(curve))


def found(young: float) -> float:
    """What the search finds for the swing of a bar of ``young``."""
    best, _, _ = search.best_refined(problem(swing(young), swing), 8, 2, lambda text: None)
    return YOUNG.value(best[0])


def test_a_vibration_that_is_a_period_off_is_not_the_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    moduli = [5e5, 7e5, 1.1e6, 1.7e6, 2.3e6]
    for young in moduli:
        assert found(young) == pytest.approx(young, rel=1e-3)
    monkeypatch.setattr(search, "ROUNDS", 0)  # the first eight starts alone
    assert any(abs(found(young) / young - 1.0) > 0.1 for young in moduli)


def test_the_noise_of_few_points_is_not_too_small() -> None:
    """Mean of the variance over many samples: that of the noise, whatever the median of a sample is.

    Nothing was fitted here, so that the sum over 12 points is divided by 11.
    """
    chance, shares = np.random.default_rng(0), []
    for _ in range(300):
        measured = MeasuredCurve("y", "y", "time", FEW, 1.0 + 0.02 * chance.normal(size=len(FEW)))
        given = CalibrationProblem("", [YOUNG], [measured], Formula(lambda young: np.ones(81)))
        shares.append(float(search.noise_share_of(given, np.array([YOUNG.bounds[0]]), "soft_l1")[0]) / 0.02)
    assert np.mean(np.square(shares)) == pytest.approx(12 / 11, abs=0.06)


def test_a_worker_whose_asker_has_gone_ends_quietly() -> None:
    """A fit that is killed leaves no tracebacks of its workers."""
    command = [sys.executable, "-m", "pliant.campaign.executors.worker", "1"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, env=environment()) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        pickle.dump(("pliant.core.text", "seconds", 1.0), process.stdin)
        process.stdin.close()
        assert process.stderr.read() == b""
    assert process.returncode == 1
