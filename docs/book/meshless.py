"""Meshless elasticity by moving least squares, with St. Venant-Kirchhoff's law and hourglass control."""

import numpy as np


def supports(rest, nearest=10, reach=1.75):
    """Radii h: ``reach`` times the mean distance of the nearest particles."""
    distance = np.linalg.norm(rest[:, None] - rest[None], axis=2)
    return reach * np.sort(distance, axis=1)[:, 1 : nearest + 1].mean(axis=1)


def pairs(rest, h):
    """Pairs (i, j), both ways round, with |X_ij| < (h_i + h_j) / 2, and their weights (poly-6)."""
    distance = np.linalg.norm(rest[:, None] - rest[None], axis=2)
    mean = 0.5 * (h[:, None] + h[None])
    i, j = np.nonzero((distance < mean * np.sqrt(1 - 1e-9)) & ~np.eye(len(rest), dtype=bool))
    r2 = ((rest[j] - rest[i]) ** 2).sum(axis=1)
    weight = (h.mean() / mean[i, j]) ** 3 * (1 - r2 / mean[i, j] ** 2) ** 3
    return i, j, weight.astype(np.float32).astype(float)  # single precision, as the program stores them


def gather(i, values, count):
    """Sum over the pairs of each i."""
    total = np.zeros((count, *values.shape[1:]))
    np.add.at(total, i, values)
    return total


def forces(x, rest, volume, lam, mu, hourglass=0.1):
    """Minus the gradient of sum V W(F_i) + k_i/2 sum w |u_ij - H_i X_ij|^2."""
    n, h = len(rest), supports(rest)
    i, j, w = pairs(rest, h)
    X, u = rest[j] - rest[i], (x - rest)[j] - (x - rest)[i]
    y = w[:, None] * X
    A = gather(i, np.einsum("pa,pb->pab", y, X), n)  # moment matrices
    inverse = np.linalg.inv(A)
    H = gather(i, np.einsum("pa,pb->pab", u, y), n) @ inverse  # displacement gradients
    F = np.eye(3) + H
    E = 0.5 * (F.transpose(0, 2, 1) @ F - np.eye(3))
    S = 2 * mu * E + lam * np.trace(E, axis1=1, axis2=2)[:, None, None] * np.eye(3)
    young = mu * (3 * lam + 2 * mu) / (lam + mu)
    k = hourglass * young * volume / np.trace(A, axis1=1, axis2=2)
    Q = volume[:, None, None] * (F @ S) @ inverse - k[:, None, None] * H
    pull = np.einsum("pab,pb->pa", Q[i] + Q[j], y) + (w * (k[i] + k[j]))[:, None] * u
    return gather(i, pull, n)


if __name__ == "__main__":
    grid = np.stack(np.meshgrid(*[np.arange(4.0)] * 3, indexing="ij"), axis=-1).reshape(-1, 3) * 0.1
    volume = np.full(64, 1e-3)
    stretched = grid * [1.05, 1, 1]
    f = forces(stretched, grid, volume, 4e5, 4e5)
    print("net force [N]:", np.abs(f.sum(axis=0)).max())
    print("pull on the end face, over area [kPa]:", -f[grid[:, 0] > 0.29].sum(axis=0)[0] / 0.16 / 1e3)
