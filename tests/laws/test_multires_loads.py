"""What acts on particles reaches the simulated nodes of all levels by virtual work: sums and moments stay."""

from typing import Any

import numpy as np
import pytest

from multires_lab import FRAME, Frozen, cube


def corner(p: Any) -> Any:
    return p[:, 0] + 0.3 * p[:, 1] < 0.4


def totals(body: Frozen, shares: Any) -> tuple[Any, Any]:
    """Rate of momentum and moment: what is on simulated nodes accelerates the masses that they move with,
    and momentum is counted with those that they stand for."""
    m, force, moment = body.mechanics, np.zeros(3), np.zeros(3)
    for k, nodes in enumerate(m.coupling.active):
        rate = m.coupling.mass[k][nodes, None] * m.coupling.inverse[k][nodes] * shares[k][nodes]
        force += rate.sum(axis=0)
        moment += np.cross(m.hierarchy.levels[k].points[nodes], rate).sum(axis=0)
    return force, moment


def shares_of(body: Frozen, values: Any) -> Any:
    """Loads on the nodes of each level that are equivalent to ``values`` on particles."""
    return body.mechanics.motion.by_level(body.mechanics.coupling.restrict_loads(values))


@pytest.fixture(params=["schwarz", "galerkin"])
def body(request: Any) -> Frozen:
    found = Frozen(cube(3, 0.15), request.param, corner)
    assert all(len(nodes) for nodes in found.mechanics.coupling.active)
    return found


def test_any_forces_keep_their_sum_and_moment(body: Frozen) -> None:
    """Exactly, but for the moment of the part that is a uniform acceleration in schwarz."""
    values = np.random.default_rng(3).normal(size=body.x.shape)
    mean = values.sum(axis=0) / body.mass.sum()
    force, moment = totals(body, shares_of(body, values))
    expected = [values.sum(axis=0), np.cross(body.rest, values).sum(axis=0)]
    if body.mechanics.coupling_kind == "schwarz":
        masses = [level.mass[:, None] * mean for level in body.mechanics.hierarchy.levels]
        turning = totals(body, masses)[1]
        expected[1] += turning - np.cross(body.rest, body.mass[:, None] * mean).sum(axis=0)
    assert np.abs(force - expected[0]).max() < 1e-10 * np.abs(values).sum()
    assert np.abs(moment - expected[1]).max() < 1e-10 * np.abs(values).sum()


def test_a_uniform_acceleration_stays_one(body: Frozen) -> None:
    """Gravity pulls all nodes of all levels alike; with galerkin the body falls without any strain (ghosts of
    schwarz take straight lines through a coarse step)."""
    body.external = body.mass[:, None] * np.array([0.0, 3.0, -9.81])
    m = body.mechanics
    shares = shares_of(body, body.external)
    for k, nodes in enumerate(m.coupling.active):
        pull = m.coupling.inverse[k][nodes] * shares[k][nodes]
        assert np.abs(pull - [0.0, 3.0, -9.81]).max() < 1e-12
    if m.coupling_kind == "schwarz":
        return
    body.advance(5)
    assert np.abs(body.v - 5 * FRAME * np.array([0.0, 3.0, -9.81])).max() < 1e-9
    fallen = 0.5 * (5 * FRAME) ** 2 * np.array([0.0, 3.0, -9.81])
    assert np.abs(body.x - body.rest - fallen).max() < 1e-9


def test_a_force_across_the_border_gives_its_momentum() -> None:
    """P = F t and P = J of the shown particles, for a force and a kick on particles of all levels."""
    body = Frozen(cube(3, 0.15), "galerkin", corner)
    top = body.rest[:, 2] > 0.8
    body.external[top] = np.random.default_rng(5).normal(size=(top.sum(), 3))
    body.advance(6)
    expected = 6 * FRAME * body.external.sum(axis=0)
    momentum = (body.mass[:, None] * body.v).sum(axis=0)
    assert np.abs(momentum - expected).max() < 1e-10 * np.abs(body.external).sum()
    body.external = np.zeros_like(body.v)
    side = body.rest[:, 1] < 0.2
    body.v[side] += [0.0, 0.7, 0.1]
    body.advance(3)
    expected += body.mass[side].sum() * np.array([0.0, 0.7, 0.1])
    momentum = (body.mass[:, None] * body.v).sum(axis=0)
    assert np.abs(momentum - expected).max() < 1e-10 * np.abs(momentum).sum()
