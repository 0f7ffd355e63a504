"""What is to be drawn, worked out by the parent for the child processes: surroundings, cameras, pictures."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from pliant.contact.obstacle_shape import PLANE, ObstacleShape
from pliant.core.errors import InputError
from pliant.core.typing import Array
from pliant.render.camera import Camera, direction, fitted
from pliant.render.files import ColourBar
from pliant.render.render_options import RenderOptions
from pliant.run.scenery import obstacles
from pliant.run.store import BodyRecord, Frame, Run
from pliant.scene.camera import CameraKeys, camera_in
from pliant.scene.scene import UP


@dataclass(frozen=True)
class Scenery:
    """The surroundings of a run; ground: its level [m] along ``up``, or None; shapes: all but planes."""

    title: str
    up: str
    ground: float | None
    shapes: tuple[ObstacleShape, ...]
    camera: CameraKeys | None = None


def scenery_of(run: Run) -> Scenery:
    """Read from the scene that the run keeps; actions that are not known here are left out."""
    table, shapes = obstacles(run)
    up = str(table.get("up", "z"))
    up = up if up in UP else "z"
    grounds = [float(shape.path.at(0.0) @ shape.frame[:, 2]) for shape in shapes if shape.shape == PLANE]
    others = tuple(shape for shape in shapes if shape.shape != PLANE)
    level = max(grounds, default=None)
    return Scenery(str(table.get("title", "")), up, level, others, camera_in(table))


@dataclass(frozen=True)
class Panel:
    """A run in the picture, or one of several side by side.

    reach: the largest extent of what moves [m]; middle (3,): its middle; bottom: its lowest level along up.
    """

    path: Path
    caption: str
    camera: Camera
    setting: Scenery
    middle: Array
    reach: float
    bottom: float


@dataclass(frozen=True)
class Plan:
    """Everything that holds for all pictures."""

    panels: tuple[Panel, ...]
    look: RenderOptions
    limits: tuple[float, float] | None
    unit: str
    small: bool = False  # pictures of a contact sheet: nothing but the time is written on them

    @property
    def bar(self) -> ColourBar | None:
        """The colour bar, where one is wanted."""
        look = self.look
        if not look.bar or look.colour is None or self.limits is None:
            return None
        return ColourBar(look.colour, self.unit, self.limits, look.map)


@dataclass(frozen=True)
class Shot:
    """One picture: the time [s] in the runs, and how far through the movie it is (0..1)."""

    time: float
    phase: float = 0.0


LOOKED_AT = 16  # frames that the camera makes room for


def framed(
    runs: Sequence[Run],
    look: RenderOptions,
    numbers: Sequence[int],
    turns: float,
    follow: bool,
    keys: CameraKeys | None,
    labels: Sequence[str] | None = None,
) -> list[Panel]:
    """The runs, each with a camera that sees all that moves in the frames ``numbers``, with that of its own
    scene where the view is "auto", or with the one of ``keys``.

    Runs that start at the same place are seen by the same camera, so that they can be compared.
    """
    settings = [scenery_of(run) for run in runs]
    clouds = [_moving(run, s, look, numbers, follow) for run, s in zip(runs, settings, strict=True)]
    if _same_place([run.frames[0].positions for run in runs]):
        reaches = np.array([np.ptp(points, axis=0).max() for points in clouds])
        usual = reaches <= 2.0 * np.median(reaches)  # a run that flew apart does not set the view of others
        shared = np.concatenate([points for points, near in zip(clouds, usual, strict=True) if near])
        clouds = [shared] * len(clouds)
    panels = []
    names = labels or [run.path.stem for run in runs]
    for run, setting, cloud, name in zip(runs, settings, clouds, names, strict=True):
        upward = np.eye(3)["xyz".index(setting.up)]
        points = _with_ground(cloud, upward, setting.ground if look.ground == "auto" else look.ground)
        way, up = direction("iso" if look.view == "auto" else look.view, setting.up)
        own = setting.camera if look.view == "auto" and not (turns or follow or look.zoom != 1.0) else None
        if turns:  # room for every direction: a cylinder around the axis
            points = _turned_about(points, upward)
        target, distance = fitted(points, way, up, look.size[0] / look.size[1], look.zoom)
        middle = 0.5 * (points.min(axis=0) + points.max(axis=0))
        reach = float(np.ptp(points, axis=0).max()) or 1.0
        caption = look.title if look.title is not None else setting.title
        camera = Camera(way, up, upward, target, distance, turns, follow, keys or own)
        named = name if len(runs) > 1 or labels else caption
        panels.append(Panel(run.path, named, camera, setting, middle, reach, float((points @ upward).min())))
    return panels


def _moving(run: Run, setting: Scenery, look: RenderOptions, numbers: Sequence[int], follow: bool) -> Array:
    """Points that tell how far a run reaches, over some of the frames ``numbers``."""
    picked = [numbers[k] for k in np.unique(np.linspace(0, len(numbers) - 1, LOOKED_AT).round().astype(int))]
    picked = list(dict.fromkeys(min(number, len(run) - 1) for number in picked))
    start = run.frames[0].positions.mean(axis=0)
    clouds: list[Array] = []
    bodies: list[Array] = []
    wider = {b.name for b in run.frames[picked[0]].bodies if _is_wider(run.frames[picked[0]], b, look.style)}
    for number in picked:
        frame = run.frames[number]
        parts = [
            _outline(frame.surface(b.name).points if b.name in wider else frame.body(b.name))
            for b in frame.bodies
            if look.bodies is None or b.name in look.bodies
        ]
        bodies += parts
        moved = frame.positions.mean(axis=0) - start if follow else np.zeros(3)
        things = [shape.corners(frame.time) for shape in setting.shapes if shape.exists_at(frame.time)]
        clouds += [part - moved for part in parts] + ([] if follow else things)
    _check_section(look, np.concatenate(bodies))
    return np.concatenate(clouds)


def _is_wider(frame: Frame, body: BodyRecord, style: str) -> bool:
    """Whether the surface that is drawn reaches beyond the body's particles, as sheets without thickness do:
    by more than a tenth of its size."""
    if style != "surface" or body.structure.carrier is None:
        return False
    inner, outer = frame.body(body.name), frame.surface(body.name).points
    beyond = max((inner.min(axis=0) - outer.min(axis=0)).max(), (outer.max(axis=0) - inner.max(axis=0)).max())
    return bool(beyond > 0.1 * np.ptp(inner, axis=0).max())


def _same_place(starts: Sequence[Array]) -> bool:
    """Whether several clouds of points fill the same room, to a fifth of its size."""
    low = np.array([points.min(axis=0) for points in starts])
    high = np.array([points.max(axis=0) for points in starts])
    size = float((high - low).max())
    return len(starts) > 1 and max(np.ptp(low, axis=0).max(), np.ptp(high, axis=0).max()) <= 0.2 * size


def _check_section(look: RenderOptions, points: Array) -> None:
    """InputError where a section meets no body in any of the frames looked at."""
    if look.section is None:
        return
    axis, at = look.section
    low, high = float(points[:, axis].min()), float(points[:, axis].max())
    if not low <= at <= high:
        name = "xyz"[axis]
        raise InputError(
            f"section {name}={at:g}: there is nothing to cut.",
            hint=f"The bodies reach from {name}={low:.4g} to {high:.4g}.",
        )


def _with_ground(points: Array, up: Array, ground: float | str | None) -> Array:
    """The points, and the ground below their middle where it is not too far away."""
    if ground is None or isinstance(ground, str):
        return points
    low, high = points.min(axis=0), points.max(axis=0)
    below = float(low @ up) - ground
    if not 0.0 <= below < 1.2 * float((high - low).max()):
        return points
    middle = 0.5 * (low + high)
    half = 0.35 * (high - low)
    base = np.array([middle + half * [x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
    return np.concatenate([points, base - np.outer(base @ up - ground, up)])


def _outline(points: Array, most: int = 4000) -> Array:
    """Points that tell how far a cloud reaches: all of a small one, else some and the outermost."""
    if len(points) <= most:
        return points
    outer = np.unique(np.concatenate([points.argmin(axis=0), points.argmax(axis=0)]))
    return np.concatenate([points[:: len(points) // most + 1], points[outer]])


def _turned_about(points: Array, axis: Array) -> Array:
    middle = 0.5 * (points.min(axis=0) + points.max(axis=0))
    along = (points - middle) @ axis
    across = np.linalg.norm((points - middle) - np.outer(along, axis), axis=1)
    helper = np.roll(axis, 1)
    other = np.cross(axis, helper)
    angles = np.linspace(0.0, 2.0 * np.pi, 12, endpoint=False)
    ways = np.cos(angles)[:, None] * helper + np.sin(angles)[:, None] * other
    ring: Array = middle + (along[:, None, None] * axis + across[:, None, None] * ways).reshape(-1, 3)
    return ring
