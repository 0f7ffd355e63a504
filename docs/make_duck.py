"""Makes the mesh of the example ``own-mesh``, a duck with texture coordinates: ``python docs/make_duck.py``.

It is written as modelling programs write OBJ files: Y up, centimetres, groups and materials.
"""

from pathlib import Path

import numpy as np

from pliant.core.typing import Array
from pliant.mesh.shapes.implicit import blend, carve, ellipsoid, polygonise

PLACE = Path(__file__).parent.parent / "src/pliant/examples/duck.obj"
BOX = (-0.75, -0.6, -0.6), (1.0, 1.35, 0.6)
EDGE = 0.085
HEIGHT = 8.0  # cm


def duck(p: Array) -> Array:
    """The field of a duck that looks along x, Y up; negative inside; coordinates (3, n)."""
    body = ellipsoid(p, (0.0, 0.0, 0.0), (0.62, 0.4, 0.45))
    body = blend(body, ellipsoid(p, (-0.52, 0.22, 0.0), (0.16, 0.2, 0.16)), 0.2)
    for side in (-1, 1):
        body = blend(body, ellipsoid(p, (-0.08, 0.08, 0.38 * side), (0.32, 0.2, 0.1)), 0.08)
    head = ellipsoid(p, (0.38, 0.62, 0.0), (0.32, 0.31, 0.3))
    head = blend(head, ellipsoid(p, (0.72, 0.56, 0.0), (0.2, 0.11, 0.17)), 0.06)
    for side in (-1, 1):
        head = blend(head, ellipsoid(p, (0.6, 0.74, 0.16 * side), (0.05, 0.06, 0.05)), 0.02)
    return carve(blend(body, head, 0.14), p[1] + 0.34, 0.05)  # flat below


def texture(points: Array, triangles: Array) -> tuple[Array, Array]:
    """Texture coordinates (k, 2) by longitude and height, and their triangles, cut along a seam."""
    p = points - points.mean(axis=0)
    u = np.arctan2(p[:, 2], p[:, 0]) / (2 * np.pi) + 0.5
    v = (p[:, 1] - p[:, 1].min()) / np.ptp(p[:, 1])
    corner = u[triangles]
    beyond = (corner.max(axis=1) - corner.min(axis=1) > 0.5)[:, None] & (corner < 0.5)
    again = np.unique(triangles[beyond])
    number = np.full(len(points), -1)
    number[again] = len(points) + np.arange(len(again))
    uv = np.concatenate([np.column_stack([u, v]), np.column_stack([u[again] + 1.0, v[again]])])
    return uv, np.where(beyond, number[triangles], triangles)


def main() -> None:
    points, triangles = polygonise(duck, *BOX, EDGE)
    uv, corners = texture(points, triangles)
    size = HEIGHT / np.ptp(points[:, 1])
    points = (points - [0.0, points[:, 1].min(), 0.0]) * size
    beak = points[triangles].mean(axis=1)[:, 0] > 0.66 * size
    lines = ["# A rubber duck, made by docs/make_duck.py: Y up, centimetres.", "o duck", "s 1"]
    lines += [f"v {x:.4f} {y:.4f} {z:.4f}" for x, y, z in points.tolist()]
    lines += [f"vt {a:.4f} {b:.4f}" for a, b in uv.tolist()]
    for name, own in (("rubber", ~beak), ("beak", beak)):
        lines.append(f"usemtl {name}")
        rows = zip((triangles[own] + 1).tolist(), (corners[own] + 1).tolist(), strict=True)
        lines += ["f " + " ".join(f"{i}/{j}" for i, j in zip(a, b, strict=True)) for a, b in rows]
    PLACE.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{PLACE.name}: {len(points)} points, {len(triangles)} triangles")


if __name__ == "__main__":
    main()
