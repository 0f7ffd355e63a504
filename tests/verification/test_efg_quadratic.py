"""The quadratic basis of phyxels: quadratic fields exactly, forces from the energy, bending, refusals."""

from typing import Any

import numpy as np
import pytest
from bodies import shaken, simulate, values

import pliant as pl
from pliant.core.diagnostics import Diagnostics
from pliant.core.errors import IncompatibleError

E, NU, RHO, G = 1e6, 0.3, 1000.0, 9.81
MATERIAL = {"young": E, "poisson": NU, "density": RHO}


def prepared(shape: Any, edge: float, material: Any = None, **model: Any) -> tuple[Any, Any]:
    body = pl.Body(shape, edge=edge, model={"type": "efg", **model}, material=material or MATERIAL)
    structure = body.structure(Diagnostics())
    return structure, body.model.prepare(structure, body.resolved_material)


@pytest.mark.parametrize("sampling", ["lattice", "bcc", "octree", "stencil"])
def test_quadratic_fields_are_reproduced(sampling: str) -> None:
    r""":math:`u = a + B x + x^T C x`: its gradient at every phyxel to 1e-10, also at the surface, and no
    energy in the hourglass term. The linear basis is off by some per cent of it at the surface."""
    structure, mechanics = prepared(pl.shapes.cylinder(0.1, 0.4), 0.03, sampling=sampling, basis="quadratic")
    rest = structure.rest
    random = np.random.default_rng(4)
    B, C = random.normal(0.0, 0.3, (3, 3)), random.normal(0.0, 0.8, (3, 3, 3))
    C = 0.5 * (C + C.transpose(0, 2, 1))
    x = rest + 2.0 + rest @ B.T + np.einsum("aij,ni,nj->na", C, rest, rest)
    exact = np.eye(3) + B + 2.0 * np.einsum("aij,nj->nai", C, rest)
    found = mechanics.gradients(x).reshape(-1, 3, 3)
    assert np.abs(found - exact).max() < 1e-10
    assert abs(mechanics.hourglass_energy(x)) < 1e-12 * mechanics.energy(x)
    _, linear = prepared(pl.shapes.cylinder(0.1, 0.4), 0.03, sampling=sampling)
    assert np.abs(linear.gradients(x).reshape(-1, 3, 3) - exact).max() > 1e-3


@pytest.mark.parametrize("law", ["neo-hookean", "st-venant-kirchhoff"])
def test_forces_are_the_gradient_of_the_energy_and_balance(law: str) -> None:
    structure, mechanics = prepared(
        pl.shapes.box(0.3, 0.2, 0.2), 0.05, law=law, basis="quadratic", volume_stiffness=2e5
    )
    x = shaken(structure.rest, 0.004)
    forces = np.zeros_like(x)
    mechanics.add_elastic_forces(x, forces)
    d = np.random.default_rng(2).normal(size=x.shape)
    slope = (mechanics.energy(x + 1e-6 * d) - mechanics.energy(x - 1e-6 * d)) / 2e-6
    assert -float(np.sum(forces * d)) == pytest.approx(slope, rel=1e-6)
    scale = np.abs(forces).sum()
    assert np.abs(forces.sum(axis=0)).max() < 1e-12 * scale
    assert np.abs(np.cross(x, forces).sum(axis=0)).max() < 1e-12 * scale
    u, product = 1e-7 * d, np.zeros_like(x)
    ahead, behind = np.zeros_like(x), np.zeros_like(x)
    mechanics.add_elastic_forces(structure.rest + u, ahead)
    mechanics.add_elastic_forces(structure.rest - u, behind)
    mechanics.add_stiffness_product(structure.rest, u, product)
    assert product == pytest.approx(0.5 * (behind - ahead), abs=1e-6 * np.abs(product).max())
    whole = (mechanics.rest_stiffness() @ u.ravel()).reshape(-1, 3)
    assert whole == pytest.approx(product, abs=1e-9 * np.abs(product).max())


def tip(basis: str, edge: float) -> float:
    """Deflection of a cantilever under its weight over Timoshenko's."""
    from scipy.sparse.linalg import spsolve

    a, length = 0.1, 0.6
    structure, mechanics = prepared(pl.shapes.box(length, a, a), edge, basis=basis)
    rest = structure.rest
    free = np.repeat(rest[:, 0] > 1e-6, 3)
    f = np.zeros_like(rest)
    f[:, 2] = -G * structure.mass
    u = np.zeros(f.size)
    u[free] = spsolve(mechanics.rest_stiffness().tocsc()[free][:, free], f.ravel()[free])
    end = rest[:, 0] > length - 1e-6
    q, shear = RHO * G * a * a, E / (2 * (1 + NU))
    exact = q * length**4 / (8 * E * a**4 / 12) + q * length**2 / (2 * 5 / 6 * shear * a * a)
    return -float(u.reshape(-1, 3)[end, 2].mean()) / exact


def test_both_bases_bend_as_beam_theory_says() -> None:
    """Tips over Timoshenko's; the table of docs/meshless.md. The quadratic basis comes from the stiff side:
    one-sided fits at the surface, summed at phyxels alone, overestimate its energy where they are few."""
    edges = (0.05, 0.0334, 0.025, 0.02)
    quadratic = [1.0 - tip("quadratic", edge) for edge in edges]
    assert quadratic == pytest.approx([0.292, 0.105, 0.056, 0.028], abs=0.004)
    assert [1.0 - tip("linear", edge) for edge in edges] == pytest.approx(
        [-0.012, 0.019, 0.016, 0.017], abs=0.004
    )


def test_a_spinning_body_keeps_its_momentum_and_energy() -> None:
    """Thrown and set turning, 100 cycles of its quickest vibration: angular momentum to 1e-9."""
    structure, mechanics = prepared(pl.shapes.box(0.3, 0.2, 0.2), 0.05, basis="quadratic")
    mass, x = structure.mass[:, None], structure.rest.copy()
    v = np.cross([3.0, 0.0, 10.0], x - np.average(x, axis=0, weights=structure.mass))
    dt = 0.2 * mechanics.stable_step().seconds
    force = np.zeros_like(x)
    mechanics.add_elastic_forces(x, force)
    spin = np.cross(x, mass * v).sum(axis=0)
    energy = 0.5 * float(np.sum(mass * v * v))
    for _ in range(500):
        v += 0.5 * dt * force / mass
        x += dt * v
        force[:] = 0.0
        mechanics.add_elastic_forces(x, force)
        v += 0.5 * dt * force / mass
    assert np.cross(x, mass * v).sum(axis=0) == pytest.approx(spin, rel=1e-9, abs=1e-9 * np.abs(spin).max())
    assert 0.5 * float(np.sum(mass * v * v)) + mechanics.energy(x) == pytest.approx(energy, rel=1e-3)


def test_scenes_run_with_it() -> None:
    """A cantilever under its weight, explicit and implicit: tips within 5 % of each other after 0.1 s."""
    tips = []
    for integrator, step in (("leapfrog", "auto"), ("implicit-midpoint", 0.002)):
        body = pl.Body(
            pl.shapes.box(0.4, 0.1, 0.1), edge=0.034, model={"type": "efg", "basis": "quadratic"},
            material=MATERIAL,
        )  # fmt: skip
        actions = [pl.Gravity(), pl.Fix(body, pl.where.plane("x", "min"))]
        simulation = simulate([body], actions, seconds=0.1, step=step, integrator=integrator)
        world = simulation.system.world
        tips.append(float((world.x - world.rest)[world.rest[:, 0] > 0.39, 2].mean()))
        assert abs(values(simulation)["energy.unexplained"]) < 1e-3
    assert tips[0] < -0.005
    assert tips[1] == pytest.approx(tips[0], rel=0.05)


@pytest.mark.parametrize(
    ("material", "model", "text"),
    [
        ({**MATERIAL, "yield": 1e3}, {}, "elastic bodies"),
        ({**MATERIAL, "strength": 1e3}, {}, "elastic bodies"),
        (MATERIAL, {"law": "corotational"}, "rotations"),
    ],
)
def test_what_it_cannot_do_is_refused(material: Any, model: Any, text: str) -> None:
    with pytest.raises(IncompatibleError, match=text):
        prepared(pl.shapes.box(0.3, 0.2, 0.2), 0.05, material, basis="quadratic", **model)


def test_a_sheet_of_one_layer_is_refused() -> None:
    with pytest.raises(IncompatibleError, match="too few neighbours"):
        prepared(pl.shapes.box(0.4, 0.4, 0.02), 0.04, sampling="stencil", basis="quadratic")
