"""What implicit schemes keep: energy and angular momentum of free spins, energy of long vibrations, and an
energy ledger that closes exactly, with the numerical loss in its own account."""

from typing import Any

import numpy as np
import pytest
from bodies import simulate, values

from pliant.actions import Fix, Gravity, Ground
from pliant.core.errors import Diverged
from pliant.core.where import plane
from pliant.integrators import INTEGRATORS
from pliant.mesh.shapes import box, cylinder
from pliant.scene import Body
from pliant.simulation.simulation import Simulation

FRAME = 0.02
CONSERVING = ["tr-bdf2", "energy-momentum", "implicit-euler", "bdf2"]


def bar(model: Any, frequency: float, turns: float) -> Body:
    """A free bar of 0.6 m whose first bending vibration has a frequency [Hz], with a spin [1/s] about all
    axes: f = 22.37 / (2 pi l^2) sqrt(E h^2 / (12 rho))."""
    length, height, rate = 0.6, 0.1, 2.0 * np.pi * turns
    young = 1000.0 * (frequency * 2.0 * np.pi * length**2 / 22.37) ** 2 * 12.0 / height**2
    return Body(
        box(length, height, height, divisions=(6, 2, 2)),
        material={"young": young, "poisson": 0.3, "density": 1000.0},
        model=model,
        spin=(0.1 * rate, 0.05 * rate, rate),
        **({"edge": 0.05} if model == "lattice" else {}),
    )


def disc(model: Any, frequency: float, turns: float) -> Body:
    """A disc of 0.3 m that tumbles; its frequencies are of the size of those of ``bar``."""
    rate = 2.0 * np.pi * turns
    return Body(
        cylinder(radius=0.15, height=0.05),
        edge=0.06,
        material={"young": 1e5 * (frequency / 20.0) ** 2, "poisson": 0.3, "density": 1000.0},
        model=model,
        spin=(0.6 * rate, 0.0, 0.8 * rate),
    )


def free_spin(body: Body, scheme: str, turns: float, count: float = 10.0) -> tuple[float, float]:
    """Energy at the end over that at the start, and the change of angular momentum over its size, after
    ``count`` turns at steps of a frame."""
    simulation = simulate([body], [], seconds=FRAME, step=FRAME, integrator=scheme)
    energies, momenta = [], []
    for _ in range(round(count / turns / FRAME) + 1):
        row = values(simulation)
        energies.append(row["energy.kinetic"] + row["energy.elastic"])
        momenta.append([row[f"angular.{axis}"] for axis in "xyz"])
        simulation.advance()
    change = np.abs(np.array(momenta) - momenta[0]).max() / np.linalg.norm(momenta[0])
    return energies[-1] / energies[0], float(change)


@pytest.mark.parametrize(("frequency", "turns"), [(20.0, 1.0), (20.0, 4.0), (500.0, 1.0), (500.0, 4.0)])
@pytest.mark.parametrize("scheme", CONSERVING)
@pytest.mark.parametrize("model", ["fem", "mass-spring"])
def test_ten_turns_keep_energy_and_angular_momentum(
    model: str, scheme: str, frequency: float, turns: float
) -> None:
    energy, momentum = free_spin(bar(model, frequency, turns), scheme, turns)
    assert energy == pytest.approx(1.0, abs=1e-3 if scheme == "energy-momentum" else 1e-2)
    assert momentum < 1e-10


@pytest.mark.parametrize("scheme", ["tr-bdf2", "energy-momentum"])
@pytest.mark.parametrize(
    "model", ["lattice", "cpm1", "cpm2", "efg", {"type": "fem", "law": "neo-hookean"}], ids=str
)
def test_every_model_turns_freely(model: Any, scheme: str) -> None:
    energy, momentum = free_spin(bar(model, 20.0, 4.0), scheme, 4.0)
    assert energy == pytest.approx(1.0, abs=1e-3 if scheme == "energy-momentum" else 1e-2)
    assert momentum < 1e-10


@pytest.mark.parametrize("scheme", ["tr-bdf2", "energy-momentum"])
def test_a_tumbling_disc_keeps_its_angular_momentum(scheme: str) -> None:
    """About no axis of its own: energy goes into deformation that tr-bdf2 lets die, and never rises by 1
    %."""
    energy, momentum = free_spin(disc("fem", 200.0, 2.0), scheme, 2.0)
    assert momentum < 1e-10
    assert energy == pytest.approx(1.0, abs=1e-3 if scheme == "energy-momentum" else 1e-2)


def swing(model: str, scheme: str, dt: float, seconds: float) -> tuple[list[float], list[float]]:
    """Energies over that at the start, and the places of the tip, of a clamped bar that was kicked."""
    body = Body(
        box(1.0, 0.1, 0.1, divisions=(12, 2, 2)),
        material={"young": 1.533e7, "poisson": 0.3, "density": 1000.0},
        model=model,
    )
    actions = [Fix(None, plane("x", "min"))]
    simulation = simulate([body], actions, seconds=dt, fps=1 / dt, step=dt, integrator=scheme)
    world = simulation.system.world
    along = world.rest[:, 0] - world.rest[:, 0].min()
    world.v[:, 2] = np.where(world.inverse_mass[:, 2] > 0.0, 0.4 * along**2, 0.0)
    start = 0.5 * float(np.sum(world.mass[:, None] * world.v**2))
    end = np.isclose(along, along.max())
    energies, places = [], []
    for _ in range(round(seconds / dt)):
        simulation.advance()
        row = values(simulation)
        energies.append((row["energy.kinetic"] + row["energy.elastic"]) / start)
        places.append(float((world.x - world.rest)[end, 2].mean()))
    return energies, places


@pytest.mark.parametrize("model", ["fem", "mass-spring"])
def test_a_bar_swings_a_hundred_times_without_loss(model: str) -> None:
    """About 2 Hz at steps of 20 ms by the energy-momentum method: no loss, and the frequency (the largest
    peak of the spectrum) is that of steps four times as short, to 2 %."""
    energies, places = swing(model, "energy-momentum", 0.02, 50.0)
    assert np.abs(np.array(energies) - 1.0).max() < 1e-3
    _, fine = swing(model, "energy-momentum", 0.005, 10.0)
    peaks = []
    for step, series in ((0.02, places), (0.005, fine)):
        spectrum = np.abs(np.fft.rfft(np.array(series) * np.hanning(len(series)), 1 << 17))
        peaks.append(np.argmax(spectrum) / (step * (1 << 17)))
    assert 1.5 < peaks[1] < 3.5
    assert peaks[0] == pytest.approx(peaks[1], rel=0.02)


def test_tr_bdf2_loses_what_its_amplification_factor_says() -> None:
    r"""Per step the energy of a vibration is multiplied by :math:`|R(i y)|^2`, :math:`y = \omega dt`, with
    :math:`z = \tfrac\gamma2 i y`, :math:`R = (c_1 (1 + z)/(1 - z) + c_0) / (1 - z)`; that is
    :math:`1 - 0.0074 y^4` for small y. The first bending vibration of the bar has most of the energy, so the
    loss of 5 s at 20 ms is that within a fifth, once faster vibration has died (the first second)."""
    energies, places = swing("fem", "tr-bdf2", 0.02, 6.0)
    _, fine = swing("fem", "energy-momentum", 0.005, 6.0)
    spectrum = np.abs(np.fft.rfft(np.array(fine) * np.hanning(len(fine)), 1 << 17))
    y = 2.0 * np.pi * np.argmax(spectrum) / (0.005 * (1 << 17)) * 0.02
    z, gamma = 0.5j * (2.0 - np.sqrt(2.0)) * y, 2.0 - np.sqrt(2.0)
    carry = 1.0 / (gamma * (2.0 - gamma))
    factor = (carry * (1 + z) / (1 - z) + 1.0 - carry) / (1 - z)
    assert 1.0 - abs(factor) ** 2 == pytest.approx(0.0074 * y**4, rel=0.05)
    lost = 1.0 - abs(factor) ** (2 * 250)
    assert 1.0 - energies[299] / energies[49] == pytest.approx(lost, rel=0.2)
    assert len(places) == 300


# ----------------------------------------------------------------------------------------------- ledger


def landing(model: str, scheme: str) -> Simulation:
    jelly = {"young": 2e4, "poisson": 0.3, "density": 1000.0}
    body = Body(
        box(0.2, 0.2, 0.2, divisions=(3, 3, 3)), model=model, material=jelly, position=(0, 0, 0.2),
        **({"edge": 0.05} if model == "lattice" else {}),
    )  # fmt: skip
    return simulate([body], [Gravity(), Ground(friction=0.3)], seconds=FRAME, step=FRAME, integrator=scheme)


@pytest.mark.parametrize("scheme", CONSERVING)
@pytest.mark.parametrize("model", ["fem", "mass-spring", "lattice"])
def test_a_landing_block_is_never_above_its_start(model: str, scheme: str) -> None:
    """From 0.2 m: energy never rises by more than half a percent of what fell in a step, is never above the
    start, the loss has its accounts, and the ledger closes to rounding."""
    simulation = landing(model, scheme)
    rows = [values(simulation)]
    for _ in range(60):
        simulation.advance()
        rows.append(values(simulation))
    fallen = 9.81 * 8.0 * 0.2
    stored = np.array([row["energy.kinetic"] + row["energy.elastic"] + row["energy.gravity"] for row in rows])
    numerical = np.array([row["energy.numerical"] for row in rows])
    total = np.array([row["energy.total"] for row in rows])
    assert stored.max() <= stored[0] * (1.0 + 1e-7)
    assert np.diff(stored).max() < 5e-3 * fallen
    assert np.diff(numerical).min() > -5e-3 * fallen
    assert numerical[-1] > 0.05 * fallen
    assert np.abs(total - total[0]).max() < 1e-12 * total[0]


def ring(scheme: str) -> tuple[Simulation, Any]:
    """A stretched free block that rings, with its solver's equations solved tightly enough to be compared."""
    body = Body(
        box(0.3, 0.2, 0.2, divisions=(3, 2, 2)),
        material={"young": 1e5, "poisson": 0.3, "density": 1000.0},
        model="fem",
        spin=(1.0, 2.0, 3.0),
    )
    integrator = INTEGRATORS.build({"type": scheme, "tolerance": 1e-3})
    simulation = simulate([body], [Gravity()], seconds=FRAME, step=FRAME, integrator=integrator)
    world = simulation.system.world
    world.x[:, 0] *= 1.05
    simulation.system.evaluate(0.0, world.x, world.v, world.f)
    return simulation, world


def energies_of(simulation: Simulation, x: Any, v: Any) -> tuple[float, float]:
    world = simulation.system.world
    return 0.5 * float(np.sum(world.mass[:, None] * v**2)), simulation.system.internal_energy(x)


def test_the_numerical_loss_of_backward_euler_is_what_its_formula_says(monkeypatch: Any) -> None:
    r"""Without restored spin, :math:`E_0 + W - E_1 = \tfrac12 |v_1 - v_0|_M^2 + V(x_0) - V(x_1) - f(x_1)
    \cdot dx + r \cdot dx`, with f the elastic forces and r what the solver left unbalanced: to 1e-13 of the
    energy."""
    from pliant.integrators.implicit.conservation import StepConservation

    monkeypatch.setattr(StepConservation, "restore", lambda self, parts, x, v, *rest: (v, False))
    simulation, world = ring("implicit-euler")
    for _ in range(5):
        x, v = world.x.copy(), world.v.copy()
        before = sum(energies_of(simulation, x, v))
        simulation.advance()
        moved, change = world.x - x, world.v - v
        elastic, weight = np.zeros_like(x), np.zeros_like(x)
        simulation.system.internal_forces(world.x, np.zeros_like(x), elastic)
        simulation.system.external_forces(0.0, world.x, world.v, weight)
        mass = world.mass[:, None]
        # v1 = (x1 - x0) / dt but for the sum of the residual, which is taken out of v alone
        left = mass * moved / FRAME**2 - mass * v / FRAME - elastic - weight
        balanced = world.v - moved / FRAME
        lost = before + float(np.sum(weight * moved)) - sum(energies_of(simulation, world.x, world.v))
        stored = energies_of(simulation, x, v)[1] - energies_of(simulation, world.x, world.v)[1]
        formula = 0.5 * float(np.sum(mass * (moved / FRAME - v) ** 2)) + stored
        formula -= float(np.sum((elastic + left) * moved))
        formula -= float(np.sum(mass * balanced * (moved / FRAME + 0.5 * balanced)))
        assert lost == pytest.approx(formula, abs=1e-13 * before)
        assert np.abs(change).max() > 1e-3


def test_the_numerical_account_is_the_loss_of_every_step() -> None:
    """What the ledger books for backward Euler in free flight is E0 - E1 less the work against gravity."""
    simulation, _ = ring("implicit-euler")
    row = values(simulation)
    booked = row["energy.numerical"]
    before = row["energy.kinetic"] + row["energy.elastic"] + row["energy.gravity"]
    for _ in range(5):
        simulation.advance()
        row = values(simulation)
        after = row["energy.kinetic"] + row["energy.elastic"] + row["energy.gravity"]
        assert row["energy.numerical"] - booked == pytest.approx(before - after, abs=1e-12 * before)
        booked, before = row["energy.numerical"], after
    assert booked > 0.0


def test_the_numerical_loss_of_tr_bdf2_is_what_its_formula_says(monkeypatch: Any) -> None:
    r"""The kinetic part of the loss is :math:`\tfrac{dt^2}2 \sum M_{ij}\,m\,a_i \cdot a_j` with
    :math:`M_{ij} = b_i a_{ij} + b_j a_{ji} - b_i b_j` and M_00 = -1/8, the accelerations being those that the
    velocities of the stages show: :math:`K_0 + dt \sum b_i\,m\,a_i \cdot v_i - K_1`."""
    from pliant.integrators.implicit.conservation import StepConservation
    from pliant.integrators.implicit.incremental_potential import IncrementalPotential
    from pliant.integrators.implicit.stage import GAMMA

    monkeypatch.setattr(StepConservation, "restore", lambda self, parts, x, v, *rest: (v, False))
    stages: list[Any] = []
    plain = IncrementalPotential.solution

    def solution(self: IncrementalPotential) -> Any:
        stages.append(plain(self))
        return stages[-1]

    monkeypatch.setattr(IncrementalPotential, "solution", solution)
    simulation, world = ring("tr-bdf2")
    h, b = 0.5 * GAMMA, 0.25 * np.sqrt(2.0)
    a = np.array([[0, 0, 0], [h, h, 0], [b, b, h]])
    weights = np.array([b, b, h])
    products = weights[:, None] * a + (weights[:, None] * a).T - weights[:, None] * weights
    assert products[0, 0] == pytest.approx(-0.125)
    mass = world.mass[:, None]
    for _ in range(3):
        stages.clear()
        v0, a0 = world.v.copy(), world.f / mass
        simulation.advance()
        assert len(stages) == 2
        v1, v2 = stages[0].v, world.v
        a1 = (v1 - v0) / (h * FRAME) - a0
        a2 = (v2 - v0) / FRAME
        a2 = (a2 - b * a0 - b * a1) / h
        kinetic = 0.5 * float(np.sum(mass * v0**2)), 0.5 * float(np.sum(mass * v2**2))
        pairs = zip(weights, (a0, a1, a2), (v0, v1, v2), strict=True)
        work = FRAME * sum(weight * float(np.sum(mass * p * q)) for weight, p, q in pairs)
        quadratic = sum(
            products[i, j] * float(np.sum(mass * p * q))
            for i, p in enumerate((a0, a1, a2))
            for j, q in enumerate((a0, a1, a2))
        )
        assert kinetic[0] + work - kinetic[1] == pytest.approx(
            0.5 * FRAME**2 * quadratic, abs=1e-13 * kinetic[0]
        )


# ------------------------------------------------------------------------------------------ fall-backs


def test_schemes_that_gain_energy_in_rotation_say_so() -> None:
    for scheme in ("implicit-midpoint", "newmark"):
        simulation = simulate([bar("fem", 20.0, 1.0)], [], seconds=FRAME, step=FRAME, integrator=scheme)
        warnings = [entry for entry in simulation.diagnostics.entries if entry.level == "warning"]
        assert any("energy-momentum" in entry.text and scheme in entry.text for entry in warnings)
    quiet = simulate([bar("fem", 20.0, 1.0)], [], seconds=FRAME, step=FRAME, integrator="tr-bdf2")
    assert not [entry for entry in quiet.diagnostics.entries if entry.level == "warning"]


def test_a_spin_that_gains_energy_stops() -> None:
    """Newmark's average acceleration adds energy to a body that turns by a radian a step: the run stops once
    that is half of what moves, which is then twice what it was, and little more has been recorded."""
    simulation = simulate([bar("fem", 20.0, 4.0)], [], seconds=FRAME, step=FRAME, integrator="newmark")
    energies = []

    def spin() -> None:
        for _ in range(125):
            row = values(simulation)
            energies.append(row["energy.kinetic"] + row["energy.elastic"])
            simulation.advance()

    with pytest.raises(Diverged, match="energy grows from nothing"):
        spin()
    assert max(energies) < 2.2 * energies[0]


def test_a_step_that_cannot_be_solved_is_taken_another_way_and_said() -> None:
    """One iteration at most and a tight tolerance: halves, then backward Euler; the run goes on and gains
    nothing."""
    body = bar("fem", 500.0, 4.0)
    integrator = INTEGRATORS.build({"type": "energy-momentum", "iterations": 1, "tolerance": 1e-7})
    simulation = simulate([body], [], seconds=FRAME, step=FRAME, integrator=integrator)
    start = values(simulation)
    for _ in range(5):
        simulation.advance()
    row = values(simulation)
    assert any("taken in halves" in text for text in simulation.diagnostics.texts())
    assert any("backward Euler" in text for text in simulation.diagnostics.texts())
    assert row["energy.kinetic"] < 1.02 * start["energy.kinetic"]
