"""Two resolutions in one body: meshes of one shape, coupled by slaved nodes and transposed forces."""

from itertools import permutations

import numpy as np


def grid(counts, a):
    """A box of cells of size a, six tets each: nodes (n, 3) and tets (m, 4)."""
    shape = np.array(counts) + 1
    nodes = np.stack(np.meshgrid(*map(np.arange, shape), indexing="ij"), axis=-1).reshape(-1, 3)
    cells = nodes[(nodes < counts).all(axis=1)]
    tets = []
    for way in permutations(range(3)):  # from corner to corner of the cell, along one axis after the other
        path = np.cumsum([np.zeros(3, int), *np.eye(3, dtype=int)[list(way)]], axis=0)
        tets.append(np.ravel_multi_index((cells[:, None] + path).transpose(2, 0, 1), shape))
    x, tets = nodes * a, np.concatenate(tets)
    flipped = np.linalg.det(x[tets[:, 1:]] - x[tets[:, :1]]) < 0
    tets[flipped] = tets[flipped][:, [0, 2, 1, 3]]
    return x, tets


def stiffness(rest, tets, lam, mu, share):
    """Matrix K (3n, 3n) of linear elasticity, and lumped volumes (n,); share (m,) of each tet counts."""
    inner = np.linalg.inv((rest[tets[:, 1:]] - rest[tets[:, :1]]).transpose(0, 2, 1))
    g = np.concatenate([-inner.sum(axis=1, keepdims=True), inner], axis=1)  # gradients of the corners
    volume = share * np.linalg.det(rest[tets[:, 1:]] - rest[tets[:, :1]]) / 6
    blocks = lam * np.einsum("mki,mlj->mkilj", g, g) + mu * np.einsum("mli,mkj->mkilj", g, g)
    blocks += mu * np.einsum("mkl,ij->mkilj", np.einsum("mki,mli->mkl", g, g), np.eye(3))
    K, lumped = np.zeros((len(rest), 3, len(rest), 3)), np.zeros(len(rest))
    for tet, own, v in zip(tets, blocks, volume, strict=True):
        K[np.ix_(tet, range(3), tet, range(3))] += v * own
        lumped[tet] += v / 4
    return K.reshape(3 * len(rest), 3 * len(rest)), lumped


def weights(points, rest, tets):
    """The tet that each point is in (the nearest one outside), and its barycentric weights there."""
    inverse = np.linalg.inv((rest[tets[:, 1:]] - rest[tets[:, :1]]).transpose(0, 2, 1))
    w = np.einsum("mij,pmj->pmi", inverse, points[:, None] - rest[tets[:, 0]])
    w = np.concatenate([1 - w.sum(axis=2, keepdims=True), w], axis=2)
    home = w.min(axis=2).argmax(axis=1)
    return home, w[np.arange(len(points)), home]


def two_levels(coarse, fine, refined, lam, mu, density):
    """K, mass (n,) and the map G from free nodes, coarse ones first, to all nodes; refined: coarse tets."""
    (X, T), (x, t) = coarse, fine
    home, _ = weights(x[t].mean(axis=1), X, T)
    share = refined[home].astype(float)  # a fine tet counts where its coarse tet is refined
    free = np.ones(len(x), bool)
    free[t[share < 1]] = False
    active = np.zeros(len(X), bool)
    active[T[~refined]] = True
    home, w = weights(x, X, T)
    slaves = np.flatnonzero(~free & np.isin(np.arange(len(x)), t[share > 0]))
    active[T[home[slaves]][w[slaves] > 1e-9]] = True
    column = np.cumsum(np.concatenate([active, free])) - 1  # numbers of the free nodes of both levels
    G = np.zeros((len(X) + len(x), column[-1] + 1))
    both = np.flatnonzero(np.concatenate([active, free]))
    G[both, column[both]] = 1
    for i in slaves:
        corners = T[home[i]][w[i] > 1e-9]
        G[len(X) + i, column[corners]] = w[i][w[i] > 1e-9]  # slaved: interpolated from its coarse tet
    (Kc, vc), (Kf, vf) = stiffness(X, T, lam, mu, (~refined).astype(float)), stiffness(x, t, lam, mu, share)
    wide, rows = np.kron(G, np.eye(3)), 3 * len(X)
    K = wide[:rows].T @ Kc @ wide[:rows] + wide[rows:].T @ Kf @ wide[rows:]  # forces by the transpose
    volume = np.concatenate([vc, vf])
    return K, density * (G.T @ (volume * G.sum(axis=1))), G


def vibrate(K, mass, u, v, dt, steps, load=0.0):
    """Leapfrog steps of displacements u (n, 3); the energy at each."""
    energies, f = [], load - (K @ u.ravel()).reshape(u.shape)
    for _ in range(steps):
        v = v + 0.5 * dt * f / mass[:, None]
        u = u + dt * v
        f = load - (K @ u.ravel()).reshape(u.shape)
        v = v + 0.5 * dt * f / mass[:, None]
        energies.append(0.5 * np.sum(mass[:, None] * v**2) + 0.5 * u.ravel() @ K @ u.ravel())
    return u, v, np.array(energies)


if __name__ == "__main__":
    coarse, fine = grid((4, 2, 2), 0.1), grid((8, 4, 4), 0.05)
    refined = coarse[0][coarse[1]].mean(axis=1)[:, 0] < 0.2  # the left half is fine
    K, mass, G = two_levels(coarse, fine, refined, 4e4, 2e4, 1000.0)
    print("nodes:", len(mass), "of", len(fine[0]), "at the finest; mass [kg]:", mass.sum())
    v = np.random.default_rng(1).normal(size=(len(mass), 3))
    v -= mass @ v / mass.sum()
    u, v, energy = vibrate(K, mass, np.zeros_like(v), v, 5e-4, 2000)
    print("momentum after a second:", np.abs(mass @ v).max(), " energy within", np.ptp(energy) / energy[0])
