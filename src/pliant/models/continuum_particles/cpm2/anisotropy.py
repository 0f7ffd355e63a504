r"""Anisotropic stiffness of CPM2: what its faces carry, and what is left to each tet.

Six faces a tet with stretch E = 2 mu and shear G = mu / 2 make the isotropic stiffness
:math:`2 \mu I` (I: the identity of symmetric tensors). Of a stiffness C they carry as much of that as leaves
a remainder without negative energy: :math:`2 \mu_0` is the smallest eigenvalue of C (in Mandel's form). The
remainder :math:`C - 2 \mu_0 I` is the corotational energy
:math:`\tfrac12 V (U - I) : (C - 2 \mu_0 I) : (U - I)` of the whole tet, U the stretch of its F. Of an
isotropic material that is lambda alone.

Everts (2006), chapter 10, wishes for a third variation with anisotropic particles and gives no equations;
this is ours.
"""

from typing import TYPE_CHECKING

import numpy as np

from pliant.core.typing import Array, BoolArray
from pliant.interfaces import Structure
from pliant.materials.constitutive import law_named
from pliant.models.fem.elements import LinearTets
from pliant.models.fem.reference import ReferenceTets
from pliant.models.fem.stiffness_product import POLAR, STRETCHED

if TYPE_CHECKING:
    from scipy.sparse import bsr_array

    from pliant.materials import ResolvedMaterial as Material

_MANDEL = np.sqrt([1.0, 1.0, 1.0, 2.0, 2.0, 2.0])
_IDENTITY = np.diag([1.0, 1.0, 1.0, 0.5, 0.5, 0.5])  # in Voigt's order, of engineering shear strains


class RemainderTets(ReferenceTets):
    """Tets at rest whose stiffness is what the faces leave."""

    @property
    def whole(self) -> Array:
        """The stiffness of the material of each tet (m, 6, 6) [Pa], Voigt's order."""
        return super().stiffness

    @property
    def on_faces(self) -> Array:
        """The shear modulus that the faces of each tet carry (m,) [Pa]."""
        mandel = self.whole * np.outer(_MANDEL, _MANDEL)
        return np.asarray(0.5 * np.linalg.eigvalsh(mandel)[:, 0])

    @property
    def stiffness(self) -> Array:
        return np.asarray(self.whole - 2.0 * self.on_faces[:, None, None] * _IDENTITY)


class AnisotropicTerm:
    """The remainder's forces and energy, for one body."""

    def __init__(self, structure: Structure, material: "Material") -> None:
        self.rest = RemainderTets(structure, material, full=True)
        law = law_named("corotational")
        self._tets = LinearTets(structure, self.rest, law, law.constants({}), averaged=False)

    def add_forces(self, x: Array, out: Array) -> None:
        self._tets.integrate(x, True, False)
        self._tets.blocks.add_to(out)

    def energy(self, x: Array) -> float:
        return self._tets.integrate(x, False, True)

    def add_product(self, x: Array, dx: Array, out: Array, damping: bool = False) -> None:
        """Add ``K dx`` with the warped stiffness; ``damping``: that of the stretched frame."""
        self._tets.multiply(STRETCHED if damping else POLAR, x, -dx)
        self._tets.blocks.add_to(out)

    def rest_stiffness(self, particles: int) -> "bsr_array":
        return self._tets.rest_stiffness(particles)

    def section_force(self, x: Array, above: BoolArray) -> tuple[Array, float]:
        return self._tets.section_force(x, above)
