"""The carried surface of a body in pieces: no triangle hangs on two of them."""

from typing import Any

import numpy as np
import pytest

import pliant as pl
from pliant.fracture.tet_topology import pieces
from pliant.mesh.shapes import sphere


@pytest.mark.parametrize("normal", [[0.0, 1.0, 0.0], [0.2, 1.0, 0.3]])
@pytest.mark.parametrize(
    "model", [{"type": "fem"}, {"type": "multires", "levels": 2}], ids=["fem", "multires"]
)
def test_every_triangle_is_carried_by_one_piece(model: dict[str, Any], normal: list[float]) -> None:
    """A ball whose surface stands out of its tets, cut beside its middle: halves move apart as they are."""
    ball = pl.Body(sphere(0.5), edge=0.12, model=model, material="rubber", name="ball")
    cut = pl.Cut(body="ball", plane={"point": [0.013, 0.05, 0.021], "normal": normal}, at=0.0)
    simulation = pl.Scene([ball], [cut], time=pl.TimeSettings(duration=0.001, fps=5000)).simulation()
    simulation.start()
    simulation.advance()
    structure = simulation.system.world.bodies[0].structure
    tets, carrier = structure.cells["tetra"], structure.carrier
    assert carrier is not None
    count, piece = pieces(tets)
    assert count == 2
    apart = np.zeros_like(structure.rest)
    apart[tets.ravel()] = np.repeat(np.where(piece == 0, -5.0, 5.0), 4)[:, None] * np.array(normal)
    before, triangles = carrier.positions(structure.rest), carrier.surface.triangles
    after = carrier.positions(structure.rest + apart)
    edges = [x[triangles] - x[np.roll(triangles, 1, axis=1)] for x in (before, after)]
    assert np.abs(edges[1] - edges[0]).max() < 1e-9
