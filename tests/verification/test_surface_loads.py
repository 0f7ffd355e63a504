"""Loads on surfaces: totals, patch tests, and gravity as a vector."""

import numpy as np
import pytest

import pliant as pl
from pliant.core.typing import Array
from pliant.scene.load import parse

P = 1000.0
QUADRATIC = {"type": "fem", "elements": "quadratic"}
SOFT = {"young": 1e5, "poisson": 0.3, "density": 1000}


def block(model: object, **more: object) -> pl.Body:
    """A box of 0.4 x 0.2 x 0.3 m, in cells of 0.1 m."""
    shape = pl.shapes.box(0.4, 0.2, 0.3, divisions=(4, 2, 3))
    return pl.Body(shape, model=model, material=SOFT, name="block", **more)


def forces(body: pl.Body, action: object, time: float = 0.0) -> tuple[Array, Array]:
    """Forces of an action on a body at rest (n, 3) [N], and rest positions."""
    system = pl.Scene([body], [action]).simulation().system
    out = np.zeros_like(system.world.x)
    for _, runtime in system.actions:
        runtime.add_forces(time, system.world.x, np.zeros_like(out), out)
    return out, system.world.x


@pytest.mark.parametrize("model", ["fem", QUADRATIC, "cpm1", "mass-spring", "lattice", "efg"])
def test_a_traction_has_the_force_and_the_moment_of_its_face(model: object) -> None:
    """On the face x = 0.4 of 0.2 x 0.3 m: t A at the centre of the face, (0.1, 0.15) across."""
    edge = {} if isinstance(model, dict) or model not in ("lattice", "efg") else {"edge": 0.1}
    value = np.array([700.0, 200.0, -300.0])
    f, x = forces(block(model, **edge), pl.Traction(select=pl.where.plane("x", "max"), value=value))
    assert f.sum(axis=0) == pytest.approx(0.06 * value, rel=1e-9)
    normal = f[:, 0] @ x[:, 1:]  # where the normal part acts
    assert normal / f[:, 0].sum() == pytest.approx([0.1, 0.15], rel=1e-6)
    low = x[:, 0].max() - 1e-9
    assert not np.any(f[x[:, 0] < low])


def test_a_total_is_shared_by_area() -> None:
    total = (0.0, 0.0, 12.0)
    f, x = forces(block("fem"), pl.Traction(select=pl.where.plane("x", "max"), total=total))
    assert f.sum(axis=0) == pytest.approx(total)
    areas = f[:, 2] / 12.0 * 0.06
    corner = (
        (x[:, 0] > 0.399)
        & np.isclose(x[:, 1] * (0.2 - x[:, 1]), 0)
        & np.isclose(x[:, 2] * (0.3 - x[:, 2]), 0)
    )
    inner = (x[:, 0] > 0.399) & (x[:, 1] > 0.01) & (x[:, 1] < 0.19) & (x[:, 2] > 0.01) & (x[:, 2] < 0.29)
    assert areas[inner].mean() == pytest.approx(0.01, rel=0.4)
    assert areas[corner].sum() < areas[inner].sum()


@pytest.mark.parametrize("model", ["fem", QUADRATIC])
def test_a_pulled_bar_has_uniform_stress(model: object) -> None:
    """Patch test: a traction of 1 kPa on both ends gives 1 kPa of von Mises stress everywhere."""
    both = [
        pl.Traction(select=pl.where.plane("x", end), value=(sign * P, 0, 0))
        for end, sign in (("min", -1), ("max", 1))
    ]
    scene = pl.Scene([block(model)], both, integrator={"type": "static", "tolerance": 1e-9})
    stress = _stress(scene)
    assert stress == pytest.approx(np.full_like(stress, P), rel=2e-2)  # finite strains of 1 %
    assert np.ptp(stress) < 1e-4 * P


@pytest.mark.parametrize("model", ["fem", QUADRATIC])
def test_a_pressed_box_has_no_shear_stress(model: object) -> None:
    """Patch test: the same pressure from all sides is hydrostatic, von Mises stress zero."""
    scene = pl.Scene([block(model)], [pl.Pressure(value=P)], integrator={"type": "static", "tolerance": 1e-9})
    assert _stress(scene).max() < 1e-3 * P


def _stress(scene: pl.Scene) -> Array:
    simulation = scene.simulation()
    simulation.start()
    simulation.advance()
    (part,) = simulation.system.world.bodies
    x = simulation.system.world.x
    return np.asarray(part.mechanics.fields(x, np.zeros_like(x), ["stress"])["stress"].values)


def test_a_pressure_on_a_quadratic_ball_has_no_resultant_and_the_right_work() -> None:
    """Virtual work of a pressure on a dilation x -> (1 + e) x is -3 p V e."""
    ball = pl.Body(pl.shapes.icosphere(0.1, 2), edge=0.05, model=QUADRATIC, material=SOFT)
    f, x = forces(ball, pl.Pressure(value=P))
    assert np.abs(f.sum(axis=0)).max() < 1e-9 * np.abs(f).sum()
    volume = ball.geometry().tets()
    from pliant.mesh.mesh import tet_volumes

    inside = tet_volumes(volume.points, volume.tets).sum()
    assert np.sum(f * x) == pytest.approx(-3.0 * P * inside, rel=1e-9)


def test_gravity_takes_a_vector_and_keys_of_vectors() -> None:
    f, _ = forces(block("fem"), pl.Gravity(acceleration=(1.0, 2.0, -3.0)))
    assert f.sum(axis=0) == pytest.approx(24.0 * np.array([1.0, 2.0, -3.0]))
    keys = {"keys": [{"time": 0, "value": [0, 0, 0]}, {"time": 1, "value": [4, 0, 0]}]}
    f, _ = forces(block("fem"), pl.Gravity(acceleration=keys), time=0.5)
    assert f.sum(axis=0) == pytest.approx([48.0, 0.0, 0.0])
    f, _ = forces(block("fem"), pl.Gravity(acceleration=2.0))
    assert f.sum(axis=0) == pytest.approx([0.0, 0.0, -48.0])


def test_a_vector_of_gravity_closes_the_ledger() -> None:
    scene = parse(
        """schema = 1
        [time]
        duration = 0.2
        integrator = "leapfrog"
        [[bodies]]
        shape = { box = { size = [0.2, 0.2, 0.2], divisions = [2, 2, 2] } }
        model = "fem"
        material = { young = "100 kPa", poisson = 0.3, density = 1000 }
        [[actions]]
        type = "gravity"
        acceleration = [3, 0, "-9.81 m/s2"]
        """
    )
    simulation = scene.simulation()
    simulation.start()
    first = simulation.system.energy_ledger.total(simulation.system)
    for _ in range(10):
        simulation.advance()
    kinetic = simulation.system.energies()[0]
    assert kinetic == pytest.approx(0.5 * 8.0 * (9 + 9.81**2) * 0.2**2, rel=1e-3)
    assert simulation.system.energy_ledger.total(simulation.system) - first == pytest.approx(
        0, abs=1e-6 * kinetic
    )


def test_a_traction_needs_one_amount_and_a_face() -> None:
    with pytest.raises(pl.errors.ParameterError, match="give one of value"):
        pl.Traction(select=pl.where.all())
    with pytest.raises(pl.errors.SelectionError, match="no whole face"):
        forces(block("fem"), pl.Traction(select=pl.where.nearest((0, 0, 0)), value=(1, 0, 0)))
