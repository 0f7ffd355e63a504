"""A volume and a surface with everything that files can hold."""

import numpy as np

from pliant.mesh import shapes
from pliant.mesh.mesh import Surface, TetMesh


def box() -> TetMesh:
    mesh = shapes.box(1.0, 2.0, 3.0, divisions=(2, 2, 3)).volume()
    assert mesh is not None
    x = mesh.points + 0.1 * np.random.default_rng(1).random(mesh.points.shape)
    groups = {
        "left": np.flatnonzero(mesh.points[:, 0] == 0),
        "top side": np.flatnonzero(mesh.points[:, 2] == 3),
    }
    return TetMesh(x, mesh.tets, groups, np.arange(len(mesh.tets)) % 3)


def ball() -> Surface:
    surface = shapes.sphere(1.0).surface(0.4)
    groups = {"south": np.flatnonzero(surface.points[surface.triangles][:, :, 2].max(axis=1) < 0)}
    corners = surface.points[surface.triangles].reshape(-1, 3)
    uv_triangles = np.arange(len(corners)).reshape(-1, 3)
    return Surface(surface.points, surface.triangles, corners[:, :2] * 0.5 + 0.5, uv_triangles, groups)


def same_groups(a: Surface | TetMesh, b: Surface | TetMesh) -> bool:
    return a.groups.keys() == b.groups.keys() and all(
        np.array_equal(a.groups[k], b.groups[k]) for k in a.groups
    )
