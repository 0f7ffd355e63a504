"""Breaking bodies of tets: closed books, exact momenta, pieces that meet each other."""

from typing import Any

import numpy as np
import pytest

import pliant as pl
from pliant.contact.parameters import Contact
from pliant.contact.penalty_contact import PenaltyContact
from pliant.interfaces import Cuttable
from pliant.mesh.shapes import box
from pliant.scene import Body
from pliant.state.world import World

BRITTLE = {"young": 1e7, "poisson": 0.25, "density": 1000.0, "strength": 1e5}
PIECES = Contact(self_="pieces")


def parted() -> tuple[World, PenaltyContact]:
    """A bar that was cut in three across its length, and its contacts."""
    body = Body(box(0.3, 0.1, 0.1, divisions=(6, 2, 2)), model="fem", material=BRITTLE, name="bar")
    scene = pl.Scene([body], [], contact=PIECES)
    simulation = scene.simulation()
    world, contact = simulation.system.world, simulation.system.actions[-1][1]
    assert isinstance(contact, PenaltyContact)
    for at in (0.1, 0.2):
        part = world.bodies[0]
        cutter: Any = part.mechanics.offer(Cuttable)
        tets, rest = part.structure.cells["tetra"], part.structure.rest
        cutter.open_faces((rest[tets].mean(axis=1)[:, 0] > at).astype(np.int64))
        simulation.system._apply_topology_changes()
    return world, contact


def test_pieces_are_bodies_of_their_own_that_start_without_force() -> None:
    """Three pieces: closed, of the same body, each vertex in one of them. Faces of cracks lie on each other
    and do not push; moved into each other by 1 mm they do, with opposite forces; moved apart they let go."""
    world, contact = parted()
    surfaces = contact.table.surfaces
    assert surfaces.source.tolist() == [0, 0, 0]
    assert surfaces.closed.all()
    middles = [world.x[surfaces.row[surfaces.body == k], 0].mean() for k in range(3)]
    assert sorted(middles) == pytest.approx([0.05, 0.15, 0.25], abs=1e-9)
    force = np.zeros_like(world.x)
    contact.project(0.0, 1e-5, world)
    contact.add_forces(0.0, world.x, world.v, force)
    assert np.abs(force).max() == 0.0
    assert contact.potential_energy(world.x) == 0.0
    left = np.zeros(world.count, bool)
    left[surfaces.row[surfaces.body == int(np.argmin(middles))]] = True
    world.x[left, 0] += 1e-3
    contact.project(1e-5, 1e-5, world)
    contact.add_forces(1e-5, world.x, world.v, force)
    assert force[left, 0].sum() < 0.0
    assert force.sum(axis=0) == pytest.approx(np.zeros(3), abs=1e-9 * np.abs(force).sum())
    assert contact.potential_energy(world.x) > 0.0
    world.x[left, 0] -= 2e-3
    force[:] = 0.0
    contact.project(2e-5, 1e-5, world)
    contact.add_forces(2e-5, world.x, world.v, force)
    assert np.abs(force[:, 0]).max() == 0.0


def test_histories_go_to_the_pieces_that_bodies_fall_into() -> None:
    """Contacts of a piece with the others outlive a cut through it: they are those of its parts then."""
    world, contact = parted()
    contact.project(0.0, 1e-5, world)
    keys, history = contact.table.kept()
    part = world.bodies[0]
    cutter: Any = part.mechanics.offer(Cuttable)
    tets, rest = part.structure.cells["tetra"], part.structure.rest
    before = history[:, 6].sum()
    assert len(keys) > 0
    cutter.open_faces((rest[tets].mean(axis=1)[:, 0] > 0.25).astype(np.int64))
    contact.remap(world.resize(part, cutter.topology_change()), world)
    after = contact.table.kept()[1]
    assert after[:, 6].sum() >= before * (1.0 - 1e-12)
    force = np.zeros_like(world.x)
    contact.project(0.0, 1e-5, world)
    contact.add_forces(0.0, world.x, world.v, force)
    assert np.abs(force).max() == 0.0
