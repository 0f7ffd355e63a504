"""Springs on the edges of tetrahedra, a volumetric term, and the constraint on the total volume."""

import numpy as np

EDGES = np.array([(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)])
FACES = np.array([(1, 2, 3), (0, 3, 2), (0, 1, 3), (0, 2, 1)])  # of a tet, seen from outside


def volumes(x, tets):
    """Signed volumes of the tets [m3]."""
    return np.linalg.det(x[tets[:, 1:]] - x[tets[:, :1]]) / 6


def volume_gradients(x, tets):
    """dV/dx of each tet's own volume with respect to its four corners (m, 4, 3) [m2]."""
    a, b, c = (x[tets[:, FACES[:, k]]] for k in range(3))
    return -(np.cross(b, c) + np.cross(c, a) + np.cross(a, b)) / 6


def springs(rest, tets, mu):
    """Edges (s, 2), rest lengths l and stiffness k = 5/2 sum(mu V) / l^2 over the tets around each edge."""
    pairs = np.sort(tets[:, EDGES].reshape(-1, 2), axis=1)
    edges, which = np.unique(pairs, axis=0, return_inverse=True)
    around = np.bincount(which.ravel(), np.repeat(mu * volumes(rest, tets), 6))
    length = np.linalg.norm(rest[edges[:, 1]] - rest[edges[:, 0]], axis=1)
    return edges, length, 2.5 * around / length**2


def forces(x, rest, tets, lam, mu):
    """Minus the gradient of sum k (l - L)^2 / 2 + sum (lambda - mu) V (J - 1)^2 / 2."""
    edges, length, stiffness = springs(rest, tets, mu)
    d = x[edges[:, 1]] - x[edges[:, 0]]
    now = np.linalg.norm(d, axis=1)
    pull = (stiffness * (now - length) / now)[:, None] * d
    f = np.zeros_like(x)
    np.add.at(f, edges[:, 0], pull)
    np.add.at(f, edges[:, 1], -pull)
    strain = volumes(x, tets) / volumes(rest, tets) - 1  # J - 1
    np.add.at(f, tets, -(lam - mu) * strain[:, None, None] * volume_gradients(x, tets))
    return f


def keep_volume(x, before, triangles, target, w, tolerance=1e-11):
    """Move particles along the volume's gradient at ``before`` until the volume inside is right."""

    def volume(at):
        a, b, c = (at[triangles[:, k]] for k in range(3))
        gradient = np.zeros_like(at)
        for corner, g in zip(triangles.T, (np.cross(b, c), np.cross(c, a), np.cross(a, b)), strict=True):
            np.add.at(gradient, corner, g / 6)
        return np.einsum("ij,ij->", a, np.cross(b, c)) / 6, gradient

    middle = before[triangles[0, 0]]
    direction = volume(before - middle)[1]
    for _ in range(50):
        value, gradient = volume(x - middle)
        if abs(value - target) <= tolerance * target:
            break
        x = x - (value - target) / np.sum(gradient * w * direction) * w * direction
    return x


if __name__ == "__main__":
    corners = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], float)
    tet = np.array([[0, 1, 2, 3]])
    flat = corners * [1, 1, 0.5]
    print("force on the apex of a tet pressed to half its height:", forces(flat, corners, tet, 4e5, 2e5)[3])
    kept = keep_volume(flat, corners, FACES, 1 / 6, np.ones((4, 3)))
    print("volume after the projection:", volumes(kept, tet)[0] * 6, "sixths")
