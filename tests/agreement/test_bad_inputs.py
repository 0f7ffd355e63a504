"""Bad input of any kind: exit code 2, one clear error that says what and where, nothing written."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from bad_calls import OPTIONS, PLACES, RUNS
from bad_inputs import MESHES, SCENES, Bad

from pliant.cli.main import run

CORPUS = [*SCENES, *MESHES, *RUNS, *PLACES, *OPTIONS]
PROGRESS = ("checking the surface", "compiling kernels (kept for later runs)")  # what may be told before


def listing(folder: Path) -> dict[str, tuple[int, int]]:
    """Every file and folder below ``folder`` with its size and time of change."""
    found = {}
    for place, folders, files in os.walk(folder):
        for name in (*folders, *files):
            path = Path(place) / name
            status = path.lstat()
            found[str(path.relative_to(folder))] = (status.st_size, status.st_mtime_ns)
    return found


def assert_one_clear_error(bad: Bad, code: int, out: str, err: str) -> None:
    assert code == 2, f"exit code {code}\n{out}\n{err}"
    assert "Traceback" not in err
    assert "internal error" not in err
    lines = [line for line in err.splitlines() if line not in PROGRESS]
    assert lines[0].startswith("error: "), err
    assert all(line.startswith("hint: ") for line in lines[1:]), err
    assert len(lines) <= 2, err
    for word in bad.words:
        assert word in err, f"{word!r} is not in {err!r}"
    assert out == ""


def test_the_corpus_is_large_and_its_names_differ() -> None:
    assert len(CORPUS) >= 60
    assert len({bad.name for bad in CORPUS}) == len(CORPUS)


@pytest.mark.parametrize("bad", CORPUS, ids=[bad.name for bad in CORPUS])
def test_bad_input_is_one_clear_error_and_leaves_nothing(
    bad: Bad, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    bad.prepare(tmp_path)
    monkeypatch.chdir(tmp_path)
    before = listing(tmp_path)
    capfd.readouterr()
    code = run(bad.command)
    out, err = capfd.readouterr()
    assert_one_clear_error(bad, code, out, err)
    assert listing(tmp_path) == before


@pytest.mark.parametrize("bad", CORPUS[::30], ids=[bad.name for bad in CORPUS[::30]])
def test_the_same_holds_for_the_command_itself(bad: Bad, tmp_path: Path) -> None:
    bad.prepare(tmp_path)
    before = listing(tmp_path)
    done = subprocess.run(
        [sys.executable, "-m", "pliant.cli", *bad.command],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert_one_clear_error(bad, done.returncode, done.stdout, done.stderr)
    assert listing(tmp_path) == before
