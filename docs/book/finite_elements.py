"""Corotational linear tetrahedra, and backward Euler by Newton's method."""

import numpy as np


def edge_matrices(x, tets):
    """D: the edges from corner 0 as columns (m, 3, 3)."""
    return (x[tets[:, 1:]] - x[tets[:, :1]]).transpose(0, 2, 1)


def rotations(F):
    """The rotation R nearest to each F, by the singular value decomposition."""
    u, _, vt = np.linalg.svd(F)
    u[:, :, 2] *= np.linalg.det(u @ vt)[:, None]
    return u @ vt


def shape_gradients(rest, tets):
    """dN/dX of the four corners (m, 4, 3), and volumes (m,)."""
    D = edge_matrices(rest, tets)
    inner = np.linalg.inv(D)  # rows are the gradients of corners 1, 2, 3
    return np.concatenate([-inner.sum(axis=1, keepdims=True), inner], axis=1), np.linalg.det(D) / 6


def forces(x, rest, tets, lam, mu):
    """f = -sum V P dN/dX with P = 2 mu (F - R) + lambda (tr(R^T F) - 3) R."""
    gradients, volume = shape_gradients(rest, tets)
    F = np.einsum("mki,mkj->mij", x[tets], gradients)
    R = rotations(F)
    P = 2 * mu * (F - R) + (lam * (np.einsum("mij,mij->m", R, F) - 3))[:, None, None] * R
    f = np.zeros_like(x)
    np.add.at(f, tets, -np.einsum("m,mij,mkj->mki", volume, P, gradients))
    return f


def stiffness(x, rest, tets, lam, mu):
    """The warped stiffness R K R^T (3n, 3n), dense: Newton's matrix with R held."""
    g, volume = shape_gradients(rest, tets)
    R = rotations(np.einsum("mki,mkj->mij", x[tets], g))
    dots = np.einsum("mki,mli->mkl", g, g)
    K = lam * np.einsum("mki,mlj->mkilj", g, g) + mu * np.einsum("mli,mkj->mkilj", g, g)
    K += mu * np.einsum("mkl,ij->mkilj", dots, np.eye(3))
    K = np.einsum("m,mai,mkilj,mbj->mkalb", volume, R, K, R)
    total = np.zeros((len(x), 3, len(x), 3))
    for tet, own in zip(tets, K, strict=True):
        total[np.ix_(tet, range(3), tet, range(3))] += own
    return total.reshape(3 * len(x), 3 * len(x))


def implicit_step(x, v, dt, mass, load, free, model, tolerance=1e-12):
    """Backward Euler: the x at which M (x - x0 - dt v) = dt^2 (f(x) + load) for the free particles."""
    start, at = x, x + dt * np.where(free[:, None], v, 0)
    chosen = np.flatnonzero(np.repeat(free, 3))
    for _ in range(60):
        residual = mass[:, None] * (at - start - dt * v) - dt**2 * (forces(at, *model) + load)
        if np.abs(residual[free]).max() <= tolerance * dt**2 * np.abs(load).sum():
            break
        A = np.diag(np.repeat(mass, 3)) + dt**2 * stiffness(at, *model)
        change = np.linalg.solve(A[np.ix_(chosen, chosen)], residual.ravel()[chosen])
        at = at.copy()
        at.reshape(-1)[chosen] -= change
    return at, (at - start) / dt


if __name__ == "__main__":
    corners = np.array([[0, 0, 0], [0.1, 0, 0], [0, 0.1, 0], [0, 0, 0.1]])
    model = (corners, np.array([[0, 1, 2, 3]]), 4e4, 2e4)
    x, v, free = corners.copy(), np.zeros((4, 3)), np.array([False, False, False, True])
    for _ in range(50):  # one second with long steps: the apex settles under its weight
        x, v = implicit_step(x, v, 0.02, np.full(4, 0.05), np.full((4, 3), [0, 0, -0.49]), free, model)
    print("sag of the apex [mm]:", 1e3 * (0.1 - x[3, 2]))
