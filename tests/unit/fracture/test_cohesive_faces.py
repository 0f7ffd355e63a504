"""Faces of cracks that hold on: traction, energy taken, forces, what becomes of them when tets change."""

from typing import Any

import numpy as np
import pytest

from pliant.fracture.cohesive_faces import CohesiveFaces
from pliant.fracture.tet_topology import TetEdit, corner_links, open_faces, shared_faces
from pliant.mesh.shapes import box
from pliant.scene import Body

STRENGTH, TOUGHNESS, AREA = 2e5, 30.0, 1e-4
END = 2.0 * TOUGHNESS / STRENGTH  # opening at which faces let go [m]


def parted() -> tuple[Any, Any, CohesiveFaces]:
    """Two cells cut apart between them: tets, particles, and the pairs of corners between them."""
    structure = Body(box(0.2, 0.1, 0.1, divisions=(2, 1, 1)), model="fem").structure()
    tets, points = structure.cells["tetra"], structure.rest
    sides = points[tets].mean(axis=1)[:, 0] > 0.1
    joints = shared_faces(tets)
    across = joints[sides[joints[:, 0] // 4] != sides[joints[:, 1] // 4]]
    corners = corner_links(tets, across)
    edit = open_faces(tets, len(points), across)
    assert edit is not None
    faces = CohesiveFaces()
    each = np.ones(len(corners))
    held = (AREA * each, STRENGTH * each, TOUGHNESS * each, 1e-5 * each)
    faces.add(corners, *held, edit.tets)
    faces.add(corners, *held, edit.tets)  # those that are held already stay as they are
    assert len(faces) == len(corners) == 6
    return edit.tets, edit.blended(points), faces


def drawn(x: Any, gap: float) -> Any:
    """The right cell moved away by ``gap`` [m]."""
    right = np.zeros(len(x), bool)
    right[8:] = True
    right |= x[:, 0] > 0.11
    return x + np.outer(right, [gap, 0.0, 0.0])


def test_faces_take_their_toughness_and_let_go() -> None:
    """Drawn apart in 500 steps, pairs begin without a force, reach strength x area, take toughness x area to
    1 % (a step goes on with the stiffness at its beginning), which is what was done to them, and are gone."""
    tets, x, faces = parted()
    right = drawn(x, 1.0)[:, 0] > x[:, 0] + 0.5
    taken, work, largest, step = 0.0, 0.0, 0.0, END / 500

    def pull(now: Any) -> float:
        force = np.zeros_like(x)
        faces.add_forces(now, force)
        assert np.abs(force.sum(axis=0)).max() <= 1e-12 * np.abs(force).sum()
        return -float(force[right, 0].sum())

    assert pull(x) == 0.0
    for k in range(1, 502):
        begin, now = drawn(x, (k - 1) * step), drawn(x, k * step)
        work += 0.5 * (pull(begin) + pull(now)) * step
        largest = max(largest, pull(now))
        taken += faces.advance(now, tets)
    assert len(faces) == 0
    assert taken == pytest.approx(6 * AREA * TOUGHNESS, rel=0.01)
    assert work == pytest.approx(taken, rel=1e-9)
    assert largest == pytest.approx(6 * AREA * STRENGTH, rel=0.05)


def test_unloading_goes_to_zero_and_gives_back_what_is_stored() -> None:
    tets, x, faces = parted()
    assert faces.energy(x) == 0.0
    faces.advance(drawn(x, 0.5 * END), tets)
    stored = faces.energy(drawn(x, 0.5 * END))
    assert stored > 0.0
    assert faces.advance(drawn(x, 0.2 * END), tets) == 0.0
    assert faces.energy(drawn(x, 0.25 * END)) == pytest.approx(0.25 * stored)
    assert faces.energy(x) == 0.0


def test_forces_are_minus_the_gradient_without_a_torque() -> None:
    tets, x, faces = parted()
    faces.advance(drawn(x, 0.3 * END), tets)
    random = np.random.default_rng(1)
    now, step = drawn(x, 0.2 * END) + random.normal(size=x.shape) * 0.02 * END, random.normal(size=x.shape)
    force, h = np.zeros_like(x), 1e-7
    faces.add_forces(now, force)
    slope = (faces.energy(now + h * step) - faces.energy(now - h * step)) / (2.0 * h)
    assert float((force * step).sum()) == pytest.approx(-slope, rel=1e-6)
    size = float(np.abs(force).sum())
    assert np.cross(now, force).sum(axis=0) == pytest.approx(np.zeros(3), abs=1e-12 * size)


def test_faces_follow_their_tets_and_let_go_where_these_are_divided() -> None:
    """Tets in another order hold on; of two that are divided the pairs are gone."""
    tets, x, faces = parted()
    moved = faces.energy(drawn(x, 0.1 * END))
    order = np.random.default_rng(2).permutation(len(tets))
    alone, ones = np.arange(len(x))[:, None], np.ones((len(x), 1))
    faces.follow(TetEdit(tets[order], alone, ones, order), len(tets))
    assert faces.energy(drawn(x, 0.1 * END)) == pytest.approx(moved, rel=1e-12)
    before = len(faces)
    divided = int(faces.corners[0, 0] // 4)
    origin = np.append(np.arange(len(tets)), divided)
    faces.follow(TetEdit(tets[order][origin], alone, ones, origin), len(tets))
    assert len(faces) == before - 3
