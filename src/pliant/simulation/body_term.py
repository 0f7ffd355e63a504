"""A body's mechanics as a force term on the whole World."""

from pliant.core.typing import Array
from pliant.interfaces import Damped, EnergyTotals, ForceTerm, StableStep, StoredEnergy, Tangent
from pliant.state.world import BodyState, World


class BodyTerm(ForceTerm):
    """The elasticity and internal damping of a body: hands the body's own rows to its mechanics."""

    def __init__(self, body: BodyState) -> None:
        self.body, self.mechanics = body, body.mechanics
        self._start, self._stop = body.rows.start, body.rows.stop
        self._energy = body.mechanics.offer(StoredEnergy)
        self._damped = body.mechanics.offer(Damped)
        self._tangent = body.mechanics.offer(Tangent)
        lacking = {
            "potential_energy": self._energy, "power": self._damped, "add_stiffness_product": self._tangent,
        }  # fmt: skip
        self.members = type(self).members - {name for name, part in lacking.items() if part is None}
        self.velocity_dependent = self._damped is not None and bool(self._damped.damping_time)

    def add_forces(self, time: float, x: Array, v: Array, out: Array) -> None:
        a, b = self._start, self._stop
        self.mechanics.add_forces(x[a:b], v[a:b], out[a:b])

    def potential_energy(self, x: Array) -> float:
        return 0.0 if self._energy is None else self._energy.energy(x[self._start : self._stop])

    def add_stiffness_product(self, x: Array, dx: Array, out: Array) -> None:
        a, b = self._start, self._stop
        if self._tangent is not None:
            self._tangent.add_stiffness_product(x[a:b], dx[a:b], out[a:b])

    def stable_step(self) -> StableStep:
        return self.mechanics.stable_step()

    def power(self, time: float, world: World) -> tuple[float, float]:
        a, b = self._start, self._stop
        return 0.0, 0.0 if self._damped is None else self._damped.dissipation(world.x[a:b], world.v[a:b])

    def report_energy(self, totals: EnergyTotals) -> None:
        self.mechanics.report_energy(totals)
