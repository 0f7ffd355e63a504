"""Blocks of quadratic tets: gather particles, edge matrices at a point, forces back to the particles.

Scratch ``u`` holds the nine particles 1 to 9 relative to particle 0, then their forces: 27 columns each.
"""

# mypy: disable-error-code="no-untyped-def"

from pliant.kernels.jit import jit

FORCES = 27 * 16  # where forces begin in the scratch u
ROOM = 2 * FORCES


@jit
def gather_nodes(nodes, x, u):
    """Particles 1 to 9 relative to particle 0; forces cleared."""
    for i in range(16):
        p = nodes[i, 0]
        for a in range(9):
            q = nodes[i, a + 1]
            for c in range(3):
                u[48 * a + 16 * c + i] = x[q, c] - x[p, c]
    for k in range(FORCES):
        u[FORCES + k] = 0.0


@jit
def edges_at(u, slopes, w):
    """The edge matrix where shape functions have the gradients ``slopes`` (10, 3), into columns 0 to 8."""
    for k in range(3):
        for j in range(48):
            w[48 * k + j] = slopes[1, k] * u[j]
        for a in range(1, 9):
            s = slopes[a + 1, k]
            for j in range(48):
                w[48 * k + j] += s * u[48 * a + j]


@jit
def add_forces_at(w, slopes, u):
    """Hand the derivatives by the edge matrix, columns 0 to 8, to the particles."""
    for a in range(9):
        for k in range(3):
            s = slopes[a + 1, k]
            for j in range(48):
                u[FORCES + 48 * a + j] += s * w[48 * k + j]


@jit
def scatter_nodes(nodes, u, buffer, shift):
    """Add the forces on particles 1 to 9, and minus their sum on particle 0."""
    for i in range(16):
        p = nodes[i, 0] + shift
        for c in range(3):
            total = 0.0
            for a in range(9):
                f = u[FORCES + 48 * a + 16 * c + i]
                buffer[nodes[i, a + 1] + shift, c] += f
                total += f
            buffer[p, c] -= total
