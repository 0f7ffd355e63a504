"""Barrier contact over an implicit step: its stages, what they leave to the next step, and where it fails."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NoReturn

import numpy as np

from pliant.contact.barrier.barrier_contact import BarrierContact, StageContact
from pliant.contact.obstacle import ObstacleRuntime
from pliant.core.errors import Diverged, IncompatibleError
from pliant.core.typing import Array, IntArray
from pliant.integrators.implicit.barrier_stage import BarrierStage
from pliant.interfaces import PrescribedMotion, Projection, offered

if TYPE_CHECKING:
    from pliant.integrators.implicit.incremental_potential import IncrementalPotential
    from pliant.integrators.implicit.solver import Solver
    from pliant.integrators.implicit.stage import StepRule
    from pliant.simulation.system import System

BARRIER_HALVINGS = 3  # of a step that cannot be solved, before the run stops
MEMORY = 8  # pairs of L-BFGS in contact, at least


def barrier_of(system: "System") -> "BarrierStepper | None":
    """What steps of ``system`` do with barrier contact; None where it has none."""
    found = [action for _, action in system.actions if isinstance(action, BarrierContact)]
    return BarrierStepper(system, found[0]) if found else None


def contacts(potential: "IncrementalPotential") -> list[tuple[float, BarrierStage]]:
    """The barrier contact of a step of one stage, with its share of it."""
    return [] if potential.barrier is None else [(1.0, potential.barrier)]


class BarrierStepper:
    """Barrier contact of one System in implicit steps."""

    def __init__(self, system: "System", contact: BarrierContact) -> None:
        self._system, self.contact = system, contact
        self.touches = False  # whether anything touched at the end of the last step

    def prepare(self, solver: "Solver") -> None:
        """Check what acts beside contact, and the bodies' initial places."""
        if not solver.minimises:
            raise IncompatibleError(
                "Barrier contact needs models with an energy.", hint='Use [contact] method = "penalty".'
            )
        for label, action in self._system.actions:
            if action.offer(Projection) and not isinstance(action, ObstacleRuntime):
                raise IncompatibleError(
                    f"Barrier contact cannot be combined with a constraint that moves particles: {label}.",
                    hint='Use [contact] method = "penalty".',
                )
        solver.memory = max(solver.memory, MEMORY)
        self.contact.every_obstacle = self._obstacles
        world = self._system.world
        for drive in offered([action for _, action in self._system.actions], PrescribedMotion):
            self.contact.held[world.bodies_of(drive.rows)] = True
        self.contact.potential([each for each in self._obstacles() if each.active(0.0)], 0.0)

    def _obstacles(self) -> list[ObstacleRuntime]:
        return [action for _, action in self._system.actions if isinstance(action, ObstacleRuntime)]

    def begin_stage(
        self, problem: "IncrementalPotential", rule: "StepRule", time: float, before: Sequence[BarrierStage]
    ) -> BarrierStage:
        """Contact of the stage ``problem`` of a step from ``time`` on, after the stages ``before``. Contact
        acts at the ends of stages: where a rule also counts forces at the beginning, twice in its first."""
        factor = 2.0 if rule.weights[0] and not before else 1.0
        places = before[-1].to if before else None
        problem.barrier = BarrierStage(self.contact, problem, time, factor, places)
        return problem.barrier

    def rows(self, stages: Sequence[tuple[float, BarrierStage]]) -> IntArray:
        """Rows of the World that are in contact at the end of a step."""
        active = stages[-1][1].active if stages else None
        return np.empty(0, np.int64) if active is None else self.contact.rows_in_contact(active)

    def surplus_work(self, rule: "StepRule", stages: Sequence[tuple[float, BarrierStage]]) -> float:
        """Work [J] of the barrier's forces in a step beyond the energy that it released."""
        found = [each for _, each in stages]
        last = found[-1]
        moved = last.x - last.step_start
        work = sum(
            weight * float(np.sum(each.normal_forces * moved))
            for weight, each in zip(rule.weights[1:], found, strict=True)
        )
        assert last.active is not None
        released = found[0].start_energy - last.active.energy
        return work - released

    def friction_couples(self, rule: "StepRule", stages: Sequence[tuple[float, BarrierStage]]) -> Array:
        """Mean moments (n, 3) [N m] over the step, per particle, to add to those of the forces on particles:
        friction between two bodies acts half-way between their surfaces, not on each of them."""
        world = self._system.world
        out = np.zeros_like(world.x)
        for weight, (_, stage) in zip(rule.weights[1:], stages, strict=True):
            lag, geometry = stage.lag, stage.geometry
            if not len(lag.load):
                continue
            lag.evaluate(stage.x - stage.step_start)
            one, two = lag.vertices[:, 0], lag.vertices[:, 3]
            gap = np.einsum("sk,ski->si", lag.w, stage.x[lag.vertices])
            moment = -0.5 * weight * stage.factor * np.cross(gap, lag.force)
            free = (one < geometry.count) & (two < geometry.count)
            s = geometry.surfaces
            for side in (one[free], two[free]):
                np.add.at(out, s.rows[s.first[side]], moment[free])
        return out

    def end_step(self, time: float, dt: float, stages: Sequence[tuple[float, BarrierStage]]) -> None:
        """Keep what the step leaves to the next one, and book it."""
        last = stages[-1][1]
        assert last.active is not None
        self.touches = last.touches
        taken: list[StageContact] = []
        for share, each in stages:
            assert each.active is not None
            if self.contact.way is not None and each.path is not None:
                self.contact.way += each.path
            taken.append(
                StageContact(share, each.factor, each.active, each.lag, each.x, each.vertex_forces())
            )
        drift = last.particles - self._system.world.x
        self.contact.commit(time, dt, last.x - last.step_start, drift, taken)

    def stop(self, problem: "IncrementalPotential", time: float) -> NoReturn:
        """End the run where a step cannot be solved."""
        stage = problem.barrier
        where = "" if stage is None else stage.nearest_label()
        raise Diverged(
            f"Stopped at t = {time:.6g} s: no next state without an intersection was found"
            + (f", nearest: {where}." if where else "."),
            hint="Try a smaller step, a slower motion, or a stiffer material.",
        )
