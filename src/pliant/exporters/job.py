"""What all exporters share: frames, bodies, units and axes, files, and that no file is ever half written."""

import dataclasses
import os
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path
from typing import BinaryIO
from uuid import uuid4

import numpy as np

from pliant.core.environment import need
from pliant.core.errors import InputError, RunError
from pliant.core.registry import nearest
from pliant.core.typing import Array
from pliant.core.units import parse
from pliant.exporters.prefetch import ahead
from pliant.interfaces import FieldData
from pliant.mesh.mesh import Surface
from pliant.run.requests import ExportRequest
from pliant.run.store import BodyRecord, Frame, Run
from pliant.run.store.json_files import replace_file, storing
from pliant.scene.camera import CameraKeys, Eye, camera_in

_VECTORS = ("displacement", "velocity", "force")


@dataclass(frozen=True)
class AxisTransform:
    """From metres and the scene's axes to those of a file: points become ``scale * turn @ point``.

    unit: length unit of the file, ``metres`` long; up: its axis that points up.
    """

    unit: str = "m"
    metres: float = 1.0
    up: str = "z"
    turn: tuple[tuple[float, ...], ...] = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))

    @property
    def plain(self) -> bool:
        return self.metres == 1.0 and np.array_equal(self.turn, np.eye(3))

    def points(self, points: Array) -> Array:
        """Points, velocities or displacements (n, 3), converted."""
        return points if self.plain else points @ (np.array(self.turn).T / self.metres)

    def eye(self, keys: CameraKeys, time: float, up: str) -> Eye:
        """A camera of the scene, whose axis ``up`` points up, at ``time`` [s], converted."""
        eye, turn = keys.eye(time, np.eye(3)["xyz".index(up)]), np.array(self.turn)
        position, target = self.points(np.stack([eye.position, eye.target]))
        return replace(eye, position=position, target=target, up=turn @ eye.up)

    def field(self, name: str, data: FieldData) -> FieldData:
        """A field, converted: lengths and speeds scaled, vectors and tensors turned; all else stays SI."""
        values, turn = np.asarray(data.values), np.array(self.turn)
        if self.plain:
            return data
        if values.shape[1:] == (3, 3):
            values = turn @ values @ turn.T
        elif name in _VECTORS and values.shape[1:] == (3,):
            values = values @ turn.T
        if data.unit in ("m", "m/s"):
            return FieldData(values / self.metres, data.per, self.unit + data.unit[1:])
        return replace(data, values=values)


def placing(run: Run, unit: str | None, up: str | None) -> AxisTransform:
    """Checked: ``unit`` is a length (m if not given), ``up`` an axis (the scene's if not given)."""
    own = scene_up(run)
    wanted = own if up is None else up
    if wanted not in ("x", "y", "z"):
        raise InputError(f"up = {up!r}: it is x, y or z.")
    unit = unit or "m"
    try:
        metres = parse(f"1 {unit}", "m")
    except ValueError as error:
        raise InputError(f"units = {unit!r}: {error}.", hint="Lengths are m, cm, mm, km, in, ft.") from None
    turn = np.eye(3)
    if wanted != own:
        a, b = "xyz".index(own), "xyz".index(wanted)
        turn[a, a] = turn[b, b] = 0.0
        turn[b, a], turn[a, b] = 1.0, -1.0
    return AxisTransform(unit, metres, wanted, tuple(tuple(row) for row in turn.tolist()))


def scene_camera(run: Run) -> CameraKeys | None:
    """The camera of the run's scene, where it has one."""
    try:
        return camera_in(tomllib.loads(run.scene_text))
    except tomllib.TOMLDecodeError:
        return None


def scene_up(run: Run) -> str:
    """The axis that points up in the run's scene."""
    try:
        up = tomllib.loads(run.scene_text).get("up", "z")
    except tomllib.TOMLDecodeError:
        up = "z"
    return up if up in ("x", "y", "z") else "z"


class TransformedFrame(Frame):
    """A frame whose positions, velocities and fields are converted; structures stay as they are."""

    def __init__(self, frame: Frame, place: AxisTransform) -> None:
        super().__init__(frame._run, frame.index)
        self._frame, self._place = frame, place

    def _array(self, name: str) -> Array:
        if name not in self._read:
            self._read[name] = self._place.points(self._frame._array(name))
        return self._read[name]

    def surface(self, name: str) -> Surface:
        shown = self._frame.surface(name)  # carried in metres, as its offsets are
        return replace(shown, points=self._place.points(shown.points))

    def surface_velocities(self, name: str) -> Array | None:
        velocities = self._frame.surface_velocities(name)
        return None if velocities is None else self._place.points(velocities)

    def _field(self, name: str, body: BodyRecord) -> FieldData:
        return self._place.field(name, self._frame.field(name, body.name))


_NUMBER = re.compile(r"%0?\d*d")

SURFACES = frozenset({"frames", "every", "bodies", "units", "up"})
VOLUMES = SURFACES | {"fields"}

Piece = tuple[Path, Callable[[BinaryIO], object]]
"""A file to be, and the function that writes it."""


@dataclass(frozen=True)
class Job:
    """An export that has been checked: frame numbers, body names, field names (None: the usual ones).

    start: the number of the first file of a sequence (None: frames keep their own); normals: whether they are
    asked for where they are a choice; tell: called for each frame that a file with all frames has taken.
    """

    run: Run
    out: Path
    frames: Sequence[int]
    bodies: tuple[str, ...] | None
    fields: tuple[str, ...] | None
    place: AxisTransform = field(default_factory=AxisTransform)
    start: int | None = None
    normals: bool = False
    tell: Callable[[], object] = lambda: None

    def eyes(self) -> list[Eye] | None:
        """Where the scene's camera is at each frame asked for, one where it stands still; None for none."""
        keys, up = scene_camera(self.run), scene_up(self.run)
        if keys is None:
            return None
        fps = float(self.run.manifest["fps"])
        numbers = self.frames if keys.moves else self.frames[:1]
        return [self.place.eye(keys, number / fps, up) for number in numbers]

    def bodies_of(self, frame: Frame) -> list[str]:
        """The bodies asked for that exist at this frame, in the run's order."""
        return [b.name for b in frame.bodies if self.bodies is None or b.name in self.bodies]

    def frame(self, number: int) -> Frame:
        """A frame, in the units and axes asked for."""
        frame = self.run.frames[number]
        return frame if self.place.plain else TransformedFrame(frame, self.place)

    def each(self) -> Iterator[Frame]:
        """All frames asked for, one after the other, for a file that holds them all; read ahead."""
        for frame in ahead(self.frame(number).fetch for number in self.frames):
            yield frame
            self.tell()

    def versions(self) -> dict[int, list[int]]:
        """The frames asked for by their topology version."""
        found: dict[int, list[int]] = {}
        for number in self.frames:
            found.setdefault(self.run.version_of(number), []).append(number)
        return found


@dataclass(frozen=True)
class Exporter:
    """A file format: what it holds, the options that mean something for it, and its files.

    needs: modules, from the extra ``extra``; up: the axis that always points up in it; whole: one file holds
    all frames.
    """

    suffix: str
    about: str
    takes: frozenset[str]
    plan: Callable[[Job], list[Piece]]
    needs: tuple[str, ...] = ()
    extra: str = "render"
    up: str | None = None
    whole: bool = False


def per_frame(job: Job, write: Callable[[Frame, BinaryIO], object], out: Path | None = None) -> list[Piece]:
    """One file per frame, its number put in place of ``%04d``."""
    out = out or job.out

    def piece(place: int, number: int) -> Piece:
        shown = number if job.start is None else job.start + place
        name = _NUMBER.sub(lambda match: match.group() % shown, out.name)
        return out.with_name(name), lambda file: write(job.frame(number), file)

    if len(_NUMBER.findall(out.name)) > 1:
        raise InputError(f"'{out.name}' has more than one place for a frame's number.")
    if len(job.frames) > 1 and not _NUMBER.search(out.name):
        raise InputError(
            f"'{out.name}' has no place for the numbers of {len(job.frames)} frames.",
            hint=f"Write '{out.stem}_%04d{out.suffix}', or choose one frame: --frames -1 (Python: frames=-1)"
            " is the last.",
        )
    return [piece(place, number) for place, number in enumerate(job.frames)]


def one_file(write: Callable[[Job, BinaryIO], object]) -> Callable[[Job], list[Piece]]:
    """The plan of a format with one file that ``write`` fills with all frames."""
    return lambda job: [(job.out, lambda file: write(job, file))]


def by_name(suffix: str, write: Callable[[Path], object]) -> Callable[[BinaryIO], object]:
    """For libraries that open files themselves: ``write`` gets a name that ends in ``suffix``.

    Whatever is left under that name, with another ending too, goes.
    """

    def whole(file: BinaryIO) -> None:
        final = Path(file.name)
        draft = final.with_name(f".{uuid4().hex[:12]}{suffix}")
        try:
            write(draft)
            os.replace(draft, final)
        finally:
            for left in final.parent.glob(f"{draft.stem}.*"):
                with suppress(OSError):
                    left.unlink()

    return whole


def export_with(
    exporter: Exporter,
    run: Run,
    out: Path,
    asked: ExportRequest,
    progress: Callable[[int, int], object] | None,
) -> list[Path]:
    """Check everything, then write file by file, each appearing when it is complete."""
    for entry in dataclasses.fields(asked):
        value = vars(asked)[entry.name]
        given = value is not None and value is not entry.default
        if given and entry.name not in {"force", *exporter.takes}:
            raise InputError(f"'{entry.name}' means nothing for {exporter.suffix} files: {exporter.about}.")
    need(f"Writing {exporter.suffix} files", *exporter.needs, extra=exporter.extra)
    frames = chosen_frames(run, asked.frames, asked.every)
    done = count(1)

    def tell() -> None:
        if progress is not None:
            progress(next(done), total)

    job = Job(
        run,
        out,
        frames,
        chosen_bodies(run, asked.bodies),
        None if asked.fields is None else tuple(asked.fields),
        placing(run, asked.units, asked.up or exporter.up),
        asked.start,
        bool(asked.normals),
        tell if exporter.whole else lambda: None,
    )
    pieces = exporter.plan(job)
    total = len(frames) if exporter.whole else len(pieces)
    taken = [path for path, _ in pieces if path.exists()]
    if taken and (not asked.force or any(path.is_dir() for path in taken)):
        more = f" and {len(taken) - 1} more" if len(taken) > 1 else ""
        raise InputError(f"{taken[0]}{more} exist already.", hint="Use --force to write over files.")
    with storing(out, "try again"):
        out.parent.mkdir(parents=True, exist_ok=True)
        for path, write in pieces:
            replace_file(path, write)
            if not exporter.whole:
                tell()
    return [path for path, _ in pieces]


def chosen_frames(run: Run, wanted: int | slice | Iterable[int] | None, every: int) -> list[int]:
    """Frame numbers from a number, a slice or several; InputError for those that are not there."""
    if every < 1:
        raise InputError(f"every = {every}: it must be at least 1.")
    if not len(run):
        raise RunError(f"{run.path} holds no frames yet.")
    if isinstance(wanted, str):
        raise InputError(f"frames = '{wanted}': a text.", hint="Give a number, a slice or several numbers.")
    whole = range(len(run))
    if wanted is None or isinstance(wanted, slice):
        chosen = list(whole[wanted or slice(None)])
    else:
        asked = [int(wanted)] if isinstance(wanted, (int, np.integer)) else [int(number) for number in wanted]
        wrong = [number for number in asked if not -len(run) <= number < len(run)]
        if wrong:
            raise InputError(f"There is no frame {wrong[0]}: the run has frames 0 to {len(run) - 1}.")
        chosen = list(dict.fromkeys(whole[number] for number in asked))
    if not chosen:
        raise InputError(f"No frames were chosen: the run has frames 0 to {len(run) - 1}.")
    return chosen[::every]


def chosen_bodies(run: Run, wanted: Iterable[str] | None) -> tuple[str, ...] | None:
    """Names of bodies, checked; None for all."""
    if wanted is None:
        return None
    names = (wanted,) if isinstance(wanted, str) else tuple(wanted)
    known = list(dict.fromkeys(body.name for version in run.versions for body in run.topology(version)))
    for name in names:
        if name not in known:
            raise InputError(f"The run has no body '{name}'; {nearest(name, known)}")
    if not names:
        raise InputError("No bodies were chosen.")
    return names
