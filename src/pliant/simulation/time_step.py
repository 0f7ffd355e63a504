"""Choosing the time step: stable, and a whole number of steps to a frame."""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pliant.core.errors import IncompatibleError
from pliant.interfaces import Integrator

if TYPE_CHECKING:
    from pliant.simulation.system import System

SAFETY = 0.8
IMPLICIT_STEP = 1.0 / 50.0  # longest step that is chosen for implicit schemes [s]


@dataclass(frozen=True)
class StepPlan:
    """The step [s], how many make a frame, why, the stable limit [s] of the bodies, and whether steps may be
    shortened where energy would rise."""

    seconds: float
    per_frame: int
    reason: str
    limit: float
    refine: bool = True


def stable_limit(system: "System", integrator: Integrator) -> tuple[float, str]:
    """Largest stable step [s] of all bodies and actions with this integrator, and what sets it."""
    best, reason = math.inf, "no body limits the step"
    pushing = (action for _, action in system.actions if "add_forces" in action.members)
    varying = any(not action.constant for action in pushing)
    for part in system.world.bodies:
        stable = part.mechanics.stable_step_of_loads() if varying else part.mechanics.stable_step()
        seconds = stable.seconds * integrator.stability / 2.0
        if seconds < best:
            best, reason = seconds, f"body '{part.name}': {stable.reason}"
    for label, action in system.actions:
        stable = action.stable_step()
        if stable.seconds < best:
            best, reason = stable.seconds, f"{label}: {stable.reason}"
    return best, reason


def plan_step(
    system: "System", given: Integrator, wanted: float | None, fps: float, refine: bool = True
) -> tuple[Integrator, StepPlan]:
    """The scheme and the step to use: ``wanted`` [s], or for None the stable one, either shortened to divide
    a frame; with ``refine`` it is shortened further where energy would rise."""
    frame, found = 1.0 / fps, (math.inf, "")
    if given.stability and math.isfinite(given.stability):
        found = stable_limit(system, given)
    integrator, why = given.choose(system, frame / (SAFETY * found[0]))
    if math.isinf(integrator.stability):
        limit, what = math.inf, f"{integrator.kind} is stable at any step"
    elif integrator.stability == 0:
        limit, what = math.inf, f"{integrator.kind} has no stability limit to go by"
        if wanted is None:
            raise IncompatibleError(
                f'step = "auto" cannot work with {integrator.kind}: it gains energy at any step.',
                hint="Give a step in seconds, or use leapfrog.",
            )
    else:
        limit, what = found
    target = wanted if wanted is not None else _automatic(integrator, limit, frame)
    count = max(1, math.ceil(frame / target * (1.0 - 1e-9)))
    seconds = frame / count
    bound = f"stable up to {limit:.3g} s ({what})" if math.isfinite(limit) else what
    if wanted is None:
        reason = f"{SAFETY:g} of the stable {limit:.3g} s ({what}), {count} steps a frame"
        if not math.isfinite(limit):
            reason = f"{count} to a frame ({what})"
    elif abs(seconds - wanted) <= 1e-9 * wanted:
        reason = f"as given; {bound}"
    else:
        reason = f"{wanted:g} s as given, shortened to divide a frame; {bound}"
    reason = f"{reason}; integrator auto: {why}" if why else reason
    return integrator, StepPlan(seconds, count, reason, limit, refine)


def substeps(system: "System", integrator: Integrator, plan: StepPlan) -> int:
    """Number of substeps of each planned step, now that the topology has changed."""
    if math.isinf(integrator.stability) or integrator.stability == 0 or not math.isfinite(plan.limit):
        return 1
    limit, _ = stable_limit(system, integrator)
    return max(1, math.ceil(min(plan.seconds / SAFETY, plan.limit) / limit * (1.0 - 1e-6)))


def _automatic(integrator: Integrator, limit: float, frame: float) -> float:
    """A share of the stable limit; at most a fiftieth of a second where accuracy alone sets the step.

    Integrators of order 0 do not step through time: each frame is a state of its own.
    """
    if math.isinf(integrator.stability):
        return frame if integrator.order == 0 else min(frame, IMPLICIT_STEP)
    if math.isinf(limit):
        return frame
    return _rounded_down(min(SAFETY * limit, frame))


def _rounded_down(seconds: float) -> float:
    """Two significant digits less a percent: the last bits of a measured limit must not change the step."""
    if not math.isfinite(seconds):
        return seconds
    scale = 10.0 ** (math.floor(math.log10(seconds)) - 2)
    return math.floor(seconds / scale * (1 - 1e-6)) * scale
