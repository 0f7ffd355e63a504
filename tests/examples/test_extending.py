"""The samples of the extending page run, in order, as one session."""

import re
from pathlib import Path

from pliant.actions import ACTIONS
from pliant.exporters import EXPORTERS
from pliant.integrators import INTEGRATORS
from pliant.materials.constitutive import LAWS
from pliant.measures import MEASURES
from pliant.models import MODELS

PAGE = Path(__file__).resolve().parents[2] / "docs" / "extending.md"


def test_samples_of_the_extending_page_run() -> None:
    blocks = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(), re.S | re.M)
    assert len(blocks) >= 4
    formats = dict(EXPORTERS)
    before = [dict(table._table) for table in (MODELS, LAWS, ACTIONS, INTEGRATORS, MEASURES)]
    names: dict[str, object] = {"__name__": "extending"}
    try:
        for block in blocks:
            exec(compile(block, str(PAGE), "exec"), names)
    finally:
        for table, entries in zip((MODELS, LAWS, ACTIONS, INTEGRATORS, MEASURES), before, strict=True):
            table._table.clear()
            table._table.update(entries)
        EXPORTERS.clear()
        EXPORTERS.update(formats)
