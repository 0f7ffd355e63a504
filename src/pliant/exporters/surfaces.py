"""Shown surfaces at a frame, ready to be written."""

from collections.abc import Sequence

import numpy as np

from pliant.core.errors import InputError
from pliant.core.typing import Array, IntArray
from pliant.exporters.job import Job
from pliant.mesh.mesh import Surface
from pliant.run.store import Frame

OVERLAP = 1.15  # radius of a disc over that of a circle with its share of the surface


def vertex_normals(points: Array, triangles: IntArray) -> Array:
    """Smooth unit normals (n, 3): triangle normals, by area; zero where no triangle has one."""
    a, b, c = (points[triangles[:, k]] for k in range(3))
    face = np.cross(b - a, c - a)
    total = np.empty_like(points)
    flat = triangles.ravel()
    for axis in range(3):
        total[:, axis] = np.bincount(flat, np.repeat(face[:, axis], 3), len(points))
    length = np.linalg.norm(total, axis=1, keepdims=True)
    normals: Array = np.divide(total, length, out=np.zeros_like(total), where=length > 0)
    return normals


def surfels(surface: Surface) -> tuple[Array, Array, Array]:
    """A disc per surface point: centres (n, 3), unit normals (n, 3), radii (n,) [m].

    A point's share of the surface is a third of its triangles; the disc is a little larger than a circle
    of that area, so that there are no gaps.
    """
    points, triangles = surface.points, surface.triangles
    a, b, c = (points[triangles[:, k]] for k in range(3))
    area = 0.5 * np.linalg.norm(np.cross(b - a, c - a), axis=1)
    share = np.bincount(triangles.ravel(), np.repeat(area / 3.0, 3), len(points))
    return points, vertex_normals(points, triangles), OVERLAP * np.sqrt(share / np.pi)


def joined(frame: Frame, bodies: Sequence[str]) -> Surface:
    """The shown surfaces of the named bodies as one, in their order, without texture coordinates."""
    surfaces = [frame.surface(name) for name in bodies]
    starts = np.cumsum([0, *(len(surface.points) for surface in surfaces)])
    points = [surface.points for surface in surfaces]
    triangles = [surface.triangles + start for surface, start in zip(surfaces, starts, strict=False)]
    return Surface(np.concatenate(points), np.concatenate(triangles))


def one_version(job: Job, what: str) -> None:
    """InputError where the topology changes between the frames asked for."""
    versions = job.versions()
    if len(versions) > 1:
        change = list(versions.values())[1][0]
        raise InputError(
            f"The topology changes at frame {change}, and {what} hold one topology.",
            hint=f"Export the parts: --frames 0:{change} and --frames {change}:",
        )
