"""What every model of bodies that deform obeys: a new entry of MODELS is found here by itself."""

from typing import Any

import numpy as np
import pytest
from bodies import MATERIAL, block, shaken

from pliant.core.rotation import Rotation
from pliant.interfaces import Damped, SectionForce, SelfStepping, StoredEnergy, Tangent
from pliant.materials.constitutive import LAWS
from pliant.models import deforming
from pliant.models.critical_step import explicit_limit

ORTHOTROPIC = {"E1": 2e5, "E2": 1e5, "E3": 5e4, "nu12": 0.3, "nu13": 0.2, "nu23": 0.25}
ORTHOTROPIC |= {"G12": 5e4, "G13": 3e4, "G23": 4e4}
VARIANTS: dict[str, dict[str, Any]] = {  # model and material keys beyond each model's defaults
    "fem/gram-schmidt": {"model": {"type": "fem", "rotation": "gram-schmidt"}},
    "fem/averaged": {"model": {"type": "fem", "locking": "averaged-pressure"}},
    "fem/averaged-neo-hookean": {
        "model": {"type": "fem", "law": "neo-hookean", "locking": "averaged-pressure"}
    },
    "fem/averaged-st-venant-kirchhoff": {
        "model": {"type": "fem", "law": "st-venant-kirchhoff", "locking": "averaged-pressure"}
    },
    "fem/quadratic": {"model": {"type": "fem", "elements": "quadratic"}},
    "fem/quadratic-orthotropic": {
        "model": {"type": "fem", "elements": "quadratic"},
        "material": {"moduli": ORTHOTROPIC},
    },
    "fem/plastic": {"model": "fem", "material": {"yield": 1e3}},
    "fem/averaged-plastic": {
        "model": {"type": "fem", "locking": "averaged-pressure"},
        "material": {"yield": 1e3},
    },
    "fem/orthotropic": {"model": "fem", "material": {"moduli": ORTHOTROPIC}},
    "fem/orthotropic-st-venant-kirchhoff": {
        "model": {"type": "fem", "law": "st-venant-kirchhoff"},
        "material": {"moduli": ORTHOTROPIC},
    },
}
for law in LAWS:  # every constitutive law, on every model that has one; the models' own laws run by name
    VARIANTS[f"fem/{law}"] = {"model": {"type": "fem", "law": law}}
    VARIANTS[f"fem/quadratic-{law}"] = {"model": {"type": "fem", "law": law, "elements": "quadratic"}}
    VARIANTS[f"efg/{law}"] = {"model": {"type": "efg", "law": law}}
for own in ("fem/corotational", "fem/quadratic-corotational", "efg/neo-hookean"):
    del VARIANTS[own]
VARIANTS |= {
    "efg/hooke": {"model": {"type": "efg", "law": "hooke", "volume-stiffness": 5e4}},
    "efg/bcc": {"model": {"type": "efg", "sampling": "bcc", "count": 60}},
    "efg/plastic": {"model": {"type": "efg", "law": "hooke"}, "material": {"yield": 1e3}},
    "efg/octree": {"model": {"type": "efg", "sampling": "octree", "count": 100, "law": "hooke"}},
}
VARIANTS |= {f"{kind}/everts": {"model": {"type": kind, "form": "everts"}} for kind in ("cpm1", "cpm2")}
VARIANTS["multires/linear"] = {"model": {"type": "multires", "operator": "linear"}}
VARIANTS["multires/neo-hookean"] = {"model": {"type": "multires", "operator": "neo-hookean"}}
LINEAR = {"multires/linear"}  # linear elasticity: about the rest shape, for small rotations
OWN_STEP = {
    "multires",
    "multires/linear",
    "multires/neo-hookean",
}  # take steps of their own within one of the World's
NAMES = [*deforming(), *VARIANTS]  # a rigid body has no internal forces: tests/verification/test_rigid.py
TORQUE = {
    "multires/linear",
    "fem/gram-schmidt",
    "cpm1/everts",
    "cpm2/everts",
}  # leave a torque, as printed and documented
EXACT_PAIRS = [(name, poisson) for name in NAMES for poisson in (0.25, 0.3, 0.45)]


def prepared(name: str, poisson: float = 0.3, **options: Any) -> tuple[Any, Any]:
    variant = VARIANTS.get(name, {"model": name})
    material = {**MATERIAL, "poisson": poisson, **variant.get("material", {})}
    if "moduli" in material:
        material = {key: value for key, value in material.items() if key not in ("young", "poisson")}
    body = block(model=variant["model"], material=material, **options)
    structure = body.structure()
    return structure, body.model.prepare(structure, body.resolved_material)


def forces(mechanics: Any, x: Any, v: Any = None) -> Any:
    out = np.zeros_like(x)
    mechanics.add_forces(x, np.zeros_like(x) if v is None else v, out)
    return out


@pytest.mark.parametrize(("name", "poisson"), EXACT_PAIRS)
def test_rest_shape_is_free_of_forces(name: str, poisson: float) -> None:
    structure, mechanics = prepared(name, poisson)
    assert np.abs(forces(mechanics, structure.rest)).max() < 1e-10 * MATERIAL["young"] * 0.1**2


@pytest.mark.parametrize(("name", "poisson"), EXACT_PAIRS)
def test_force_is_minus_the_gradient_of_energy(name: str, poisson: float) -> None:
    structure, mechanics = prepared(name, poisson)
    if mechanics.offer(StoredEnergy) is None:
        pytest.skip(f"{name} has no energy")
    x = shaken(structure.rest, 0.02)
    f = forces(mechanics, x)
    scale, h = np.abs(f).max(), 1e-6
    generator = np.random.default_rng(3)
    for _ in range(20):
        i, c = generator.integers(len(x)), generator.integers(3)
        ahead, behind = x.copy(), x.copy()
        ahead[i, c] += h
        behind[i, c] -= h
        slope = (mechanics.energy(ahead) - mechanics.energy(behind)) / (2 * h)
        assert abs(slope + f[i, c]) < 1e-6 * scale


@pytest.mark.parametrize("name", NAMES)
def test_internal_forces_and_torques_sum_to_zero(name: str) -> None:
    structure, mechanics = prepared(name)
    x = shaken(structure.rest, 0.02)
    f = forces(mechanics, x)
    scale = np.abs(f).sum()
    assert np.abs(f.sum(axis=0)).max() < 1e-13 * scale
    if name not in TORQUE:
        assert np.abs(np.cross(x, f).sum(axis=0)).max() < 1e-13 * scale


@pytest.mark.parametrize("name", NAMES)
def test_forces_turn_with_the_body(name: str) -> None:
    if name in LINEAR:
        pytest.skip("linear forces turn with the rest shape only")
    structure, mechanics = prepared(name)
    turn = Rotation(axis=(1, 2, 3), degrees=77).matrix()
    x = shaken(structure.rest, 0.02)
    f = forces(mechanics, x)
    turned = forces(mechanics, x @ turn.T + np.array([1.0, -2.0, 0.5]))
    assert np.abs(turned - f @ turn.T).max() < 1e-11 * np.abs(f).max()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("scale", [1e-3, 1e2])
def test_forces_scale_with_area(name: str, scale: float) -> None:
    """The same strain in a body s times as large gives s^2 times the force (stress times area)."""
    structure, mechanics = prepared(name)
    big, other = prepared(name, scale=scale)
    x = shaken(structure.rest, 0.02)
    f, g = forces(mechanics, x), forces(other, scale * x)
    assert np.abs(g / scale**2 - f).max() < 1e-11 * np.abs(f).max()
    assert big.mass.sum() == pytest.approx(scale**3 * structure.mass.sum(), rel=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_internal_damping_takes_energy_and_keeps_momentum(name: str) -> None:
    structure, mechanics = prepared(name)
    if mechanics.offer(Damped) is None or mechanics.offer(SelfStepping) is not None:
        pytest.skip(f"{name} has no internal damping among its forces")
    mechanics.damping_time = 1e-3
    x = shaken(structure.rest, 0.02)
    v = shaken(np.zeros_like(x), 1.0, seed=2)
    damping = np.zeros_like(x)
    mechanics.add_damping_forces(x, v, damping)
    total = forces(mechanics, x, v) - forces(mechanics, x)
    assert np.abs(total - damping).max() < 1e-9 * np.abs(damping).max()
    assert np.sum(damping * v) < 0.0
    assert np.abs(damping.sum(axis=0)).max() < 1e-12 * np.abs(damping).sum()
    assert np.abs(np.cross(x, damping).sum(axis=0)).max() < 1e-12 * np.abs(damping).sum()


@pytest.mark.parametrize("name", NAMES)
def test_flux_is_the_force_between_the_two_sides(name: str) -> None:
    """Internal forces on the far side add up to what goes through the cut, whatever the shape."""
    structure, mechanics = prepared(name, poisson=0.4)
    if mechanics.offer(SectionForce) is None:
        pytest.skip(f"{name} has no flux")
    x = shaken(structure.rest, 0.02)
    above = structure.rest[:, 0] > 0.15
    parts = mechanics.section_force(x, above)
    through = np.sum([resultant for resultant, _ in parts.values()], axis=0)
    f = forces(mechanics, x)
    assert np.abs(through - f[above].sum(axis=0)).max() < 1e-12 * np.abs(f).sum()
    assert all(size >= np.linalg.norm(resultant) * (1 - 1e-12) for resultant, size in parts.values())


@pytest.mark.parametrize("name", NAMES)
def test_fields_are_finite_and_zero_at_rest(name: str) -> None:
    structure, mechanics = prepared(name)
    still = np.zeros_like(structure.rest)
    found = mechanics.fields(structure.rest, still, mechanics.field_names)
    assert set(found) == set(mechanics.field_names)
    assert {"strain", "stress"} <= set(found)
    assert np.abs(found["stress"].values).max() < 1e-9 * MATERIAL["young"]
    stretched = structure.rest * [1.01, 1.0, 1.0]
    assert mechanics.fields(stretched, still, ["stress"])["stress"].values.min() > 0


@pytest.mark.parametrize("name", NAMES)
def test_the_stable_step_is_stable_and_not_timid(name: str) -> None:
    """Leapfrog keeps small vibrations bounded at 0.95 of the limit, and loses them at 1.05 of it."""
    # the printed forces are not symmetric, and grow a little on other meshes
    printed = {"split": "uniform"} if name.endswith("/everts") else {}
    structure, mechanics = prepared(name, **printed)
    own = explicit_limit(mechanics, structure, mechanics.damping_time) if name in OWN_STEP else None
    limit = (own or mechanics.stable_step()).seconds

    def growth(dt: float) -> float:
        x = shaken(structure.rest, 1e-7)
        v = np.zeros_like(x)
        for _ in range(400):
            v += dt * forces(mechanics, x) / structure.mass[:, None]
            x += dt * v
        return float(np.abs(x - structure.rest).max())

    assert growth(0.95 * limit) < 1e-5
    assert not growth(1.05 * limit) < 1e-3


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("beta", [3e-4, 1e-2])
def test_the_stable_step_takes_damping_into_account(name: str, beta: float) -> None:
    """Leapfrog, its damping forces at the velocity that the last force predicts: bounded at 0.95 of it."""
    structure, mechanics = prepared(name)
    if mechanics.offer(Damped) is None:
        pytest.skip(f"{name} has no stiffness damping")
    free = mechanics.stable_step().seconds
    if not np.isfinite(free):
        pytest.skip(f"{name} chooses its own steps")
    mechanics.damping_time = beta
    limit = mechanics.stable_step().seconds
    assert limit < free

    def growth(dt: float) -> float:
        x, v = shaken(structure.rest, 1e-7), np.zeros_like(structure.rest)
        f, mass = forces(mechanics, x, v), structure.mass[:, None]
        for _ in range(300):
            v = v + 0.5 * dt * f / mass
            x = x + dt * v
            f = forces(mechanics, x, v + 0.5 * dt * f / mass)
            v = v + 0.5 * dt * f / mass
        return float(np.abs(x - structure.rest).max())

    assert growth(0.95 * limit) < 1e-5
    if name not in TORQUE:  # the printed stiffness is not symmetric, its limit only near
        assert not growth(1.1 * limit) < 1e-3


def product(mechanics: Any, x: Any, dx: Any) -> Any:
    out = np.zeros_like(x)
    mechanics.add_stiffness_product(x, dx, out)
    return out


@pytest.mark.parametrize("name", NAMES)
def test_stiffness_product_is_symmetric_and_not_negative(name: str) -> None:
    structure, mechanics = prepared(name, poisson=0.45)
    if mechanics.offer(Tangent) is None:
        pytest.skip(f"{name} has no stiffness")
    x = shaken(structure.rest, 0.04)
    for seed in range(5):
        a, b = (shaken(np.zeros_like(x), 1.0, seed=s) for s in (2 * seed, 2 * seed + 1))
        ka, kb = product(mechanics, x, a), product(mechanics, x, b)
        assert np.sum(kb * a) == pytest.approx(np.sum(ka * b), rel=1e-11, abs=1e-11 * np.sum(ka * a))
        assert np.sum(ka * a) > 0


@pytest.mark.parametrize(("name", "poisson"), EXACT_PAIRS)
def test_stiffness_at_rest_is_the_derivative_of_the_forces(name: str, poisson: float) -> None:
    """The product, and the matrix where there is one; averaged pressures keep the matrix of plain tets."""
    structure, mechanics = prepared(name, poisson)
    if mechanics.offer(Tangent) is None:
        pytest.skip(f"{name} has no stiffness")
    if name.endswith("/everts"):
        pytest.skip("the printed stiffness is not symmetric; the product is the variational one")
    x, h = structure.rest, 1e-5
    u = shaken(np.zeros_like(x), 1e-2)
    slope = (forces(mechanics, x - h * u) - forces(mechanics, x + h * u)) / (2 * h)
    found = product(mechanics, x, u)
    if "averaged" not in name:
        assert np.abs(found - slope).max() < 1e-6 * np.abs(slope).max()
    if mechanics.offer(Tangent) is not None:
        matrix = mechanics.rest_stiffness()
        assert abs(matrix - matrix.T).max() < 1e-12 * abs(matrix).max()
        if name in ("cpm1", "cpm2"):  # the matrix of the continuum they stand for, as a preconditioner
            energy = float(np.sum(u * found))
            assert 0.5 < float(u.ravel() @ (matrix @ u.ravel())) / energy < 2.0
        else:
            assert np.abs((matrix @ u.ravel()).reshape(-1, 3) - found).max() < 1e-11 * np.abs(found).max()
