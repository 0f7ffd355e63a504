"""The surface that a broken body of tets shows: each piece closed, with its volume, where its piece is."""

from typing import Any

import numpy as np
import pytest

import pliant as pl
from pliant.fracture.piece_check import pieces_of_particles, surface_fault
from pliant.fracture.tet_topology import pieces
from pliant.interfaces import Cuttable
from pliant.mesh.mesh import tet_volumes
from pliant.mesh.topology import components
from pliant.scene import Body

BRITTLE = {"young": 2e7, "poisson": 0.3, "density": 1300.0, "strength": 2e5}


def chocolate() -> Body:
    shape = {"chocolate-bar": {"size": [0.12, 0.024, 0.012], "squares": [4, 1], "groove": 0.5}}
    return Body(shape, edge=0.006, model="fem", material=BRITTLE, name="bar")


def ball() -> Body:
    return Body(pl.shapes.sphere(0.1), edge=0.05, model="fem", material=BRITTLE, name="ball")


def parted(body: Body, cuts: list[tuple[float, ...]]) -> tuple[Any, np.ndarray, np.ndarray, np.ndarray]:
    """A body cut across planes (normal, offset from its middle), its pieces moved apart and turned; its
    structure, the pieces of its particles and of its tets, and where the particles are."""
    structure = body.structure()
    mechanics: Any = body.model.prepare(structure, body.resolved_material)
    cutter = mechanics.offer(Cuttable)
    for *normal, offset in cuts:
        rest = mechanics.structure.rest
        middle = 0.5 * (rest.min(axis=0) + rest.max(axis=0))
        centres = rest[mechanics.structure.cells["tetra"]].mean(axis=1) - middle
        cutter.open_faces((centres @ np.array(normal) > offset).astype(np.int64))
    made = mechanics.structure
    tets = made.cells["tetra"]
    count, piece = pieces(tets)
    assert count > 1
    of = np.zeros(len(made.rest), np.int64)
    of[tets.ravel()] = np.repeat(piece, 4)
    x = made.rest.copy()
    for k in range(count):
        own = x[of == k]
        turn = np.linalg.qr(np.random.default_rng(k).normal(size=(3, 3)))[0]
        turn *= np.linalg.det(turn)
        x[of == k] = own.mean(axis=0) * 3.0 + (own - own.mean(axis=0)) @ turn.T
    return made, of, piece, x


@pytest.mark.parametrize(
    ("make", "cuts"),
    [
        (chocolate, [(1.0, 0.0, 0.0, 0.0)]),
        (chocolate, [(1.0, 0.0, 0.0, -0.03), (1.0, 0.0, 0.0, 0.03)]),
        (ball, [(1.0, 0.2, 0.1, 0.0)]),
        (ball, [(1.0, 0.0, 0.0, 0.02), (0.0, 1.0, 0.0, -0.02)]),
    ],
)
def test_each_piece_is_shown_where_it_is(make: Any, cuts: list[tuple[float, ...]]) -> None:
    """Bodies parted and drawn apart: what is shown of a piece has its volume and stays within its bounds."""
    body = make()
    made, of, piece, x = parted(body, cuts)
    tets, carrier = made.cells["tetra"], made.carrier
    surface, shown = carrier.surface, carrier.positions(x)
    ends = surface.triangles
    part = components(len(shown), np.concatenate([ends[:, :2], ends[:, 1:]]))[1]
    held = of[carrier.made.indices[:, 0].astype(np.int64)]
    assert all(len(np.unique(held[part == k])) == 1 for k in range(part.max() + 1))
    found = pieces_of_particles(x, of, tet_volumes(x, tets), piece)
    assert surface_fault(surface, shown, held[ends[:, 0]], found, made.spacing) == ""
    assert shown.max(axis=0) == pytest.approx(x.max(axis=0), abs=0.5 * made.spacing)
    assert shown.min(axis=0) == pytest.approx(x.min(axis=0), abs=0.5 * made.spacing)


def test_faults_are_found() -> None:
    made, of, piece, x = parted(chocolate(), [(1.0, 0.0, 0.0, 0.0)])
    surface = made.carrier.surface
    held = of[made.carrier.made.indices[:, 0].astype(np.int64)][surface.triangles[:, 0]]
    body = pieces_of_particles(x, of, tet_volumes(x, made.cells["tetra"]), piece)
    shown = made.carrier.positions(x)
    assert "not shown" in surface_fault(surface, shown, held + 1, body, made.spacing)
    open_ = held.copy()
    open_[np.flatnonzero(held == 0)[:3]] = 1
    assert "not closed" in surface_fault(surface, shown, open_, body, made.spacing)
    uneven = body._replace(volumes=body.volumes * [1.1, 0.9])
    assert "m3 of its" in surface_fault(surface, shown, held, uneven, made.spacing)
    away = body._replace(low=body.low + 0.1, high=body.high + 0.1)
    assert "outside" in surface_fault(surface, shown, held, away, made.spacing)
