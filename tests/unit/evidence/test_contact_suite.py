"""The contact suite as a command: what it runs and certifies, what it writes, how it continues."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from pliant_benchmarks.many_runs.contact_scenes import SCENES


def suite(folder: Path, *names: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pliant_benchmarks.many_runs", "contact", str(folder), *names]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_it_has_forty_scenes_with_a_name_each() -> None:
    assert len(SCENES) == len({each.name for each in SCENES}) == 40


def test_the_command_runs_certifies_and_continues(tmp_path: Path) -> None:
    """Two scenes: every state and every recorded move is free; a second call keeps what is done and adds a
    third scene; an unknown name is one clear error."""
    pytest.importorskip("ipctk")
    first = suite(tmp_path, "vertex-on-face", "edge-on-edge")
    assert first.returncode == 0, first.stderr
    table = json.loads((tmp_path / "suite.json").read_text())
    assert (table["scenes"], table["free"], table["intersections"], table["stopped"]) == (2, 2, 0, 0)
    for name in ("vertex-on-face", "edge-on-edge"):
        found = table["results"][name]
        assert found["states"] == 51
        assert found["moves"] >= found["steps"] == 50
        assert found["unexplained"] < 1e-9
        certificate = json.loads((tmp_path / f"{name}.pliant" / "certificate.json").read_text())
        assert certificate["verdict"] == "no intersections"
        assert certificate["checked"]["moves"] == found["moves"]
    stamp = (tmp_path / "edge-on-edge.json").stat().st_mtime_ns
    second = suite(tmp_path, "edge-on-edge", "vertex-on-vertex")
    assert second.returncode == 0, second.stderr
    assert (tmp_path / "edge-on-edge.json").stat().st_mtime_ns == stamp
    assert "edge-on-edge:" not in second.stdout
    assert "| vertex-on-vertex |" in (tmp_path / "suite.md").read_text()
    wrong = suite(tmp_path, "edge-on-egde")
    assert wrong.returncode == 1
    assert "has no scene 'edge-on-egde'" in wrong.stderr
