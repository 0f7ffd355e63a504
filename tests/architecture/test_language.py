"""Pages, help texts, messages and public docstrings use the words of the field: no private ones.

Code, inline code and names of files are left out: names of interfaces (``card``, ``flux``, ``renormalise``,
``phyxels`` as a folder) stay. An exception is a place where the word is quoted, or a term is introduced.
"""

import ast
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

import pliant as pl
from pliant.actions import ACTIONS
from pliant.cli.main import build
from pliant.integrators import INTEGRATORS
from pliant.measures import MEASURES
from pliant.mesh.shapes import SHAPES
from pliant.models import MODELS

ROOT = Path(__file__).resolve().parents[2]
LATER = {"fracture.md", "matrix.md", "multires.md", "energy.md"}
PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md"))]
PAGES = [page for page in PAGES if page.name not in LATER]

WORDS = {  # what is not said: what is said instead
    r"the texts?\b(?! of\b)|reference texts?\b": "author and year",
    r"\breference [ABCDE]\b": "author and year",
    r"\bphyxels?\b": "particle",
    r"\b(carried|shown) surfaces?\b": "embedded surface, render mesh",
    r"\b(come|comes|came) apart\b": "break, separate",
    r"\banew\b": "again",
    r"\bmend(s|ed|ing)?\b": "repair, correct",
    r"\b(bodies|pieces|surfaces) meet\b": "collide, touch",
    r"\bmeets? (each other|the ground|nothing|obstacles)\b": "collide, touch",
    r"\blevels of detail\b": "adaptive resolution, resolution level",
    r"\band (its|their) kin\b": "-compatible",
    r"\ba mistake of ours\b|\bof yours\b|\bby us\b|\bof ours\b": "internal error; your own",
    r"\bsays? so\b|\bis said so\b|\btells? (it|so)\b": "is an error, is reported",
    r"\bgo(es)? on bit for bit\b": "continue with bit-identical results",
    r"\btexts (may )?carry\b|\ba text may carry\b": "strings may include a unit",
    r"\bwhat it comes to\b|\blooks? one over\b": "size, estimated run time, warnings",
    r"\bmaterial cards?\b": "material test",
    r"\bhourglass share\b": "hourglass energy fraction",
    r"\b(lend|lends|borrow|borrows) mass\b|\beven their masses\b": "mass redistribution",
    r"\bstep in parts\b": "substeps",
    r"(?<!--)\bquick(er|est|ly)?\b": "fast",
    r"\bwith commas between\b": "comma-separated",
    r"\bif not given\b": "default",
    r"\bruns to the right\b": "x axis",
    r"\bfor every eye\b": "accessibility",
    r"\b(bodies|tools?|hands?) feels?\b|\bwhat (they|it) feels?\b": "the force on it",
    r"\bwithout a word\b": "silently",
    r"\bas printed\b|\bprinted (form|law|model|formula|rule)s?\b": "published",
    r"\bleft alone\b": "not changed",
    r"\bluck\b|\bcome to rest shapes\b": "coincidence",
}
ALLOWED = {  # page and word: why
    ("docs/glossary.md", "phyxel"): "the term is defined there",
    ("docs/meshless.md", "phyxels"): "the term is defined there",
    ("docs/texts.md", "levels of detail"): "the title of a section of Debunne et al. (2000)",
}
PATTERN = re.compile("|".join(f"(?:{word})" for word in WORDS), re.IGNORECASE)


def prose(page: Path) -> str:
    """A page without code, inline code, targets of links and anchors."""
    text = re.sub(r"^ *```.*?^ *```", "", page.read_text(encoding="utf-8"), flags=re.S | re.M)
    text = re.sub(r"`[^`\n]*`", "", text)
    return re.sub(r"\]\([^)]*\)", "]", text)


def found(text: str) -> list[str]:
    return sorted({match[0].lower() for match in PATTERN.finditer(" ".join(text.split()))})


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_pages_use_the_words_of_the_field(page: Path) -> None:
    name = page.relative_to(ROOT).as_posix()
    assert [word for word in found(prose(page)) if (name, word) not in ALLOWED] == []


def test_help_texts_use_the_words_of_the_field() -> None:
    whole: Any = typer.main.get_command(build())
    texts = {name: command.help or "" for name, command in whole.commands.items()}
    for name, command in whole.commands.items():
        texts |= {f"{name} {entry.name}": getattr(entry, "help", "") or "" for entry in command.params}
    assert len(texts) > 100
    assert {name: found(text) for name, text in texts.items() if found(text)} == {}


def messages() -> Iterator[tuple[str, str]]:
    """(file:line, text) of strings with a space in the package that are no docstrings."""
    for path in sorted((ROOT / "src/pliant").rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        lone = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        for node in ast.walk(tree):
            if not isinstance(node, ast.Constant) or not isinstance(node.value, str) or id(node) in lone:
                continue
            if " " in node.value.strip():
                yield f"{path.relative_to(ROOT)}:{node.lineno}", node.value


def test_messages_use_the_words_of_the_field() -> None:
    all_of_them = list(messages())
    assert len(all_of_them) > 2000
    assert {place: found(text) for place, text in all_of_them if found(text)} == {}


def test_public_docstrings_use_the_words_of_the_field() -> None:
    families = (MODELS, ACTIONS, MEASURES, INTEGRATORS, SHAPES)
    classes = [cls for family in families for _, cls in family.items()]
    public = [getattr(pl, name) for name in dir(pl)]
    named = [each for each in public if isinstance(each, type) or inspect.isfunction(each)]
    texts = {each.__name__: inspect.getdoc(each) or "" for each in (*classes, *named)}
    assert len(texts) > 60
    assert {name: found(text) for name, text in texts.items() if found(text)} == {}
