"""Levels of detail as one field: cages, transfer, mass, elements, steps and changes of level, against closed
forms."""

from typing import Any

import numpy as np
import pytest
from bodies import MATERIAL

from multires_lab import FRAME, Frozen, bar, cube, prepared
from pliant.core.errors import MeshError
from pliant.core.rotation import Rotation
from pliant.mesh.mesh import TetMesh, tet_volumes
from pliant.mesh.shapes import box
from pliant.models.multires import cluster_kernels, element_kernels, level_kernels, motion_kernels
from pliant.models.multires.arrangement import Arrangement, Prescribed
from pliant.models.multires.hierarchy import ANCHORS
from pliant.models.multires.patch import Patch
from pliant.validation.matrix.figures import FIGURES

G = 9.81
SOFT = MATERIAL | {"young": 2e4}


def left(p: Any) -> Any:
    return p[:, 0] < 0.5


def nowhere(p: Any) -> Any:
    return np.zeros(len(p), bool)


def everywhere(p: Any) -> Any:
    return np.ones(len(p), bool)


def arrangement_of(mechanics: Any, seed: int = 0, share: float = 0.1) -> Arrangement:
    """Some nodes split, at random."""
    h = mechanics.hierarchy
    flags = np.random.default_rng(seed).random(len(h.points)) < share
    flags[h.particles] = False
    free = Prescribed(np.zeros((len(h.mass), 3), bool))
    return Arrangement(h, mechanics.body.refinement.grade(flags), free, 0.0)


# ------------------------------------------------------------------------------------- cages and transfer


@pytest.mark.parametrize("name", ["doll", "hand", "leaf"])
def test_bodies_with_thin_limbs_have_three_levels_of_their_mass(name: str) -> None:
    """Each has fewer nodes than the next; G reproduces affine fields, so mass, centre and inertia are
    exact."""
    figure = FIGURES[name]
    mechanics = prepared(figure.surface(), edge=figure.edge_length)
    h = mechanics.hierarchy
    counts = np.diff(h.first)
    assert len(counts) == 3
    assert (counts[:-1] < 0.6 * counts[1:]).all()
    assert np.abs(h.weights[h.first[1] :].sum(axis=1) - 1.0).max() < 1e-12
    there = np.einsum("nq,nqc->nc", h.weights[h.first[1] :], h.points[h.corners[h.first[1] :]])
    assert np.abs(there - h.points[h.first[1] :]).max() < 1e-12
    for level in range(3):
        assert h.level_mass(level).sum() == pytest.approx(h.mass.sum(), rel=1e-12)
    assert h.weights.min() > -0.1


def two_arms() -> TetMesh:
    """Two parallel bars, half a cell apart, that are joined at one end: a U of tets."""
    whole = box(1.1, 0.25, 0.1, divisions=(22, 5, 2)).volume()
    assert whole is not None
    middle = whole.points[whole.tets].mean(axis=1)
    tets = whole.tets[(middle[:, 0] < 0.1) | (middle[:, 1] < 0.1) | (middle[:, 1] > 0.15)]
    kept, number = np.unique(tets, return_inverse=True)
    return TetMesh(whole.points[kept], number.reshape(-1, 4))


def test_a_coarse_cell_does_not_bridge_separate_limbs() -> None:
    """The arms of a U, half a cell apart, have no coarse node in common; without the split they would."""
    mechanics = prepared(two_arms())
    h = mechanics.hierarchy
    assert h.count == 3
    rest, rows = h.points[h.particles], h.rows_of_particles(0)
    far = rest[:, 0] > 0.5
    one, two = (
        np.unique(rows[np.flatnonzero(far & side)].indices) for side in (rest[:, 1] < 0.11, rest[:, 1] > 0.14)
    )
    assert len(one) > 3
    assert not np.intersect1d(one, two).size
    places = {tuple(p.round(6)) for p in h.points[one]} & {tuple(p.round(6)) for p in h.points[two]}
    assert places  # nodes at the same places, of either arm


def test_levels_that_cannot_be_made_are_reported_and_so_are_pieces() -> None:
    mechanics = prepared(box(1.0, 1.0, 1.0, divisions=(2, 2, 2)), 6)
    (text,) = mechanics.diagnostics.texts()
    assert text.startswith(f"6 levels were asked for, and {mechanics.hierarchy.count} made")
    mesh = box(1.0, 1.0, 1.0, divisions=(4, 4, 4)).volume()
    assert mesh is not None
    count = len(mesh.points)
    two = TetMesh(
        np.concatenate([mesh.points, mesh.points + np.array([3, 0, 0])]),
        np.concatenate([mesh.tets, mesh.tets + count]),
    )
    texts = prepared(two, 2).diagnostics.texts()
    assert any("is in 2 pieces that are not connected" in text for text in texts)


# --------------------------------------------------------------------------------------------- elements


@pytest.mark.parametrize("operator", ["linear", "corotational", "debunne"])
def test_a_cluster_is_the_sum_of_its_tets(operator: str) -> None:
    """Energy and forces of all coarse cells, in nodes that are bent and turned: those of the mesh itself,
    exactly where the law is linear; -dE/dx by central differences, and no torque but with laws that turn with
    nothing."""
    mechanics = cube(edge=0.2, operator=operator)
    h, mesh, rng = mechanics.hierarchy, mechanics.hierarchy.mesh, np.random.default_rng(1)
    every = np.arange(len(mesh.tets))
    turn = Rotation(axis=(1, 2, 0), degrees=40).matrix() if operator == "corotational" else np.eye(3)
    for k in range(h.count - 1):
        rows = slice(h.first[k], h.first[k + 1])
        x, wave = h.points.copy(), 0.05 * np.sin(3 * h.points[rows][:, [1, 2, 0]])
        x[rows] = (h.points[rows] + wave) @ turn.T
        particles = np.ascontiguousarray(h.rows_of_particles(k) @ x[rows])
        ids = np.arange(h.cluster_first[k], h.cluster_first[k + 1])

        def energy(x: Any, ids: Any = ids) -> float:
            return float(cluster_kernels.cluster_energy(ids, h.clusters, mesh.law, h.points, x))

        whole, off = element_kernels.tet_energy(every, mesh, particles), 1e-6  # single precision
        if operator == "corotational":
            off = 2e-3
        assert energy(x) == pytest.approx(whole, rel=off)
        f = np.zeros_like(x)
        cluster_kernels.cluster_forces(ids, h.clusters, mesh.law, h.points, x, f)
        step = np.zeros_like(x)
        step[rows] = 1e-6 * rng.normal(size=wave.shape)
        slope = (energy(x + step) - energy(x - step)) / 2
        assert slope == pytest.approx(-float(np.sum(f * step)), rel=1e-6)
        if operator == "corotational":
            moment = np.cross(x[rows], f[rows])
            assert np.abs(moment.sum(axis=0)).max() < 1e-12 * np.abs(moment).sum()


def test_a_half_turn_leaves_no_strain() -> None:
    body = Frozen(cube(edge=0.2), left)
    turn = Rotation(axis=(1, 2, 3), degrees=180).matrix()
    body.field(lambda p: p @ turn.T)
    body.advance(10)
    assert np.abs(body.x - body.rest @ turn.T).max() < 1e-9
    assert body.body.elastic < 1e-18 * 1e5


def test_products_of_clusters_are_twice_their_energy() -> None:
    """u . K u of all cells, also where some hold no material: twice the energy of a linear body that is
    displaced by u; forces balance."""
    h, rng = cube(edge=0.2, operator="linear").hierarchy, np.random.default_rng(2)
    assert (np.diff(h.clusters.first) == 0).any()
    u, law = 1e-3 * rng.normal(size=h.points.shape), h.mesh.law
    ids, out = np.arange(len(h.cluster_parent)), np.zeros_like(h.points)
    cluster_kernels.cluster_products(ids, h.clusters, law, h.points, u, 1.0, out)
    energy = cluster_kernels.cluster_energy(ids, h.clusters, law, h.points, h.points + u)
    assert float(np.sum(u * out)) == pytest.approx(2 * energy, rel=1e-9)
    assert np.abs(out.sum(axis=0)).max() < 1e-12 * np.abs(out).sum()


@pytest.mark.parametrize("operator", ["corotational", "neo-hookean"])
@pytest.mark.parametrize("fine", [nowhere, left, everywhere])
def test_damping_takes_energy_and_no_momentum(operator: str, fine: Any) -> None:
    """Of a body that is strained by a third and turned, in motion at random: forces of damping have neither
    sum nor torque, take energy, and none from a rigid motion."""
    body = Frozen(bar(operator=operator, material=SOFT | {"damping": 1e-2}), fine)
    turn, rng = Rotation((1, 2, 3), 70).matrix(), np.random.default_rng(3)
    stretch = np.array([[1.3, 0.2, 0.0], [0.0, 0.8, 0.1], [0.0, 0.0, 1.0]])
    body.field(lambda p: (p + 0.02 * rng.standard_normal(p.shape)) @ (turn @ stretch).T)
    inner, own = body.body, body.body.arrangement.active
    for rigid in (False, True):
        v = 0.1 * rng.standard_normal((len(own), 3))
        x = inner.motion.x[own]
        v = np.cross([0.3, -2.0, 1.0], x) + np.array([1.0, 2.0, 3.0]) if rigid else v
        inner.motion.v[own] = v
        inner.evaluate()
        q = inner.motion.q[own]
        size = np.abs(inner.motion.f[own] - q).max()
        if rigid:
            assert np.abs(q).max() < 1e-12 * size
        else:
            assert np.sum(q * v) < -1e-3 * np.abs(q * v).sum()
            assert np.abs(q.sum(axis=0)).max() < 1e-12 * np.abs(q).sum()
            assert np.abs(np.cross(x, q).sum(axis=0)).max() < 1e-12 * np.abs(q).sum()


# ------------------------------------------------------------------------------------------------- mass


@pytest.mark.parametrize("seed", range(3))
def test_rigid_motion_has_the_momenta_and_the_energy_of_the_particles(seed: int) -> None:
    """M~ v of v = a + b x X, in any arrangement of levels: sums over particles, to rounding; M~ >= G^T m
    G."""
    mechanics = bar()
    arrangement, h = arrangement_of(mechanics, seed), mechanics.hierarchy
    own, rest, m = arrangement.active, h.points[h.particles], h.mass[:, None]
    a, b = np.array([0.3, -0.2, 0.5]), np.array([1.0, 2.0, -1.5])
    v, whole = a + np.cross(b, h.points[own]), a + np.cross(b, rest)
    p = arrangement.momenta_of(v)
    assert np.abs(p.sum(axis=0) - (m * whole).sum(axis=0)).max() < 1e-10
    assert (
        np.abs(np.cross(h.points[own], p).sum(axis=0) - np.cross(rest, m * whole).sum(axis=0)).max() < 1e-10
    )
    assert float(np.sum(p * v)) == pytest.approx(float(np.sum(m * whole**2)), rel=1e-12)
    body = mechanics.body
    motion = body.motion
    motion.p[own] = p
    motion_kernels.velocities(arrangement.acting, motion)
    assert np.abs(motion.v[own] - v).max() < 1e-10
    some = np.random.default_rng(seed).normal(size=v.shape)
    motion.v[own] = some
    level_kernels.interpolate_all(arrangement.own, h.corners, h.weights, motion.x, motion.v)
    particles = 0.5 * float(np.sum(m * motion.v[h.particles] ** 2))
    assert 0.5 * float(np.sum(arrangement.momenta_of(some) * some)) > particles


def test_the_step_of_any_arrangement_is_that_of_its_deepest_level_at_least() -> None:
    """2 / omega of the arrangement's own matrix, by dense eigenvalues."""
    mechanics = prepared(box(1.0, 0.5, 0.5, divisions=(6, 3, 3)))
    h = mechanics.hierarchy
    for seed in range(3):
        arrangement = arrangement_of(mechanics, seed, 0.05)
        n, patch = len(arrangement.active), Patch(arrangement, np.ones(len(h.points), bool))
        columns = []
        for k in range(3 * n):
            unit = np.zeros((n, 3))
            unit[k // 3, k % 3] = 1.0
            columns.append(patch.product(h.points.copy(), unit).ravel())
        root = 1.0 / np.sqrt(np.repeat(arrangement.mass, 3))
        matrix = root[:, None] * np.array(columns) * root
        top = float(np.linalg.eigvalsh(0.5 * (matrix + matrix.T))[-1])
        assert 2.0 / np.sqrt(top) > 0.995 * arrangement.stable_step()


# ------------------------------------------------------------------------------------------------ steps


@pytest.mark.parametrize("seed", range(3))
def test_the_budget_counts_the_nodes_that_something_hangs_on(seed: int) -> None:
    """Node updates of random splits: the coarsest nodes and those that hang on a split one, if they are
    particles or a node that is not simulated hangs on them; particles that are led or stay do not count."""
    mechanics = cube(edge=0.15)
    rest, refinement = mechanics.structure.rest, mechanics.body.refinement
    below = rest[:, 2] < 0.1
    h = refinement.hierarchy = mechanics.hierarchy.with_anchored(below & (rest[:, 0] < 0.5))
    led, begin = below & ~h.anchored, h.particles.start
    split = np.random.default_rng(seed).random(len(h.points)) < 0.1 * seed
    split[:ANCHORS] = False
    split[h.particles] = False
    split = refinement.grade(split)
    own = (h.level <= 0) | (split[h.corners] & (h.weights != 0.0)).any(axis=1)
    own[begin:] |= led
    hangs = ~own & ~np.concatenate([np.zeros(begin, bool), h.anchored])
    counted = np.zeros(len(own), bool)
    counted[h.nested_corners[hangs][h.nested_weights[hangs] != 0.0]] = True
    counted[begin:] = ~led
    counted &= own
    assert refinement.updates(split, led, lambda level: 1) == counted.sum()
    assert refinement.updates(split, led, lambda level: level) == counted.sum() * h.level[counted].max()


def test_loads_and_kicks_keep_their_sum_and_a_body_falls_exactly() -> None:
    """P = F t and P = J on particles of all levels; gravity pulls all alike, to rounding."""
    body = Frozen(cube(), left)
    assert (body.body.arrangement.counts > 0).all()
    body.external = body.mass[:, None] * np.array([0.0, 3.0, -G])
    body.advance(5)
    assert np.abs(body.v - 5 * FRAME * np.array([0.0, 3.0, -G])).max() < 1e-9
    assert np.abs(body.x - body.rest - 0.5 * (5 * FRAME) ** 2 * np.array([0.0, 3.0, -G])).max() < 1e-9
    expected = (body.mass[:, None] * body.v).sum(axis=0)
    body.external = np.zeros_like(body.v)
    side = body.rest[:, 1] < 0.2
    body.v[side] += [0.0, 0.7, 0.1]
    before = body.mechanics.stored(body.x, body.v)[0]
    body.advance(1)
    expected += body.mass[side].sum() * np.array([0.0, 0.7, 0.1])
    momentum = (body.mass[:, None] * body.v).sum(axis=0)
    assert np.abs(momentum - expected).max() < 1e-10 * np.abs(momentum).sum()
    assert sum(body.mechanics.stored(body.x, body.v)) == pytest.approx(before, rel=1e-4)  # what arrived


@pytest.mark.parametrize("fine", [nowhere, left, everywhere])
def test_leapfrogs_own_energy_is_constant_to_rounding(fine: Any) -> None:
    """K + E - dt^2/8 F M~^-1 F of a linear body, half of it fine, over three seconds."""
    body = Frozen(bar(operator="linear", material=SOFT), fine)
    body.v[:] = 0.3 * np.sin(2 * np.pi * body.rest[:, [1, 2, 0]])
    body.advance(1)
    first = body.body.total()
    body.advance(180)
    assert body.body.total() == pytest.approx(first, rel=1e-10)


def test_all_fine_moves_as_fem_does() -> None:
    """A cantilever under its weight for half a second: the same law on the same mesh, with other steps."""
    import pliant as pl

    found = []
    for model in ("fem", {"type": "multires", "detail": "finest"}):
        beam = pl.Body(box(0.5, 0.1, 0.1, divisions=(10, 2, 2)), model=model, material=SOFT)
        acting = [pl.Fix(beam, pl.where.plane("x", "min")), pl.Gravity(1.0)]
        scene = pl.Scene([beam], acting, time=pl.TimeSettings(duration=0.5, fps=60))
        simulation = scene.simulation()
        simulation.start()
        for _ in range(30):
            simulation.advance()
        world = simulation.system.world
        found.append((world.x - world.rest)[:, 2].min())
    assert found[1] < -1e-3
    assert found[1] == pytest.approx(found[0], rel=0.01)


def test_a_free_spin_keeps_its_momenta_and_its_volume() -> None:
    """10 s at 4 rad/s, half fine: linear momentum to rounding, angular to 1e-6, volume to 2 %."""
    mechanics = cube(edge=0.2)
    spin, centre = np.array([0.0, 0.0, 4.0]), np.full(3, 0.5)
    v = np.array([0.2, 0.1, 0.0]) + np.cross(spin, mechanics.structure.rest - centre)
    body = Frozen(mechanics, left, v=v)
    linear, angular = body.body.momenta()
    body.advance(600)
    after, turning = body.body.momenta()
    assert np.abs(after - linear).max() < 1e-10 * np.abs(linear).max()
    assert np.abs((body.mass[:, None] * body.v).sum(axis=0) - linear).max() < 1e-10 * np.abs(linear).max()
    assert np.abs(turning - angular).max() < 1e-6 * np.abs(angular).max()
    moved = body.mass @ (body.x - body.rest) / body.mass.sum()
    assert np.linalg.norm(moved) == pytest.approx(10 * np.hypot(0.2, 0.1), rel=1e-9)
    tets = mechanics.structure.cells["tetra"]
    assert tet_volumes(body.x, tets).sum() == pytest.approx(1.0, rel=0.02)


# --------------------------------------------------------------------------------------- changes of level


def test_refining_leaves_the_field_and_its_energy_as_they_are() -> None:
    body = Frozen(cube(operator="linear"), nowhere)
    body.field(lambda p: p + 0.02 * np.sin(4 * p[:, [1, 2, 0]]))
    elastic, x = body.body.elastic, body.x.copy()
    body.split(left)
    body.body.write(body.w == 0.0, body.x, body.v, body.mechanics._written)
    assert body.body.changes == 1
    assert np.abs(body.x - x).max() < 1e-12
    assert body.body.elastic == pytest.approx(elastic, rel=1e-6)  # sums over cells are in single precision


def test_coarsening_takes_the_energy_of_what_it_leaves_out() -> None:
    """E(G'q') = E(u) - E(u - G'q'), the projection in energy; momentum stays, and neither form of energy
    rises."""
    body = Frozen(cube(operator="linear"), everywhere)
    body.field(lambda p: p + 0.02 * np.sin(5 * p[:, [1, 2, 0]]))
    body.v[:] = 0.2 * np.cos(4 * body.rest[:, [2, 0, 1]])
    body.advance(1)
    before, x = body.body.elastic, body.x.copy()
    kinetic, (linear, angular) = body.body.kinetic(), body.body.momenta()
    body.split(nowhere)
    body.body.write(body.w == 0.0, body.x, body.v, body.mechanics._written)
    after = body.body.elastic
    left_out = body.mechanics.energy(body.rest + x - body.x)
    assert left_out > 0.02 * before
    assert after == pytest.approx(before - left_out, rel=1e-3)
    assert body.body.kinetic() < kinetic
    now, turning = body.body.momenta()
    assert np.abs(now - linear).max() < 1e-10 * np.abs(linear).max()
    assert np.abs(turning - angular).max() < 1e-10 * np.abs(angular).max()


@pytest.mark.parametrize("operator", ["corotational", "neo-hookean"])
def test_no_change_of_level_gains_energy(operator: str) -> None:
    """A spinning, swinging body whose levels are changed at random: plain energy never rises, and both
    momenta stay, to rounding."""
    mechanics = cube(edge=0.2, operator=operator, material=SOFT)
    spin = np.cross([1.0, 2.0, 3.0], mechanics.structure.rest - 0.5)
    body = Frozen(mechanics, nowhere, v=spin + 0.5 * np.sin(3 * mechanics.structure.rest[:, [1, 2, 0]]))
    linear, angular = body.body.momenta()
    rng = np.random.default_rng(0)
    for _ in range(12):
        body.advance(4)
        before = body.energy()
        where = rng.random(len(mechanics.hierarchy.points)) < rng.choice([0.0, 0.1, 0.5])
        body.split(lambda p, where=where: where)
        assert body.energy() <= before * (1 + 1e-9)
        now, turning = body.body.momenta()
        assert np.abs(now - linear).max() < 1e-9 * body.mass.sum()
        assert np.abs(turning - angular).max() < 1e-7 * np.abs(angular).max()
    assert body.body.changes > 8


def test_pieces_are_joined_on_request() -> None:
    """Two blocks half an edge apart become one piece, without a change of the particles; thrown apart, they
    stay together, while those that are not joined part; pieces that are far apart are refused."""
    block = box(0.3, 0.3, 0.3, divisions=(3, 3, 3)).volume()
    assert block is not None
    count = len(block.points)

    def two(gap: float) -> TetMesh:
        there = block.points + np.array([0.3 + gap, 0.02, 0.01])
        return TetMesh(
            np.concatenate([block.points, there]), np.concatenate([block.tets, block.tets + count])
        )

    apart, whole = prepared(two(0.05), material=SOFT), prepared(two(0.05), material=SOFT, pieces="joined")
    assert (apart.hierarchy.pieces, whole.hierarchy.pieces) == (2, 1)
    assert len(whole.structure.rest) == 2 * count
    ends = []
    for mechanics in (apart, whole):
        v = np.zeros((2 * count, 3))
        v[count:, 0] = 0.5
        body = Frozen(mechanics, everywhere, v=v)
        body.advance(60)
        ends.append(float((body.x[count:] - body.x[:count]).mean(axis=0)[0]))
    assert ends[0] == pytest.approx(0.35 + 0.5, rel=1e-6)
    assert ends[1] < 0.35 + 0.1
    with pytest.raises(MeshError, match="too far to be joined"):
        prepared(two(0.5), material=SOFT, pieces="joined")
