"""What a page may say: one class per message; anything else is refused."""

import json
import re
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from pliant.core.tables import Table

LARGEST = 1_000_000  # bytes of a message
DEEPEST = 24  # lists and tables in each other
_BRACKETS = re.compile(r'"(?:[^"\\]|\\.)*"|[\[{]|[\]}]', re.DOTALL)
Name = Annotated[str, Field(max_length=100)]
Coordinate = Annotated[float, Field(ge=-1e6, le=1e6, allow_inf_nan=False)]
Place = tuple[Coordinate, Coordinate, Coordinate]
Finite = Annotated[float, Field(allow_inf_nan=False)]
Number = Annotated[int, Field(ge=0, le=10_000_000)]


class Message(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=False)


class Ack(Message):
    do: Literal["ack"]


class Edit(Message):
    do: Literal["edit"]
    path: list[Annotated[str, Field(max_length=100)] | Number] = Field(min_length=1, max_length=12)
    value: Any = None


class Open(Message):
    """Open an example, a file of the workspace, what was saved last, or nothing."""

    do: Literal["open"]
    kind: Literal["example", "scene", "run", "autosave", "new"]
    name: Name = ""


class LookOver(Message):
    """Say what a mesh of the workspace is like."""

    do: Literal["look-over"]
    name: Name


class Save(Message):
    """Write the scene, or with ``take`` the take with its run folder."""

    do: Literal["save"]
    name: Name
    take: bool = False


class Build(Message):
    do: Literal["build"]
    open_end: bool = False


class CameraMessage(Message):
    """A camera as scenes have it."""

    position: Place
    target: Place
    angle: float = Field(gt=0, lt=180, allow_inf_nan=False)


class ExportLook(Message):
    """How an exported picture or movie looks: options of ``render``."""

    style: Name = "surface"
    colour: Name | None = None
    map: Name = "viridis"
    range: tuple[Finite, Finite] | None = None
    section: Name | None = None
    background: Literal["light", "white", "dark"] = "light"
    title: Annotated[str, Field(max_length=200)] | None = None
    time: bool = True
    bar: bool = True
    shadow: bool = True


Side = Annotated[int, Field(ge=16, le=8192)]


class Export(Message):
    """Write a picture, a movie or files of another format of what is recorded."""

    do: Literal["export"]
    format: Annotated[str, Field(pattern=r"^\.[a-z0-9]{2,12}$")]
    name: Name = ""
    size: tuple[Side, Side] = (1280, 720)
    rate: float = Field(default=30.0, ge=1, le=240, allow_inf_nan=False)
    speed: float = Field(default=1.0, ge=0.001, le=100, allow_inf_nan=False)
    frame: Number | None = None
    first: Number | None = None
    last: Number | None = None
    every: int = Field(default=1, ge=1, le=10_000)
    units: Literal["m", "cm", "mm", "in"] | None = None
    up: Literal["x", "y", "z"] | None = None
    look: ExportLook = Field(default_factory=ExportLook)
    camera: CameraMessage | None = None


class Plain(Message):
    do: Literal["play", "pause", "step", "reset", "undo", "redo", "cancel", "cancel-export", "list", "series"]


class Speed(Message):
    do: Literal["speed"]
    speed: float = Field(ge=0, le=100, allow_inf_nan=False)


class Show(Message):
    do: Literal["show"]
    frame: Number


class ViewMessage(Message):
    do: Literal["look"]
    colour: Name | None
    particles: bool
    cells: bool = False


class Grab(Message):
    do: Literal["grab"]
    body: Name
    particle: Number
    strength: float = Field(default=1.0, gt=0, le=1000, allow_inf_nan=False)


class Steer(Message):
    do: Literal["steer"]
    id: Number
    to: Place


class AddMessage(Message):
    """Let an action start now, in a running simulation."""

    do: Literal["add"]
    table: Table


class Lump(Message):
    """Let material like that of a body appear in a running simulation."""

    do: Literal["lump"]
    like: Name
    particle: Number
    shape: Table
    position: Place
    stick: bool = True


class End(Message):
    do: Literal["end"]
    id: Number


AnyMessage = Annotated[
    Ack | Edit | Open | LookOver | Save | Build | Plain | Speed | Show | ViewMessage | Grab | Steer
    | AddMessage | Lump | End | Export,
    Field(discriminator="do"),
]  # fmt: skip
READ: TypeAdapter[AnyMessage] = TypeAdapter(AnyMessage)


def read(text: str) -> AnyMessage:
    """The message in a JSON text; ValueError where it is none. One that is nested deeply is not parsed."""
    depth = 0
    for found in _BRACKETS.finditer(text):
        first = found[0][0]
        depth += (first in "[{") - (first in "]}")
        if depth > DEEPEST:
            raise ValueError("nested too deeply")
    try:
        given = json.loads(text)
    except (ValueError, RecursionError):
        raise ValueError("not JSON") from None
    return READ.validate_python(given)
