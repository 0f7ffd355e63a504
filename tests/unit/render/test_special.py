"""Surfels, levels and cracks as numbers: what the stage draws of them."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pliant.core.errors import InputError
from pliant.exporters.surfaces import OVERLAP, surfels
from pliant.interfaces import FieldData
from pliant.mesh.shapes import icosphere
from pliant.render.geometry import crack_tints, discs, level_tints, split_at_edges
from pliant.run.store import Run


def test_surfels_of_a_ball_lie_on_it_face_outward_and_have_its_area() -> None:
    surface = icosphere(0.5, subdivisions=4).surface()
    centre, normal, radius = surfels(surface)
    assert np.einsum("ij,ij->i", centre, normal) == pytest.approx(0.5, rel=1e-3)
    assert np.sum(np.pi * (radius / OVERLAP) ** 2) == pytest.approx(np.pi, rel=5e-3)  # 4 pi r^2
    points, normals, corners, origin = discs(surface)
    away = np.linalg.norm(points - centre[origin], axis=1)
    assert away == pytest.approx(radius[origin])
    assert np.abs(np.einsum("ij,ij->i", points - centre[origin], normals)).max() < 1e-12
    a, b, c = (points[corners[:, k]] for k in range(3))
    assert (np.einsum("ij,ij->i", np.cross(b - a, c - a), normals[corners[:, 0]]) > 0).all()


class Opened:
    """A frame whose surface has a crack, and whose model says what is damaged and how fine it is."""

    version = 0

    def __init__(self, run: Run) -> None:
        self.frame = run.frames[0]
        self.bodies = self.frame.bodies

    def record(self, name: str) -> Any:
        return self.frame.record(name)

    def surface(self, name: str) -> Any:
        return replace(self.frame.surface(name), groups={"crack": np.array([0, 3])})

    def field_names(self, name: str) -> tuple[str, ...]:
        return ("damage", "level")

    def field(self, name: str, body: str) -> FieldData:
        count = len(self.record(body).structure.rest)
        return FieldData(np.arange(count) % 3 if name == "level" else np.zeros(count))


def test_cracks_and_levels_have_colours_of_their_own(run: Run) -> None:
    frame: Any = Opened(run)
    split = split_at_edges(frame.surface("block"))
    points, corners, normals, values, tints = crack_tints(frame, "block", 0, split)
    assert values is None
    assert len(points) == len(normals) == len(tints) == 3 * len(corners)
    dark = tints.astype(int).sum(axis=1) < 300
    assert set(np.flatnonzero(dark) // 3) == {0, 3}
    a, b, c = (points[corners[:, k]] for k in range(3))
    faces = np.cross(b - a, c - a) / np.linalg.norm(np.cross(b - a, c - a), axis=1)[:, None]
    assert np.abs(normals - np.repeat(faces, 3, axis=0)).max() < 1e-6  # a block is flat between its edges
    levels = level_tints(frame, "block")
    assert len(np.unique(levels, axis=0)) == 3
    assert np.array_equal(levels[0], levels[3])


def test_levels_need_a_field(run: Run, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no field 'level'"):
        level_tints(run.frames[0], "block")
