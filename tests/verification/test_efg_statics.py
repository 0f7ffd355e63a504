"""Meshless bodies against closed forms: linear fields, beams, energy shares."""

from typing import Any

import numpy as np
import pytest
from scipy.sparse import diags_array
from scipy.sparse.linalg import cg

import pliant as pl

E, NU, RHO, G = 1e6, 0.3, 1000.0, 9.81
MATERIAL = {"young": E, "poisson": NU, "density": RHO}


def prepared(shape: Any, edge: float, **options: Any) -> tuple[Any, Any]:
    body = pl.Body(shape, edge=edge, model={"type": "efg", **options}, material=MATERIAL)
    structure = body.structure(lambda _: None)
    return structure, body.model.prepare(structure, body.resolved_material)


@pytest.mark.parametrize("sampling", ["lattice", "bcc", "octree"])
def test_linear_fields_are_reproduced(sampling: str) -> None:
    structure, mechanics = prepared(pl.shapes.cylinder(0.1, 0.4), 0.03, sampling=sampling)
    gradient = np.eye(3) + np.random.default_rng(1).normal(0.0, 0.3, (3, 3))
    found = mechanics.gradients(structure.rest @ gradient.T + 5.0).reshape(-1, 3, 3)
    assert np.abs(found - gradient).max() < 1e-10


def bent(shape: Any, edge: float, axis: int, load: int, **options: Any) -> tuple[float, float]:
    """Linear deflection of the free end under gravity along ``load``, clamped at the low end of ``axis``;
    and the share of the hourglass control in the energy."""
    structure, mechanics = prepared(shape, edge, **options)
    along = structure.rest[:, axis]
    free = np.repeat(along > along.min() + 1e-6, 3)
    f = np.zeros_like(structure.rest)
    f[:, load] = -G * structure.mass
    K = mechanics.rest_stiffness().tocsr()[free][:, free]
    u = np.zeros(f.size)
    u[free], failed = cg(K, f.ravel()[free], rtol=1e-6, M=diags_array(1 / K.diagonal()))
    assert not failed
    u = u.reshape(-1, 3)
    x = structure.rest + 1e-4 * u
    share = mechanics.hourglass_energy(x) / mechanics.energy(x)
    return -float(u[along > along.max() - 1e-6, load].mean()), share


def timoshenko(length: float, area: float, second_moment: float, shear_factor: float) -> float:
    """Tip of a cantilever under its own weight: q L^4 / 8 E I + q L^2 / 2 k G A."""
    q = RHO * G * area
    shear = E / (2 * (1 + NU))
    return q * length**4 / (8 * E * second_moment) + q * length**2 / (2 * shear_factor * shear * area)


def test_a_square_beam_bends_as_beam_theory_says() -> None:
    a = 0.1
    expected = timoshenko(1.0, a * a, a**4 / 12, 5 / 6)
    errors = []
    for edge in (0.05, 0.0167):
        tip, share = bent(pl.shapes.box(1.0, a, a), edge, 0, 2)
        errors.append(abs(tip / expected - 1))
    assert errors[1] < 0.015
    assert errors[1] < errors[0]
    assert share < 0.01


def test_a_body_centred_lattice_does_too() -> None:
    a = 0.1
    tip, share = bent(pl.shapes.box(1.0, a, a), 0.0167, 0, 2, sampling="bcc")
    assert tip == pytest.approx(timoshenko(1.0, a * a, a**4 / 12, 5 / 6), rel=0.035)
    assert share < 0.015


def test_a_round_beam_that_does_not_fit_the_lattice() -> None:
    r = 0.06
    tip, share = bent(pl.shapes.cylinder(r, 1.0), 0.018, 2, 0)
    assert tip == pytest.approx(timoshenko(1.0, np.pi * r**2, np.pi * r**4 / 4, 0.9), rel=0.06)
    assert share < 0.015
