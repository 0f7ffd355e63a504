"""``render``: from choices to a plan, and from pictures to a file."""

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from pliant.core.errors import InputError, RunError
from pliant.core.registry import nearest
from pliant.core.typing import AnyArray
from pliant.exporters.job import chosen_bodies, chosen_frames
from pliant.render.camera import read_camera
from pliant.render.colour_maps import colour_map
from pliant.render.files import BLOCK, check_free, mounted, tiled, write_movie, write_png
from pliant.render.plan import Plan, Shot, framed
from pliant.render.render_options import BACKGROUNDS, RenderOptions, pair
from pliant.render.scalar_fields import chosen_range, scalar_field
from pliant.render.worker_pool import DrawingTeam, pictures
from pliant.run.requests import RenderRequest
from pliant.run.store import Run, load

SUFFIXES = (".png", ".mp4", ".gif")
FASTEST = 60.0  # pictures a second in a movie
GIF_FASTEST = 25.0
SLOW_RATE = 30.0  # where a speed is given and no rate
TURN_PICTURES = 120  # of a turn around one frame

AnyRun = Run | str | os.PathLike[str]


def render(
    runs: AnyRun | Sequence[AnyRun],
    out: str | os.PathLike[str],
    request: RenderRequest | None = None,
    *,
    labels: Sequence[str] | None = None,
    progress: Callable[[int, int], object] | None = None,
    team: DrawingTeam | None = None,
    **options: Any,
) -> Path:
    """Draw a run, or several side by side, to a picture (.png) or a movie (.mp4, .gif); gives the file.

    Options are the fields of ``RenderRequest``, given as one or by name; labels: names of several runs
    (default: of their folders); ``progress`` is called with the pictures that are done and all; team:
    processes that draw, started earlier.
    """
    asked = RenderRequest(**options) if request is None else replace(request, **options)
    path = Path(out)
    if path.suffix.lower() not in SUFFIXES:
        wish = path.suffix.lower() or path.name
        raise InputError(f"Cannot draw '{path.name}'; {nearest(wish, list(SUFFIXES))}")
    found = opened(runs)
    if labels is not None and len(labels) != len(found):
        raise InputError(f"{len(labels)} labels for {len(found)} runs.")
    movie, small = path.suffix.lower() != ".png", asked.sheet is not None
    if movie and (small or (asked.frame is not None and not asked.turntable)):
        raise InputError(f"A movie has no {'sheet' if small else 'single frame'}.", hint="Write a .png file.")
    _check_rates(asked, movie)
    cells = pair("sheet", asked.sheet) if asked.sheet is not None else (1, 1)
    names = None if asked.bodies is None else chosen_bodies(found[0], asked.bodies)
    look = RenderOptions.of(asked, _size(asked.size, path, cells, len(found), small), names)
    colour_map(look.map)
    numbers = _numbers(found[0], asked, movie, cells[0] * cells[1] if small else None)
    check_free(path, asked.force)
    shots, rate = _shots(found[0], numbers, asked, path.suffix.lower() == ".gif", movie)
    seen = numbers if movie or small else [numbers[0]]
    limits, unit = None, ""
    if asked.colour is not None:
        limits = chosen_range(found, seen, asked.colour, asked.range, names)
        first = names[0] if names else found[0].frames[0].bodies[0].name
        unit = scalar_field(found[0].frames[seen[0]], asked.colour, first).unit
    keys = read_camera(asked.camera)
    panels = framed(found, look, seen, asked.turntable, asked.follow, keys, labels)
    plan = Plan(tuple(panels), look, limits, unit, small)
    images = _counted(pictures(plan, shots, asked.workers, team), len(shots), progress)
    if movie:
        write_movie(path, images, rate)
    else:
        write_png(path, _sheet(plan, tiled(images, cells[0])) if small else next(images))
    return path


def _sheet(plan: Plan, image: AnyArray) -> AnyArray:
    """The tiled pictures with a title, if one was given, and the colour bar."""
    _, paper, _, ink = BACKGROUNDS[plan.look.background]
    return mounted(image, paper, ink, plan.look.title or "", plan.bar)


def opened(given: Any) -> list[Run]:
    """One run or several, by folder or already open; RunError for one without frames."""
    alone = isinstance(given, (Run, str, os.PathLike))
    found = [run if isinstance(run, Run) else load(run) for run in ([given] if alone else given)]
    if not found:
        raise InputError("No run was given.")
    for run in found:
        if not len(run):
            raise RunError(f"{run.path} holds no frames yet.")
    return found


def _size(given: Any, path: Path, cells: tuple[int, int], runs: int, small: bool) -> tuple[int, int]:
    """Pixels of one panel; movies come in whole blocks."""
    if given is not None:
        width, height = pair("size", given)
    elif small:
        width, height = 480, 320
    elif path.suffix.lower() == ".gif":
        width, height = 480, 272
    else:
        movie = path.suffix.lower() == ".mp4"
        width, height = ((960, 544) if movie else (1280, 720)) if runs == 1 else (640, 544)
    if path.suffix.lower() != ".png":
        width, height = (max(BLOCK, BLOCK * round(side / BLOCK)) for side in (width, height))
    return width, height


def _numbers(run: Run, asked: RenderRequest, movie: bool, cells: int | None) -> list[int]:
    frame, frames = asked.frame, asked.frames
    if frame is not None and frames is not None:
        raise InputError("Give frame or frames, not both.")
    if not movie and cells is None:
        return chosen_frames(
            run, -1 if frame is None and frames is None else frames if frame is None else frame, 1
        )
    numbers = chosen_frames(run, frames if frame is None else frame, asked.every)
    if cells is not None:
        spots = np.linspace(0, len(numbers) - 1, min(cells, len(numbers))).round().astype(int)
        numbers = [numbers[k] for k in spots]
    return numbers


def _check_rates(asked: RenderRequest, movie: bool) -> None:
    """InputError for rates of a picture, rates that contradict each other, or that are out of bounds."""
    for name in ("fps", "rate", "speed"):
        value = vars(asked)[name]
        if value is None:
            continue
        if not 0.0 < value <= 1000.0:
            raise InputError(f"{name} = {value:g}: it must be above 0, and 1000 at most.")
        if not movie and name != "fps":
            raise InputError(f"A picture has no {name}.", hint="Write a .mp4 or .gif file.")
        if name != "fps" and (asked.fps is not None or asked.turntable):
            other = "turntable" if asked.fps is None else "fps, which shows every frame"
            raise InputError(f"{name} cannot be used with {other}.")


def _shots(
    run: Run, numbers: Sequence[int], asked: RenderRequest, gif: bool, movie: bool
) -> tuple[list[Shot], float]:
    """The pictures to take, and how many go into a second of a movie."""
    rate, fps, turns = float(run.manifest["fps"]), asked.fps, asked.turntable
    fastest = GIF_FASTEST if gif else FASTEST
    if asked.rate is not None or asked.speed is not None:
        wanted, speed = asked.rate or min(SLOW_RATE, fastest), asked.speed or 1.0
        return _timed(numbers[0] / rate, numbers[-1] / rate, wanted, speed), wanted
    if turns and len(numbers) == 1:
        numbers = list(numbers) * TURN_PICTURES
        phases, real = np.arange(TURN_PICTURES) / TURN_PICTURES, 30.0
    else:
        phases = np.linspace(0.0, 1.0, len(numbers)) if len(numbers) > 1 else np.zeros(1)
        real = rate * (len(numbers) - 1) / max(numbers[-1] - numbers[0], 1) if len(numbers) > 1 else rate
    shots = [Shot(number / rate, float(phase)) for number, phase in zip(numbers, phases, strict=True)]
    if movie and fps is None and real > fastest:  # keep real time by leaving pictures out
        skip = int(np.ceil(real / fastest - 1e-9))
        if len(shots) > skip:
            shots, real = shots[::skip], real / skip
    return shots, fps if fps is not None else min(max(real, 1.0), fastest)


def _timed(start: float, end: float, rate: float, speed: float) -> list[Shot]:
    """Pictures from ``start`` to ``end`` [s] for a movie of ``(end - start) / speed`` seconds, to half a
    picture: each shows the time at which its part of the movie begins."""
    count = max(1, int((end - start) / speed * rate + 0.5))
    return [Shot(start + k * speed / rate, k / max(count - 1, 1)) for k in range(count)]


def _counted(
    images: Iterator[AnyArray], total: int, progress: Callable[[int, int], object] | None
) -> Iterator[AnyArray]:
    for number, image in enumerate(images, 1):
        if progress is not None:
            progress(number, total)
        yield image
