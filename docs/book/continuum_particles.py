"""The continuum particle model CPM2 in its variational form: six sub-faces in each tetrahedron."""

import numpy as np

EDGES = np.array([(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)])
FACES = np.array([(1, 2, 3), (0, 3, 2), (0, 1, 3), (0, 2, 1)])


def volume_gradients(x, tets):
    """dV/dx of each tet's volume with respect to its four corners (m, 4, 3) [m2]."""
    a, b, c = (x[tets[:, FACES[:, k]]] for k in range(3))
    return -(np.cross(b, c) + np.cross(c, a) + np.cross(a, b)) / 6


def edge_matrices(x, tets):
    """D: the edges from corner 0 as columns (m, 3, 3)."""
    return (x[tets[:, 1:]] - x[tets[:, :1]]).transpose(0, 2, 1)


def sub_faces(rest, tets):
    """Normals n (m, 6, 3), turned so that sum w n n^T = V I, and weights w = V |n~|^2 / 2 (m, 6)."""
    g = volume_gradients(rest, tets)
    area = (g[:, EDGES[:, 1]] - g[:, EDGES[:, 0]]) / 4  # of the sub-face across each edge, from i to j
    n = area / np.linalg.norm(area, axis=2, keepdims=True)
    values, vectors = np.linalg.eigh(0.5 * np.einsum("mfi,mfj->mij", n, n))
    root = np.einsum("mik,mk,mjk->mij", vectors, values**-0.5, vectors)
    turned = np.einsum("mij,mfj->mfi", root, n)
    length = np.linalg.norm(turned, axis=2)
    volume = np.linalg.det(edge_matrices(rest, tets)) / 6
    return turned / length[:, :, None], 0.5 * volume[:, None] * length**2


def forces(x, rest, tets, lam, mu):
    """Minus the gradient of sum w (E (|a| - 1)^2 + G gamma^2) / 2 + sum lambda V (J - 1)^2 / 2."""
    stretch, shear = 2 * mu, mu / 2  # E and G of the faces: Hooke's law for small strains
    n, w = sub_faces(rest, tets)
    inverse = np.linalg.inv(edge_matrices(rest, tets))
    F = edge_matrices(x, tets) @ inverse
    J = np.linalg.det(F)
    cofactor = J[:, None, None] * np.linalg.inv(F).transpose(0, 2, 1)
    a = np.einsum("mij,mfj->mfi", F, n)  # image of the normal
    c = np.einsum("mij,mfj->mfi", cofactor, n)  # direction of the deformed face
    la, lc = np.linalg.norm(a, axis=2), np.linalg.norm(c, axis=2)
    cosine = np.clip(J[:, None] / (la * lc), -1, 1)  # a.c = J
    gamma = np.arccos(cosine)
    ratio = np.where(gamma > 1e-6, gamma / np.sin(np.maximum(gamma, 1e-6)), 1.0)  # -d(gamma^2/2)/d(cos)
    # gradients with respect to F of |a|, of J, and of |c|, which is half that of c.c over |c|
    da = np.einsum("mfi,mfj->mfij", a / la[:, :, None], n)
    unit = c / lc[:, :, None]
    t1 = np.cross(n, np.eye(3)[np.abs(n).argmin(axis=2)])
    t1 /= np.linalg.norm(t1, axis=2, keepdims=True)
    t2 = np.cross(n, t1)  # c = F t1 x F t2
    f1, f2 = (np.einsum("mij,mfj->mfi", F, t) for t in (t1, t2))
    dc = np.einsum("mfi,mfj->mfij", np.cross(f2, unit), t1) + np.einsum(
        "mfi,mfj->mfij", np.cross(unit, f1), t2
    )
    dcos = cofactor[:, None] / (la * lc)[:, :, None, None] - cosine[:, :, None, None] * (
        da / la[:, :, None, None] + dc / lc[:, :, None, None]
    )
    P = np.einsum("mf,mfij->mij", w * stretch * (la - 1), da) - np.einsum(
        "mf,mfij->mij", w * shear * ratio, dcos
    )
    volume = np.linalg.det(edge_matrices(rest, tets)) / 6
    P += (lam * volume * (J - 1))[:, None, None] * cofactor
    own = -(P @ inverse.transpose(0, 2, 1)).transpose(0, 2, 1)  # on corners 1, 2, 3
    f = np.zeros_like(x)
    np.add.at(f, tets[:, 1:], own)
    np.add.at(f, tets[:, 0], -own.sum(axis=1))
    return f


if __name__ == "__main__":
    corners = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], float)
    tet = np.array([[0, 1, 2, 3]])
    turn = np.array([[0, -1, 0], [1, 0, 0], [0, 0, 1]], float)
    print(
        "largest force after a quarter turn [N]:",
        np.abs(forces(corners @ turn.T, corners, tet, 4e5, 2e5)).max(),
    )
    print("forces of a tet stretched by 10 %:\n", forces(corners * [1, 1, 1.1], corners, tet, 4e5, 2e5))
