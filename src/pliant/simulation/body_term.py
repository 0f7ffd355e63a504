"""A body's mechanics as force terms on the whole World."""

from pliant.core.typing import Array
from pliant.interfaces import Damped, EnergyTotals, ForceTerm, Mechanics, StableStep, StoredEnergy, Tangent
from pliant.state.world import BodyState


class BodyTerm(ForceTerm):
    """The elasticity of a body: hands the body's own rows to its mechanics."""

    def __init__(self, body: BodyState) -> None:
        self.body, self.mechanics = body, body.mechanics
        self._start, self._stop = body.rows.start, body.rows.stop
        self._energy = body.mechanics.offer(StoredEnergy)
        self._tangent = body.mechanics.offer(Tangent)
        reports = type(body.mechanics).report_energy is not Mechanics.report_energy
        has = {
            "potential_energy": self._energy, "add_stiffness_product": self._tangent,
            "report_energy": reports or None,
        }  # fmt: skip
        self.members = type(self).members - {name for name, part in has.items() if part is None}

    def add_forces(self, time: float, x: Array, v: Array, out: Array) -> None:
        self.mechanics.add_elastic_forces(x[self._start : self._stop], out[self._start : self._stop])

    def potential_energy(self, x: Array) -> float:
        return 0.0 if self._energy is None else self._energy.energy(x[self._start : self._stop])

    def add_stiffness_product(self, x: Array, dx: Array, out: Array) -> None:
        a, b = self._start, self._stop
        if self._tangent is not None:
            self._tangent.add_stiffness_product(x[a:b], dx[a:b], out[a:b])

    def stable_step(self) -> StableStep:
        return self.mechanics.stable_step()

    def report_energy(self, totals: EnergyTotals) -> None:
        self.mechanics.report_energy(totals)


class DampingTerm(ForceTerm):
    """The internal damping of a body, ``f = -beta K v``."""

    account = "damping"
    velocity_dependent = True

    def __init__(self, body: BodyState, damped: Damped) -> None:
        self._damped, self._start, self._stop = damped, body.rows.start, body.rows.stop

    def add_forces(self, time: float, x: Array, v: Array, out: Array) -> None:
        a, b = self._start, self._stop
        self._damped.add_damping_forces(x[a:b], v[a:b], out[a:b])


def damping_terms(bodies: list[BodyState]) -> list[DampingTerm]:
    """The damping of those ``bodies`` that have any."""
    found = ((body, body.mechanics.offer(Damped)) for body in bodies)
    return [DampingTerm(body, damped) for body, damped in found if damped is not None and damped.damping_time]
