r"""From a material to the constants of dual faces.

Over isotropic face directions, faces with stretch constant E and shear constant G make a solid with

- printed form: :math:`\mu = (E + 3G)/5`, :math:`\lambda = (E - 2G)/5`;
- variational form: :math:`\mu = (E + 6G)/5`, :math:`\lambda = (E - 4G)/5`

(:math:`\gamma` of a face is :math:`2(I - nn)\varepsilon n`; averages of nn and nnnn). So the rubber of
[Everts2006]_ (3e6, 1e6) behaves as E = 2.57e6, nu = 0.07. The face traction is that of Hooke's law without
lambda for *every* direction n when E = 2 mu and G = mu (printed) or mu / 2 (variational); all of lambda then
goes into :math:`\tfrac12 \lambda V (J - 1)^2` per tet. Ours; [Everts2006]_ passes E and G of the material
through.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from pliant.core.typing import Array

Form = Literal["variational", "everts"]
Mapping = Literal["consistent", "everts"]


@dataclass(frozen=True)
class FaceConstants:
    """Per tet: stretch E and shear G of its faces [Pa], and lambda of the volumetric term [Pa]."""

    stretch: Array
    shear: Array
    bulk: Array

    def lame(self, form: Form) -> tuple[Array, Array]:
        """(lambda, mu) [Pa] of the solid that the faces make on average."""
        once = 1.0 if form == "everts" else 2.0
        mu = (self.stretch + 3.0 * once * self.shear) / 5.0
        return (self.stretch - 2.0 * once * self.shear) / 5.0 + self.bulk, mu


def face_constants(
    lame: tuple[Array, Array],
    form: Form,
    mapping: Mapping = "consistent",
    constants: tuple[float, float] | None = None,
) -> FaceConstants:
    """Constants of the faces for Lame's constants per tet; ``constants``: (E, G) instead."""
    lam, mu = lame
    if mapping == "consistent":
        return FaceConstants(2.0 * mu, mu if form == "everts" else 0.5 * mu, lam.copy())
    none = np.zeros_like(mu)
    if constants is not None:
        return FaceConstants(none + constants[0], none + constants[1], none)
    return FaceConstants(mu * (3.0 * lam + 2.0 * mu) / (lam + mu), mu.copy(), none)


def check_constants(mapping: Mapping, constants: tuple[float, float] | None, calibrate: bool) -> None:
    """ValueError for keys that would do nothing."""
    if mapping == "consistent" and constants is not None:
        raise ValueError(
            'constants are the E and G of mapping = "everts"; the other mapping takes the material'
        )
    if mapping == "everts" and calibrate:
        raise ValueError('calibrate corrects mapping = "consistent"; mapping = "everts" is for the record')
    if constants is not None and min(constants) <= 0:
        raise ValueError("constants must be above 0")


def predicted_lame(
    lame: tuple[float, float], form: Form, mapping: Mapping, constants: tuple[float, float] | None
) -> tuple[float, float]:
    """Lame's (lambda, mu) [Pa] that the averages above give for a material."""
    one = face_constants((np.array([lame[0]]), np.array([lame[1]])), form, mapping, constants)
    lam, mu = one.lame(form)
    return float(lam[0]), float(mu[0])
