"""References: the page of all sources, and links to it from ``[Key]_``."""

import re
from functools import cache

from pliant.validation.citations import library

CITED = re.compile(r"\[(\w+\d{4}\w?)\]_?(?!\()")
ACCENTS = {'\\"u': "ü", '\\"o': "ö", '\\"a': "ä", "\\'e": "é", "\\v e": "ě", "\\v{e}": "ě"}


def _plain(text: str) -> str:
    for tex, letter in ACCENTS.items():
        text = text.replace("{" + tex + "}", letter).replace(tex, letter)
    return text.replace("{", "").replace("}", "").replace("--", "–")


@cache
def _entries() -> dict[str, dict[str, str]]:
    found = {}
    for key, line in library().items():
        pairs = re.findall(r"(\w+) = \{((?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*)\}", line)
        found[key] = {name: _plain(value) for name, value in pairs}
    return found


def authors(key: str) -> str:
    """``Baraff and Witkin (1998)``, ``Müller et al. (2004)``."""
    entry = _entries()[key]
    names = [name.split(",")[0] for name in entry["author"].split(" and ")]
    shown = " and ".join(names) if len(names) < 3 else f"{names[0]} et al."
    return f"{shown} ({entry['year']})"


def page() -> str:
    """All sources, by author."""
    lines = []
    for key, entry in sorted(_entries().items(), key=lambda item: authors(item[0])):
        places = ("journal", "booktitle", "school", "publisher", "volume", "pages", "note")
        more = ", ".join(entry[name] for name in places if name in entry)
        names = entry["author"].replace(" and ", "; ")
        lines.append(f"({key.lower()})=\n\n**{authors(key)}.** {names}: *{entry['title']}*. {more}.\n")
    return "\n".join(lines)


def link_citations(text: str, page: str) -> str:
    """``[Everts2006]_`` as the author and year, linked to the list of sources."""

    def link(found: re.Match[str]) -> str:
        return f"[{authors(found[1])}](#{found[1].lower()})" if found[1] in _entries() else found[0]

    return text if page == "reference/bibliography" else CITED.sub(link, text)


def roles(line: str) -> str:
    """The same for reStructuredText."""

    def role(found: re.Match[str]) -> str:
        return f":ref:`{authors(found[1])} <{found[1].lower()}>`" if found[1] in _entries() else found[0]

    return CITED.sub(role, line)
