"""The frame around all commands: help, exit codes, errors, start-up."""

import subprocess
import sys
from pathlib import Path

import pytest
from command_line import Pliant

from pliant import __version__
from pliant.cli import doctor
from pliant.cli.main import VERBS


def test_help_names_every_command_and_explains_it(pliant: Pliant) -> None:
    top = pliant("--help")
    assert (top.code, top.err) == (0, "")
    assert pliant().out == top.out
    for verb in VERBS:
        assert f" {verb} " in top.out
        own = pliant(verb, "--help")
        assert own.code == 0
        assert f"Usage: pliant {verb}" in own.out
        assert f"pliant {verb}" in own.out.partition("Examples")[2]


def test_the_version_is_printed(pliant: Pliant) -> None:
    assert pliant("--version").out == f"pliant {__version__}\n"
    assert pliant("-V").out == f"pliant {__version__}\n"


def test_folders_of_new_files_are_made_and_f_is_force(pliant: Pliant, folder: Path) -> None:
    assert pliant("new", "a/b/beam").code == 0
    assert pliant("examples", "hello", "--copy", "c/d.toml").code == 0
    assert pliant("examples", "hello", "--copy", "c/d.toml").code == 2
    assert pliant("examples", "hello", "--copy", "c/d.toml", "-f").code == 0
    assert (folder / "a/b/beam.toml").is_file()


@pytest.mark.parametrize(
    ("arguments", "message", "hint"),
    [
        (["rnu"], "No such command 'rnu'", "Try: pliant --help"),
        (["run"], "Missing argument 'SCENE'", "Try: pliant run --help"),
        (["run", "a.toml", "--nix"], "No such option: --nix", "Try: pliant run --help"),
        (["run", "a.toml", "--threads", "0"], "Invalid value for '--threads'", "Try: pliant run --help"),
        (["run", "a.toml", "b.toml"], "Got unexpected extra argument", "Try: pliant run --help"),
    ],
)
def test_usage_errors_exit_with_2_and_one_message(
    pliant: Pliant, arguments: list[str], message: str, hint: str
) -> None:
    result = pliant(*arguments)
    assert (result.code, result.out) == (2, "")
    first, second = result.err.splitlines()
    assert first.startswith(f"error: {message}")
    assert second == f"hint: {hint}"


def test_o_names_the_output_of_every_command_as_the_last_argument_does(
    pliant: Pliant, scene: Path, folder: Path
) -> None:
    pytest.importorskip("matplotlib")
    assert pliant("run", str(scene), "-o", "runs/cube.pliant", "-q").code == 0
    for words, name in (
        (("export", "runs/cube.pliant"), "series.csv"),
        (("plot", "runs/cube.pliant", "energy.kinetic"), "energy.svg"),
    ):
        assert pliant(*words, "-o", f"out/{name}").code == 0
        assert pliant(*words, f"last/{name}").code == 0
        assert (folder / "out" / name).read_bytes() == (folder / "last" / name).read_bytes()
        missing = pliant(*words)
        assert missing.code == 2
        assert missing.err.startswith("error: Which file?")
    twice = pliant("export", "runs/cube.pliant", "a.csv", "-o", "b.csv")
    assert (twice.code, twice.err.splitlines()[0]) == (2, "error: Two files to write: a.csv and -o b.csv.")
    drawn = pliant("render", "runs/cube.pliant", "-o", "cube.txt")
    assert (drawn.code, "Cannot draw 'cube.txt'" in drawn.err) == (2, True)


def test_a_mistake_of_ours_is_one_line_and_a_report_on_disk(
    pliant: Pliant, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr("pliant.cli.doctor.findings", lambda: 1 / 0)
    result = pliant("doctor")
    assert (result.code, result.out) == (1, "")
    first, second = result.err.splitlines()
    assert first == "error: internal error: ZeroDivisionError: division by zero"
    report = Path(second.removeprefix("hint: Please report it with "))
    assert report.parent == tmp_path
    assert "Traceback" in report.read_text()
    assert doctor.__name__ in report.read_text().replace("/", ".")


def test_ctrl_c_before_a_run_starts_exits_with_130(pliant: Pliant, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop() -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("pliant.cli.doctor.findings", stop)
    result = pliant("doctor")
    assert (result.code, result.out, result.err) == (130, "", "error: interrupted\n")


def test_a_reader_that_goes_away_is_no_error() -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "pliant.cli", "examples", "hello"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    err = process.stderr.read()
    process.stderr.close()
    assert process.wait(60) in (0, 1)
    assert err == b""


def test_help_loads_nothing_heavy() -> None:
    """So it is quick; ``pliant bench start`` measures how quick."""
    code = (
        "import sys; from pliant.cli.main import run; run(['--help']); "
        "print([m for m in ('numpy', 'numba', 'pydantic', 'zarr') if m in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr == "[]\n"
