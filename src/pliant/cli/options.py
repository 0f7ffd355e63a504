"""Arguments and options that several commands share."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, get_args, get_type_hints

import typer

from pliant.core.errors import InputError
from pliant.run.requests import Option

if TYPE_CHECKING:
    from pliant.scene.override import Override
    from pliant.scene.scene import Scene

R = TypeVar("R")
SceneFile = Annotated[Path, typer.Argument(metavar="SCENE", help="A scene file (.toml).", show_default=False)]
RunFolder = Annotated[Path, typer.Argument(metavar="RUN", help="A run folder (.pliant).", show_default=False)]
Output = Annotated[
    Path | None,
    typer.Option(
        "-o", "--output", metavar="RUN", help="Run folder (default: the scene's name with .pliant)."
    ),
]
OutFile = Annotated[
    Path | None,
    typer.Option("-o", "--output", metavar="OUT", help="The file to write, if it is not the last argument."),
]
Threads = Annotated[
    int | None,
    typer.Option(min=1, metavar="N", help="Threads (default: all); results do not depend on it."),
]
Force = Annotated[bool, typer.Option("--force", "-f", help="Overwrite existing files.")]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
Movie = Annotated[bool, typer.Option("--movie/--no-movie", help="Render the movie.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")]
KEYS = {
    "model": "bodies.*.model",
    "integrator": "time.integrator",
    "step": "time.step",
    "duration": "time.duration",
    "fps": "time.fps",
}


@dataclass(frozen=True, kw_only=True)
class SceneChanges:
    """Options that change what a scene is made with."""

    model: Annotated[str | None, Option("Model for all bodies.", "NAME")] = None
    integrator: Annotated[str | None, Option("Time integrator.", "NAME")] = None
    set: Annotated[
        list[str] | None, Option("Change an entry: bodies.beam.edge=0.02. May be repeated.", "KEY=VALUE")
    ] = None


@dataclass(frozen=True, kw_only=True)
class RunChanges(SceneChanges):
    """Options that change how a scene is run, too."""

    step: Annotated[str | None, Option('Time step, or "auto".', "SECONDS")] = None
    duration: Annotated[str | None, Option("Simulated time.", "SECONDS")] = None
    fps: Annotated[str | None, Option("Recorded frames per simulated second.", "NUMBER")] = None


def out_file(argument: Path | None, option: Path | None) -> Path | None:
    """The file to write: the last argument or what ``-o`` says; InputError where both are given."""
    if argument is not None and option is not None:
        raise InputError(f"Two files to write: {argument} and -o {option}.", hint="Leave one out.")
    return argument if option is None else option


@contextmanager
def about(path: Path | str) -> Iterator[None]:
    """Errors that come up when a scene is built name its file."""
    from pliant.core.errors import IncompatibleError, MaterialError, MeshError, SelectionError

    try:
        yield
    except (IncompatibleError, MaterialError, MeshError, SelectionError) as error:
        if str(path) not in error.message:
            error.message = f"{path}: {error.message}"
        raise


def read_scene(path: Path, changes: Mapping[str, Any]) -> "Scene":
    """The scene with the given options of ``SceneChanges`` or ``RunChanges``; later ``--set`` win."""
    from pliant.scene.load import read

    return read(path, overrides(changes))


def overrides(changes: Mapping[str, Any]) -> "list[Override]":
    """What the given options of ``SceneChanges`` or ``RunChanges`` change in a scene."""
    from pliant.scene.override import Override, value_of

    named = [
        Override(key, value_of(changes[name]), f"--{name} {changes[name]}")
        for name, key in KEYS.items()
        if changes.get(name) is not None
    ]
    return [*named, *(Override.of(text) for text in changes["set"] or ())]


def number(text: str) -> float | str:
    """``text`` as a number where it is one without a unit."""
    try:
        return float(text)
    except ValueError:
        return text


def positive(option: str, text: str, unit: str) -> float:
    """``text`` as a number of ``unit`` above zero."""
    from pliant.core.units import parse

    try:
        value = parse(number(text), unit)
    except ValueError as error:
        raise InputError(f"{option}: {error}.") from None
    if value <= 0:
        raise InputError(f"{option} {text}: it must be above 0.")
    return value


def takes(cls: type) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Decorator: gives a command that takes ``**given`` an option for each field of a request class."""

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        own = [p for p in signature(command).parameters.values() if p.kind is not Parameter.VAR_KEYWORD]
        hints = get_type_hints(cls, include_extras=True)
        asked = [_parameter(entry.name, entry.default, hints[entry.name]) for entry in fields(cls)]
        required = [p for p in own if p.default is Parameter.empty]
        every = [*required, *asked, *(p for p in own if p.default is not Parameter.empty)]
        shown: Any = command
        shown.__signature__ = Signature(every)
        shown.__annotations__ = {p.name: p.annotation for p in every}
        return command

    return decorate


def _parameter(name: str, default: Any, hint: Any) -> Parameter:
    """A field of a request, ``Annotated[type, Option(...)]``, as an option of a command."""
    typed, about = get_args(hint)
    flags = about.flags or ((f"--{name}/--no-{name}",) if typed is bool else (f"--{name}",))
    if about.typed is not None:
        typed = about.typed | None if default is None else about.typed
    option = typer.Option(*flags, metavar=about.metavar, help=about.help, min=about.least)
    return Parameter(
        name, Parameter.POSITIONAL_OR_KEYWORD, default=default, annotation=Annotated[typed, option]
    )


def request(cls: type[R], given: Mapping[str, Any]) -> R:
    """The request that the options of a command make: ranges of frames and lists of names are read."""
    read: dict[str, Callable[[str], Any]] = {"frames": frame_range, "bodies": names, "fields": names}
    texts = {name for name in read if given.get(name) is not None}
    return cls(**{name: read[name](value) if name in texts else value for name, value in given.items()})


def names(text: str) -> list[str]:
    """``a,b`` as a list."""
    return [name.strip() for name in text.split(",") if name.strip()]


def frame_range(text: str) -> int | slice:
    """``5``, ``-1``, ``0:50`` or ``10:`` as an index or a slice."""
    try:
        first, *rest = [int(part) if part.strip() else None for part in text.split(":")]
        if not rest and first is not None:
            return first
        if len(rest) == 1:
            return slice(first, rest[0])
    except ValueError:
        pass
    raise InputError(f"--frames {text}: not a frame or a range of frames.", hint="Write 5, -1, 0:50 or 10:")
