"""The documentation site, built once for all tests that look at it."""

import subprocess
import sys
from pathlib import Path

import pytest

PACKAGES = ("sphinx", "myst_parser", "pydata_sphinx_theme", "sphinx_design", "sphinx_gallery", "matplotlib")
SCRIPT = Path(__file__).resolve().parents[2] / "docs/make_site.py"


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built site; its notebooks are run by ``test_notebooks.py``."""
    for name in PACKAGES:
        pytest.importorskip(name)
    folder = tmp_path_factory.mktemp("build") / "site"
    command = [sys.executable, str(SCRIPT), "--quick", "--no-serve", "--to", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "WARNING" not in done.stdout + done.stderr
    return folder
