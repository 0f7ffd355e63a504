"""The samples of docs/fem.md run, and its fragments are valid."""

import re
from pathlib import Path

import pytest

from pliant.models import MODELS

PAGE = (Path(__file__).parents[2] / "docs" / "fem.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```(\w+)( fragment)?[^\n]*\n(.*?)```", PAGE, re.DOTALL)


@pytest.mark.parametrize("code", [text for kind, _, text in BLOCKS if kind == "python"])
def test_samples_run(code: str) -> None:
    exec(compile(code, "docs/fem.md", "exec"), {"__name__": "__page__"})


@pytest.mark.parametrize(
    "line", [row for kind, _, text in BLOCKS if kind == "toml" for row in text.splitlines()]
)
def test_fragments_are_models(line: str) -> None:
    import tomllib

    assert MODELS.build(tomllib.loads(line)["model"]).kind == "fem"


def test_every_key_is_described() -> None:
    from dataclasses import fields

    from pliant.core.parameters import kebab
    from pliant.models import Fem

    for entry in fields(Fem):  # type: ignore[arg-type]
        assert f"| `{kebab(entry.name)}` |" in PAGE
