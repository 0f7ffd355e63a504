"""Explicit schemes: coefficients over one template step.

A scheme says how x and v of the rows that the integrator moves get from one end of the step to the other. All
else belongs to ``close_step``, in one order for every scheme: prescribed motion, bodies that take steps of
their own, contacts and constraints, forces at the end of the step, and the end of the bodies' own steps.
"""

from abc import abstractmethod
from collections.abc import Sequence
from functools import cache
from types import ModuleType
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from pydantic import Field

from pliant.core.parameters import parameters
from pliant.core.typing import Array
from pliant.core.units import Number
from pliant.interfaces import Integrator, IntegratorState

if TYPE_CHECKING:
    from pliant.simulation.system import System


@cache
def _kernels() -> ModuleType:
    """The compiled updates: importing them loads the compiler, which parameter classes must not."""
    from pliant.integrators import kernels

    return kernels


def close_step(system: "System", time: float, dt: float, closing: float = 0.0, staged: bool = False) -> None:
    """Finish a step from ``time`` to ``time + dt`` whose scheme has moved its rows already.

    closing: share of dt for which the forces at the end act on v; forces that depend on velocity are then
    evaluated at ``v + closing dt a_n``, a first-order estimate of the velocity at the end. staged: forces
    were evaluated since ``time``, so those on bodies with steps of their own have to be evaluated again.
    """
    kernels = _kernels()
    world, n = system.world, system.integrated_rows
    system.drive(time + dt, world.x, world.v)
    if staged and n < world.count:
        system.evaluate(time, world.x, world.v, world.f)
    system.advance(time, dt)
    system.project(time + dt, dt)
    v, f, w = world.v[:n], world.f[:n], world.inverse_mass[:n]
    velocities = world.v
    if closing and system.velocity_dependent:
        velocities = system.spare_velocities()
        kernels.kick(v, f, w, closing * dt, velocities[:n])
        velocities[n:] = world.v[n:]
    system.evaluate(time + dt, world.x, velocities, world.f)
    if closing:
        kernels.kick(v, f, w, closing * dt, v)
    system.complete(dt)


class ExplicitIntegrator(Integrator):
    """Base of schemes with one force evaluation a step: write ``update``, and set ``closing`` if the forces
    at the end of the step change the velocity too."""

    closing: ClassVar[float] = 0.0  # share of dt for which the forces at the end of the step act on v

    @abstractmethod
    def update(self, x: Array, v: Array, f: Array, w: Array, dt: float) -> None:
        """Take positions ``x`` and velocities ``v`` over ``dt`` [s], in place, all (n, 3).

        f: forces [N] at the beginning of the step. w: inverse masses [1/kg], zero where motion is prescribed.
        """

    def dissipation(self, v: Array, f: Array, w: Array, mass: Array, dt: float) -> float:
        """Energy [J] that ``update`` takes out of the motion on purpose, for the energy ledger."""
        return 0.0

    def step(self, system: "System", state: IntegratorState, time: float, dt: float) -> None:
        world, n = system.world, system.integrated_rows
        v, f, w = world.v[:n], world.f[:n], world.inverse_mass[:n]
        system.totals.damping += self.dissipation(v, f, w, world.mass[:n], dt)
        self.update(world.x[:n], v, f, w, dt)
        close_step(system, time, dt, self.closing)


class KickDrift(ExplicitIntegrator):
    r"""Kick, drift, and a closing kick with the share c = ``closing`` of the step:

    .. math::
        u = k\,(v_n - c\,dt\,a_n) + dt\,a_n, \quad x_{n+1} = x_n + dt\,u, \quad
        v_{n+1} = u + c\,dt\,a_{n+1}.

    The factor k (``retained``) damps the velocity in the middle of the step; 1 is undamped.
    """

    @property
    def retained(self) -> float:
        """The factor k on velocities, per step."""
        return 1.0

    def update(self, x: Array, v: Array, f: Array, w: Array, dt: float) -> None:
        keep = self.retained
        _kernels().kick_drift(x, v, f, w, (1.0 - self.closing * keep) * dt, keep, dt)

    def scheme_energy(self, v: Array, f: Array, w: Array, dt: float) -> float:
        r"""``sum m u_- u_+ / 2 - sum m v^2 / 2`` with the velocities :math:`u_\pm` half a step away:

        .. math:: \sum \left( \tfrac{dt}{2} (1 - 2c)\, v f - \tfrac{dt^2}{2} c (1 - c)\, w f^2 \right),

        over the degrees of freedom that are not prescribed: leapfrog has :math:`-dt^2/8 \sum w f^2`.
        """
        return float(_kernels().scheme_energy(v, f, w, self.closing, dt))

    def dissipation(self, v: Array, f: Array, w: Array, mass: Array, dt: float) -> float:
        keep = self.retained
        if keep == 1.0:
            return 0.0
        middle = v - self.closing * dt * w * f
        return 0.5 * (1.0 - keep**2) * float((mass[:, None] * middle**2)[w > 0.0].sum())


@parameters
class Leapfrog(KickDrift):
    """Kick-drift-kick leapfrog: second order, symplectic, one force evaluation a step [Everts2006]_ 4.3.

    Forces that depend on velocity keep it of second order ([Stegmayr2008]_, eq. 3.54).
    """

    kind: ClassVar[str] = "leapfrog"
    order: ClassVar[int] = 2
    stability: ClassVar[float] = 2.0
    closing: ClassVar[float] = 0.5
    keeps_energy: ClassVar[bool] = True


@parameters
class Verlet(KickDrift):
    """Verlet, ``x_n+1 = x_n + keep (x_n - x_n-1) + dt^2 a_n``, in its velocity form [Stegmayr2008]_ 3.5.

    keep: 1 is the undamped scheme; Stegmayr's damped one has 0.99 a step.
    Differs: the difference of positions is kept as a velocity, which loses no digits at small steps.
    """

    kind: ClassVar[str] = "verlet"
    order: ClassVar[int] = 2
    stability: ClassVar[float] = 2.0
    closing: ClassVar[float] = 0.5
    keeps_energy: ClassVar[bool] = True

    keep: Number = Field(default=1.0, gt=0, le=1)

    @property
    def retained(self) -> float:
        return self.keep


@parameters
class SymplecticEuler(KickDrift):
    """``v += dt a(x, v)``, then ``x += dt v``: first order, symplectic, energy bounded."""

    kind: ClassVar[str] = "symplectic-euler"
    order: ClassVar[int] = 1
    stability: ClassVar[float] = 2.0
    keeps_energy: ClassVar[bool] = True


class RungeKutta(Integrator):
    r"""Explicit Runge-Kutta methods by their Butcher tableau, applied to x and v together:

    .. math::
        x^k = x_n + dt \sum_{j<k} A_{kj} v^j, \quad v^k = v_n + dt \sum_{j<k} A_{kj} a^j, \quad
        x_{n+1} = x_n + dt \sum_k b_k v^k, \quad v_{n+1} = v_n + dt \sum_k b_k a^k.

    tableau: the rows of A after the first, which is empty. weights: b up to a factor (they are divided by
    their sum). Stage k is at ``time + dt sum_j A_kj``; prescribed motion holds in every stage, contacts and
    constraints at the end of the step.
    """

    tableau: ClassVar[tuple[tuple[float, ...], ...]] = ()
    weights: ClassVar[tuple[float, ...]]

    def step(self, system: "System", state: IntegratorState, time: float, dt: float) -> None:
        kernels = _kernels()
        world, n = system.world, system.integrated_rows
        x, v, w = world.x, world.v, world.inverse_mass
        velocities, forces = [v], [world.f]
        for row in self.tableau:
            x_k, v_k, f_k = (np.empty_like(x) for _ in range(3))
            factor, slope = _weighted(row, velocities)
            kernels.drift(x, slope, factor * dt, x_k)
            factor, force = _weighted(row, forces)
            kernels.kick(v, force, w, factor * dt, v_k)
            instant = time + sum(row) * dt
            system.drive(instant, x_k, v_k)
            system.evaluate(instant, x_k, v_k, f_k)
            velocities.append(v_k)
            forces.append(f_k)
        total = sum(self.weights)
        factor, slope = _weighted(self.weights, velocities)
        kernels.drift(x[:n], slope[:n], factor * (dt / total), x[:n])
        factor, force = _weighted(self.weights, forces)
        kernels.kick(v[:n], force[:n], w[:n], factor * (dt / total), v[:n])
        close_step(system, time, dt, staged=bool(self.tableau))


def _weighted(row: tuple[float, ...], arrays: Sequence[Array]) -> tuple[float, Array]:
    """A factor and an array whose product is ``sum_j row[j] arrays[j]``; no copy where one term is all."""
    (first, factor), *others = _terms(row)
    if not others:
        return factor, arrays[first]
    out = arrays[first] if factor == 1.0 else factor * arrays[first]
    for k, weight in others:
        out = out + (arrays[k] if weight == 1.0 else weight * arrays[k])
    return 1.0, out


@cache
def _terms(row: tuple[float, ...]) -> tuple[tuple[int, float], ...]:
    """Places and values of the entries of ``row`` that are not zero."""
    return tuple((k, weight) for k, weight in enumerate(row) if weight)


@parameters
class ExplicitEuler(RungeKutta):
    """``x += dt v``, then ``v += dt a(x_n, v_n)``: first order, gains energy at any step.

    For comparison only, as published in [JanssonVergeest2000]_, section 4.
    """

    kind: ClassVar[str] = "explicit-euler"
    order: ClassVar[int] = 1
    stability: ClassVar[float] = 0.0
    weights: ClassVar[tuple[float, ...]] = (1.0,)


@parameters
class RungeKutta4(RungeKutta):
    """Classical fourth-order Runge-Kutta: four force evaluations a step, slightly dissipative."""

    kind: ClassVar[str] = "rk4"
    order: ClassVar[int] = 4
    stability: ClassVar[float] = 2.828
    tableau: ClassVar[tuple[tuple[float, ...], ...]] = ((0.5,), (0.0, 0.5), (0.0, 0.0, 1.0))
    weights: ClassVar[tuple[float, ...]] = (1.0, 2.0, 2.0, 1.0)
