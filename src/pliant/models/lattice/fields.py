"""What elements can tell about themselves."""

from collections.abc import Sequence

import numpy as np

from pliant.core.typing import Array
from pliant.interfaces import FieldData
from pliant.models.springs.network import SpringNetwork
from pliant.models.tets.fields import equivalent, stress_fields


def element_fields(
    strain: Array, young: float, own: SpringNetwork, names: Sequence[str]
) -> dict[str, FieldData]:
    """Fields per element from its strain (n, 6): ``sigma = 0.4 E (2 e + tr e)``.

    strain: equivalent strain, 2/3 of the von Mises norm; stress: von Mises [Pa]; stress-tensor (n, 3, 3) in
    the axes of the rest shape; principal (n, 3), descending; damage: share of broken connections; plastic:
    mean size of the plastic strain of its connections.
    """
    xx, yy, zz, yz, xz, xy = strain.T
    e = np.stack([xx, xy, xz, xy, yy, yz, xz, yz, zz], axis=1).reshape(-1, 3, 3)
    sigma = 0.4 * young * (2.0 * e + np.trace(e, axis1=1, axis2=2)[:, None, None] * np.eye(3))
    found = stress_fields(sigma, names, "particle")
    if "strain" in names:
        found["strain"] = FieldData(equivalent(e))
    if "damage" in names:
        found["damage"] = FieldData(_mean_over(own, (~own.intact).astype(float)))
    if "plastic" in names:
        found["plastic"] = FieldData(_mean_over(own, np.abs(own.lengths / own.born - 1.0)))
    return found


def _mean_over(own: SpringNetwork, values: Array) -> Array:
    """Mean of a value per connection over each element's connections (n,)."""
    ends, n = own.edges.T.ravel(), own.count
    total = np.bincount(ends, np.concatenate([values, values]), minlength=n)
    mean: Array = total / np.maximum(np.bincount(ends, minlength=n), 1)
    return mean
