"""The ground with its grid, fading out, and soft shadows on it and on tables; loads in child processes."""

from typing import Any

import numpy as np
import pyvista as pv
from PIL import Image, ImageChops, ImageDraw, ImageFilter

from pliant.contact.obstacle_shape import ObstacleShape
from pliant.core.typing import AnyArray, Array, IntArray
from pliant.render.plan import Panel
from pliant.render.render_options import BACKGROUNDS, RenderOptions

PIXELS = 320
BANDS = (0.06, 0.2, 0.6)  # heights, in sizes of the shown square, at which the blur grows
BLUR = (2.0, 4.0, 9.0, 16.0)  # pixels
DARK = 0.42


def plane_shadow(
    casters: list[tuple[Array, IntArray]], level: float, axis: int, light: Array, square: tuple[Array, float]
) -> AnyArray:
    """How dark (0..1) a plane across ``axis`` at ``level`` [m] is; shape (PIXELS, PIXELS).

    casters: points and triangles that stand in the light; light: the way it goes; square: its centre (2,) in
    the plane's two other axes, and half its side [m]. Rows follow the second of these axes, from low to high.
    """
    first, second = (k for k in range(3) if k != axis)
    centre, half = square
    masks = [Image.new("L", (PIXELS, PIXELS)) for _ in BLUR]
    pens = [ImageDraw.Draw(mask) for mask in masks]
    sense = -1.0 if light[axis] > 0 else 1.0  # light that comes from below casts no shadow here
    for points, triangles in casters if sense > 0 else []:
        height = points[:, axis] - level
        flat = points - np.outer(height / light[axis], light)
        pixel = (flat[:, [first, second]] - centre + half) * (0.5 * PIXELS / half)
        high = height[triangles]
        bands = np.searchsorted(np.array(BANDS) * 2.0 * half, high.mean(axis=1))
        above = high.min(axis=1) > -1e-3 * half
        for corners, band in zip(pixel[triangles[above]].reshape(-1, 6).tolist(), bands[above], strict=True):
            pens[band].polygon(corners, fill=255)
    light_left, lower = np.ones((PIXELS, PIXELS)), masks[0]
    for mask, blur in zip(masks, BLUR, strict=True):
        if mask.getbbox() is not None:  # with the part below it, or light would show along their border
            whole, lower = ImageChops.lighter(mask, lower), mask
            soft = np.asarray(whole.filter(ImageFilter.GaussianBlur(blur)), float) / 255.0
            light_left = np.minimum(light_left, 1.0 - soft)
    edge = np.minimum(1.0, 8.0 * (1.0 - np.abs(np.linspace(-1.0, 1.0, PIXELS))))
    dark: AnyArray = DARK * (1.0 - light_left) * edge[:, None] * edge[None, :]
    return dark


SMOOTHING = 2  # pixels drawn per pixel shown, along each side
Caster = tuple[Array, IntArray]  # points and triangles that stand in the light


def draw_floor(
    plotter: Any,
    look: RenderOptions,
    panel: Panel,
    bodies: list[Caster],
    obstacles: list[Caster],
    light: Array,
    moved: Array,
) -> None:
    """The ground with its grid, fading out, the shadows of bodies and obstacles on it, and of bodies on
    tables."""
    axis = "xyz".index(panel.setting.up)
    _, _, colour, ink = BACKGROUNDS[look.background]
    level = panel.setting.ground if look.ground == "auto" else look.ground
    tables = [shape for shape in panel.setting.shapes if shape.role == "table"]
    if look.shadow:
        for table in tables:
            top = float(table.corners(0.0)[:, axis].max())
            half = 0.5 * float(np.ptp(table.corners(0.0), axis=0).max())
            _draw_shadow(plotter, bodies, top, axis, light, table.path.at(0.0), half, panel, table)
    if isinstance(level, str) or level is None:
        return
    middle = panel.middle + moved
    radius = 9.0 * panel.reach
    plotter.add_mesh(_disc(middle, level, axis, radius, colour), scalars="tints", rgb=True, lighting=False)
    plotter.add_mesh(
        _grid(middle, level + 2e-4 * panel.reach, axis, 0.55 * radius, panel.reach, ink),
        scalars="tints",
        rgb=True,
        lighting=False,
        line_width=SMOOTHING,
    )
    if look.shadow:
        casters = bodies + obstacles
        _draw_shadow(plotter, casters, float(level), axis, light, middle, 1.6 * panel.reach, panel, None)


def _draw_shadow(
    plotter: Any, casters: list[Caster], level: float, axis: int, light: Array, middle: Array, half: float,
    panel: Panel, table: ObstacleShape | None,
) -> None:  # fmt: skip
    first, second = (k for k in range(3) if k != axis)
    centre = np.asarray(middle)[[first, second]]
    dark = plane_shadow(casters, level, axis, light, (centre, half))
    if dark.max() <= 0.0:
        return
    spans = [(centre[0] - half, centre[0] + half), (centre[1] - half, centre[1] + half)]
    if table is not None:  # only on the table
        corners = table.corners(0.0)
        spans = [(float(corners[:, k].min()), float(corners[:, k].max())) for k in (first, second)]
    corners = np.zeros((4, 3))
    corners[:, axis] = level + 6e-4 * panel.reach
    for corner, (i, j) in enumerate(((0, 0), (1, 0), (1, 1), (0, 1))):
        corners[corner, first], corners[corner, second] = spans[0][i], spans[1][j]
    plane = pv.PolyData(corners, faces=[4, 0, 1, 2, 3])
    plane.active_texture_coordinates = (corners[:, [first, second]] - centre + half) / (2.0 * half)
    image = np.zeros((*dark.shape, 4), np.uint8)
    image[..., :3], image[..., 3] = 25, (255.0 * dark).astype(np.uint8)
    texture = pv.Texture(image[::-1].copy())
    texture.interpolate = True
    plotter.add_mesh(plane, texture=texture, lighting=False)


def _disc(middle: Array, level: float, axis: int, radius: float, colour: tuple[float, ...]) -> Any:
    """A disc across ``axis`` that fades out, as triangles in rings with colours of their own."""
    first, second = (k for k in range(3) if k != axis)
    angles = np.linspace(0.0, 2.0 * np.pi, 73)[:-1]
    radii = radius * np.array([0.02, 0.2, 0.35, 0.5, 0.65, 0.8, 1.0])
    points = np.zeros((len(radii) * len(angles), 3))
    points[:, first] = middle[first] + np.outer(radii, np.cos(angles)).ravel()
    points[:, second] = middle[second] + np.outer(radii, np.sin(angles)).ravel()
    points[:, axis] = level
    n = len(angles)
    ring, spot = np.meshgrid(np.arange(len(radii) - 1), np.arange(n), indexing="ij")
    a, b = (ring * n + spot).ravel(), (ring * n + (spot + 1) % n).ravel()
    quads = np.column_stack([np.full(len(a), 4), a, b, b + n, a + n])
    inner = np.concatenate([[n], np.arange(n)])
    mesh = pv.PolyData(points, faces=np.concatenate([inner, quads.ravel()]))
    fade = np.clip(1.25 * (1.0 - radii / radius), 0.0, 1.0)
    tints = np.empty((len(points), 4), np.uint8)
    tints[:, :3], tints[:, 3] = np.array(colour) * 255, np.repeat(255 * fade, n)
    mesh.point_data["tints"] = tints
    return mesh


def _grid(middle: Array, level: float, axis: int, radius: float, reach: float, ink: tuple[int, ...]) -> Any:
    """Lines at round distances on the ground, fading out."""
    first, second = (k for k in range(3) if k != axis)
    step = nice(0.5 * reach)
    segments = []
    for along, across in ((first, second), (second, first)):
        start = np.ceil((middle[across] - radius) / step) * step
        for place in np.arange(start, middle[across] + radius, step):
            half = np.sqrt(max(radius**2 - (place - middle[across]) ** 2, 0.0))
            spots = middle[along] + np.linspace(-half, half, 33)
            row = np.zeros((33, 3))
            row[:, along], row[:, across], row[:, axis] = spots, place, level
            segments.append(row)
    points = np.concatenate(segments)
    number = 33 * np.arange(len(segments))[:, None] + np.arange(32)
    lines = np.column_stack([np.full(number.size, 2), number.ravel(), number.ravel() + 1])
    mesh = pv.PolyData(points, lines=lines.ravel())
    away = np.linalg.norm((points - middle)[:, [first, second]], axis=1)
    tints = np.empty((len(points), 4), np.uint8)
    tints[:, :3], tints[:, 3] = ink, 34.0 * np.clip(1.0 - away / radius, 0.0, 1.0)
    mesh.point_data["tints"] = tints
    return mesh


def nice(length: float) -> float:
    """The largest of 1, 2, 5 times a power of ten that is not above ``length``."""
    power = 10.0 ** np.floor(np.log10(length))
    return float(power * max(m for m in (1.0, 2.0, 5.0) if m * power <= length * (1 + 1e-9)))
