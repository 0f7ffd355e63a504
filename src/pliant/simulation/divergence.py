"""Stops a run that has gone wrong, before anything bad is written."""

import math
from typing import TYPE_CHECKING

import numpy as np

from pliant.core.diagnostics import see
from pliant.core.errors import Diverged
from pliant.core.typing import Array
from pliant.core.units import LIGHT
from pliant.mesh.mesh import tet_volumes

if TYPE_CHECKING:
    from pliant.simulation.time_step import StepPlan
    from pliant.state.world import BodyState, World

FASTEST = 20.0  # multiples of the material's wave speed, relative to the body's mean motion


class DivergenceCheck:
    """Looks at every frame for numbers that are not finite, for run-away speeds and for collapse."""

    def __init__(self, world: "World", plan: "StepPlan") -> None:
        self.plan = plan
        self._sound = {  # rigid bodies have none: they may be as fast as they like
            p.name: np.inf if p.mechanics.contact_surface().rigid else p.material.wave_speed
            for p in world.bodies
        }
        self._started_inverted = {p.name: _inverted_share(p, world.x[p.rows]) > 0.5 for p in world.bodies}

    def check(self, world: "World", time: float) -> None:
        """Raise Diverged, naming body, particle or cell, and time, if the state cannot be right."""
        for part in world.bodies:
            x, v = world.x[part.rows], world.v[part.rows]
            if self._surely_good(part, x, v):
                self._check_inversion(part, x, time)
                continue
            if not (np.isfinite(x).all() and np.isfinite(v).all()):
                good = np.isfinite(x).all(axis=1) & np.isfinite(v).all(axis=1)
                self._stop(part, time, f"particle {int(np.argmin(good))} has no finite position or velocity")
            if len(v) and np.abs(v).max() > LIGHT:
                worst = int(np.argmax(np.abs(v).max(axis=1)))
                self._stop(part, time, f"particle {worst} moves at {np.abs(v[worst]).max():.3g} m/s")
            mass, w = part.structure.mass, world.inverse_mass[part.rows]
            relative = v - (mass @ v) / mass.sum()
            speed = np.sqrt(np.einsum("ij,ij->i", relative, relative))
            speed[(w[:, 0] == 0.0) | (w[:, 1] == 0.0) | (w[:, 2] == 0.0)] = 0.0
            worst = int(np.argmax(speed))
            sound = self._sound[part.name]
            if speed[worst] > FASTEST * sound:
                self._stop(
                    part,
                    time,
                    f"energy is growing: particle {worst} moves at {speed[worst]:.3g} m/s, "
                    f"{speed[worst] / sound:.3g} times the speed of sound in the material",
                )
            self._check_inversion(part, x, time)

    def stop_for_energy(self, world: "World", time: float, gained: float) -> None:
        """Raise Diverged: the energy ledger has gained ``gained`` [J] that nothing explains, unless another
        check tells more."""
        self.check(world, time)
        speeds = [np.abs(world.v[part.rows]).max(initial=0.0) for part in world.bodies]
        part = world.bodies[int(np.argmax(speeds))]
        worst = int(np.argmax(np.abs(world.v[part.rows]).max(axis=1)))
        self._stop(
            part,
            time,
            f"energy grows from nothing ({gained:.3g} J so far), and smaller steps do not cure it; the "
            f"fastest particle is {worst}, at {speeds[world.bodies.index(part)]:.3g} m/s",
        )

    def _surely_good(self, part: "BodyState", x: Array, v: Array) -> bool:
        """Whether all is finite, and speeds are so small that none can be too large against the mean: a look
        at the extremes, which is all that most frames need."""
        if not len(x):
            return False
        extremes = np.array([x.min(), x.max(), v.min(), v.max()])
        if not np.isfinite(extremes).all():
            return False
        limit = min(FASTEST * self._sound[part.name], LIGHT)
        return bool(2.0 * np.sqrt(3.0) * np.abs(extremes[2:]).max() < limit)

    def _check_inversion(self, part: "BodyState", x: Array, time: float) -> None:
        if part.mechanics.inversion_safe or self._started_inverted[part.name]:
            return
        if _inverted_share(part, x) > 0.5:
            cell = int(np.argmin(tet_volumes(x, part.structure.cells["tetra"])))
            self._stop(part, time, f"more than half of its tets are turned inside out (worst: tet {cell})")

    def _stop(self, part: "BodyState", time: float, what: str) -> None:
        plan = self.plan
        if plan.seconds > plan.limit:
            hint = f'The step {plan.seconds:.3g} s is above the stable {plan.limit:.3g} s: use step = "auto".'
        elif not math.isfinite(plan.limit):
            hint = (
                f"The step is {plan.seconds:.3g} s ({plan.reason}); try a shorter one, more damping, "
                "a gentler load, or leapfrog with an automatic step."
            )
        else:
            hint = (
                f"The step {plan.seconds:.3g} s is within the stable {plan.limit:.3g} s of the rest shape; "
                "try half of it, more damping, or a gentler load."
            )
        hint = f"{hint} {see('it-explodes')}"
        raise Diverged(f"Stopped at t = {time:.6g} s: body '{part.name}': {what}.", hint=hint)


def _inverted_share(part: "BodyState", x: Array) -> float:
    """Share of a body's tets with negative volume."""
    if "tetra" not in part.structure.cells:
        return 0.0
    return float(np.mean(tet_volumes(x, part.structure.cells["tetra"]) < 0.0))
