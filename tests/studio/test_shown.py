"""What the page is told about bodies."""

import numpy as np

from pliant.interfaces import Cuttable
from pliant.mesh.shapes import box
from pliant.scene import Body, Scene
from pliant.studio.view_arrays import ShownBody, dual_arrays, frame_arrays, scene_arrays


def test_a_body_that_was_cut_is_shown_with_its_new_faces() -> None:
    """Owners of surface points are particles of the same side of the cut, a spacing away at most."""
    body = Body(box(1.0, 1.0, 1.0, divisions=(2, 2, 2)), model="fem", material="rubber", name="cube")
    part = Scene([body]).simulation().system.world.bodies[0]
    shown = ShownBody("cube", "fem", part.rows, part.structure, part.mechanics)
    whole = scene_arrays([shown])
    x = part.structure.rest
    assert part.mechanics.offer(Cuttable).cut(x, x[:, 0] - 0.3)  # type: ignore[union-attr]
    shown.structure = part.mechanics.structure  # type: ignore[attr-defined]
    shown.rows = slice(0, len(shown.structure.rest))
    torn = scene_arrays([shown])
    assert len(torn["0/corners"]) > len(whole["0/corners"])
    x = np.where(shown.structure.rest[:, :1] < 0.3, shown.structure.rest - 1.0, shown.structure.rest)
    moved, units = frame_arrays(
        [shown], x, ["displacement"], True, lambda b, name: b.mechanics.fields(x, x, ["strain"])["strain"]
    )
    assert set(units) == {"displacement"}
    away = np.linalg.norm(moved["0/surface"] - x[torn["0/owner"]], axis=1)
    assert away.max() < 1e-9  # boxes with divisions show their own boundary
    assert len(dual_arrays([shown])["0/cell-edges"]) > 0
