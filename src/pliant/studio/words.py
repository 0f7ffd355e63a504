"""Errors in the words of the page: no file positions, no keys of files, no markup, no flags of commands."""

import re

from pliant.core.errors import PliantError, SceneError

_MEMBER = re.compile(r"(?P<family>bodies|actions|measures)(?:\[(?P<number>\d+)\])?\.?(?P<rest>.*)")
_FAMILIES = {"bodies": "body", "actions": "action", "measures": "measure"}
_WORDS = (
    (re.compile(r"``?([^`]*)``?"), r"\1"),
    (re.compile(r"\bPass scale\s*=\s*0\.001\b"), "Choose mm as its unit"),
    (re.compile(r"[Uu]se scale\s*=\s*0\.001\b"), "choose mm as the unit of its file"),
    (re.compile(r"\bmove it up with position\b"), "move it up (shape and place, position)"),
    (re.compile(r"step = \"auto\""), "the step “auto” (under Time)"),
    (re.compile(r"\bcontact\.between is false\b"), "the scene file turns contact off"),
    (re.compile(r"\s*\(?Python: [^)]*\)?"), ""),
    (re.compile(r"\bmesher\s*=\s*'lattice'"), "the lattice mesher"),
)


def plain(text: str) -> str:
    """``text`` without markup, and with the controls of the page instead of keys of files."""
    for pattern, words in _WORDS:
        text = pattern.sub(words, text)
    return text


def in_words(error: PliantError) -> tuple[str, str | None]:
    """Message and hint of an error, for a person who sees the page and no file."""
    message = error.message
    if isinstance(error, SceneError):
        place = f"{error.path}:{error.line}" if error.path and error.line else error.path
        for part in (place, error.key):
            message = message.removeprefix(f"{part}: ") if part else message
        if error.key:
            message = f"{_place(error.key)}: {message}"
    return plain(message), None if error.hint is None else plain(error.hint)


def _place(key: str) -> str:
    """``bodies[0].material.young`` as "Body 1, material young"."""
    found = _MEMBER.fullmatch(key)
    if found is None:
        return key.replace(".", ", ").replace("-", " ").capitalize()
    number = "" if found["number"] is None else f" {int(found['number']) + 1}"
    rest = found["rest"].replace(".", " ").replace("-", " ")
    return f"{_FAMILIES[found['family']].capitalize()}{number}" + (f", {rest}" if rest else "")
