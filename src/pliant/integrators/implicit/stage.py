"""What an implicit scheme contributes to a step: the coefficients of one stage."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pliant.core.typing import Array

if TYPE_CHECKING:
    from pliant.state.world import World

History = tuple[Array, Array] | None  # x and v one step ago; None where the last step is not continued


@dataclass(frozen=True)
class ImplicitStage:
    r"""Positions and velocities at the stage obey

    .. math:: x = x_b + h v, \qquad M (v - v_p) = h f(x, v)

    with :math:`x_b` = ``x_base`` and :math:`v_p` = ``v_predicted``, both (n, 3). h [s] is infinite for an
    equilibrium. midpoint: the stage is the middle of the step, which ends at :math:`2 x - x_n`,
    :math:`2 v - v_n`; otherwise it is its end. force_share: share of the step for which the forces of the
    stage act, for contact impulses.
    """

    h: float
    x_base: Array
    v_predicted: Array
    midpoint: bool = False
    force_share: float = 1.0


def backward_euler(world: "World", history: History, dt: float) -> ImplicitStage:
    """The stage of backward Euler, ``x = x_n + dt v``: what steps that fail are taken with, in parts."""
    return ImplicitStage(dt, world.x, world.v)


def implicit_midpoint(world: "World", history: History, dt: float) -> ImplicitStage:
    """The stage of the implicit midpoint rule, ``x = x_n + dt/2 v`` in the middle of the step."""
    return ImplicitStage(0.5 * dt, world.x, world.v, midpoint=True)
