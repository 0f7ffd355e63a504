"""Rigid bodies of surfaces that are much finer than their edge."""

import numpy as np

import pliant as pl
from pliant.mesh.bvh import Bvh
from pliant.mesh.mesh import surface_volume
from pliant.structure.samplers.rigid import mass_moments, simplified

EDGE = 0.3


def ellipsoid() -> tuple[np.ndarray, np.ndarray]:
    """10242 points, their mean distance 0.12 of EDGE."""
    mesh = pl.shapes.icosphere(1.0, 5).surface()
    return mesh.points * (1.0, 0.7, 0.5), mesh.triangles


def test_a_fine_surface_is_simplified_within_half_a_radius_of_contact() -> None:
    points, triangles = ellipsoid()
    x, t = simplified(points, triangles, EDGE)
    assert len(x) < len(points) / 10
    assert np.array_equal(np.bincount(np.unique(t)), np.ones(len(x)))
    half = np.sort(np.concatenate([t[:, [0, 1]], t[:, [1, 2]], t[:, [2, 0]]]), axis=1)
    assert (np.unique(half, axis=0, return_counts=True)[1] == 2).all()  # still closed
    radius = 0.2 * EDGE
    assert Bvh(points, triangles).nearest(x)[1].max() <= 0.5 * radius
    assert Bvh(x, t).nearest(points)[1].max() <= 0.5 * radius
    assert abs(surface_volume(x, t) / surface_volume(points, triangles) - 1.0) < 0.03


def test_a_surface_as_fine_as_the_edge_stays() -> None:
    points, triangles = ellipsoid()
    x, t = simplified(points, triangles, 0.05)
    assert x is points
    assert t is triangles


def test_mass_centre_and_moments_are_those_of_the_given_surface(tmp_path) -> None:  # type: ignore[no-untyped-def]
    points, triangles = ellipsoid()
    path = tmp_path / "fine.obj"
    lines = [f"v {p[0]!r} {p[1]!r} {p[2]!r}" for p in points.tolist()]
    lines += [f"f {a} {b} {c}" for a, b, c in (triangles + 1).tolist()]
    path.write_text("\n".join(lines) + "\n")
    body = pl.Body(mesh=path, edge=EDGE, model="rigid", material="rubber")
    structure = pl.Scene([body]).structures()[0]
    assert len(structure.rest) < len(points) / 4
    density = body.resolved_material.density
    mass, centre, second = mass_moments(points, triangles, density)
    assert np.isclose(structure.mass.sum(), mass, rtol=1e-12)
    arms = structure.rest - centre
    assert np.allclose(structure.mass @ arms, 0.0, atol=1e-9 * mass)
    assert np.allclose((structure.mass[:, None] * arms).T @ arms, second, rtol=1e-9, atol=1e-9 * mass)
