"""Changes of a scene in the text of its file: comments, order and layout of the rest stay as they are."""

import re
import tomllib
from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import Any

from pliant.core.tables import Table, TableView
from pliant.scene.to_toml import scene_text, toml_value

FAMILIES = ("bodies", "actions", "measures")
_HEADER = re.compile(r"\s*(\[\[?)\s*([A-Za-z0-9_-]+)[^\]]*\]")


def edited_text(source: str, table: TableView) -> str:
    """The text of ``source``, a scene file, changed so that it says what ``table`` has.

    Sections and entries that are the same stay as they stand, with the comments above them; in those that
    changed, only the keys that differ are written. Without tomlkit (extra ``studio``) a scene that changed is
    written anew.
    """
    wanted = {key: value for key, value in table.items() if key not in FAMILIES or value}
    try:
        text = _merged(source, wanted)
        if tomllib.loads(text) == wanted:
            return text
    except (ModuleNotFoundError, tomllib.TOMLDecodeError, ValueError, KeyError, TypeError):
        pass
    return scene_text(table)  # tables that are spread over the file


def _merged(source: str, wanted: Table) -> str:
    blocks = _blocks(source)
    seen = {name for name, _ in blocks}
    parts: dict[str, list[str]] = {}
    for name in seen:
        texts = [text for other, text in blocks if other == name]
        if name in FAMILIES:
            parts[name] = _entries(name, texts, wanted.get(name, []))
        elif name:
            keep = name in wanted
            parts[name] = [_changed(texts[0], name, wanted[name])] if keep and len(texts) == 1 else []
        else:
            tables = {key for key, _ in blocks}
            top = {key: value for key, value in wanted.items() if key not in tables and not _section(value)}
            parts[name] = [_changed(texts[0], "", top)]
    out = []
    for name, _ in blocks:  # each family where its first entry stands
        out += parts.pop(name, [])
    for name, value in wanted.items():
        if name not in seen and _section(value):
            out.append(scene_text({name: value}))
    return "".join(out)


def _section(value: Any) -> bool:
    """Whether a value of the top level is a section of its own in what is written anew."""
    tables = isinstance(value, list) and bool(value) and all(isinstance(each, dict) for each in value)
    return isinstance(value, dict) or tables


def _blocks(source: str) -> list[tuple[str, str]]:
    """Parts of a scene file, each with the name of its section: the top level (""), tables and entries of
    lists, with the comments right above them and the sub-tables below."""
    blocks: list[tuple[str, list[str]]] = [("", [])]
    depth = 0  # of brackets that are open at the start of a line
    for line in source.splitlines(keepends=True):
        found = _HEADER.match(line) if not depth else None
        if found:
            name, sub = found[2], "." in found[0]
            if not (sub and blocks[-1][0] == name):
                above = blocks[-1][1]
                start = len(above)
                while start and above[start - 1].lstrip().startswith("#"):
                    start -= 1
                if len(blocks) == 1 and start == 0:
                    start = len(above)  # what heads the file
                blocks.append((name, above[start:]))
                del above[start:]
        else:
            plain = re.sub(r'"(\\.|[^"\\])*"|\'[^\']*\'|#.*', "", line)
            depth += sum(plain.count(c) for c in "[{") - sum(plain.count(c) for c in "]}")
        blocks[-1][1].append(line)
    return [(name, "".join(lines)) for name, lines in blocks]


def _entries(family: str, texts: list[str], wanted: Sequence[Any]) -> list[str]:
    """The blocks of a family's entries: those that are the same as they stand, others changed or new."""
    have = [tomllib.loads(text)[family][0] for text in texts]
    before, after = ([repr(each) for each in entries] for entries in (have, wanted))
    out = []
    for kind, a, b, c, d in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if kind == "equal":
            out += texts[a:b]
            continue
        both = min(b - a, d - c)
        pairs = zip(texts[a : a + both], wanted[c : c + both], strict=True)
        out += [_changed(text, family, entry) for text, entry in pairs]
        out += [scene_text({family: [entry]}) for entry in wanted[c + both : d]]
    return [text if text.endswith("\n") else text + "\n" for text in out]


def _changed(text: str, name: str, wanted: TableView) -> str:
    """A block whose table, called ``name``, becomes ``wanted``."""
    import tomlkit

    document = tomlkit.parse(text)
    place: Any = document
    if name:
        place = document[name]
        place = place[0] if isinstance(place, list) else place
    _update(place, wanted)
    return str(tomlkit.dumps(document))


def _update(place: Any, wanted: TableView) -> None:
    for key in [key for key in place if key not in wanted]:
        del place[key]
    for key, value in wanted.items():
        if key not in place:
            place[key] = _item(value)
        elif place[key] != value:
            old = place[key]
            if isinstance(old, dict) and isinstance(value, dict):
                _update(old, value)
            elif isinstance(old, list) and isinstance(value, list) and len(old) == len(value):
                _update_list(old, value)
            else:
                place[key] = _item(value)


def _update_list(old: Any, wanted: Sequence[Any]) -> None:
    for k, value in enumerate(wanted):
        if old[k] != value:
            if isinstance(old[k], dict) and isinstance(value, dict):
                _update(old[k], value)
            else:
                old[k] = _item(value)


def _item(value: Any) -> Any:
    """A value as tomlkit has it, on one line."""
    import tomlkit

    return tomlkit.parse(f"v = {toml_value(value)}\n")["v"]
