"""Choosing and changing the levels of one body, without a gain of energy."""

from typing import TYPE_CHECKING

import numpy as np

from pliant.core.typing import BoolArray
from pliant.interfaces import StepContext
from pliant.models.multires import level_change, level_kernels
from pliant.models.multires.arrangement import Arrangement
from pliant.models.multires.refinement import LEAVE, REACH

if TYPE_CHECKING:
    from pliant.models.multires.reduced_body import ReducedBody

MERGE_EVERY = 0.1  # seconds between merges, each of which solves for positions, unless the budget is full
TOLERATED = 3e-7  # gain of a change of levels, as a share of the largest energy, that may be repaid later
PRESSED = 1e-3  # the same of what contacts gain


def refine(body: "ReducedBody", ctx: StepContext, budget: float | None, elapsed: float) -> tuple[float, int]:
    """Choose the levels again; returns the updates that the coarsest alone takes, and how many nodes the
    budget kept from splitting."""
    h, refinement, motion = body.hierarchy, body.refinement, body.motion
    refinement.measure(body.arrangement, motion)
    x, times = np.ascontiguousarray(motion.x[h.particles]), np.array([ctx.time, ctx.time + ctx.dt])
    urgent = refinement.above(refinement.near_tools(x, ctx.obstacles, times, REACH))
    kept = refinement.above(refinement.near_tools(x, ctx.obstacles, times, LEAVE))
    wanted, urgency = refinement.choose(body.arrangement, urgent, kept, elapsed)
    pinned = body.pinned & ~h.anchored

    def ticks(level: int) -> int:
        return body.tick_count.stable(body.arrangement, ctx.dt, level)

    split, refused = refinement.within_budget(wanted, urgency, pinned, ticks, budget)
    before, body.since_merge = body.arrangement.split, body.since_merge + elapsed
    if (before & ~split).any():
        both = before | split
        fits = budget is None or refinement.updates(both, pinned, ticks) <= budget
        if fits and body.since_merge < MERGE_EVERY - 1e-9:
            split = both
        else:
            body.since_merge = 0.0
    body.set_split(split)
    least = 0 if budget is None else refinement.updates(np.zeros_like(split), pinned, ticks)
    return float(least), refused


def change(body: "ReducedBody", split: BoolArray) -> None:
    """Take other levels, unless that gains more than a 3e-7th of the largest energy so far, the potential
    of loads included: the nearest coarse field of a body that sags hangs higher, and what its elastic
    energy falls by is half of what the weight's potential rises by. Contacts in which a coarser field is
    deeper become softer, so that they store what they did and at most a thousandth of the largest energy
    more, which has to be repaid."""
    h, before, motion = body.hierarchy, body.arrangement, body.motion
    after = Arrangement(h, split, before.prescribed, body.beta)
    balance, scheme, touching = body.balance(), body.scheme, body.contact.kept()
    pressed = body.contact.stored
    body.accounts.moved = max(body.accounts.moved, body.kinetic() + body.elastic)
    changed = (motion.x, motion.v, motion.p)
    kept = [array.copy() for array in changed]
    level_change.change_levels(before, after, motion)
    body.arrangement = after
    body.set_loads(body.external)
    body.evaluate()
    rise = body.balance() - body.contact.stored - balance + pressed
    if np.isfinite(rise) and rise > 0.0:  # a coarser field that inverts tets has no finite energy
        rise -= level_change.pay(after, motion, rise, 0.9, 0.0)
        level_kernels.interpolate_all(after.own, h.corners, h.weights, motion.x, motion.v)
    if not rise <= TOLERATED * body.accounts.moved:
        for array, old in zip(changed, kept, strict=True):
            array[:] = old
        body.arrangement, body.contact.pairs = before, touching
        body.set_loads(body.external)
        body.evaluate()
        body.denied += 1
        body.refinement.calm[:] = 0.0
        return
    allowed = pressed + PRESSED * body.accounts.moved
    if body.contact.stored > allowed:
        body.contact.soften(allowed / body.contact.stored)
        body.evaluate()
    body.changes += 1
    body.settle()
    taken = balance - body.balance()
    body.accounts.levels += max(taken, 0.0)
    body.accounts.owed += max(-taken, 0.0) + body.scheme - scheme
