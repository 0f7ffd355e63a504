"""Forces of energy-momentum steps do exactly the work by which energies change, and have no moment."""

from typing import Any

import numpy as np
import pytest
from bodies import block, shaken

from pliant.interfaces import DiscreteGradient, StoredEnergy
from pliant.materials.constitutive import LAWS
from pliant.mesh.shapes import box
from pliant.models.fem.energy_momentum import stresses_between
from pliant.scene import Body


def rotations(count: int) -> np.ndarray:  # type: ignore[type-arg]
    """Random rotations (count, 3, 3)."""
    q, r = np.linalg.qr(np.random.default_rng(3).standard_normal((count, 3, 3)))
    q = q * np.sign(np.diagonal(r, axis1=1, axis2=2))[:, None, :]
    q[np.linalg.det(q) < 0.0, :, 0] *= -1.0
    return np.asarray(q)


@pytest.mark.parametrize("name", list(LAWS))
def test_the_stress_of_a_step_does_the_work_of_the_energy(name: str) -> None:
    """P : (F1 - F0) = W1 - W0 + p (theta1 - theta0), and P Fm^T symmetric, at random deformations and
    turns."""
    law, rng, count = LAWS[name], np.random.default_rng(0), 600
    before = np.eye(3) + 0.3 * rng.standard_normal((count, 3, 3))
    after = np.einsum("mij,mjk->mik", rotations(count), np.eye(3) + 0.3 * rng.standard_normal((count, 3, 3)))
    upright = (np.linalg.det(before) > 0.25) & (np.linalg.det(after) > 0.25)
    before, after, count = before[upright], after[upright], int(upright.sum())
    assert count > 300
    constants = [np.full(count, value) for value in (1.3, 2.1, 0.4)]
    flat = [np.ascontiguousarray(F.reshape(-1, 9)) for F in (before, after)]
    out, gain = np.empty((count, 9)), np.empty(count)
    stresses_between(law)(*flat, *constants, law.constants({}), out, gain)
    P, middle = out.reshape(-1, 3, 3), 0.5 * (before + after)
    work = np.einsum("mij,mij->m", P, after - before)
    assert np.abs(work - gain).max() < 1e-12 * np.abs(gain).max()
    moment = np.einsum("mij,mkj->mik", P, middle)
    assert np.abs(moment - moment.transpose(0, 2, 1)).max() < 1e-12 * np.abs(moment).max()
    assert gain.std() > 0.1


WOOD = {
    "density": 1000.0,
    "moduli": {
        "E1": 6e4, "E2": 2e4, "E3": 1.5e4, "nu12": 0.3, "nu13": 0.35, "nu23": 0.4, "G12": 9e3, "G13": 8e3,
        "G23": 5e3,
    },
}  # fmt: skip
MODELS: list[Any] = [
    "mass-spring",
    "lattice",
    "fem",
    {"type": "fem", "locking": "averaged-pressure"},
    {"type": "fem", "law": "neo-hookean", "locking": "averaged-pressure"},
    {"type": "fem", "law": "mooney-rivlin"},
    {"type": "fem", "elements": "quadratic", "law": "st-venant-kirchhoff"},
    {"type": "fem", "elements": "quadratic", "law": "neo-hookean"},
]


def check_forces(body: Body) -> None:
    """f . dx = E0 - E1, no resultant and no moment, between shaken and turned shapes."""
    structure = body.structure()
    mechanics = body.model.prepare(structure, body.resolved_material)
    energy, between = mechanics.offer(StoredEnergy), mechanics.offer(DiscreteGradient)
    assert energy is not None
    assert between is not None
    size = 0.1 * structure.spacing
    before = shaken(structure.rest, size, 1)
    after = shaken(structure.rest, size, 2) @ rotations(1)[0].T + 0.3
    forces = np.zeros_like(before)
    between.add_forces_between(before, after, forces)
    change = energy.energy(after) - energy.energy(before)
    scale = abs(energy.energy(after)) + abs(energy.energy(before))
    assert abs(np.sum(forces * (after - before)) + change) < 1e-12 * scale * len(before)
    largest = np.abs(forces).max() * len(before)
    assert np.abs(forces.sum(axis=0)).max() < 1e-14 * largest
    assert np.abs(np.cross(0.5 * (before + after), forces).sum(axis=0)).max() < 1e-13 * largest


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_forces_of_bodies_do_the_work_of_their_energy(model: Any) -> None:
    options = {"edge": 0.05} if model == "lattice" else {}
    check_forces(Body(box(0.3, 0.2, 0.1, divisions=(3, 2, 1)), model=model, material={
        "young": 1e5, "poisson": 0.4, "density": 1000.0}, **options))  # fmt: skip


@pytest.mark.parametrize("law", ["corotational", "st-venant-kirchhoff"])
def test_forces_of_anisotropic_bodies_do_the_work_of_their_energy(law: str) -> None:
    check_forces(block((3, 2, 1), model={"type": "fem", "law": law}, material=WOOD))


def test_a_step_without_motion_has_the_forces_of_the_law() -> None:
    """In the limit of a short step the discrete gradient is the gradient."""
    for model in ("mass-spring", "fem", {"type": "fem", "law": "ogden"}):
        body = block((3, 2, 1), model=model)
        structure = body.structure()
        mechanics = body.model.prepare(structure, body.resolved_material)
        between = mechanics.offer(DiscreteGradient)
        assert between is not None
        x = shaken(structure.rest, 0.005)
        forces, wanted = np.zeros_like(x), np.zeros_like(x)
        between.add_forces_between(x, x, forces)
        mechanics.add_elastic_forces(x, wanted)
        assert np.abs(forces - wanted).max() < 1e-9 * np.abs(wanted).max()
