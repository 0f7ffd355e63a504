"""Reference of the command line, from the commands themselves."""

import inspect
import re
from importlib import import_module
from typing import Any

from pliant.cli.main import GROUPS, command


def page() -> str:
    """A section per command."""
    known = command().commands
    parts = []
    for group, verbs in GROUPS.items():
        for verb, module in verbs.items():
            examples = import_module(f"pliant.cli.{module}").EXAMPLES[verb]
            parts.append(_section(group, verb, known[verb], examples))
    return "\n\n".join(parts)


def _section(group: str, verb: str, entry: Any, examples: tuple[str, ...]) -> str:
    arguments = [each for each in entry.params if each.param_type_name == "argument"]
    options = [each for each in entry.params if each.param_type_name == "option" and not each.hidden]
    names = [_name(each) for each in arguments]
    usage = " ".join(["pliant", verb, *names, *(["[OPTIONS]"] if options else [])])
    rows = [f"| `{_cell(_name(each))}` | | {_cell(each.help)} |" for each in arguments]
    rows += [f"| {_flags(each)} | {_default(each)} | {_cell(each.help)} |" for each in options]
    table = ["| argument or option | default | meaning |", "| --- | --- | --- |", *rows] if rows else []
    shown = ["```sh", *examples, "```"]
    text = re.sub(r"\[/?b\]", "**", inspect.cleandoc(entry.help or ""))
    text = re.sub(r"(--[a-z][a-z-]*)", r"`\1`", text)
    parts = [
        f"## pliant {verb}",
        f"*{group}*",
        text,
        f"```text\n{usage}\n```",
        *map("\n".join, (table, shown)),
    ]
    return "\n\n".join(parts)


def _name(argument: Any) -> str:
    name = argument.metavar or argument.name.upper()
    return f"{name}..." if argument.nargs == -1 and "..." not in name else name


def _flags(option: Any) -> str:
    names = ", ".join(f"`{name}`" for name in (*option.opts, *option.secondary_opts))
    if option.is_flag:
        return names
    value = option.metavar or option.name.upper()
    return f"{names} `{value}`".replace("|", "\\|")


def _default(option: Any) -> str:
    value = option.default
    plain = isinstance(value, (str, int, float)) and not isinstance(value, bool)
    return f"`{value}`" if plain and value != "" else ""


def _cell(text: str | None) -> str:
    text = re.sub(r"\[/?b\]", "**", " ".join((text or "").split()))
    return text.replace("|", "\\|").replace("<", "&lt;")
