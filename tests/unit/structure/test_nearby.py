"""Surfaces carried by elements: rigid motions are exact, also where a part is a row of elements or less."""

import numpy as np
import pytest

from pliant.core.diagnostics import Diagnostics
from pliant.core.rotation import Rotation
from pliant.embedding.barycentric import EmbeddedSurface
from pliant.embedding.mls import carried_by_elements
from pliant.mesh.mesh import Surface
from pliant.mesh.shapes import box
from pliant.scene import Body
from pliant.structure.samplers.voxels import lattice_cells


def carried(cells: list[tuple[int, int, int]], surface: Surface) -> tuple[np.ndarray, EmbeddedSurface]:  # type: ignore[type-arg]
    index = np.array(sorted(cells))
    rest = 0.1 * (index + 0.5)
    made = carried_by_elements(surface, rest, 0.1, lattice_cells(index)["edge"])
    return rest, made  # type: ignore[return-value]


def turned(points: np.ndarray) -> np.ndarray:  # type: ignore[type-arg]
    one, two = Rotation(axis=(1, 2, 3), degrees=140.0).matrix(), np.array([0.3, -0.2, 0.5])
    return points @ one.T + two


def test_a_thin_leg_turns_with_its_body() -> None:
    """A block on a leg of one row: the leg's own elements cannot tell how it turns about itself."""
    block = [(i, j, k) for i in range(4) for j in range(4) for k in range(6, 9)]
    leg = [(1, 1, k) for k in range(6)]
    surface = box(0.1, 0.1, 0.6).surface(0.05)
    surface = Surface(surface.points + np.array([0.1, 0.1, 0.0]), surface.triangles)
    rest, made = carried([*block, *leg], surface)
    assert len(made.offsets.points) > 20
    assert np.abs(made.positions(turned(rest)) - turned(surface.points)).max() < 1e-9


def test_a_lone_row_swings_without_a_jump() -> None:
    """Nothing tells how a row turns about itself; its surface follows the row as it turns over, smoothly."""
    surface = box(0.1, 0.1, 0.4).surface(0.1)
    rest, made = carried([(0, 0, k) for k in range(4)], surface)
    before = made.positions(rest)
    for degrees in np.arange(1.0, 170.0):
        turn = Rotation(axis=(1, 0, 0), degrees=float(degrees)).matrix()
        now = made.positions(rest @ turn.T)
        assert np.abs(now - before).max() < 0.02
        before = now
    assert before == pytest.approx(surface.points @ turn.T, abs=1e-9)


def test_the_last_element_has_neighbours_too() -> None:
    """At the corner of a box whose element has the highest number, the surface stretches like elsewhere."""
    structure = Body(box(0.4, 0.4, 0.4), edge=0.1, model="lattice").structure()
    assert structure.carrier is not None
    points = structure.carrier.surface.points
    stretch = np.array([1.1, 1.0, 0.9])
    assert structure.carrier.positions(structure.rest * stretch) == pytest.approx(points * stretch, abs=1e-9)


def test_crumbs_beyond_a_part_that_is_too_thin_are_left_out() -> None:
    """A block, a wire of a fifth of a voxel, and a bead on it: the bead would fall off."""
    parts = [box(0.8, 0.8, 0.8).surface(), box(0.02, 0.02, 0.4).surface(), box(0.12, 0.12, 0.12).surface()]
    shift = [(0, 0, 0), (0.41, 0.41, 0.75), (0.39, 0.39, 1.1)]
    points, triangles, count = [], [], 0
    for part, by in zip(parts, shift, strict=True):
        points.append(part.points + by)
        triangles.append(part.triangles + count)
        count += len(part.points)
    said = Diagnostics()
    body = Body(Surface(np.concatenate(points), np.concatenate(triangles)), edge=0.1, model="lattice")
    structure = body.structure(said)
    assert structure.rest[:, 2].max() < 0.9
    assert "too thin" in " ".join(said.texts())


def test_a_horn_without_elements_stands_off_stiffly() -> None:
    """Points up to four spacings beside a block turn with it; where its elements are shaken by 3 % of their
    spacing, the horn keeps its lengths within 1 % (0.8; going on as the block deforms, 3.3)."""
    block = [(i, j, k) for i in range(4) for j in range(4) for k in range(3)]
    heights = 0.25 + 0.1 * np.array([1.5, 2.0, 3.0, 4.0])
    horn = np.array([[0.15, 0.15, z] for z in heights])
    rest, made = carried(block, Surface(horn, np.array([[0, 1, 2], [1, 2, 3]])))
    assert np.abs(made.positions(turned(rest)) - turned(horn)).max() < 1e-9
    for seed in range(20):
        shaken = rest + np.random.default_rng(seed).uniform(-0.003, 0.003, rest.shape)
        lengths = np.linalg.norm(np.diff(made.positions(shaken), axis=0), axis=1)
        assert lengths == pytest.approx(np.diff(heights), rel=0.01)
