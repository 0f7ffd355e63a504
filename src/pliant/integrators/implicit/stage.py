"""What an implicit scheme contributes to a step: the coefficients of its stages."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from pliant.core.typing import Array

History = tuple[Array, Array] | None  # x and v one step ago; None where the last step is not continued

GAMMA = 2.0 - float(np.sqrt(2.0))  # where TR-BDF2 has its first stage, in steps
CARRY = 1.0 / (GAMMA * (2.0 - GAMMA))


@dataclass(frozen=True)
class StepStart:
    """Where a step begins: its time [s], positions, velocities, forces [N] without those of obstacles,
    inverse masses, (n, 3) each, and the state one step ago."""

    time: float
    x: Array
    v: Array
    f: Array
    inverse_mass: Array
    history: History


@dataclass(frozen=True)
class StageSolution:
    """Time [s], positions, velocities and the forces [N] that the stage used, those of obstacles included;
    (n, 3). Of energy-momentum steps: the mean positions, and the forces that are not the bodies' own."""

    time: float
    x: Array
    v: Array
    f: Array


@dataclass(frozen=True)
class ImplicitStage:
    r"""Positions and velocities at the stage obey

    .. math:: x = x_b + h v, \qquad M (v - v_p) = h f(x, v)

    with :math:`x_b` = ``x_base`` and :math:`v_p` = ``v_predicted``, both (n, 3). h [s] is infinite for an
    equilibrium. end: when the stage is, as a share of the step. midpoint: the stage is the middle of the
    step, which ends at :math:`2 x - x_n`, :math:`2 v - v_n`. origin: positions, velocities and their time, as
    a share of the step, from which the guess goes on.
    """

    h: float
    x_base: Array
    v_predicted: Array
    origin: tuple[Array, Array, float]
    end: float = 1.0
    midpoint: bool = False


StageRule = Callable[[StepStart, Sequence[StageSolution], float], ImplicitStage]


@dataclass(frozen=True)
class StepRule:
    r"""A scheme: the stages of a step, and how momenta follow from their forces,

    .. math:: p_{n+1} = c_0 p_n + c_1 p_{n-1} + dt (w_0 f_n + \sum_k w_k f_k).

    weights: w, of the forces at the beginning and of those of each stage; past: c. contact_weights: the
    shares of the step for which the forces of obstacles at these places count, where not ``weights``.
    restores: whether the angular momentum of free bodies is brought to what these sums say. guarded: whether
    a step may gain energy, which is then taken by backward Euler. mean_velocity: whether velocities are means
    over the step, which in rotation point half a step back, and are turned along. between: whether forces are
    those of an energy-momentum step.
    """

    stages: tuple[StageRule, ...]
    weights: tuple[float, ...] = (0.0, 1.0)
    carry: float = 0.0  # share of the first stage's momentum that the second one continues
    past: tuple[float, float] = (1.0, 0.0)
    contact_shares: tuple[float, ...] = (1.0,)
    restores: bool = True
    guarded: bool = False
    mean_velocity: bool = False
    between: bool = False


def backward_euler_stage(start: StepStart, solved: Sequence[StageSolution], dt: float) -> ImplicitStage:
    """``x = x_n + dt v``."""
    return ImplicitStage(dt, start.x, start.v, (start.x, start.v, 0.0))


def midpoint_stage(start: StepStart, solved: Sequence[StageSolution], dt: float) -> ImplicitStage:
    """``x = x_n + dt/2 v`` in the middle of the step."""
    return ImplicitStage(0.5 * dt, start.x, start.v, (start.x, start.v, 0.0), end=0.5, midpoint=True)


def newmark_stage(start: StepStart, solved: Sequence[StageSolution], dt: float) -> ImplicitStage:
    """``x = x_n + dt/2 (v_n + v)`` with half of the forces at the beginning."""
    x_base = start.x + 0.5 * dt * start.v
    v_predicted = start.v + 0.5 * dt * start.inverse_mass * start.f
    return ImplicitStage(0.5 * dt, x_base, v_predicted, (start.x, start.v, 0.0))


def bdf2_stage(start: StepStart, solved: Sequence[StageSolution], dt: float) -> ImplicitStage:
    """``x = (4 x_n - x_n-1) / 3 + 2/3 dt v``, and so for v."""
    assert start.history is not None
    x, v = start.history
    bases = (4.0 * start.x - x) / 3.0, (4.0 * start.v - v) / 3.0
    return ImplicitStage(dt / 1.5, *bases, (start.x, start.v, 0.0))


def trapezoidal_stage(start: StepStart, solved: Sequence[StageSolution], dt: float) -> ImplicitStage:
    """The first stage of TR-BDF2: the trapezoidal rule to ``t + gamma dt``."""
    h = 0.5 * GAMMA * dt
    v_predicted = start.v + h * start.inverse_mass * start.f
    return ImplicitStage(h, start.x + h * start.v, v_predicted, (start.x, start.v, 0.0), end=GAMMA)


def closing_stage(start: StepStart, solved: Sequence[StageSolution], dt: float) -> ImplicitStage:
    """The second stage of TR-BDF2: backward differentiation over the beginning and the first stage."""
    first, old = solved[0], 1.0 - CARRY
    bases = CARRY * first.x + old * start.x, CARRY * first.v + old * start.v
    return ImplicitStage(0.5 * GAMMA * dt, *bases, (first.x, first.v, GAMMA))


def energy_momentum_stage(start: StepStart, solved: Sequence[StageSolution], dt: float) -> ImplicitStage:
    """``x = x_n + dt/2 (v_n + v)``; all forces are those of the step, twice as large over h = dt/2."""
    return ImplicitStage(0.5 * dt, start.x + 0.5 * dt * start.v, start.v, (start.x, start.v, 0.0))


_B = 0.25 * float(np.sqrt(2.0))

BACKWARD_EULER = StepRule((backward_euler_stage,), mean_velocity=True)
IMPLICIT_MIDPOINT = StepRule((midpoint_stage,), restores=False)
NEWMARK = StepRule((newmark_stage,), (0.5, 0.5), contact_shares=(0.5,), restores=False)
BDF2 = StepRule((bdf2_stage,), (0.0, 2.0 / 3.0), past=(4.0 / 3.0, -1.0 / 3.0))
TR_BDF2 = StepRule(
    (trapezoidal_stage, closing_stage),
    (_B, _B, 0.5 * GAMMA),
    CARRY,
    contact_shares=(_B, 0.5 * GAMMA),
    guarded=True,
)
ENERGY_MOMENTUM = StepRule((energy_momentum_stage,), between=True)
