"""The command line: ``pliant VERB ...``. A verb is a function in a module here and an entry in ``GROUPS``."""

import os
import sys
import tempfile
import traceback
from collections.abc import Sequence
from importlib import import_module
from typing import Annotated, Any

import typer

from pliant import __version__
from pliant.cli.output import error as tell
from pliant.cli.output import say_json
from pliant.core.errors import PliantError
from pliant.core.option_names import command_line

INTERRUPTED = 130
HELP = ["-h", "--help"]
VERBOSE = "--verbose"
GROUPS = {  # of verbs in the help, and the module of each verb: it has that function, and ``EXAMPLES``
    "Start": {
        "hello": "hello",
        "new": "scenes",
        "examples": "scenes",
        "studio": "studio",
        "doctor": "doctor",
    },
    "Simulate": {"check": "scenes", "run": "run", "resume": "run", "mesh": "mesh"},
    "Results": {"info": "info", "render": "export", "plot": "export", "export": "export"},
    "Many runs": {"sweep": "sweep", "fit": "fit", "dataset": "dataset"},
    "Evidence": {
        "card": "validation",
        "compare": "validation",
        "validate": "validation",
        "bench": "validation",
        "certify": "certify",
        "cite": "validation",
    },
    "Reference": {"models": "lists", "materials": "lists", "schema": "lists"},
}
VERBS = {verb: module for group in GROUPS.values() for verb, module in group.items()}


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"pliant {__version__}")
        raise typer.Exit


def _top(
    version: Annotated[
        bool, typer.Option("--version", "-V", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
    verbose: Annotated[
        bool, typer.Option(VERBOSE, help="Print the traceback of an error; may stand after a command too.")
    ] = False,
) -> None:
    """Turn a mesh and a material into a deformable body, simulate it, and measure the result.

    Start with [b]pliant hello[/b], then [b]pliant new beam[/b] and [b]pliant run beam.toml[/b].
    """


def build() -> typer.Typer:
    """The application with all verbs."""
    app = typer.Typer(
        name="pliant",
        rich_markup_mode="rich",
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": HELP},
    )
    app.callback()(_top)
    for panel, verbs in GROUPS.items():
        for verb, name in verbs.items():
            module = import_module(f"pliant.cli.{name}")
            lines = "\n\n".join(f"  {line}" for line in module.EXAMPLES[verb])
            epilog = f"[b]Examples[/b]\n\n{lines}"
            app.command(verb, epilog=epilog, rich_help_panel=panel)(vars(module)[verb])
    return app


def command() -> Any:
    """The application as a command whose help shows no type for flags that take no value."""
    whole: Any = typer.main.get_command(build())
    for each in (whole, *whole.commands.values()):
        helping = each.get_help_option(typer.Context(each, help_option_names=HELP))
        for option in (*each.params, *([helping] if helping else [])):
            if getattr(option, "is_flag", False) and hasattr(option, "display_type_rich"):
                option.display_type_rich = lambda ctx: None
    return whole


def run(arguments: Sequence[str]) -> int:
    """Do what ``arguments`` say; returns the exit code and never raises."""
    with command_line():
        return _run(arguments)


def _run(arguments: Sequence[str]) -> int:
    verbose, arguments = VERBOSE in arguments, [each for each in arguments if each != VERBOSE]
    try:
        code = command()(args=arguments or ["--help"], prog_name="pliant", standalone_mode=False)
        sys.stdout.flush()
        if code == INTERRUPTED:  # typer turns Ctrl-C into this
            raise KeyboardInterrupt
        return code if isinstance(code, int) else 0
    except PliantError as problem:
        if verbose:
            traceback.print_exc()
        _failed(arguments, problem.message, problem.hint, problem.exit_code)
        return problem.exit_code
    except (KeyboardInterrupt, typer.Abort):
        tell("interrupted")
        return INTERRUPTED
    except BrokenPipeError:  # the reader of our output has gone: that is no error of ours
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 1
    except Exception as problem:
        if hasattr(problem, "format_message"):  # typer's usage errors, wherever click lives
            return _usage(problem, arguments)
        if verbose:
            traceback.print_exc()
        return _internal(problem)


def main() -> None:
    """Entry point of the ``pliant`` command."""
    sys.exit(run(sys.argv[1:]))


def _usage(problem: Any, arguments: Sequence[str]) -> int:
    context = getattr(problem, "ctx", None)
    path = context.command_path if context is not None else "pliant"
    message = problem.format_message().replace("Value error, ", "")  # the word of pydantic
    _failed(arguments, message, f"Try: {path} --help", 2)
    return 2


def _failed(arguments: Sequence[str], message: str, hint: str | None, code: int) -> None:
    """Print the error, with ``--json`` also as JSON where the result would be."""
    if "--json" in arguments:
        say_json({"error": {"message": message, "hint": hint, "exit_code": code}})
    tell(message, hint)


def _internal(problem: Exception) -> int:
    """A mistake of ours: the traceback goes to a file, not to the user."""
    text = "".join(traceback.format_exception(problem))
    try:
        with tempfile.NamedTemporaryFile(
            "w", prefix="pliant-error-", suffix=".txt", delete=False, encoding="utf-8"
        ) as file:
            file.write(f"pliant {__version__}, arguments {sys.argv[1:]}\n{text}")
        where = f"Please report it with {file.name}"
    except OSError:
        where = "Please report it"
    reason = " ".join(str(problem).split())[:200]
    tell(f"internal error: {type(problem).__name__}: {reason}", where)
    return 1
