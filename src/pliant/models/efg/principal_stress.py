"""What pulls phyxels apart."""

from typing import NamedTuple

import numpy as np

from pliant.core.typing import Array, BoolArray, IntArray


class StressState(NamedTuple):
    """x (n, 3): positions [m]; stress (n, 3, 3): Cauchy's [Pa]; F (n, 3, 3): deformation gradients; sound
    (n,): phyxels whose stress counts."""

    x: Array
    stress: Array
    F: Array
    sound: BoolArray

    def divided(self, parents: IntArray, offset: Array) -> "StressState":
        """That of phyxels which continue ``parents`` (m,), ``offset`` (m, 3) from these in the rest shape."""
        F = self.F[parents]
        x = self.x[parents] + np.einsum("nij,nj->ni", F, offset)
        return StressState(x, self.stress[parents], F, self.sound[parents])


def bound(stress: Array) -> Array:
    """What no principal stress exceeds: ``tr / 3 + 2 sqrt(J2 / 3)``."""
    mean = np.trace(stress, axis1=1, axis2=2) / 3.0
    square = np.einsum("nij,nij->n", stress, stress)
    return np.asarray(mean + 2.0 * np.sqrt(np.maximum(square - 3.0 * mean * mean, 0.0) / 6.0))


def carried(F: Array, normals: Array) -> Array:
    """Unit normals (m, 3) of surfaces in the rest shape, where F (m, 3, 3) has taken them: ``cof(F) n``."""
    a, b, c = F[:, :, 0], F[:, :, 1], F[:, :, 2]
    n = normals[:, 0:1] * np.cross(b, c) + normals[:, 1:2] * np.cross(c, a) + normals[:, 2:] * np.cross(a, b)
    return np.asarray(n / np.maximum(np.linalg.norm(n, axis=1), 1e-300)[:, None])


def principal(stress: Array, F: Array) -> Array:
    """The direction in the rest shape across which the largest principal stress pulls, (3,)."""
    normal = F.T @ np.linalg.eigh(stress)[1][:, 2]
    return np.asarray(normal / np.linalg.norm(normal))
