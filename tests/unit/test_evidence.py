"""The registries of evidence: every case holds, every figure has the fields that machines read."""

import pytest

from pliant.errors import InputError
from pliant.evidence.bench import matching, run_bench
from pliant.evidence.validate import load_cases, outcomes


@pytest.mark.parametrize("case", [name for name, case in load_cases().items() if case.quick])
def test_every_quick_case_is_within_its_tolerance_or_says_why_not(case: str) -> None:
    found = [o for o in outcomes(case, quick=True) if o.applies]
    assert found
    assert [o.to_dict() for o in found if not o.ok and not o.expected_failure] == []


def test_an_unknown_case_names_the_nearest() -> None:
    with pytest.raises(InputError, match="did you mean 'free-fall'"):
        list(outcomes("free-fal"))
    with pytest.raises(InputError, match="did you mean"):
        matching("mass-sprin")


def test_figures_have_the_fields_that_machines_read() -> None:
    (figure,) = run_bench("loop/python-share")
    assert {"case", "value", "unit", "reference", "ratio", "limit_ratio"} <= set(figure)
    assert figure["value"] > 0
    assert "mass-spring/scaling" in matching("mass-spring")
