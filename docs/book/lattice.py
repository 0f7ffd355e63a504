"""A lattice of bonded particles: springs to the 26 neighbours, isotropic, with Poisson's ratio 1/4."""

import numpy as np

SHARE = {1: 0.6, 2: 0.2, 3: 0.15}  # k / (E a) along axes, face and body diagonals
FACE, BELOW = 1 + 1 / 6 + 1 / 18, 1 - 1 / 18  # factors that make up for free faces


def voxels(counts, a):
    """Centres of the cells of a box, and their lattice coordinates."""
    index = np.stack(np.meshgrid(*map(np.arange, counts), indexing="ij"), axis=-1).reshape(-1, 3)
    return (index + 0.5) * a, index


def connections(index):
    """Pairs of cells that share a face, an edge or a corner, and their lattice steps."""
    known = {tuple(cell): k for k, cell in enumerate(index)}
    steps = [s for s in np.ndindex(3, 3, 3) if s > (1, 1, 1)]
    found = [
        (i, known[other], np.array(step) - 1)
        for i, cell in enumerate(index)
        for step in steps
        if (other := tuple(cell + np.array(step) - 1)) in known
    ]
    return np.array([(i, j) for i, j, _ in found]), np.array([step for _, _, step in found])


def stiffness(index, edges, steps, young, a):
    """Spring constants [N/m]: of an isotropic solid, stiffened in free faces."""
    k = young * a * np.array([SHARE[s] for s in np.abs(steps).sum(axis=1)])
    known = {tuple(cell) for cell in index}
    ways = [tuple(sign * unit) for unit in np.eye(3, dtype=int) for sign in (1, -1)]
    free = np.array([[tuple(cell + way) not in known for way in map(np.array, ways)] for cell in index])
    farther = np.array([[tuple(cell + 2 * np.array(way)) not in known for way in ways] for cell in index])
    below = ~free & farther
    across = np.repeat(steps == 0, 2, axis=1)
    in_face, in_second = (((f[edges[:, 0]] & f[edges[:, 1]]) & across).sum(axis=1) for f in (free, below))
    return k * FACE**in_face * BELOW**in_second


def forces(x, rest, edges, k):
    """Pulls of the springs."""
    length = np.linalg.norm(rest[edges[:, 1]] - rest[edges[:, 0]], axis=1)
    d = x[edges[:, 1]] - x[edges[:, 0]]
    now = np.linalg.norm(d, axis=1)
    pull = (k * (now - length) / now)[:, None] * d
    f = np.zeros_like(x)
    np.add.at(f, edges[:, 0], pull)
    np.add.at(f, edges[:, 1], -pull)
    return f


if __name__ == "__main__":
    rest, index = voxels((8, 4, 4), 0.1)
    edges, steps = connections(index)
    k = stiffness(index, edges, steps, 1e6, 0.1)
    f = forces(rest * [1.001, 0.99975, 0.99975], rest, edges, k)  # stretched, with Poisson's ratio 1/4
    cut = rest[:, 0] > 0.4
    print("force across the middle over E eps A:", -f[cut].sum(axis=0)[0] / (1e6 * 1e-3 * 0.16))
