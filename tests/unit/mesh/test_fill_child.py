"""A mesher that crashes, fails or hangs is an error message, or another mesher."""

import sys
import time
from pathlib import Path

import numpy as np
import pytest
from test_health import cube

from pliant.core.errors import MeshError
from pliant.mesh import meshers
from pliant.mesh.mesh import tet_volumes
from pliant.mesh.mesher_process import run_child
from pliant.mesh.tetrahedralise import fill

BODIES = {
    "crash": "import os; os.abort()",
    "complain": "import sys; sys.exit('the input is bad')",
    "silent": "pass",
    "hang": "import time; time.sleep(60)",
    "echo": "import sys, numpy as np; np.savez(sys.argv[2], twice=2 * np.load(sys.argv[1])['one'])",
}


@pytest.fixture
def child(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> str:
    """The start of the names of modules that a child can run."""
    for name, body in BODIES.items():
        (tmp_path / f"pliant_test_{name}.py").write_text(body)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    return "pliant_test_"


def run(module: str, timeout: float = 30.0) -> dict[str, np.ndarray]:
    return run_child(module, "The mesher", {"one": np.arange(3)}, timeout, None, "Try another.")


def test_arrays_go_there_and_back(child: str) -> None:
    np.testing.assert_array_equal(run(child + "echo")["twice"], [0, 2, 4])


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("complain", "failed: the input is bad"),
        ("silent", "without a message"),
        ("absent", "No module named"),
        pytest.param(
            "crash",
            "SIGABRT",
            marks=pytest.mark.skipif(sys.platform == "win32", reason="signals have no names"),
        ),
    ],
)
def test_what_goes_wrong_there_is_a_mesh_error_here(child: str, name: str, words: str) -> None:
    with pytest.raises(MeshError, match=words) as error:
        run(child + name)
    assert error.value.hint == "Try another."


def test_a_child_that_hangs_is_stopped(child: str) -> None:
    start = time.monotonic()
    with pytest.raises(MeshError, match=r"stopped after 0\.3 s"):
        run(child + "hang", timeout=0.3)
    assert time.monotonic() - start < 20


def test_seconds_are_reported_while_it_runs(child: str) -> None:
    seen: list[tuple[float | None, str]] = []
    with pytest.raises(MeshError):
        run_child(child + "hang", "The mesher", {}, 1.2, lambda f, text: seen.append((f, text)), "")
    assert seen[0] == (None, "The mesher, 0 s")
    assert len(seen) >= 2


def failing(*_: object) -> tuple[np.ndarray, np.ndarray, list[str]]:
    raise MeshError("fTetWild failed: it crashed (SIGSEGV).", hint="Try a larger edge.")


def test_auto_takes_the_lattice_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(meshers, "tetwild", failing)
    notes: list[str] = []
    mesh = fill(cube(), edge=0.25, cache=False, notify=notes.append)
    assert tet_volumes(mesh.points, mesh.tets).sum() == pytest.approx(1.0, abs=1e-9)
    assert notes == ["fTetWild failed: it crashed (SIGSEGV). The lattice mesher is used instead."]
    with pytest.warns(UserWarning, match="lattice mesher is used"):
        fill(cube(), edge=0.25, cache=False)


def test_a_named_mesher_does_not_give_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(meshers, "tetwild", failing)
    with pytest.raises(MeshError, match="SIGSEGV"):
        fill(cube(), edge=0.25, mesher="tetwild", cache=False)


def test_tetwild_out_of_time_is_a_mesh_error() -> None:
    with pytest.raises(MeshError, match=r"fTetWild was stopped after 0\.01 s") as error:
        fill(cube(), edge=0.02, mesher="tetwild", timeout=0.01, cache=False)
    assert "lattice" in str(error.value.hint)
