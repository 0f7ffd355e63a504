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

    def stop_for_energy(self, world: "World", time: float, cause: str, factor: float) -> None:
        """Raise Diverged for the ``cause`` that the guard names, where steps shortened by up to ``factor``
        were tried, unless another check tells more: at the particle with the largest ``f^2/m``, where a step
        is worst."""
        if self.plan.refine:
            tried = f"down to 1/{factor:g} of the planned {self.plan.seconds:.3g} s" if factor > 1.0 else ""
            hint = (
                f"Steps {tried} do not cure it" if tried else "It adds up in steps that look good one by one"
            ) + ": try more damping, a gentler load, a finer mesh or another model."
        else:
            hint = "With refine = true in [time] the run continues with shorter steps."
        self._stop_at_worst(world, time, cause, hint)

    def stop_for_gain(self, world: "World", time: float, cause: str) -> None:
        """Raise Diverged for the ``cause`` of implicit steps that gained energy, unless another check tells
        more."""
        hint = f'Try a step below {self.plan.seconds:.3g} s, more damping, or integrator = "leapfrog".'
        self._stop_at_worst(world, time, cause, hint)

    def _stop_at_worst(self, world: "World", time: float, cause: str, hint: str) -> None:
        self.check(world, time)
        with np.errstate(over="ignore", invalid="ignore"):
            strain = np.nan_to_num(np.sum(world.inverse_mass * world.f**2, axis=1))
        row = int(np.argmax(strain))
        part = next(part for part in world.bodies if row < part.rows.stop)
        speed, place = float(np.linalg.norm(world.v[row])), ", ".join(f"{c:.3g}" for c in world.x[row])
        self._stop(
            part,
            time,
            f"{cause}; worst at particle {row - part.rows.start} in ({place}) m, "
            f"which moves at {speed:.3g} m/s",
            hint,
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

    def _stop(self, part: "BodyState", time: float, what: str, hint: str = "") -> None:
        hint = hint or self._advice()
        hint = f"{hint} {see('it-explodes')}"
        raise Diverged(f"Stopped at t = {time:.6g} s: body '{part.name}': {what}.", hint=hint)

    def _advice(self) -> str:
        """What to try, by the planned step."""
        plan = self.plan
        if plan.seconds > plan.limit:
            return f'The step {plan.seconds:.3g} s is above the stable {plan.limit:.3g} s: use step = "auto".'
        if not math.isfinite(plan.limit):
            return (
                f"The step is {plan.seconds:.3g} s ({plan.reason}); try a shorter one, more damping, "
                "a gentler load, or leapfrog with an automatic step."
            )
        return (
            f"The step {plan.seconds:.3g} s is within the stable {plan.limit:.3g} s of the rest shape; "
            "try half of it, more damping, or a gentler load."
        )


def _inverted_share(part: "BodyState", x: Array) -> float:
    """Share of a body's tets with negative volume."""
    if "tetra" not in part.structure.cells:
        return 0.0
    return float(np.mean(tet_volumes(x, part.structure.cells["tetra"]) < 0.0))
