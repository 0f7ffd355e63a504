"""When and where a body of tetrahedra cracks: nodal stress against strength."""

import numpy as np


def edge_matrices(x, tets):
    return (x[tets[:, 1:]] - x[tets[:, :1]]).transpose(0, 2, 1)


def rotations(F):
    u, _, vt = np.linalg.svd(F)
    u[:, :, 2] *= np.linalg.det(u @ vt)[:, None]
    return u @ vt


def cauchy_stress(x, rest, tets, lam, mu):
    """sigma = P F^T / J of each tet (m, 3, 3) [Pa], of the corotational law."""
    F = edge_matrices(x, tets) @ np.linalg.inv(edge_matrices(rest, tets))
    R = rotations(F)
    P = 2 * mu * (F - R) + (lam * (np.einsum("mij,mij->m", R, F) - 3))[:, None, None] * R
    return P @ F.transpose(0, 2, 1) / np.linalg.det(F)[:, None, None]


def nodal_stress(x, rest, tets, lam, mu):
    """The mean over the tets around each particle, weighted by their volumes at rest (n, 3, 3)."""
    volume = np.linalg.det(edge_matrices(rest, tets)) / 6
    sigma = volume[:, None, None] * cauchy_stress(x, rest, tets, lam, mu)
    total, around = np.zeros((len(x), 3, 3)), np.zeros(len(x))
    for corner in tets.T:
        np.add.at(total, corner, sigma)
        np.add.at(around, corner, volume)
    return total / around[:, None, None]


def first_crack(x, rest, tets, lam, mu, strength):
    """The particle whose largest principal stress exceeds the strength most, and the normal of its plane."""
    values, vectors = np.linalg.eigh(nodal_stress(x, rest, tets, lam, mu))
    worst = int(np.argmax(values[:, 2]))
    return (worst, vectors[worst][:, 2]) if values[worst, 2] > strength else None


def parted(rest, tets, node, normal):
    """Split a particle: its tets ahead of the plane get a copy of it. New rest positions and tets."""
    around = (tets == node).any(axis=1)
    ahead = around & ((rest[tets].mean(axis=1) - rest[node]) @ normal > 0)
    if not ahead.any() or ahead.sum() == around.sum():
        return rest, tets
    new = tets.copy()
    new[ahead] = np.where(tets[ahead] == node, len(rest), tets[ahead])
    return np.vstack([rest, rest[node]]), new


if __name__ == "__main__":
    corners = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1]], float)
    tets = np.array([[0, 1, 2, 3], [4, 3, 2, 1]])
    x = corners * [1, 1, 1.02]
    node, normal = first_crack(x, corners, tets, 4e5, 2e5, 1e3)
    print("particle", node, "cracks across", np.round(np.abs(normal), 3))
    print("tets after the split:\n", parted(corners, tets, 1, np.array([1.0, 1.0, 1.0]))[1])
