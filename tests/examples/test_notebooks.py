"""The notebooks of the site run from their first cell to their last, in a kernel of their own."""

import json
from pathlib import Path

import pytest

NOTEBOOKS = Path(__file__).resolve().parents[2] / "docs/notebooks"
SCRIPTS = sorted(NOTEBOOKS.glob("*.py"))


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_a_notebook_runs(script: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Converted as the site does, and run by Jupyter's own client."""
    pytest.importorskip("sphinx_gallery")
    nbclient, nbformat = pytest.importorskip("nbclient"), pytest.importorskip("nbformat")
    pytest.importorskip("ipykernel")
    from sphinx_gallery.gen_gallery import DEFAULT_GALLERY_CONF
    from sphinx_gallery.notebook import jupyter_notebook
    from sphinx_gallery.py_source_parser import split_code_and_text_blocks

    _, blocks = split_code_and_text_blocks(str(script))
    made = jupyter_notebook(blocks, DEFAULT_GALLERY_CONF, str(NOTEBOOKS))
    notebook = nbformat.reads(json.dumps(made), as_version=4)
    monkeypatch.setenv("MPLBACKEND", "module://matplotlib_inline.backend_inline")
    client = nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(tmp_path)}})
    outputs = [out for cell in client.execute().cells for out in cell.get("outputs", ())]
    printed = [out for out in outputs if "text" in out]
    pictures = [out for out in outputs if "image/png" in out.get("data", {})]
    assert printed
    assert pictures


def test_there_are_three() -> None:
    assert len(SCRIPTS) == 3
