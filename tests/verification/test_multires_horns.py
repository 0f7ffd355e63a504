"""Bodies with thin parts that coarse levels lack: whatever is refined, levels stay in step and at rest."""

import numpy as np
import pytest

import pliant as pl
from multires_lab import Frozen, prepared
from pliant.mesh.mesh import TetMesh
from pliant.mesh.shapes import box

TISSUE = {"young": 6e4, "poisson": 0.35, "density": 1000.0, "damping": 2e-3}


def horned() -> TetMesh:
    """A unit cube with horns an eighth wide on its top and side, half and five eighths long."""
    parts = [
        (box(1.0, 1.0, 1.0, divisions=(8, 8, 8)), (0.0, 0.0, 0.0)),
        (box(1 / 8, 1 / 8, 1 / 2, divisions=(1, 1, 4)), (0.5, 0.5, 1.0)),
        (box(5 / 8, 1 / 8, 1 / 8, divisions=(5, 1, 1)), (1.0, 3 / 8, 6 / 8)),
    ]
    points, tets, count = [], [], 0
    for shape, corner in parts:
        mesh = shape.volume()
        assert mesh is not None
        points.append(mesh.points + np.array(corner))
        tets.append(mesh.tets + count)
        count += len(mesh.points)
    merged, number = np.unique(np.concatenate(points).round(9), axis=0, return_inverse=True)
    return TetMesh(merged, number.reshape(-1)[np.concatenate(tets)])


def test_coarse_levels_lack_the_horns_and_refine_each_as_a_whole() -> None:
    """Its nodes are far from the coarse tet that they follow, which is then one for all tets around them."""
    hierarchy = prepared(horned(), 2, material=TISSUE).hierarchy
    transfer, fine = hierarchy.transfers[0], hierarchy.levels[1]
    assert transfer.parent_weights.min() < -1.0
    assert np.abs(transfer.parent_weights.sum(axis=1) - 1.0).max() < 1e-9
    assert np.abs(transfer.load_weights.sum(axis=1) - 1.0).max() < 1e-9
    far = np.flatnonzero(transfer.parent_weights.min(axis=1) < -0.25)
    assert set(np.flatnonzero((fine.points > 1.3).any(axis=1))) < set(far)
    assert (transfer.load_weights[far] >= 0.0).all()
    near = np.setdiff1d(np.arange(len(transfer.parent_weights)), far)
    assert np.array_equal(transfer.load_weights[near], transfer.parent_weights[near])
    for node in far:
        around = fine.incident[fine.incident_first[node] : fine.incident_first[node + 1]] // 4
        assert len(np.unique(transfer.samples[around])) == 1


@pytest.mark.parametrize("seed", [1, 2, 3, 4])
@pytest.mark.parametrize("operator", ["linear", "corotational"])
def test_whatever_is_refined_motion_dies_down(operator: str, seed: int) -> None:
    """Random nodes are split. With damping, energy can only fall, and nearly all is gone after half a second
    but for what moves and turns as a whole, which keeps its momentum."""
    rng = np.random.default_rng(seed)
    mechanics = prepared(horned(), 2, material=TISSUE, operator=operator)
    size = rng.uniform(0.1, 0.9)
    if seed % 2:
        middle = rng.uniform(0.0, 1.0, 3)
        body = Frozen(mechanics, "galerkin", lambda p: np.linalg.norm(p - middle, axis=1) < size)
    else:
        body = Frozen(mechanics, "galerkin", lambda p: rng.random(len(p)) < size)
    levels = mechanics.hierarchy.levels
    noise = {len(level.points): 1e-3 * rng.standard_normal((len(level.points), 3)) for level in levels}
    body.set(np.zeros_like, lambda p: noise[len(p)])
    before, momentum = sum(mechanics.coupling.energy()), mechanics.coupling.momenta()[0]
    last = before
    for _ in range(10):
        body.advance(3)
        now = sum(mechanics.coupling.energy())
        assert now < last * (1.0 + 1e-9)
        last = now
    assert last < 0.1 * before
    assert np.abs(mechanics.coupling.momenta()[0] - momentum).max() < 1e-12


def test_a_horned_body_tumbles_onto_the_ground() -> None:
    """As a user has it: no divergence, and the ledger closes."""
    model = {"type": "multires", "levels": 2, "operator": "corotational"}
    body = pl.Body(horned(), model=model, material=TISSUE, position=(0.0, 0.0, 0.4), spin=(3.0, 1.0, 0.0))
    simulation = pl.Scene(
        [body], [pl.Gravity(9.81), pl.Ground()], time=pl.TimeSettings(duration=1.0, fps=60)
    ).simulation()
    simulation.start()
    column = simulation.columns.index("energy.total")
    begin = simulation.row()[column]
    for _ in range(60):
        simulation.advance()
    assert simulation.row()[column] == pytest.approx(begin, rel=0.02)
