r"""The correction of explicit schemes for nonlinear elastic forces.

A step of leapfrog changes :math:`K + S` (``EnergyLedger``) by the trapezoidal work of the forces,
:math:`\tfrac12 (f_n + f_{n+1}) \cdot \Delta x_n` with :math:`\Delta x_n = x_{n+1} - x_n`, and the elastic
energy U by minus the integral of the forces. These agree for linear forces. For others they differ by a term
of third order in the step, which has one sign while energy passes to faster motion, so that it adds up. The
products

.. math:: A_n(k) = \Delta x_{n-k} \cdot \Delta f_n - \Delta x_n \cdot \Delta f_{n-k}

with earlier steps vanish for every constant symmetric stiffness, whatever moved the particles. For a smooth
motion x(t), f(t) through the states, sums over steps are integrals; partial integration with
:math:`z = dt\, d/dt` gives

.. math::
    \sum \left( \Delta U + \tfrac12 (f_n + f_{n+1}) \cdot \Delta x_n \right) &=
        \tfrac1{dt} \int x \cdot (z - \sinh z)\, f\, dt, \\
    \sum A_n(k) &= -\tfrac1{dt} \int x \cdot 4 (\cosh z - 1) \sinh(k z)\, f\, dt,

up to contributions of the ends, which do not grow (below). The series :math:`\sum_k c\,(-r)^{k-1} A_n(k)` has
:math:`c \sinh z / (1 + 2 r \cosh z + r^2)` in place of :math:`\sinh(k z)`. With :math:`r = (3 - \sqrt 5)/2`
and :math:`c = (1 + r)^2/12` this is :math:`(\sinh z - z) / (4 (\cosh z - 1))` up to and including the third
power of z, so that the error that can grow is of sixth order in the step. At a frequency of 0.84 of the
stability limit (z = 2 i) the factor is 9 % too small. Pairs k steps apart are centred k/2 steps before the
end of the last step: the sum lags by :math:`\sum c_k k^2 / (2 \sum c_k k) = (1 - r) / (2 (1 + r))` steps, and
as many times its last term is added. What is left of the ends is of fourth order.

The sum is the part of leapfrog's shadow Hamiltonian (:math:`\tfrac{dt^2}{12} (v \cdot K v + f \cdot w f)` and
higher orders, see Skeel and Hardy 2001) that nonlinear forces change.
"""

from collections.abc import Callable, Mapping

import numpy as np

from pliant.core.typing import AnyArray, Array

RATIO = (3.0 - 5.0**0.5) / 2.0  # r
FACTOR = (1.0 + RATIO) ** 2 / 12.0  # c
LAG = 0.5 * (1.0 - RATIO) / (1.0 + RATIO)  # steps


class NonlinearCorrection:
    """Adds up minus the error of the trapezoidal work of elastic forces, ``energy`` [J]."""

    def __init__(self) -> None:
        self.sum, self.last = 0.0, 0.0  # over all steps, and of the last one [J]
        self._memory: Array = np.zeros((4, 0, 3))  # x and f at the beginning of the step; the sums over k of
        # (-r)^(k-1) times the changes of x and of f in the step n - k
        self._parts: Array = np.zeros(1)
        self._add: Callable[..., None] | None = None

    @property
    def energy(self) -> float:
        """The correction at the end of the last step [J]."""
        return self.sum + LAG * self.last

    def open(self, x: Array, f: Array) -> None:
        """Begin a step at ``x`` with elastic forces ``f``, both (n, 3), where something else happened."""
        if self._memory.shape[1:] != x.shape or self._add is None:
            self._fit(x)
        self._memory[0], self._memory[1] = x, f

    def _fit(self, x: Array) -> None:
        """Forget earlier steps, and make room for bodies at ``x``."""
        from pliant.kernels.jit import LIGHT_ROWS, ROW_PARTITIONS
        from pliant.simulation.kernels import curvature_work

        parallel = len(x) >= LIGHT_ROWS
        self._add = curvature_work[parallel]
        self._parts = np.zeros(ROW_PARTITIONS if parallel else 1)
        self._memory = np.zeros((4, *x.shape))

    def add_step(self, x: Array, f: Array) -> None:
        """Add the step that ended at ``x`` with elastic forces ``f``."""
        assert self._add is not None, "``open`` comes first"
        parts = self._parts
        self._add(x, f, self._memory, RATIO, parts)
        self.last = -FACTOR * float(parts[0] if len(parts) == 1 else parts.sum())
        self.sum += self.last

    def state(self) -> dict[str, AnyArray]:
        """Its energy and the sums over earlier steps."""
        return {"scheme": np.array([self.sum, self.last]), "scheme/earlier": self._memory[2:]}

    def restore(self, state: Mapping[str, AnyArray], x: Array, f: Array) -> None:
        """Continue from what ``state`` gave, at positions ``x`` with elastic forces ``f``."""
        self.sum, self.last = (float(value) for value in state.get("scheme", (0.0, 0.0)))
        if self._memory.shape[1:] != x.shape or self._add is None:
            self._fit(x)
        earlier = state.get("scheme/earlier")
        fits = earlier is not None and np.shape(earlier) == (2, *x.shape)
        self._memory[2:] = earlier if fits else 0.0
        self._memory[0], self._memory[1] = x, f
