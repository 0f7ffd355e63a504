"""Strain and stress of tetrahedra from their deformation, and forces through a section of a body of them."""

from collections.abc import Sequence

import numpy as np

from pliant.core.typing import Array, BoolArray, IntArray
from pliant.interfaces import FieldData
from pliant.mesh.mesh import tet_volumes

NAMES = ("strain", "stress", "stress-tensor", "principal", "inverted")


def edge_matrices(x: Array, tets: IntArray) -> Array:
    """Matrices with columns x1 - x0, x2 - x0, x3 - x0; shape (m, 3, 3)."""
    p = x[tets]
    return np.ascontiguousarray((p[:, 1:] - p[:, :1]).transpose(0, 2, 1))


def deformation_gradients(x: Array, rest: Array, tets: IntArray) -> Array:
    """``F = D_s D_m^-1`` per tet; shape (m, 3, 3)."""
    return np.asarray(edge_matrices(x, tets) @ np.linalg.inv(edge_matrices(rest, tets)))


def volume_gradients(x: Array, tets: IntArray) -> Array:
    """Gradient of each tet's volume with respect to its four particles [m2]; shape (m, 4, 3)."""
    p = x[tets]
    a, b, c = p[:, 1] - p[:, 0], p[:, 2] - p[:, 0], p[:, 3] - p[:, 0]
    g = np.stack([np.cross(b, c), np.cross(c, a), np.cross(a, b)], axis=1) / 6.0
    return np.concatenate([-g.sum(axis=1, keepdims=True), g], axis=1)


def von_mises(tensor: Array) -> Array:
    """``sqrt(3/2) |dev s|`` of symmetric tensors (m, 3, 3)."""
    mean = np.trace(tensor, axis1=1, axis2=2) / 3.0
    deviator = tensor - mean[:, None, None] * np.eye(3)
    norm: Array = np.sqrt(1.5 * np.einsum("mij,mij->m", deviator, deviator))
    return norm


def equivalent(strain: Array) -> Array:
    """Equivalent strain of symmetric tensors (m, 3, 3): 2/3 of their von Mises norm."""
    return von_mises(strain) * 2.0 / 3.0


def stress_fields(sigma: Array, names: Sequence[str], per: str) -> dict[str, FieldData]:
    """Those of stress (von Mises), stress-tensor and principal (descending) that are among ``names`` [Pa]."""
    found: dict[str, FieldData] = {}
    if "stress" in names:
        found["stress"] = FieldData(von_mises(sigma), per, "Pa")
    if "stress-tensor" in names:
        found["stress-tensor"] = FieldData(sigma, per, "Pa")
    if "principal" in names:
        found["principal"] = FieldData(np.linalg.eigvalsh(sigma)[:, ::-1].copy(), per, "Pa")
    return found


def cauchy_from_second_piola(F: Array, S: Array) -> Array:
    """``sigma = F S F^T / J``; where J is not positive the magnitude of J is used, to stay finite."""
    J = np.abs(np.linalg.det(F))
    sigma: Array = F @ S @ F.transpose(0, 2, 1) / np.maximum(J, 1e-12)[:, None, None]
    return sigma


def tet_fields(
    x: Array, rest: Array, tets: IntArray, lame: tuple[Array, Array], names: Sequence[str]
) -> dict[str, FieldData]:
    """Fields per tet of ``deformation_fields``; x, rest (n, 3) [m]."""
    return deformation_fields(deformation_gradients(x, rest, tets), lame, names)


def deformation_fields(
    F: Array, lame: tuple[Array, Array], names: Sequence[str], stiffness: Array | None = None
) -> dict[str, FieldData]:
    """Fields per cell from Green strain ``(F^T F - I) / 2`` and Hooke's law on it, lame (m,), (m,) [Pa], or
    ``stiffness`` (m, 6, 6) [Pa] in Voigt's order.

    strain: equivalent strain, 2/3 of the von Mises norm; stress: von Mises of Cauchy [Pa];
    stress-tensor (m, 3, 3) and principal (m, 3), descending [Pa]; inverted: det F <= 0.
    """
    E = 0.5 * (F.transpose(0, 2, 1) @ F - np.eye(3))
    lam, mu = lame
    S = 2.0 * mu[:, None, None] * E + (lam * np.trace(E, axis1=1, axis2=2))[:, None, None] * np.eye(3)
    if stiffness is not None:
        shear = 2.0 * E
        voigt = np.stack(
            [E[:, 0, 0], E[:, 1, 1], E[:, 2, 2], shear[:, 1, 2], shear[:, 0, 2], shear[:, 0, 1]], 1
        )
        S = np.einsum("mij,mj->mi", stiffness, voigt)[:, [[0, 5, 4], [5, 1, 3], [4, 3, 2]]]
    sigma = cauchy_from_second_piola(F, S)
    found = stress_fields(sigma, names, "cell")
    if "strain" in names:
        found["strain"] = FieldData(equivalent(E), "cell")
    if "inverted" in names:
        found["inverted"] = FieldData(np.linalg.det(F) <= 0.0, "cell")
    return found


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
