"""Soft shadows on level planes: bodies flattened along the light, blurred by how high they are."""

import numpy as np

from pliant.core.typing import AnyArray, Array, IntArray

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
    from PIL import Image, ImageDraw
    from scipy.ndimage import gaussian_filter

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
    light_left = np.ones((PIXELS, PIXELS))
    for mask, blur in zip(masks, BLUR, strict=True):
        if mask.getbbox() is not None:
            light_left = np.minimum(light_left, 1.0 - gaussian_filter(np.asarray(mask, float) / 255.0, blur))
    edge = np.minimum(1.0, 8.0 * (1.0 - np.abs(np.linspace(-1.0, 1.0, PIXELS))))
    dark: AnyArray = DARK * (1.0 - light_left) * edge[:, None] * edge[None, :]
    return dark
