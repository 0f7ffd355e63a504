"""What a page may say: one class per message; anything else is refused."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from pliant.core.tables import Table

LARGEST = 1_000_000  # bytes of a message
Name = Annotated[str, Field(max_length=100)]
Coordinate = Annotated[float, Field(ge=-1e6, le=1e6, allow_inf_nan=False)]
Place = tuple[Coordinate, Coordinate, Coordinate]
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


class Plain(Message):
    do: Literal["play", "pause", "step", "reset", "undo", "redo", "cancel", "list", "series"]


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
    | AddMessage | Lump | End,
    Field(discriminator="do"),
]  # fmt: skip
READ: TypeAdapter[AnyMessage] = TypeAdapter(AnyMessage)
