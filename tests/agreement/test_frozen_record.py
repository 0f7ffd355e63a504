"""Results are, byte for byte, those that ``record/record.json`` holds.

The record was made by ``record/run.py``; ``record/compare.py`` says by how much two results differ. On
another kind of processor, or with other versions of the libraries that compute, numbers are compared instead
of bytes: to 1e-6 of their scale, and of chaotic scenes only how they end and that they are finite. Scenes
that were renewed on another machine than the rest say on which.
"""

import json
import math
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agreement.record import internals
from agreement.record.compare import differences, first_difference, number_changes
from agreement.record.run import machine, play
from agreement.record.scenes import SCENES

FOLDER = Path(__file__).parent / "record"
RECORD: dict[str, Any] = json.loads((FOLDER / "record.json").read_text(encoding="utf-8"))
DECIDING = ("cpu", "system", "numpy", "scipy", "numba")
TOLERANCE = 1e-6
ROUNDING = "solver."  # what is left when a solve ends: another order of sums ends it elsewhere
COUNTS = ("particles.first", "live.replays")


@pytest.fixture(scope="module", autouse=True)
def meshes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Meshes are filled here, not found in the user's cache."""
    before = os.environ.get("PLIANT_CACHE_DIR")
    internals.fill_meshes_in(tmp_path_factory.mktemp("meshes"))
    yield
    if before is None:
        del os.environ["PLIANT_CACHE_DIR"]
    else:
        os.environ["PLIANT_CACHE_DIR"] = before


def test_the_record_has_all_scenes() -> None:
    assert list(RECORD["scenes"]) == list(SCENES)


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("name", SCENES)
def test_results_are_those_of_the_record(name: str, tmp_path: Path) -> None:
    old, new = RECORD["scenes"][name], play(name, tmp_path)
    here, there = machine(), old.get("machine", RECORD["machine"])
    assert new["misses"] == []
    assert new["state"] == old["state"]
    if all(here[key] == there[key] for key in DECIDING):
        found = differences(old, new)
        worst = max(number_changes(old["numbers"], new["numbers"]), default=(0.0, "", "no number differs"))
        assert not found, f"{'; '.join(found)} {first_difference(old, new)}; {' '.join(worst[1:])}"
        return
    assert all(math.isfinite(value) for value in new["numbers"].values())
    for key in COUNTS:
        assert new["numbers"].get(key) == old["numbers"].get(key)
    if not SCENES[name].loose:
        changes = number_changes(old["numbers"], new["numbers"])
        wrong = [key for size, key, _ in changes if size > TOLERANCE and not key.startswith(ROUNDING)]
        assert not wrong, wrong
