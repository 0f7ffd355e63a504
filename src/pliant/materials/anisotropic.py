r"""Orthotropic and fully anisotropic stiffness, and the frame it is given in.

Stress and strain are 6-vectors in Voigt's order xx, yy, zz, yz, xz, xy, the shear strains being the
engineering ones, :math:`\gamma_{yz} = 2 \epsilon_{yz}`: :math:`\sigma = C \gamma`, C symmetric (6, 6) [Pa].
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pliant.core import units
from pliant.core.typing import Array
from pliant.materials import elastic

ORTHOTROPIC = ("E1", "E2", "E3", "nu12", "nu13", "nu23", "G12", "G13", "G23")
Moduli = dict[str, float] | tuple[float, ...]
Frame = tuple[tuple[float, float, float], ...]
_VOIGT = ((0, 0), (1, 1), (2, 2), (1, 2), (0, 2), (0, 1))


def read_moduli(value: Any) -> Moduli:
    """Moduli as numbers: the nine of ``ORTHOTROPIC``, or 21 (upper triangle of C, row by row) [Pa]."""
    moduli: Moduli
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, Mapping):
        unknown = [str(key) for key in value if key not in ORTHOTROPIC]
        missing = [key for key in ORTHOTROPIC if key not in value]
        if unknown or missing:
            what = f"unknown: {', '.join(unknown)}" if unknown else f"missing: {', '.join(missing)}"
            raise ValueError(f"orthotropic moduli are {', '.join(ORTHOTROPIC)}; {what}")
        moduli = {k: units.parse(value[k], "" if k.startswith("nu") else "Pa") for k in ORTHOTROPIC}
        for key in ORTHOTROPIC:
            if not key.startswith("nu") and moduli[key] <= 0.0:
                raise ValueError(f"modulus {key} = {moduli[key]:g} Pa is not possible: it must be above 0 Pa")
    elif isinstance(value, Sequence) and not isinstance(value, str):
        if len(value) != 21:
            raise ValueError(
                f"anisotropic moduli are the 21 constants of the stiffness matrix, got {len(value)}"
            )
        moduli = tuple(units.parse(entry, "Pa") for entry in value)
    else:
        raise ValueError("moduli are a table (E1, nu12, G12, ...) or a list of 21 constants")
    smallest, *_, largest = np.linalg.eigvalsh(_matrix(moduli))
    if smallest <= 1e-12 * largest:
        raise ValueError(
            "the stiffness matrix is not positive definite; "
            "nu12 is the strain along 2 over the strain along 1 under tension along 1: is one of them nu21?"
        )
    return moduli


def read_frame(value: Any) -> Frame:
    """The material axes 1, 2, 3 as the rows of a rotation, in the coordinates of the body's mesh.

    Two vectors are enough: axis 1, and any vector in the plane of axes 1 and 2.
    """
    try:
        rows = np.array(value, dtype=float)
    except (TypeError, ValueError):
        rows = np.zeros(0)
    if rows.shape == (2, 3) and np.isfinite(rows).all():
        third = np.cross(rows[0], rows[1])
        if np.linalg.norm(third) <= 1e-9 * np.linalg.norm(rows[0]) * np.linalg.norm(rows[1]):
            raise ValueError("the two vectors of a frame must not be parallel or zero")
        axes = [rows[0], np.cross(third, rows[0]), third]
        rows = np.array([axis / np.linalg.norm(axis) for axis in axes])
    if rows.shape != (3, 3) or not np.isfinite(rows).all():
        raise ValueError("a frame is two vectors, or three rows of three numbers")
    if np.abs(rows @ rows.T - np.eye(3)).max() > 1e-6:
        raise ValueError("the rows of a frame must be unit vectors at right angles; or give two vectors")
    if np.linalg.det(rows) < 0.0:
        raise ValueError("the axes of a frame must be right-handed; turn the third one round")
    return tuple((float(a), float(b), float(c)) for a, b, c in rows)


def _matrix(moduli: Moduli) -> Array:
    """The (6, 6) stiffness [Pa] in the material's own axes."""
    if not isinstance(moduli, Mapping):
        upper = np.zeros((6, 6))
        upper[np.triu_indices(6)] = moduli
        full: Array = upper + np.triu(upper, 1).T
        return full
    e1, e2, e3, nu12, nu13, nu23, g12, g13, g23 = (moduli[key] for key in ORTHOTROPIC)
    normal = np.array(
        [
            [1 / e1, -nu12 / e1, -nu13 / e1],
            [-nu12 / e1, 1 / e2, -nu23 / e2],
            [-nu13 / e1, -nu23 / e2, 1 / e3],
        ]
    )
    if abs(np.linalg.det(normal * max(e1, e2, e3))) < 1e-12:
        raise ValueError("these moduli make a material without change of volume; lower the Poisson's ratios")
    matrix = np.diag([0.0, 0.0, 0.0, g23, g13, g12])
    matrix[:3, :3] = np.linalg.inv(normal)
    return 0.5 * (matrix + matrix.T)


def isotropic_matrix(young: float, poisson: float) -> Array:
    """The (6, 6) stiffness [Pa] of an isotropic material."""
    first, mu = elastic.lame_parameters(young, poisson)
    matrix = np.diag([2 * mu] * 3 + [mu] * 3)
    matrix[:3, :3] += first
    return matrix


def rotate_stiffness(matrix: Array, rotation: Array) -> Array:
    r"""The stiffness of the material after it has been turned.

    .. math:: C'_{ijkl} = R_{ia} R_{jb} R_{kc} R_{ld} C_{abcd}

    Args:
        matrix: Stiffness [Pa], shape (6, 6), Voigt's order.
        rotation: R, shape (3, 3): columns are the turned axes.
    """
    stress = np.zeros((6, 6))  # sigma' = stress @ sigma (Bond's matrix)
    for row, (i, j) in enumerate(_VOIGT):
        for column, (a, b) in enumerate(_VOIGT):
            value = rotation[i, a] * rotation[j, b]
            stress[row, column] = value if a == b else value + rotation[i, b] * rotation[j, a]
    turned: Array = stress @ matrix @ stress.T
    return 0.5 * (turned + turned.T)


def stiffness_matrix(moduli: Moduli, frame: Frame | None = None, rotation: Array | None = None) -> Array:
    """The (6, 6) stiffness [Pa] in mesh coordinates, or in the world's if ``rotation`` places the body."""
    axes = np.eye(3) if frame is None else np.array(frame).T
    return rotate_stiffness(_matrix(moduli), axes if rotation is None else rotation @ axes)


def nearest_isotropic(moduli: Moduli) -> tuple[float, float]:
    r"""(E, nu) of the isotropic stiffness closest to C (Voigt's average over all directions).

    .. math:: 9 K = s, \qquad 30 G = 3 (C_{11} + C_{22} + C_{33}) - s + 6 (C_{44} + C_{55} + C_{66})

    with s the sum of the nine entries of the upper left quarter of C.
    """
    c = _matrix(moduli)
    bulk = float(c[:3, :3].sum()) / 9.0
    shear = float(3 * np.trace(c[:3, :3]) - c[:3, :3].sum() + 6 * np.trace(c[3:, 3:])) / 30.0
    return elastic.young_poisson_from_bulk_shear(bulk, shear)


def largest_modulus(moduli: Moduli) -> float:
    r"""An upper bound of :math:`\rho c^2` [Pa] over all waves: the stiffness tensor's largest eigenvalue.

    A plane wave with unit direction n and polarisation p has :math:`\rho c^2 = e : C : e` with
    :math:`e = sym(n \otimes p)`, :math:`|e| \le 1`; in Mandel's form (shear scaled by sqrt 2) that is a
    quadratic form of a 6-vector no longer than one.
    """
    scale = np.sqrt([1.0, 1.0, 1.0, 2.0, 2.0, 2.0])
    return float(np.linalg.eigvalsh(_matrix(moduli) * np.outer(scale, scale))[-1])
