"""The command line: ``pliant VERB ...``. A verb is a function in a module here and a line in ``VERBS``."""

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
from pliant.core.errors import PliantError

INTERRUPTED = 130
VERBS = {  # the module of each; it has a function of that name, and ``EXAMPLES`` for its help
    "hello": "hello",
    "new": "scenes",
    "examples": "scenes",
    "check": "scenes",
    "mesh": "mesh",
    "run": "run",
    "resume": "run",
    "info": "info",
    "export": "export",
    "card": "validation",
    "render": "export",
    "plot": "export",
    "compare": "validation",
    "validate": "validation",
    "bench": "validation",
    "cite": "validation",
    "certify": "certify",
    "studio": "studio",
    "doctor": "doctor",
}


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"pliant {__version__}")
        raise typer.Exit


def _top(
    version: Annotated[
        bool, typer.Option("--version", "-V", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Turn a mesh and a material into a deformable body, simulate it, and measure what happened.

    Start with [b]pliant hello[/b], then [b]pliant new beam[/b] and [b]pliant run beam.toml[/b].
    """


def build() -> typer.Typer:
    """The application with all verbs."""
    app = typer.Typer(
        name="pliant",
        rich_markup_mode="rich",
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_top)
    for verb, name in VERBS.items():
        module = import_module(f"pliant.cli.{name}")
        lines = "\n\n".join(f"  {line}" for line in module.EXAMPLES[verb])
        app.command(verb, epilog=f"[b]Examples[/b]\n\n{lines}")(vars(module)[verb])
    return app


def run(arguments: Sequence[str]) -> int:
    """Do what ``arguments`` say; returns the exit code and never raises."""
    try:
        code = build()(args=list(arguments) or ["--help"], prog_name="pliant", standalone_mode=False)
        sys.stdout.flush()
        if code == INTERRUPTED:  # typer turns Ctrl-C into this
            raise KeyboardInterrupt
        return code if isinstance(code, int) else 0
    except PliantError as problem:
        tell(problem.message, problem.hint)
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
            return _usage(problem)
        return _internal(problem)


def main() -> None:
    """Entry point of the ``pliant`` command."""
    sys.exit(run(sys.argv[1:]))


def _usage(problem: Any) -> int:
    context = getattr(problem, "ctx", None)
    path = context.command_path if context is not None else "pliant"
    tell(problem.format_message(), f"Try: {path} --help")
    return 2


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
