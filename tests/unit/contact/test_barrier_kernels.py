"""Kernels of barrier contact, beside ipctk and finite differences."""

from typing import Any

import numpy as np
import pytest

from pliant.contact.barrier import broad_kernels, ccd_kernels, stencil_kernels
from pliant.contact.barrier import distance_kernels as dk

ipctk = pytest.importorskip("ipctk")
NONE = np.zeros(3)


def stencils(kind: int, count: int, seed: int) -> np.ndarray[Any, Any]:
    """Random stencils (count, 4, 3): ordinary ones, slivers, parallel edges, points on edges and corners."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(-1.0, 1.0, (count, 4, 3))
    flat, parallel, corner = (np.arange(count) % 6 == k for k in (1, 2, 3))
    x[flat, 3] = x[flat, 2] + 1e-5 * rng.normal(size=(flat.sum(), 3))
    if kind == dk.EDGE_EDGE:
        x[parallel, 3] = x[parallel, 2] + x[parallel, 1] - x[parallel, 0]
        x[parallel, 3] += rng.choice([0.0, 1e-9, 1e-4], parallel.sum())[:, None]
    else:
        x[parallel, 0] = 0.5 * (x[parallel, 1] + x[parallel, 2]) + 1e-3 * rng.normal(size=(parallel.sum(), 3))
    x[corner, 0] = x[corner, 1 if kind == dk.POINT_TRIANGLE else 2] + 1e-4 * rng.normal(
        size=(corner.sum(), 3)
    )
    return x


def ipc_distance(kind: int, x: np.ndarray[Any, Any]) -> float:
    call = ipctk.point_triangle_distance if kind == dk.POINT_TRIANGLE else ipctk.edge_edge_distance
    return float(np.sqrt(call(*x)))


@pytest.mark.parametrize("kind", [dk.POINT_TRIANGLE, dk.EDGE_EDGE])
def test_distances_are_those_of_ipctk(kind: int) -> None:
    w, n = np.empty(4), np.empty(3)
    for x in stencils(kind, 1200, 1):
        d = dk.stencil_distance(kind, x, NONE, w, n)
        # ours is the distance of two points of the features: never below the true one
        assert d == pytest.approx(ipc_distance(kind, x), rel=1e-6, abs=1e-9)
        assert np.linalg.norm(w @ x - d * n) < 1e-12
        assert abs(w.sum()) < 1e-12
        assert np.all(np.abs(w) <= 1.0 + 1e-12)


@pytest.mark.parametrize("kind", [dk.POINT_TRIANGLE, dk.EDGE_EDGE, dk.POINT_PLANE])
def test_forces_are_minus_the_gradient_of_the_energy(kind: int) -> None:
    """By central differences, mollified edges included; the curvature along n is that of the energy."""
    rng, normal = np.random.default_rng(2), np.array([[0.6, 0.0, 0.8]])
    kinds, index, reach = np.array([kind]), np.arange(4)[None], np.array([0.8])
    stiff, offsets, threshold = np.array([7.0]), np.array([0.05]), np.array([0.3])
    fixed = (kinds, index, normal, offsets, reach, stiff, threshold)

    def energy(x: np.ndarray[Any, Any]) -> tuple[Any, ...]:
        out = np.empty(1), np.empty((1, 4)), np.empty((1, 3)), np.empty((1, 4)), np.empty((1, 4, 3))
        stencil_kernels.evaluate(x, *fixed, out)
        return out

    seen = 0
    for x in rng.uniform(-0.6, 0.6, (300, 4, 3)):
        d, grad = energy(x)[0], energy(x)[4]
        if not 0.1 < d[0] < 0.7:
            continue
        seen += 1
        for k in range(4):
            for c in range(3):
                ends = []
                for sign in (1.0, -1.0):
                    y = x.copy()
                    y[k, c] += sign * 1e-6
                    ends.append(energy(y)[3][0, 0])
                assert grad[0, k, c] == pytest.approx((ends[0] - ends[1]) / 2e-6, abs=2e-5)
    assert seen > 40


def test_the_barrier_and_its_derivatives() -> None:
    for s in (1e-3, 0.1, 0.5, 0.99):
        h = 1e-5 * s
        low, here, high = dk.barrier(s - h), dk.barrier(s), dk.barrier(s + h)
        assert here[0] == pytest.approx(-((1 - s) ** 2) * np.log(s))
        assert here[1] == pytest.approx((high[0] - low[0]) / (2 * h), rel=1e-5)
        assert here[2] == pytest.approx((high[1] - low[1]) / (2 * h), rel=1e-5)


def test_the_mollifier_is_that_of_ipctk() -> None:
    grad = np.empty((4, 3))
    for x in stencils(dk.EDGE_EDGE, 200, 5):
        for threshold in (1e-3, 0.5):
            assert dk.mollifier(x, threshold, grad) == pytest.approx(
                ipctk.edge_edge_mollifier(*x, threshold), abs=1e-12
            )
            assert np.allclose(
                grad.ravel(), ipctk.edge_edge_mollifier_gradient(*x, threshold), atol=1e-9 / threshold
            )


def room() -> tuple[Any, ...]:
    """What a kernel works in."""
    return np.empty(4), np.empty(3), np.empty((4, 3))


@pytest.mark.parametrize("kind", [dk.POINT_TRIANGLE, dk.EDGE_EDGE])
def test_moves_are_clamped_before_ipctk_sees_a_hit(kind: int) -> None:
    """Random moves, through slivers, parallel edges and corners too: what is allowed is free by tight
    inclusion, keeps a fifth of the distance everywhere, and what is not clamped to less than needed."""
    rng, ccd = np.random.default_rng(3), ipctk.TightInclusionCCD(conservative_rescaling=0.99)
    w, n = np.empty(4), np.empty(3)
    clamped = hits = 0
    for x in stencils(kind, 400, 4):
        p = rng.normal(size=(4, 3)) * rng.choice([0.1, 1.0, 10.0])
        start = dk.stencil_distance(kind, x, NONE, w, n)
        if start < 1e-8:
            continue
        t = ccd_kernels.safe_move(kind, x, p, NONE, 0.0, 1.0, *room())
        call = ccd.point_triangle_ccd if kind == dk.POINT_TRIANGLE else ccd.edge_edge_ccd
        hit, when = call(*x, *(x + p))[:2]
        hits += hit
        assert not hit or t < when + 1e-12
        assert not call(*x, *(x + t * p))[0]
        for share in np.linspace(0.0, t, 20):
            assert dk.stencil_distance(kind, x + share * p, NONE, w, n) >= 0.199 * start
        if t < 1.0:
            clamped += 1
            end = dk.stencil_distance(kind, x + t * p, NONE, w, n)
            assert end <= ccd_kernels.CLOSE * ccd_kernels.KEEP * start * (1 + 1e-9)
    assert clamped > hits > 20


def test_a_plane_clamps_where_the_distance_is_a_fifth() -> None:
    x, p = np.zeros((4, 3)), np.zeros((4, 3))
    x[0], p[0], p[1] = (0.3, 0.1, 1.0), (5.0, 0.0, -2.0), (5.0, 0.0, 0.0)
    up = np.array([0.0, 0.0, 1.0])
    t = ccd_kernels.safe_move(dk.POINT_PLANE, x, p, up, 0.0, 1.0, *room())
    assert 0.38 < t <= 0.4
    assert ccd_kernels.safe_move(dk.POINT_PLANE, x, -p, up, 0.0, 1.0, *room()) == 1.0


def test_the_broad_phase_misses_no_pair() -> None:
    """Against all pairs, on moving clouds of triangles with one that is as large as everything."""
    rng = np.random.default_rng(7)
    corners = rng.uniform(0.0, 1.0, (60, 1, 3)) + 0.08 * rng.normal(size=(60, 3, 3))
    corners[0] = [[-1, -1, 0.5], [3, -1, 0.5], [-1, 3, 0.55]]
    x = corners.reshape(-1, 3)
    triangles = np.arange(180).reshape(-1, 3)
    edges = np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]])
    body = np.repeat(np.arange(180) // 3 % 3, 1)
    collides = np.ones((3, 3), bool)
    collides[1, 1] = False
    way, wide = 0.05 * rng.normal(size=x.shape), rng.uniform(0.01, 0.03, len(x))
    points = np.arange(180)[:, None]
    args = (x, way, wide)
    for own, other in ((points, triangles), (edges, edges)):
        found = broad_kernels.near_pairs(*args, own, body[own[:, 0]], other, body[other[:, 0]], collides)
        kind = dk.EDGE_EDGE if own is other else dk.POINT_TRIANGLE
        w, n, wanted = np.empty(4), np.empty(3), []
        for i, a in enumerate(own):
            for j, b in enumerate(other):
                if (own is other and j <= i) or set(a) & set(b) or not collides[body[a[0]], body[b[0]]]:
                    continue
                four = np.concatenate([a, b])
                ends = [
                    dk.stencil_distance(kind, x[four] + s * way[four], NONE, w, n) for s in (0.0, 0.5, 1.0)
                ]
                if min(ends) <= wide[a].max() + wide[b].max():
                    wanted.append((i, j))
        assert len(wanted) > 30
        assert set(wanted) <= {(int(i), int(j)) for i, j in found}
        assert np.array_equal(found, found[np.lexsort((found[:, 1], found[:, 0]))])
        assert len(found) < 0.25 * len(own) * len(other)


def test_known_distances_change_no_result() -> None:
    """What a measurement elsewhere rules out is never near and never clamps: with distances known where the
    vertices were before a motion, together and by themselves, results are those without that knowledge."""
    rng = np.random.default_rng(11)
    x = rng.uniform(0.0, 1.0, (400, 3))
    kinds = np.arange(6000) % 2
    stencils = np.array([rng.choice(400, 4, replace=False) for _ in kinds])
    normals, offsets, reach = np.zeros((6000, 3)), np.zeros(6000), np.full(6000, 0.1)
    since = x + np.array([0.3, 0.0, 0.0]) + 0.01 * rng.normal(size=x.shape)
    common = kinds, stencils, normals, offsets
    known, nothing = stencil_kernels.distances(since, *common), np.zeros(6000)
    near, looked = stencil_kernels.within(x, *common, reach, since, known)
    assert np.array_equal(near, np.flatnonzero(stencil_kernels.distances(x, *common) < reach))
    assert len(near) > 100
    assert looked < 0.5 * len(kinds)
    for size in (1e-4, 1e-2, 0.1):
        p = size * rng.normal(size=x.shape)
        clamped = ccd_kernels.largest_move(x, p, *common, since, known)
        assert clamped == ccd_kernels.largest_move(x, p, *common, x, nothing)
    assert clamped[0] < 1.0
