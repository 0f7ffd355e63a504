"""The registries of evidence: every case holds, every figure has the fields that machines read."""

import sys
from pathlib import Path

import pytest

from pliant.core.errors import InputError, MissingExtra
from pliant.models import MODELS
from pliant.validation.cases import load_cases, outcomes, run_validation
from pliant_benchmarks.bench import BenchResult, matching, median, run_bench
from pliant_benchmarks.bench_peers import beside, enough, need_peer
from pliant_benchmarks.targets import GOALS, judged

LONGER = ("slope-slips", "elastica-weight-5", "plastic-bar")  # than a few seconds
QUICK = [name for name, case in load_cases().items() if case.quick]


@pytest.mark.parametrize(
    "case", [pytest.param(name, marks=pytest.mark.slow) if name in LONGER else name for name in QUICK]
)
def test_every_quick_case_is_within_its_tolerance_or_says_why_not(case: str) -> None:
    found = [o for o in outcomes(case, quick=True) if o.applies]
    assert found
    assert [o.to_dict() for o in found if not o.ok and not o.expected_failure] == []


def test_cases_at_the_same_time_are_those_one_after_the_other() -> None:
    counted: list[tuple[int, int]] = []
    one = run_validation("debunne-cube", jobs=1)
    two = run_validation(
        "debunne-cube", show=lambda _, number, count: counted.append((number, count)), jobs=2
    )
    assert [row | {"seconds": 0} for row in two] == [row | {"seconds": 0} for row in one]
    assert counted == [(1, 2), (2, 2)]
    assert all(row["seconds"] > 0.0 for row in two)


def test_an_unknown_case_names_the_nearest() -> None:
    with pytest.raises(InputError, match="did you mean 'free-fall'"):
        list(outcomes("free-fal"))
    with pytest.raises(InputError, match="did you mean"):
        matching("mass-sprin")


def test_the_median_of_several_measurements_has_their_spread() -> None:
    found = median([BenchResult("a/b", value, "ms", note=str(value)) for value in (3.0, 2.0, 4.0)])
    assert (found.value, found.spread, found.repeats, found.note) == (3.0, 2.0 / 3.0, 3, "3.0")
    assert median([BenchResult("a/b", 3.0, "ms")]).spread is None


def test_peers_take_the_longest_step_that_is_accurate() -> None:
    falls = {4e-3: (float("nan"), 1.0), 2e-3: (0.71, 2.0), 1e-3: (0.74, 4.0), 5e-4: (0.75, 8.0)}
    assert enough(falls.__getitem__, list(falls)) == (1e-3, 0.74, 4.0)


def test_a_peer_that_is_not_installed_is_skipped_with_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("mujoco", "pypbd", "rapier3d", "newton", "warp"):
        monkeypatch.setitem(sys.modules, name, None)
    skipped: dict[str, str] = {}
    assert run_bench("peers", skip=skipped.__setitem__) == []
    assert set(skipped) == {"peers/mujoco-flex", "peers/pypbd-xpbd", "peers/rapier", "peers/newton-vbd"}
    assert all("pip install" in why for why in skipped.values())


def test_a_peer_that_does_not_load_or_run_says_what_it_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "half_a_peer.py").write_text("raise OSError('its core is missing')")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(MissingExtra, match="installed and does not load: its core is missing"):
        need_peer("half_a_peer")
    with pytest.raises(MissingExtra, match=r"not installed here\. pip install no_such_peer"):
        need_peer("no_such_peer")
    assert need_peer("json").loads("1") == 1

    def fall(step: float) -> tuple[float, float]:
        raise ValueError("unknown keyword 'flex'\nand more")

    with pytest.raises(MissingExtra, match=r"does not run the beam: unknown keyword 'flex'\."):
        beside("peers/other", fall)


def test_every_goal_belongs_to_a_benchmark_and_is_judged() -> None:
    cases = set(matching(None))
    several = {
        "fem/memory", "studio/frame", "studio/slow-page", "multires/all-fine-frame",
        "multires/against-all-fine", "cantilever/small-ten-seconds", "cantilever/large-ten-seconds",
    }  # fmt: skip
    for name in GOALS:
        assert name in cases or any(name.startswith(prefix) for prefix in several), name
    row = {"case": "mass-spring/million-springs", "value": 3.0, "limit_ratio": 0.5}
    assert judged(row) | {"goal": "limit >= 0.6", "met": False} == judged(row)
    assert judged(row | {"limit_ratio": 0.6})["met"] is True
    assert judged({"case": "start/import", "value": 0.4})["met"] is True
    assert judged({"case": "no/goal", "value": 0.4})["goal"] is None


def test_every_model_has_a_scaling_exponent_with_a_goal() -> None:
    assert set(matching("scaling")) == {f"scaling/{model}" for model in MODELS}
    assert {f"scaling/{model}" for model in MODELS} <= set(GOALS)


def test_figures_have_the_fields_that_machines_read() -> None:
    (figure,) = run_bench("loop/python-share", repeat=2)
    assert {"case", "value", "unit", "reference", "ratio", "limit_ratio", "spread"} <= set(figure)
    assert figure["repeats"] == 2
    assert figure["value"] > 0
    assert "mass-spring/scaling" in matching("mass-spring")
