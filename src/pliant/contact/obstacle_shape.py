"""The rigid shapes of obstacles, as their runtimes, pictures and the studio use them."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from pliant.core.curves import Curve
from pliant.core.typing import Array, Vector

if TYPE_CHECKING:
    from pliant.contact.surface_motion import SurfaceMotion

PLANE, SPHERE, BOX, CAPSULE, MESH = 0, 1, 2, 3, 4
SHAPE_NAMES = {PLANE: "plane", SPHERE: "sphere", BOX: "box", CAPSULE: "capsule", MESH: "mesh"}


def frame_along(axis: Array) -> Array:
    """A rotation matrix whose third column is the unit vector ``axis``."""
    helper = np.eye(3)[int(np.argmin(np.abs(axis)))]
    first = np.cross(helper, axis)
    first /= np.linalg.norm(first)
    return np.column_stack([first, np.cross(axis, first), axis])


@dataclass(frozen=True)
class ObstacleShape:
    """A rigid shape with a path: ``shape`` is its number, ``size`` (3,) its half sizes [m] as in
    ``signed_distance``, ``frame`` (3, 3) has its axes as columns, ``path`` is where its centre is when [m].

    It is there from ``start`` up to ``until`` [s]; ``role`` decides its colour in pictures.
    """

    shape: int
    size: Vector
    frame: Array
    path: Curve
    start: float
    until: float
    role: Literal["ground", "table", "obstacle", "tool"] = "obstacle"
    motion: "SurfaceMotion | None" = None  # of a mesh

    @property
    def kind(self) -> str:
        """Its name: plane, sphere, box, capsule or mesh."""
        return SHAPE_NAMES[self.shape]

    def exists_at(self, time: float) -> bool:
        """Whether it acts at ``time`` [s]; one that starts at the first step exists from the first frame."""
        return self.start - 1e-12 <= time < self.until

    def corners(self, time: float) -> Array:
        """Corners (8, 3) [m] of a box around a sphere, box, capsule or mesh at ``time``."""
        if self.motion is not None:
            return self.motion.bounds(time)
        radius, half_length, _ = self.size
        half = {
            SPHERE: np.full(3, radius),
            BOX: np.array(self.size),
            CAPSULE: np.array([radius, radius, radius + half_length]),
        }[self.shape]
        signs = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], float)
        place: Array = np.asarray(self.path.at(time)) + (signs * half) @ self.frame.T
        return place
