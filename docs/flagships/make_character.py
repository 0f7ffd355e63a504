"""Makes the mesh of the scene ``character``, a plush rabbit: ``python docs/flagships/make_character.py``.

Written as modelling programs write OBJ files: Y up, centimetres.
"""

from pathlib import Path

from pliant.core.typing import Array
from pliant.mesh.shapes.implicit import blend, capsule, ellipsoid, polygonise

PLACE = Path(__file__).with_name("rabbit.obj")
BOX = (-0.5, -0.1, -0.6), (0.5, 1.62, 0.6)
EDGE = 0.032
HEIGHT = 45.0  # cm, without the ears' bend


def rabbit(p: Array) -> Array:
    """The field of a rabbit that looks along x, Y up; negative inside; coordinates (3, n)."""
    body = ellipsoid(p, (0.0, 0.42, 0.0), (0.25, 0.34, 0.27))
    body = blend(body, ellipsoid(p, (0.05, 0.92, 0.0), (0.25, 0.22, 0.26)), 0.08)
    body = blend(body, ellipsoid(p, (0.24, 0.86, 0.0), (0.12, 0.1, 0.13)), 0.08)
    body = blend(body, ellipsoid(p, (-0.27, 0.28, 0.0), (0.1, 0.1, 0.1)), 0.04)
    for side in (-1, 1):
        ear = capsule(p, (0.0, 1.08, 0.12 * side), (-0.08, 1.5, 0.2 * side), 0.075)
        arm = capsule(p, (0.08, 0.6, 0.22 * side), (0.22, 0.42, 0.4 * side), 0.085)
        leg = capsule(p, (0.08, 0.18, 0.17 * side), (0.32, 0.1, 0.2 * side), 0.115)
        for part in (ear, arm, leg):
            body = blend(body, part, 0.07)
    return body


def main() -> None:
    points, triangles = polygonise(rabbit, *BOX, EDGE)
    points = (points - [0.0, points[:, 1].min(), 0.0]) * HEIGHT / points[:, 1].max()
    lines = ["# A plush rabbit, made by docs/flagships/make_character.py: Y up, centimetres.", "o rabbit"]
    lines += [f"v {x:.4f} {y:.4f} {z:.4f}" for x, y, z in points.tolist()]
    lines += [f"f {a} {b} {c}" for a, b, c in (triangles + 1).tolist()]
    PLACE.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{PLACE.name}: {len(points)} points, {len(triangles)} triangles")


if __name__ == "__main__":
    main()
