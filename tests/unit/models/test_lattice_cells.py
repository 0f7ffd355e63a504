"""Volume terms of lattice cells: forces, energy-momentum steps, the barrier, moduli."""

from typing import Any

import numpy as np
import pytest

from pliant.mesh.shapes import box
from pliant.models.lattice.volume_cells import VolumeCells
from pliant.scene import Body

YOUNG = 1e5


def lattice(size: tuple[float, float, float], edge: float, poisson: float, **options: Any) -> tuple[Any, Any]:
    material = {"young": YOUNG, "poisson": poisson, "density": 1000.0}
    body = Body(box(*size), edge=edge, model="lattice", material=material, **options)
    structure = body.structure()
    return structure, body.model.prepare(structure, body.resolved_material)


def crushed(x: Any, factor: float, seed: int = 4) -> Any:
    """``x`` pressed along z and shaken by up to a tenth of that."""
    shaken = np.random.default_rng(seed).uniform(-0.005, 0.005, x.shape)
    return x * [1.0, 1.0, factor] + shaken


@pytest.mark.parametrize("factor", [0.7, 0.3, -0.5])
@pytest.mark.parametrize("poisson", [0.25, 0.4])
def test_forces_of_crushed_and_mirrored_cells_are_those_of_their_energy(
    factor: float, poisson: float
) -> None:
    structure, mechanics = lattice((0.3, 0.2, 0.2), 0.1, poisson)
    cells = mechanics.body.volume_cells
    x = crushed(structure.rest, factor)
    f = np.zeros_like(x)
    cells.add_forces(x, f)
    h, found = 1e-6, np.zeros_like(x)
    for i in range(len(x)):
        for c in range(3):
            moved = x.copy()
            moved[i, c] += h
            found[i, c] = cells.energy(moved)
            moved[i, c] -= 2 * h
            found[i, c] -= cells.energy(moved)
    assert -found / (2 * h) == pytest.approx(f, abs=1e-5 * max(np.abs(f).max(), 1.0))
    if factor < 0.5:
        assert np.abs(f).max() > 1.0  # the barrier pushes
    assert np.abs(f.sum(axis=0)).max() < 1e-12 * max(np.abs(f).sum(), 1.0)
    assert np.abs(np.cross(x, f).sum(axis=0)).max() < 1e-12 * max(np.abs(f).sum(), 1.0)


def test_energy_momentum_forces_do_the_work_of_the_energy_through_the_barrier() -> None:
    structure, mechanics = lattice((0.3, 0.2, 0.2), 0.1, 0.4)
    cells: VolumeCells = mechanics.body.volume_cells
    for first, second in ((0.9, 0.7), (0.6, 0.4), (0.4, 0.3), (0.3, 0.8)):
        before, after = crushed(structure.rest, first), crushed(structure.rest, second, 5)
        f = np.zeros_like(before)
        cells.add_forces_between(before, after, f)
        work = float(np.sum(f * (after - before)))
        assert work == pytest.approx(cells.energy(before) - cells.energy(after), rel=1e-10)
        middle = 0.5 * (before + after)
        assert np.abs(np.cross(middle, f).sum(axis=0)).max() < 1e-11 * np.abs(f).sum()


@pytest.mark.parametrize(("poisson", "expected"), [(0.25, 0.25), (0.35, 0.35), (0.45, 0.45), (0.1, 0.25)])
def test_a_stretched_bar_has_its_poisson_ratio(poisson: float, expected: float) -> None:
    """A bar of 6 x 6 elements, its ends pulled apart along x, by the stiffness at rest: E within 3 % and nu
    within 0.015, from 1/4 on; without volume terms nu is 1/4 whatever the material says."""
    from scipy.sparse.linalg import spsolve

    width, a = 0.4, 0.4 / 6
    structure, mechanics = lattice((1.6, width, width), a, poisson)
    K, rest = mechanics.rest_stiffness().tocsr(), structure.rest
    first, last = rest[:, 0] < rest[:, 0].min() + 0.5 * a, rest[:, 0] > rest[:, 0].max() - 0.5 * a
    held = np.zeros(rest.shape, bool)
    held[first | last, 0] = True
    pin, beside = np.flatnonzero(first)[[0, 1]]  # at a corner, next to each other along z: no rigid motion
    held[pin], held[beside, 1] = True, True
    u = np.zeros_like(rest)
    u[last, 0] = 1e-3
    free = ~held.ravel()
    load = -(K @ u.ravel())[free]
    u.ravel()[free] = spsolve(K[free][:, free].tocsc(), load)
    inner = np.abs(rest[:, 0] - 0.8) < 0.35
    stretch, across, up = (np.polyfit(rest[inner, c], u[inner, c], 1)[0] for c in range(3))
    assert [-across / stretch, -up / stretch] == pytest.approx([expected, expected], abs=0.015)
    pull = (K @ u.ravel()).reshape(-1, 3)[last, 0].sum()
    assert pull / (stretch * width**2) == pytest.approx(YOUNG, rel=0.03)


def test_a_body_that_is_pressed_through_itself_comes_back() -> None:
    """A block whose elements start mirrored: connections have their rest lengths there and hold it; with the
    barrier its cells turn round again."""
    material = {"young": YOUNG, "poisson": 0.25, "density": 1000.0, "damping": 2e-3}
    body = Body(box(0.3, 0.3, 0.3), edge=0.1, model="lattice", material=material, name="block")
    structure = body.structure()
    mechanics = body.model.prepare(structure, body.resolved_material)
    cells, x = mechanics.body.volume_cells, structure.rest.copy()
    x[:, 2] = 0.15 - 0.3 * (x[:, 2] - 0.15) + np.random.default_rng(0).uniform(-1e-3, 1e-3, len(x))
    assert (cells.ratios(x) < 0.0).all()
    v, m, dt = np.zeros_like(x), structure.mass[:, None], 2e-4
    for _ in range(6000):
        f = np.zeros_like(x)
        mechanics.add_forces(x, v, f)
        v = 0.999 * (v + dt * f / m)
        x = x + dt * v
    assert cells.ratios(x).min() > 0.8
