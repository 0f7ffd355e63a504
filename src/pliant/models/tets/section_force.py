"""Forces through a section of a body of tets."""

import numpy as np

from pliant.core.typing import Array, BoolArray, IntArray
from pliant.mesh.mesh import tet_volumes
from pliant.models.tets.fields import volume_gradients


def crossing(elements: IntArray, above: BoolArray) -> tuple[IntArray, BoolArray]:
    """The elements (m, k) with particles on both sides, and which of their particles are ``above``."""
    side = above[elements]
    cut = np.flatnonzero(side.any(axis=1) & ~side.all(axis=1))
    return cut, np.asarray(side[cut])


def resultant(forces: Array, side: BoolArray) -> tuple[Array, float]:
    """The sum of the ``forces`` (m, k, 3) [N] of elements on their particles above, (3,), and the sum of the
    magnitudes of the elements' shares of it."""
    own = (forces * side[:, :, None]).sum(axis=1)
    return own.sum(axis=0), float(np.linalg.norm(own, axis=1).sum())


def volumetric_resultant(
    x: Array, tets: IntArray, volumes: Array, bulk: Array, above: BoolArray
) -> tuple[Array, float]:
    r"""``resultant`` of the pressures :math:`-K (v / V - 1)` of tets with rest volumes V (m,) [m3] and moduli
    K (m,) [Pa]."""
    cut, side = crossing(tets, above)
    own = tets[cut]
    pressure = -bulk[cut] * (tet_volumes(x, own) / volumes[cut] - 1.0)
    return resultant(pressure[:, None, None] * volume_gradients(x, own), side)
