"""What all exporters share: which frames and bodies, which files, and that no file is ever half written."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from pliant.errors import InputError, RunError
from pliant.recording import Frame, Run
from pliant.recording.files import replace_file, storing
from pliant.registry import nearest

_NUMBER = re.compile(r"%0?\d*d")

Piece = tuple[Path, Callable[[BinaryIO], object]]
"""A file to be, and the function that writes it."""


@dataclass(frozen=True)
class Job:
    """An export that has been checked: frame numbers, body names, field names (None: the usual ones)."""

    run: Run
    out: Path
    frames: Sequence[int]
    bodies: tuple[str, ...] | None
    fields: tuple[str, ...] | None

    def bodies_of(self, frame: Frame) -> list[str]:
        """The bodies asked for that exist at this frame, in the run's order."""
        return [b.name for b in frame.bodies if self.bodies is None or b.name in self.bodies]


@dataclass(frozen=True)
class Exporter:
    """A file format: what it holds, the options that mean something for it, and its files."""

    suffix: str
    about: str
    takes: frozenset[str]
    plan: Callable[[Job], list[Piece]]


def per_frame(job: Job, write: Callable[[Frame, BinaryIO], object], out: Path | None = None) -> list[Piece]:
    """One file per frame, its number put in place of ``%04d``."""
    out = out or job.out

    def piece(number: int) -> Piece:
        name = _NUMBER.sub(lambda match: match.group() % number, out.name)
        return out.with_name(name), lambda file: write(job.run.frames[number], file)

    if len(_NUMBER.findall(out.name)) > 1:
        raise InputError(f"'{out.name}' has more than one place for a frame's number.")
    if len(job.frames) > 1 and not _NUMBER.search(out.name):
        raise InputError(
            f"'{out.name}' has no place for the numbers of {len(job.frames)} frames.",
            hint=f"Write '{out.stem}_%04d{out.suffix}', or choose one frame (frames=-1 is the last).",
        )
    return [piece(number) for number in job.frames]


def export_with(
    exporter: Exporter,
    run: Run,
    out: Path,
    options: Mapping[str, Any],
    force: bool,
    progress: Callable[[int, int], object] | None,
) -> list[Path]:
    """Check everything, then write file by file, each appearing when it is complete."""
    for name, value in options.items():
        given = value != 1 if name == "every" else value is not None
        if given and name not in exporter.takes:
            raise InputError(f"'{name}' means nothing for {exporter.suffix} files: {exporter.about}.")
    job = Job(
        run,
        out,
        chosen_frames(run, options["frames"], options["every"]),
        chosen_bodies(run, options["bodies"]),
        None if options["fields"] is None else tuple(options["fields"]),
    )
    pieces = exporter.plan(job)
    taken = [path for path, _ in pieces if path.exists()]
    if taken and (not force or any(path.is_dir() for path in taken)):
        more = f" and {len(taken) - 1} more" if len(taken) > 1 else ""
        raise InputError(f"{taken[0]}{more} exist already.", hint="Use --force to write over files.")
    with storing(out, "try again"):
        out.parent.mkdir(parents=True, exist_ok=True)
        for number, (path, write) in enumerate(pieces, 1):
            replace_file(path, write)
            if progress is not None:
                progress(number, len(pieces))
    return [path for path, _ in pieces]


def chosen_frames(run: Run, wanted: int | slice | Iterable[int] | None, every: int) -> list[int]:
    if every < 1:
        raise InputError(f"every = {every}: it must be at least 1.")
    if not len(run):
        raise RunError(f"{run.path} holds no frames yet.")
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
        raise InputError("No frames were chosen.")
    return chosen[::every]


def chosen_bodies(run: Run, wanted: Iterable[str] | None) -> tuple[str, ...] | None:
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
