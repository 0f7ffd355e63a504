"""The guard against energy from nothing: kicked bodies at their automatic step, resumed and stopped runs."""

from pathlib import Path

import numpy as np
import pytest
from bodies import block, simulate, values

import pliant as pl
from pliant.core.errors import Diverged
from stopping import assert_same, stopped_and_resumed

SOFT = {"young": 2e5, "poisson": 0.3, "density": 1000.0}


def kicked(model: str, seconds: float, **time: object) -> pl.Scene:
    """A cube of 0.2 m that is hit hard on one face, undamped."""
    body = pl.Body(pl.shapes.box(0.2, 0.2, 0.2), edge=0.06, model=model, material=SOFT)
    kick = pl.Impulse(body, pl.where.plane("x", "min"), value=(0.0, 0.0, 2.0))
    scene = pl.Scene([body], [kick], [pl.Energy()])
    scene.time = type(scene.time)(duration=seconds, fps=50, **time)
    return scene


def totals(scene: pl.Scene) -> tuple[np.ndarray, np.ndarray]:  # type: ignore[type-arg]
    """Kinetic and elastic energy, and what is unexplained, frame by frame, over the energy of the kick."""
    simulation = scene.simulation()
    simulation.start()
    rows = []
    for _ in range(scene.time.frames() - 1):
        simulation.advance()
        rows.append(values(simulation))
    work = rows[-1]["energy.work"]
    held = np.array([row["energy.kinetic"] + row["energy.elastic"] for row in rows]) / work
    return held, np.array([row["energy.unexplained"] for row in rows]) / work


@pytest.mark.parametrize("model", ["mass-spring", "cpm1", "cpm2", "fem"])
def test_a_kicked_cube_gains_no_energy(model: str) -> None:
    held, unexplained = totals(kicked(model, 1.0))
    assert held.max() < 1.02
    assert unexplained.max() < 0.01
    assert unexplained.min() > -0.02


def test_without_smaller_steps_such_a_run_stops() -> None:
    """With ``refine = false`` the cube of cpm1 gains energy, and the run ends with the reason."""
    with pytest.raises(Diverged, match="energy grows from nothing") as found:
        totals(kicked("cpm1", 4.0, refine=False))
    assert "refine = true" in str(found.value.hint)


def test_a_run_of_adaptive_levels_that_gains_energy_stops() -> None:
    """Bodies of model ``multires`` take steps again by themselves. Energy that they gain all the same, here
    half as much kinetic energy again in the middle of a fall, ends the run."""
    body = pl.Body(pl.shapes.box(0.2, 0.2, 0.2), edge=0.06, model="multires", material=SOFT, name="block")
    scene = pl.Scene([body], [pl.Gravity()], [pl.Energy()])
    scene.time = type(scene.time)(duration=0.5, fps=50)
    simulation = scene.simulation()
    simulation.start()
    for _ in range(5):
        simulation.advance()
    guard, mechanics = simulation.guard, simulation.system.world.bodies[0].mechanics
    motion = mechanics.body.motion  # type: ignore[attr-defined]
    assert guard is not None
    assert not guard.retakes
    assert guard.moved == pytest.approx(0.5 * 8.0 * (9.81 * 0.1) ** 2, rel=0.01)
    assert guard.gain < 1e-9 * guard.moved
    motion.v[:] *= 1.5**0.5
    motion.p[:] *= 1.5**0.5
    with pytest.raises(Diverged, match="body 'block': energy grows from nothing"):
        simulation.advance()


def test_the_reason_to_stop_names_energy_place_and_what_was_tried() -> None:
    """Gains of 0.6 J of 10 J, with the largest force at particle 5, after steps of an eighth were tried."""
    simulation = simulate([block((4, 2, 2), model="fem")], [], seconds=0.02)
    guard, system = simulation.guard, simulation.system
    assert guard is not None
    guard.gain, guard.moved, guard.finest = 0.6, 10.0, 8.0
    system.world.f[5] = 1e3
    x, y, z = (f"{c:.3g}" for c in system.world.x[5])
    with pytest.raises(Diverged) as found:
        simulation.divergence_check.stop_for_energy(system.world, 0.25, guard.gained, guard.finest)
    assert "0.6 J so far, of 10 J that moved at most" in found.value.message
    assert f"particle 5 in ({x}, {y}, {z}) m" in found.value.message
    assert "1/8 of the planned" in str(found.value.hint)


def test_a_run_resumes_while_steps_are_shortened(tmp_path: Path) -> None:
    scene = kicked("mass-spring", 0.3)
    simulation, retaken = scene.simulation(), 0
    while simulation.guard is not None and not simulation.guard.place:
        simulation.advance()
        retaken = simulation.frame
        assert retaken < 10
    whole = scene.run(to=tmp_path / "whole.pliant")
    assert "energy would rise" in (tmp_path / "whole.pliant" / "log.txt").read_text()
    assert_same(whole, stopped_and_resumed(scene, tmp_path / "again.pliant", after=retaken))


def test_calm_motion_is_left_alone() -> None:
    """A swinging beam keeps its planned step."""
    held = pl.Fix(None, pl.where.plane("x", "min"))
    simulation = simulate([block((6, 2, 2), model="fem")], [pl.Gravity(), held], seconds=0.5)
    assert simulation.guard is not None
    assert simulation.guard.factor == 1.0


def test_a_window_without_a_finite_number_is_taken_again() -> None:
    """Energies, potential and work are lost together where positions overflow."""
    simulation = simulate([block((2, 1, 1), model="fem")], [pl.Gravity()], seconds=0.02)
    guard, system = simulation.guard, simulation.system
    assert guard is not None
    moved = guard.moved
    guard.begin(system, continues=False)
    system.world.x[:] = np.nan
    system.world.v[:] = np.nan
    system.energy_ledger.totals.work = np.nan
    assert guard.judge(system, 40) == "retake"
    assert guard.moved >= moved
    assert np.isfinite(guard.moved)
