"""``render``: from choices to a plan, and from pictures to a file."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from pliant.core.errors import InputError, RunError
from pliant.core.registry import nearest
from pliant.core.typing import AnyArray
from pliant.exporters.job import chosen_bodies, chosen_frames
from pliant.render.camera import read_camera
from pliant.render.camera_fit import framed
from pliant.render.files import BLOCK, check_free, tiled, write_movie, write_png
from pliant.render.overlay import mounted
from pliant.render.plan import Plan, Shot
from pliant.render.render_options import BACKGROUNDS, RenderOptions, cut, level, pair
from pliant.render.scalar_fields import chosen_range, scalar_field
from pliant.render.worker_pool import pictures
from pliant.run.store import Run, load

SUFFIXES = (".png", ".mp4", ".gif")
FASTEST = 60.0  # pictures a second in a movie
GIF_FASTEST = 25.0
TURN_PICTURES = 120  # of a turn around one frame

AnyRun = Run | str | os.PathLike[str]


def render(
    runs: AnyRun | Sequence[AnyRun],
    out: str | os.PathLike[str],
    *,
    frame: int | None = None,
    frames: int | slice | Iterable[int] | None = None,
    every: int = 1,
    sheet: str | Sequence[int] | None = None,
    size: str | Sequence[int] | None = None,
    view: str = "iso",
    camera: Any = None,
    follow: bool = False,
    turntable: float = 0.0,
    zoom: float = 1.0,
    style: str = "surface",
    colour: str | None = None,
    range: str = "auto",
    map: str = "viridis",
    bar: bool = True,
    section: str | None = None,
    ground: float | str = "auto",
    shadow: bool = True,
    background: str = "light",
    title: str | None = None,
    time: bool = True,
    bodies: Iterable[str] | None = None,
    fps: float | None = None,
    workers: int | None = None,
    force: bool = False,
    progress: Callable[[int, int], object] | None = None,
) -> Path:
    """Draw a run, or several side by side, to a picture (.png) or a movie (.mp4, .gif); gives the file.

    A picture shows ``frame`` (default: the last), or with ``sheet="4x3"`` twelve of ``frames`` in four
    columns; a movie shows ``frames``, of which ``every`` n-th is taken, in real time or at ``fps``.

    size: of a picture or panel, "1280x720". view: iso, front, back, left, side, top, bottom. camera: keys, as
    a table or a TOML file (``CameraKeys``). follow: the camera moves along with the bodies. turntable: whole
    turns around them. style: surface, edges, wireframe, tets, particles, surfels, levels, cracks. colour: a
    field ("stress", "displacement.z"), with range "auto", "full", "0:5e4" or "1%:99%" and a colour map of
    matplotlib. section: a cut ("x=0.5"), its near side is left out. ground: "auto" (the scene's), "none" or a
    level [m]. title: "" for none (default: the scene's, or the runs' names). workers: processes (all cores).
    """
    path = Path(out)
    if path.suffix.lower() not in SUFFIXES:
        wish = path.suffix.lower() or path.name
        raise InputError(f"Cannot draw '{path.name}'; {nearest(wish, list(SUFFIXES))}")
    found = opened(runs)
    movie, small = path.suffix.lower() != ".png", sheet is not None
    if movie and (small or (frame is not None and not turntable)):
        raise InputError(f"A movie has no {'sheet' if small else 'single frame'}.", hint="Write a .png file.")
    if fps is not None and not 0.0 < fps <= 1000.0:
        raise InputError(f"fps = {fps:g}: it must be above 0, and 1000 at most.")
    cells = pair("sheet", sheet) if sheet is not None else (1, 1)
    names = None if bodies is None else chosen_bodies(found[0], bodies)
    look = RenderOptions(
        _size(size, path, cells, len(found), small), style, view, colour, _map(map), bar, cut(section),
        level(ground), shadow, background, title, time, names, zoom,
    )  # fmt: skip
    numbers = _numbers(found[0], frame, frames, every, movie, cells[0] * cells[1] if small else None)
    check_free(path, force)
    shots, rate = _shots(found[0], numbers, turntable, fps, path.suffix.lower() == ".gif")
    seen = numbers if movie or small else [numbers[0]]
    limits, unit = None, ""
    if colour is not None:
        limits = chosen_range(found, seen, colour, range, names)
        unit = scalar_field(found[0].frames[seen[0]], colour, _first_body(found[0], names)).unit
    keys = read_camera(camera)
    panels = framed(found, look, seen, turntable, follow, keys)
    plan = Plan(tuple(panels), look, limits, unit, small)
    images = _counted(pictures(plan, shots, workers), len(shots), progress)
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


def _map(name: str) -> str:
    from pliant.core.optional_dependencies import need

    need("Drawing pictures", "matplotlib")
    from matplotlib import colormaps

    if name not in colormaps:
        raise InputError(
            f"There is no colour map '{name}'; {nearest(name, ['viridis', 'turbo', 'coolwarm'])}"
        )
    return name


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


def _numbers(
    run: Run, frame: int | None, frames: Any, every: int, movie: bool, cells: int | None
) -> list[int]:
    if frame is not None and frames is not None:
        raise InputError("Give frame or frames, not both.")
    if not movie and cells is None:
        return chosen_frames(
            run, -1 if frame is None and frames is None else frames if frame is None else frame, 1
        )
    numbers = chosen_frames(run, frames if frame is None else frame, every)
    if cells is not None:
        spots = np.linspace(0, len(numbers) - 1, min(cells, len(numbers))).round().astype(int)
        numbers = [numbers[k] for k in spots]
    return numbers


def _shots(
    run: Run, numbers: Sequence[int], turns: float, fps: float | None, gif: bool
) -> tuple[list[Shot], float]:
    """The pictures to take, and how many go into a second of a movie."""
    rate = float(run.manifest["fps"])
    if turns and len(numbers) == 1:
        numbers = list(numbers) * TURN_PICTURES
        phases, real = np.arange(TURN_PICTURES) / TURN_PICTURES, 30.0
    else:
        phases = np.linspace(0.0, 1.0, len(numbers)) if len(numbers) > 1 else np.zeros(1)
        real = rate * (len(numbers) - 1) / max(numbers[-1] - numbers[0], 1) if len(numbers) > 1 else rate
    shots = [Shot(number / rate, float(phase)) for number, phase in zip(numbers, phases, strict=True)]
    fastest = GIF_FASTEST if gif else FASTEST
    if fps is None and real > fastest:  # keep real time by leaving pictures out
        skip = int(np.ceil(real / fastest - 1e-9))
        if len(shots) > skip:
            shots, real = shots[::skip], real / skip
    return shots, fps if fps is not None else min(max(real, 1.0), fastest)


def _first_body(run: Run, names: tuple[str, ...] | None) -> str:
    return names[0] if names else run.frames[0].bodies[0].name


def _counted(
    images: Iterator[AnyArray], total: int, progress: Callable[[int, int], object] | None
) -> Iterator[AnyArray]:
    for number, image in enumerate(images, 1):
        if progress is not None:
            progress(number, total)
        yield image
