"""What the documentation site adds to Sphinx: generated references, pages from outside docs/, MathML.

A page holds a block ``{generated} NAME``, which becomes the Markdown of the generator of that name before the
page is read; nothing generated is written into the sources.
"""

import json
import re
from pathlib import Path

from sphinx.application import Sphinx

from . import bibliography, mathml, outside, python_reference
from .generators import GENERATORS

BLOCK = re.compile(r"^```\{generated\} ([\w-]+)\n```$", re.M)


def setup(app: Sphinx) -> dict[str, bool]:
    """Called by Sphinx."""
    app.connect("source-read", _write_generated)
    app.connect("source-read", outside.include)
    app.connect("autodoc-process-signature", python_reference.signature)
    app.connect("autodoc-process-docstring", python_reference.docstring)
    app.connect("build-finished", _write_schema)
    mathml.add_renderer(app)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _write_generated(app: Sphinx, page: str, source: list[str]) -> None:
    source[0] = BLOCK.sub(lambda found: GENERATORS[found[1]](), source[0])
    source[0] = bibliography.link_citations(source[0], page)


def _write_schema(app: Sphinx, problem: Exception | None) -> None:
    """The JSON Schema at an address that has its version."""
    if problem is None and app.builder.name in ("html", "dirhtml"):
        from pliant.scene.json_schema import scene_schema

        folder = Path(app.outdir) / "schema/1"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "pliant.schema.json").write_text(json.dumps(scene_schema(), indent=1) + "\n")
