"""The options of ``Run.render`` and ``Run.export``, declared once, with their form on the command line."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Annotated, Any

Frames = int | slice | Iterable[int] | None
Pair = str | Sequence[int] | None
Camera = str | PathLike[str] | Mapping[str, Any] | None


@dataclass(frozen=True)
class Option:
    """An option on the command line: its help and the name of its value.

    flags: where they are not ``--name``; typed: what the text is read as (default: the field's type); least:
    the smallest value.
    """

    help: str
    metavar: str | None = None
    flags: tuple[str, ...] = ()
    typed: type | None = None
    least: int | None = None


Bodies = Annotated[
    Iterable[str] | None, Option("Comma-separated names of bodies (default: all).", "NAMES", typed=str)
]
Every = Annotated[int, Option("Every N-th frame.", "N", least=1)]
Force = Annotated[bool, Option("Overwrite existing files.", flags=("--force", "-f"))]


@dataclass(frozen=True, kw_only=True)
class ExportRequest:
    """What ``export`` writes of a run.

    frames: one number, a slice or several (negative ones count from the end), of which ``every`` n-th is
    taken; bodies and fields: only these; units: lengths in "mm", "in", ... instead of metres; up: the axis
    that points up in the file, instead of the scene's; start: the number of the first file of a sequence, the
    others following one by one (default: frames keep their own); normals: smooth normals in a USD file too;
    force: existing files are replaced.
    """

    frames: Annotated[Frames, Option("Frames: 5, -1, 0:50 or 10: (default: all).", "RANGE", typed=str)] = None
    every: Every = 1
    bodies: Bodies = None
    fields: Annotated[
        Sequence[str] | None, Option("Fields to write, if the format supports them.", "NAMES", typed=str)
    ] = None
    units: Annotated[str | None, Option("Length unit: mm, cm, in, ... (default: metres).", "UNIT")] = None
    up: Annotated[str | None, Option("The axis that points up in the file: x, y or z.", "AXIS")] = None
    start: Annotated[int | None, Option("Number of the first file (default: its frame).", "N")] = None
    normals: Annotated[bool, Option("Smooth normals in USD files (50 % larger).", flags=("--normals",))] = (
        False
    )
    force: Force = False


@dataclass(frozen=True, kw_only=True)
class RenderRequest:
    """What ``render`` draws, and how.

    A picture shows ``frame`` (default: the last), or with ``sheet="4x3"`` twelve of ``frames`` in four
    columns; a movie shows ``frames``, of which ``every`` n-th is taken, in real time or at ``fps``. With
    ``rate`` or ``speed`` it lasts as long as the scene, over ``speed`` (1: real time), at ``rate`` pictures a
    second.

    size: of a picture or panel, "1280x720". view: "auto" (the scene's camera, or iso where it has none or the
    camera turns, follows or zooms), iso, front, back, left, side, top, bottom. camera: keys, as
    a table or a TOML file (``CameraKeys``). follow: the camera moves along with the bodies. turntable: whole
    turns around them. style: surface, edges, wireframe, tets, particles, surfels, levels, cracks, contacts.
    colour: a field ("stress", "displacement.z"), with range "auto", "full", "0:5e4" or "1%:99%" and a colour
    map of matplotlib. section: a cut ("x=0.5"), its near side is left out. ground: "auto" (the scene's),
    "none" or a level [m]. title: "" for none (default: the scene's, or the runs' names). workers: processes
    (all cores).
    """

    frame: Annotated[int | None, Option("Frame of a picture (default: -1, the last).", "N")] = None
    frames: Annotated[Frames, Option("Frames of a movie or a sheet: 0:50 or 10:.", "RANGE", typed=str)] = None
    every: Every = 1
    sheet: Annotated[Pair, Option("Contact sheet with this many pictures.", "COLUMNSxROWS", typed=str)] = None
    size: Annotated[Pair, Option("Size of a picture in pixels.", "WxH", typed=str)] = None
    view: Annotated[
        str, Option("auto (the scene's camera), iso, front, back, left, side, top, bottom.", "NAME")
    ] = "auto"
    camera: Annotated[
        Camera,
        Option("TOML file with the camera: position and target, or keys.", "FILE", typed=str),
    ] = None
    follow: Annotated[bool, Option("The camera follows the bodies.", flags=("--follow",))] = False
    turntable: Annotated[float, Option("Turns of the camera around the bodies.", "TURNS")] = 0.0
    zoom: Annotated[float, Option("Zoom factor.", "FACTOR")] = 1.0
    style: Annotated[
        str, Option("surface, edges, wireframe, tets, particles, surfels, levels, cracks, contacts.", "NAME")
    ] = "surface"
    colour: Annotated[
        str | None,
        Option("Colour by a field: stress, displacement.z.", "FIELD", flags=("--colour", "--color")),
    ] = None
    range: Annotated[str, Option("Colour range: auto, full, 0:5e4 or 1%:99%.", "RANGE")] = "auto"
    map: Annotated[str, Option("A colour map of matplotlib, or blue-green-red.", "NAME")] = "viridis"
    bar: Annotated[bool, Option("Draw the colour bar.")] = True
    section: Annotated[str | None, Option("Section plane: x=0.5.", "AXIS=PLACE")] = None
    ground: Annotated[
        float | str, Option("Ground: auto (of the scene), none, height.", "LEVEL", typed=str)
    ] = "auto"
    shadow: Annotated[bool, Option("Draw shadows on the ground.")] = True
    background: Annotated[str, Option("Background: light, white, dark.", "NAME")] = "light"
    title: Annotated[str | None, Option("Title (default: the scene's; '' for none).", "TEXT")] = None
    time: Annotated[bool, Option("Write the time on the picture.")] = True
    bodies: Bodies = None
    fps: Annotated[float | None, Option("Pictures per second (default: real time).", "N")] = None
    rate: Annotated[float | None, Option("Pictures per second of simulated time.", "N")] = None
    speed: Annotated[float | None, Option("Playback speed: 0.1 is slow motion.", "FACTOR")] = None
    workers: Annotated[int | None, Option("Drawing processes.", "N", least=1)] = None
    force: Force = False
