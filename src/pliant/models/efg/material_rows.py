"""What loops over phyxels read for each of them: stiffness, fit and place, one row each."""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pliant.core.typing import Array
from pliant.models.efg import mls_kernels
from pliant.models.efg.support import SIX, MlsSupport

if TYPE_CHECKING:
    from pliant.materials import ResolvedMaterial as Material
    from pliant.models.efg.model import Efg

FLAT_SHARE = 0.25  # of the stiffness: Hooke's law, which flat neighbourhoods take, stiffens when stretched


class PhyxelShares(NamedTuple):
    """Volumes (n,) [m3] of the phyxels, the share (n,) of their stiffness that cracks left, and the places
    (n, 3) [m] from which displacements count."""

    volumes: Array
    stiffness: Array
    reference: Array


def material_rows(
    support: MlsSupport, uncracked: MlsSupport, own: PhyxelShares, material: "Material", model: "Efg"
) -> Array:
    """The rows (n, ``mls_kernels.COLUMNS``) of phyxels that see each other as ``support`` says; the hourglass
    stiffness is that of the neighbourhoods that they would have ``uncracked``."""
    lam, mu = material.lame
    rows = np.zeros((len(own.volumes), mls_kernels.COLUMNS))
    trace = uncracked.sums[:, :3].sum(axis=1)
    stiffness = model.hourglass * material.young * own.volumes / np.maximum(trace, 1e-300)
    stiffness *= own.stiffness
    for c, (a, b) in enumerate(SIX):
        rows[:, mls_kernels.INVERSE + c] = support.inverse[:, a, b]
        rows[:, mls_kernels.PROJECTOR + c] = support.projector[:, a, b]
    stiff = own.volumes * own.stiffness * np.where(support.flat, FLAT_SHARE, 1.0)
    rows[:, mls_kernels.V_MU] = mu * stiff
    rows[:, mls_kernels.V_LAMBDA] = lam * stiff
    rows[:, mls_kernels.V_KV] = model.volume_stiffness * own.stiffness * own.volumes
    held = rows[:, mls_kernels.K] = np.where(trace > 0.0, stiffness, 0.0)
    mls_kernels.neighbour_sum(
        support.starts, support.around, support.weight, held, rows[:, mls_kernels.K_AROUND]
    )
    rows[:, mls_kernels.VOLUME] = own.volumes
    rows[:, mls_kernels.FLAT] = support.flat
    middle = 0.5 * (own.reference.min(axis=0) + own.reference.max(axis=0))
    rows[:, mls_kernels.REST : mls_kernels.REST + 3] = own.reference - middle
    rows[:, mls_kernels.LEVER : mls_kernels.WEIGHT + 1] = support.sums[:, 6:]
    return rows
