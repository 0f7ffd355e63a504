"""The broad phase of contact: candidates, and its memory where a line search looks at places far away."""

import numpy as np
import pytest

import pliant as pl
from pliant.contact.broad_phase import edge_candidates, triangle_candidates
from pliant.contact.penalty_contact import PenaltyContact
from pliant.mesh.shapes import box


def beside_each_other() -> PenaltyContact:
    """The contact of two blocks of tets, one 5 mm above the other."""
    soft = {"young": 1e5, "poisson": 0.3, "density": 1000.0}
    bodies = [
        pl.Body(box(0.2, 0.2, 0.1, divisions=(4, 4, 2)), name=name, material=soft, position=(0.0, 0.0, z))
        for name, z in (("lower", 0.0), ("upper", 0.105))
    ]
    system = pl.Scene(bodies).simulation().system
    (contact,) = (action for _, action in system.actions if isinstance(action, PenaltyContact))
    return contact


@pytest.mark.parametrize("far", [1e2, 1e8, np.inf, np.nan])
def test_far_places_need_no_memory_and_hide_nothing(far: float) -> None:
    """One corner of the upper block goes far away (cells of 8 cm: 1e9 of them along a metre cubed of edges).
    Candidates of vertices of faces that stayed are the same as before."""
    table = beside_each_other().table
    s, reach = table.surfaces, np.full(2, 0.02)
    collides = ~np.eye(2, dtype=bool)
    x = table.x.copy()
    found = []
    gone = int(np.argmax(np.where(s.body == 1, x.sum(axis=1), -np.inf)))
    near = ~(s.triangles == gone).any(axis=1)
    for place in (x[gone].copy(), np.full(3, far)):
        x[gone] = place
        pairs, candidates = triangle_candidates(s, collides, reach, x)
        edge_candidates(s, collides, reach, x)
        found.append({
            (int(vertex), int(t))
            for vertex, _, a, b in pairs for t in candidates[a:b] if near[t] and vertex != gone
        })  # fmt: skip
    assert len(found[0]) > 20
    assert found[0] == found[1]
