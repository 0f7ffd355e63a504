"""What connections are made of: from Young's modulus to spring constants on a cubic lattice."""

import numpy as np

from pliant.core.typing import Array, IntArray
from pliant.interfaces import Structure

AXIS, FACE, BODY = 0.6, 0.2, 0.15  # k / (E a): isotropic, Young's modulus E, Poisson's ratio 1/4
MISSING = 1.0 / 6.0  # of what the connections in a free face hold: the half of those outside that is missing
END = 1.0 / 18.0  # of the same: a 24th of the whole layer


def lame_constants(young: float, poisson: float) -> tuple[float, float]:
    """Lame's (lambda, mu) [Pa] of a lattice body: its Poisson's ratio is 1/4 or more."""
    nu = max(poisson, 0.25)
    return young * nu / ((1.0 + nu) * (1.0 - 2.0 * nu)), young / (2.0 * (1.0 + nu))


def connection_stiffness(structure: Structure, young: float, rule: str, compensate: bool) -> Array:
    r"""Spring constants [N/m] of ``structure.cells["edge"]``.

    Lattice sums give :math:`C_{11} = (k_1 + 2 k_2 + \tfrac43 k_3)/a`,
    :math:`C_{12} = C_{44} = (k_2 + \tfrac43 k_3)/a`; isotropy asks for :math:`k_1 = k_2 + \tfrac83 k_3`.

    A layer of elements in a free face lacks half of the connections that would cross it outward. Under
    in-plane strains s, t with no stress across the face they would hold, per voxel,
    :math:`E a^3 [(s^2 + t^2)/15 + st/30]`; the connections in the face hold
    :math:`E a^3 [0.3 (s^2 + t^2) + 0.1 (s + t)^2]`, and a sixth more of that is just what is missing.
    Layers at the centres of voxels are the midpoint rule for the stresses across a bar: n of them bend
    easier by 1/n^2. Its end correction, 25/24 of the outermost layers and 23/24 of those below, leaves
    tension alone and 2/n^3 in bending; a connection in the face holds three quarters of a layer.
    """
    edges, rest, a = structure.cells["edge"], structure.rest, structure.spacing
    k = plain_stiffness(np.linalg.norm(rest[edges[:, 1]] - rest[edges[:, 0]], axis=1), a, young, rule)
    if compensate and rule == "calibrated" and len(edges):
        k = k * compensation(edges, rest, a)
    return k


def plain_stiffness(lengths: Array, a: float, young: float, rule: str) -> Array:
    """Spring constants [N/m] of connections of given ``lengths`` inside a body."""
    if rule == "text":
        return np.asarray(young * lengths)
    square = np.rint((lengths / a) ** 2).astype(np.int64)  # 1, 2, 3: along an axis, a face, a body diagonal
    return np.asarray(young * a * np.array([AXIS, AXIS, FACE, BODY])[np.clip(square, 0, 3)])


def compensation(edges: IntArray, rest: Array, a: float) -> Array:
    """What makes up for free faces (m,): factors on the connections in them, and in the layer below."""
    d, count = rest[edges[:, 1]] - rest[edges[:, 0]], len(rest)
    square = np.rint((np.linalg.norm(d, axis=1) / a) ** 2).astype(np.int64)
    axes = lattice_axes(d[square == 1])
    step = np.rint(d @ axes / a).astype(np.int64)  # lattice steps of each connection
    beside = np.full((count, 6), -1)  # the neighbour in each direction
    for c in range(3):
        along = (square == 1) & (step[:, c] != 0)
        up, pairs = step[along, c] > 0, edges[along]
        beside[pairs[:, 0], 2 * c + ~up] = pairs[:, 1]
        beside[pairs[:, 1], 2 * c + up] = pairs[:, 0]
    free = beside < 0
    below = ~free & free[beside, np.arange(6)]
    across = np.repeat(step == 0, 2, axis=1)
    faces, second = (((f[edges[:, 0]] & f[edges[:, 1]]) & across).sum(axis=1) for f in (free, below))
    return np.asarray((1.0 + MISSING + END) ** faces * (1.0 - END) ** second)


def lattice_axes(d: Array) -> Array:
    """The lattice's axes as columns (3, 3), from vectors along them; any that fit where some are missing.
    They are the same whichever vectors come first."""
    axes: list[Array] = []
    for vector in d[np.linalg.norm(d, axis=1) > 0]:
        unit = vector / np.linalg.norm(vector)
        if all(abs(unit @ other) < 0.5 for other in axes):
            axes.append(unit)
        if len(axes) == 3:
            break
    while len(axes) < 3:
        if len(axes) == 2:
            axes.append(np.cross(axes[0], axes[1]))
            continue
        trial = np.eye(3)[int(np.argmin(np.abs(axes[0])))] if axes else np.array([1.0, 0.0, 0.0])
        trial = trial - (trial @ axes[0]) * axes[0] if axes else trial
        axes.append(trial / np.linalg.norm(trial))
    rough = [np.round(axis, 6) for axis in axes]
    axes = [axis if tuple(r) > (0.0, 0.0, 0.0) else -axis for axis, r in zip(axes, rough, strict=True)]
    return np.column_stack(sorted(axes, key=lambda axis: tuple(-np.abs(np.round(axis, 6)))))
