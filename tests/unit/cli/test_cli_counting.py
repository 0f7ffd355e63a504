"""The time that is left is judged by work, not by what came before it."""

import pytest

from pliant.cli import output


def test_a_slow_start_is_not_counted(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    clock = iter([0.0, 15.0, 18.0, 21.0])  # fifteen seconds pass before the first of 10, then three for each
    monkeypatch.setattr(output.time, "perf_counter", lambda: next(clock))
    lines = output._Lines("drawing")
    for done in (1, 2, 3):
        lines(done, 10)
    assert capsys.readouterr().err.splitlines() == [
        "drawing 1/10",
        "drawing 2/10  24 s left",
        "drawing 3/10  21 s left",
    ]
